"""Read a user's table file (CSV, Parquet, Excel) as a DataFrame, or raise an `InputError` that says what is wrong."""

import gzip
import shutil
import tempfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, runtime_checkable

import pandas as pd

from heteroscope.core import InputError, Parameter, error_text
from heteroscope.data.excel_tables import read_excel_table
from heteroscope.data.table_headers import refuse_duplicates
from heteroscope.data.text_tables import Numbers, TextFile, read_text_table

#: Ends of the names of files that can be read: text, perhaps compressed, Parquet, and Excel.
TEXTS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
EXCEL = (".xlsx", ".xlsm")
EXTENSIONS = (*TEXTS, ".parquet", *EXCEL)


@runtime_checkable
class Readable(Protocol):
    """An open binary file."""

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes."""
        ...


def is_table(path: str | Path) -> bool:
    """Return whether a file's name ends as that of a table.

    Parameters
    ----------
    path : str or Path
        The name.

    Returns
    -------
    bool
    """
    return str(path).lower().endswith(EXTENSIONS)


def read_table(
    source: str | Path | Readable,
    text: Collection[str] = (),
    *,
    decimal: str | None = None,
    thousands: str | None = None,
    sheet: str | None = None,
) -> pd.DataFrame:
    """Read a table, keeping its column names and row order.

    A text file has one line with the columns' names; lines of a title above it are left out. Its values are separated
    by commas, tabs, semicolons or bars; without commas between values, numbers may have decimal commas. If the first
    column has no name, it becomes the index. A column holds numbers if all its values are numbers and none is a code
    such as 007; all other columns hold text. What may be a mistake gives a `TableWarning`: a file that is not UTF-8 is
    read as Windows-1252, and column names that are repeated or absent become those of pandas.

    Parameters
    ----------
    source : str, Path or binary file
        A file, whose name says how it is read: .csv, .tsv or .txt, each of them also with .gz, .parquet, .xlsx or
        .xlsm; or an open binary file of CSV text such as `sys.stdin.buffer`.
    text : collection of str, default=()
        Columns of a text file that are read as text even if all their values are numbers.
    decimal : {".", ","}, default=None
        The decimal sign of a text file; None finds it, unless commas separate the values: then it is a point.
    thousands : str, default=None
        What separates thousands in the numbers of a text file, such as a comma; None finds it where there is only one
        way to read a column, such as 1.200,50.
    sheet : str, default=None
        The sheet of an Excel file; None is the first, with a `TableWarning` if there are others.

    Returns
    -------
    pandas.DataFrame
    """
    numbers = Numbers(decimal, thousands)
    if not isinstance(source, str | Path):
        _refuse_unused("standard input", sheet=sheet)
        with _spooled(source) as path:
            return read_text_table(TextFile("standard input", path), text, numbers, None)
    path = Path(source)
    if not path.exists():
        raise InputError(f"{path} does not exist: check the name, or give the full path (this is {Path.cwd()})")
    if path.is_dir():
        raise InputError(f"{path} is a folder: name one file, {_either(EXTENSIONS)}")
    if not path.is_file():
        raise InputError(f"{path} is a pipe or device, which cannot be read twice: save the table as a file")
    if not is_table(path):
        raise InputError(f"{path} has the extension {path.suffix!r}: save the table as {_either(EXTENSIONS)}")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty: write the table to it again")
    try:
        return _read_file(path, text, numbers, sheet)
    except PermissionError as error:
        raise InputError(f"{path} may not be read by you: change the file's permissions") from error


def _read_file(path: Path, text: Collection[str], numbers: Numbers, sheet: str | None) -> pd.DataFrame:
    """Read a file as its name ends."""
    name = path.name.lower()
    if name.endswith(TEXTS):
        _refuse_unused(str(path), sheet=sheet)
        delimiter = "\t" if ".tsv" in Path(name).suffixes else None
        if not name.endswith(".gz"):
            return read_text_table(TextFile(str(path), path), text, numbers, delimiter)
        with gzip.open(path) as packed, _spooled(packed) as unpacked:
            return read_text_table(TextFile(str(path), unpacked), text, numbers, delimiter)
    _refuse_unused(str(path), **numbers._asdict())
    if name.endswith(EXCEL):
        return read_excel_table(path, sheet)
    _refuse_unused(str(path), sheet=sheet)
    return _read_parquet(path)


def _refuse_unused(name: str, **options: str | None) -> None:
    """Raise an `InputError` for an option that does not belong to the kind of file."""
    for option, value in options.items():
        if value is not None:
            kind = "Excel files" if option == "sheet" else "text files such as .csv"
            raise InputError(Parameter(option, value), f" is for {kind}, and {name} is none: leave it out")


@contextmanager
def _spooled(stream: Readable) -> Iterator[Path]:
    """Yield a file with the content of a stream, which can be read only once; remove it afterwards."""
    with tempfile.TemporaryDirectory(prefix="heteroscope-") as folder:
        path = Path(folder) / "table.csv"
        with path.open("wb") as copy:
            try:
                shutil.copyfileobj(stream, copy)
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                name = getattr(stream, "name", "the file")
                raise InputError(f"{name} is not a whole gzip file ({error_text(error)}): write it again") from error
        yield path


def _read_parquet(path: Path) -> pd.DataFrame:
    """Read a Parquet file; raise an `InputError` if it is damaged or has repeated column names."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            refuse_duplicates(str(path), file.schema_arrow.names)
            frame = file.read().to_pandas()
    except (pa.ArrowException, OSError) as error:  # a damaged footer raises either
        raise InputError(f"{path} is not a whole Parquet file ({error_text(error)}): write it again") from error
    if frame.empty:
        raise InputError(f"{path} has column names but no rows: write the table to it again")
    return frame


def _either(extensions: Iterable[str]) -> str:
    """Return "a, b or c"."""
    *others, last = extensions
    return f"{', '.join(others)} or {last}"

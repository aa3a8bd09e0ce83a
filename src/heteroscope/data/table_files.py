"""Read a user's table file (CSV, Parquet, Excel) as a DataFrame, or raise an `InputError` that says what is wrong."""

import csv
import gzip
import mmap
import re
import shutil
import tempfile
import warnings
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pandas as pd
from pandas.api.types import infer_dtype, is_numeric_dtype

from heteroscope.core import InputError, Parameter, TableWarning, error_text
from heteroscope.data.column_words import listing

DELIMITERS = (",", ";", "\t")
#: Ends of the names of files that can be read: text, perhaps compressed, Parquet, and Excel.
TEXTS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
EXCEL = (".xlsx", ".xlsm")
EXTENSIONS = (*TEXTS, ".parquet", *EXCEL)
_SAMPLE_CHARACTERS = 65_536  # read from the beginning of a CSV file to find its delimiter, and from its end
_CHUNK_ROWS = 100_000  # rows of text that are searched for codes at a time
# Codes such as 007 at the beginning of a cell, and numbers with a decimal comma or a decimal point.
_LEADING_ZERO = rb'[,;\t\r\n"] *(0\d\d)'
_DECIMAL_COMMA, _DECIMAL_POINT = rb"[-+]?\d+,\d+", rb"[-+]?\d*\.\d+(?:[eE][-+]?\d+)?"


class Numbers(NamedTuple):
    """How a text file writes numbers: the decimal sign, None to find it, and what separates thousands, if anything."""

    decimal: str | None = None
    thousands: str | None = None


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
    source: str | Path | BinaryIO,
    text: Collection[str] = (),
    *,
    decimal: str | None = None,
    thousands: str | None = None,
    sheet: str | None = None,
) -> pd.DataFrame:
    """Read a table, keeping its column names and row order.

    A text file must be UTF-8 with one header line. Its values are separated by commas, tabs or semicolons; with tabs or
    semicolons, numbers may have decimal commas. If the first column has no name, it becomes the index. A column holds
    numbers if all its values are numbers and none is a code such as 007; all other columns hold text.

    Parameters
    ----------
    source : str, Path or binary file
        A file, whose name says how it is read: .csv, .tsv, either of them with .gz, .parquet, .xlsx or .xlsm; or an
        open binary file of CSV text such as `sys.stdin.buffer`.
    text : collection of str, default=()
        Columns of a text file that are read as text even if all their values are numbers.
    decimal : {".", ","}, default=None
        The decimal sign of a text file; None finds it if the values are separated by tabs or semicolons.
    thousands : str, default=None
        What separates thousands in the numbers of a text file, such as a comma; None if nothing does.
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
            return _read_text(_TextFile("standard input", path), text, numbers, None)
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
            return _read_text(_TextFile(str(path), path), text, numbers, delimiter)
        with gzip.open(path) as packed, _spooled(packed) as unpacked:
            return _read_text(_TextFile(str(path), unpacked), text, numbers, delimiter)
    _refuse_unused(str(path), **numbers._asdict())
    if name.endswith(EXCEL):
        return _read_excel(path, sheet)
    _refuse_unused(str(path), sheet=sheet)
    return _read_parquet(path)


def _refuse_unused(name: str, **options: str | None) -> None:
    """Raise an `InputError` for an option that does not belong to the kind of file."""
    for option, value in options.items():
        if value is not None:
            kind = "Excel files" if option == "sheet" else "text files such as .csv"
            raise InputError(Parameter(option, value), f" is for {kind}, and {name} is none: leave it out")


@contextmanager
def _spooled(stream: BinaryIO | gzip.GzipFile) -> Iterator[Path]:
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


class _TextFile(NamedTuple):
    """A text file: its name for messages, and where it is."""

    name: str
    path: Path


class _Dialect(NamedTuple):
    """How a text file is written: its delimiter, decimal sign, separator of thousands and column names."""

    delimiter: str
    decimal: str
    thousands: str | None
    header: list[str]


def _read_text(file: _TextFile, text: Collection[str], numbers: Numbers, delimiter: str | None) -> pd.DataFrame:
    """Read a text file; raise an `InputError` if it is not UTF-8, not regular or truncated."""
    path = file.path
    try:
        dialect = _dialect(file, numbers, delimiter)
        frame = _numbers_and_text(path, dialect, text)
    except UnicodeDecodeError as error:
        found = f"byte 0x{error.object[error.start]:02x}"
        raise InputError(f"{file.name} is not UTF-8 text ({found} is not): save it with the encoding UTF-8") from error
    except (pd.errors.ParserError, csv.Error) as error:
        raise InputError(f"{file.name} is not a regular CSV table ({error_text(error)}): write it again") from error
    _refuse_no_rows(file.name, frame)
    last_line = _last_line(path)
    n_last = len(next(csv.reader([last_line], delimiter=dialect.delimiter)))
    if n_last < len(dialect.header) and frame.iloc[-1:, -1].isna().any():
        raise InputError(
            f"{file.name} is truncated: its last line has {n_last} of {len(dialect.header)} values; write it again"
        )
    if dialect.header[0].strip() == "":
        return frame.set_index(frame.columns[0]).rename_axis(index=None)
    return frame


def _numbers_and_text(path: Path, dialect: _Dialect, text: Collection[str]) -> pd.DataFrame:
    """Read columns of numbers, where words such as NA are missing values, and of text, where only empty cells are."""
    frame = _parse(path, dialect)
    gapped = {k for k, name in enumerate(frame) if _is_gapped_text(frame[name])}
    named = {k for k, name in enumerate(frame) if name in text}
    again = sorted(gapped | named | _codes(path, dialect, frame))
    if again:
        texts = _parse(path, dialect, usecols=again, dtype=str, keep_default_na=False, na_values=[""])
        for k, name in zip(again, texts, strict=True):
            frame.isetitem(k, texts[name])
    return frame


def _parse(path: Path, dialect: _Dialect, **options: Any) -> Any:
    """Return what pandas reads, with numbers exact to the last digit."""
    return pd.read_csv(
        path,
        sep=dialect.delimiter,
        decimal=dialect.decimal,
        thousands=dialect.thousands,
        encoding="utf-8-sig",
        low_memory=False,
        float_precision="round_trip",
        **options,
    )


def _is_gapped_text(series: pd.Series) -> bool:
    """Return whether a column holds text and missing values."""
    return bool(series.isna().any()) and infer_dtype(series, skipna=True) == "string"


def _codes(path: Path, dialect: _Dialect, frame: pd.DataFrame) -> set[int]:
    """Return the columns that pandas read as numbers although a value is a code such as 007.

    A code has a zero before at least two more digits; 07 may be an hour.
    """
    numeric = [k for k, dtype in enumerate(frame.dtypes) if is_numeric_dtype(dtype)]
    if not numeric or _first_match(path, _LEADING_ZERO) is None:
        return set()
    found: set[int] = set()
    for texts in _parse(path, dialect, usecols=numeric, dtype=str, chunksize=_CHUNK_ROWS):
        coded = [texts[name].str.match(r" *0\d\d", na=False).any() for name in texts]
        found |= {k for k, is_code in zip(numeric, coded, strict=True) if is_code}
    return found


def _dialect(file: _TextFile, numbers: Numbers, delimiter: str | None) -> _Dialect:
    """Find the delimiter, unless it is given, as the one that gives header and first row equally many and most fields.

    Check the header.
    """
    with file.path.open(encoding="utf-8-sig", newline="") as opened:
        sample = opened.read(_SAMPLE_CHARACTERS)
    if not sample.strip():
        raise InputError(f"{file.name} is empty: write the table to it again")
    present = [delimiter] if delimiter else [one for one in DELIMITERS if one in sample] or [","]
    heads = {one: _first_two_records(file.path, one) for one in present}
    regular = {one: head for one, head in heads.items() if _is_regular(*head) and len(head[0]) > 1}
    delimiter, (header, row) = max((regular or heads).items(), key=lambda item: len(item[1][0]))
    if not _is_regular(header, row):
        raise InputError(
            f"{file.name} has {len(header)} column names but {len(row)} values in its first row: name each column once"
        )
    _refuse_bad_header(file.name, header)
    return _Dialect(delimiter, _decimal(file, delimiter, numbers), numbers.thousands, header)


def _decimal(file: _TextFile, delimiter: str, numbers: Numbers) -> str:
    """Return the decimal sign: as given, or a comma if numbers have commas, else a point; refuse a file with both."""
    decimal, thousands = numbers
    if decimal not in (None, ".", ","):
        raise InputError(Parameter("decimal", decimal), " is no decimal sign: give a point or a comma")
    if thousands is not None and (len(thousands) != 1 or thousands == (decimal or ".")):
        raise InputError(
            Parameter("thousands", thousands), " cannot separate thousands: give one character, not the decimal sign"
        )
    if decimal is not None or thousands is not None:
        return decimal or "."
    if delimiter == ",":
        return "."
    path, ends = file.path, delimiter.encode() + rb"\r\n"
    cell = rb'[%b] *"?(%b)"? *(?=[%b]|\Z)'
    comma = _first_match(path, cell % (ends, _DECIMAL_COMMA, ends))
    point = comma and _first_match(path, cell % (ends, _DECIMAL_POINT, ends))
    if point:
        raise InputError(
            f"{file.name} has numbers with a comma ({comma}) and with a point ({point}): write all decimals with "
            "points and thousands without commas, or say which is which with ",
            Parameter("thousands", ","),
            ", or with ",
            Parameter("decimal", ","),
            " and ",
            Parameter("thousands", "."),
        )
    return "," if comma else "."


def _first_match(path: Path, pattern: bytes) -> str | None:
    """Return group 1 of a pattern's first match in a file, without reading all of the file into memory."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return next((match[1].decode() for match in re.finditer(pattern, content)), None)


def _first_two_records(path: Path, delimiter: str) -> tuple[list[str], list[str]]:
    """Return the header and the first row, an empty list if there is none."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        records = (record for record in csv.reader(file, delimiter=delimiter) if record)
        return next(records), next(records, [])


def _is_regular(header: list[str], row: list[str]) -> bool:
    """Return whether the first row, if there is one, has as many values as the header has names."""
    return not row or len(header) == len(row)


def _refuse_bad_header(file: str, header: list[str]) -> None:
    """Raise an `InputError` for column names that are empty, repeated, or all numbers."""
    nameless = [position for position, name in enumerate(header, start=1) if position > 1 and not name.strip()]
    if nameless:
        raise InputError(f"{file} has no name for column {nameless[0]}: name it in the header, or remove the column")
    _refuse_duplicates(file, header)
    if all(_is_number(name) for name in header if name.strip()):
        raise InputError(f"{file} has numbers for column names: put a line with the columns' names first")


def _read_parquet(path: Path) -> pd.DataFrame:
    """Read a Parquet file; raise an `InputError` if it is damaged or has repeated column names."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            _refuse_duplicates(str(path), file.schema_arrow.names)
            frame = file.read().to_pandas()
    except (pa.ArrowException, OSError) as error:  # a damaged footer raises either
        raise InputError(f"{path} is not a whole Parquet file ({error_text(error)}): write it again") from error
    _refuse_no_rows(str(path), frame)
    return frame


def _read_excel(path: Path, sheet: str | None) -> pd.DataFrame:
    """Read one sheet of an Excel file; raise an `InputError` if it is damaged or has no regular header.

    Columns of numbers and words become text, as in a text file. Empty rows before the header, and empty columns without
    a name, are left out.
    """
    try:
        import openpyxl  # noqa: F401  pandas reads with it
    except ImportError as error:
        raise InputError(
            f'{path} is an Excel file, which openpyxl reads: pip install "heteroscope[excel]", or save the table as .csv'
        ) from error
    try:
        with pd.ExcelFile(path, engine="openpyxl") as book:
            cells = book.parse(_choose_sheet(path, book, sheet), header=None, dtype=object)
    except InputError:
        raise
    except Exception as error:  # a damaged archive makes openpyxl raise whatever its parsers do
        raise InputError(f"{path} is not a whole Excel file ({error_text(error)}): save it again") from error
    filled = cells.notna().any(axis=1).to_numpy().nonzero()[0]
    if not len(filled):
        raise InputError(f"{path} is empty: write the table to it again")
    header = ["" if pd.isna(cell) else str(cell) for cell in cells.iloc[filled[0]]]
    body = cells.iloc[filled[0] + 1 : filled[-1] + 1].reset_index(drop=True)
    kept = [k for k, name in enumerate(header) if name.strip() or body.iloc[:, k].notna().any()]
    names, body = [header[k] for k in kept], body.iloc[:, kept]
    _refuse_bad_header(str(path), names)
    frame = pd.DataFrame({name: _cells(body.iloc[:, k]) for k, name in enumerate(names)})
    _refuse_no_rows(str(path), frame)
    return frame if names[0].strip() else frame.set_index(frame.columns[0]).rename_axis(index=None)


def _choose_sheet(path: Path, book: pd.ExcelFile, sheet: str | None) -> str:
    """Return the sheet of this name, or the first one."""
    names = [str(name) for name in book.sheet_names]
    if sheet is not None and sheet not in names:
        raise InputError(f"{path} has no sheet {sheet!r}: choose one of {listing(names)}")
    if sheet is None and len(names) > 1:
        warnings.warn(
            f"{path} has the sheets {listing(names)}: {names[0]!r} is read, another one by its name", TableWarning, 5
        )
    return sheet or names[0]


def _cells(series: pd.Series) -> pd.Series:
    """Return a column of Excel cells as numbers, dates or truth values if all are such, else as text."""
    if infer_dtype(series, skipna=True) in ("mixed", "mixed-integer"):
        texts = series.map(lambda cell: str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell))
        return texts.where(series.notna(), None)
    return series.infer_objects()


def _refuse_no_rows(file: str, frame: pd.DataFrame) -> None:
    """Raise an `InputError` for a table that has only column names."""
    if frame.empty:
        raise InputError(f"{file} has column names but no rows: write the table to it again")


def _either(extensions: Iterable[str]) -> str:
    """Return "a, b or c"."""
    *others, last = extensions
    return f"{', '.join(others)} or {last}"


def _refuse_duplicates(file: str, names: Iterable[str]) -> None:
    """Raise an `InputError` for a column name that occurs twice."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(f"{file} has more than one column called {repeated[0]!r}: give each column its own name")


def _last_line(path: Path) -> str:
    """Return the last line that is not empty."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _SAMPLE_CHARACTERS))
        lines = file.read().decode("utf-8", errors="replace").rstrip("\r\n").splitlines()
    return lines[-1]


def _is_number(text: str) -> bool:
    """Return whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True

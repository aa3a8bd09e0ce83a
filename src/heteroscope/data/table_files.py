"""Read a user's CSV or Parquet file as a DataFrame, or raise an `InputError` that says what is wrong with it."""

import csv
import mmap
import re
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from pandas.api.types import infer_dtype, is_numeric_dtype

from heteroscope.core import InputError, error_text

DELIMITERS = (",", ";", "\t")
_SAMPLE_CHARACTERS = 65_536  # read from the beginning of a CSV file to find its delimiter, and from its end
_CHUNK_ROWS = 100_000  # rows of text that are searched for codes at a time
# Codes such as 007 at the beginning of a cell, and numbers with a decimal comma or a decimal point.
_LEADING_ZERO = rb'[,;\t\r\n"] *(0\d\d)'
_DECIMAL_COMMA, _DECIMAL_POINT = rb"[-+]?\d+,\d+", rb"[-+]?\d*\.\d+(?:[eE][-+]?\d+)?"


def read_table(path: str | Path, text: Collection[str] = ()) -> pd.DataFrame:
    """Read a .csv or .parquet file, keeping its column names and row order.

    A CSV file must be UTF-8 with one header line. Its values are separated by commas, tabs or semicolons; with tabs or
    semicolons, numbers may have decimal commas. If the first column has no name, it becomes the index. A column holds
    numbers if all its values are numbers and none is a code such as 007; all other columns hold text.

    Parameters
    ----------
    path : str or Path
        The file; its extension, .csv or .parquet, decides how it is read.
    text : collection of str, default=()
        Columns of a CSV file that are read as text even if all their values are numbers.

    Returns
    -------
    pandas.DataFrame
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path} does not exist: check the name, or give the full path (this is {Path.cwd()})")
    if path.is_dir():
        raise InputError(f"{path} is a folder: name one .csv or .parquet file")
    if not path.is_file():
        raise InputError(f"{path} is a pipe or device, which cannot be read twice: save the table as a file")
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{path} has the extension {path.suffix!r}: save the table as .csv or .parquet")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty: write the table to it again")
    try:
        frame = _read_csv(path, text) if path.suffix.lower() == ".csv" else _read_parquet(path)
    except PermissionError as error:
        raise InputError(f"{path} may not be read by you: change the file's permissions") from error
    if frame.empty:
        raise InputError(f"{path} has column names but no rows: write the table to it again")
    return frame


class _Dialect(NamedTuple):
    """How a CSV file is written: its delimiter, decimal point or comma, and column names."""

    delimiter: str
    decimal: str
    header: list[str]


def _read_csv(path: Path, text: Collection[str]) -> pd.DataFrame:
    """Read a CSV file; raise an `InputError` if it is not UTF-8, not regular or truncated."""
    try:
        dialect = _dialect(path)
        frame = _numbers_and_text(path, dialect, text)
    except UnicodeDecodeError as error:
        found = f"byte 0x{error.object[error.start]:02x}"
        raise InputError(f"{path} is not UTF-8 text ({found} is not): save it with the encoding UTF-8") from error
    except (pd.errors.ParserError, csv.Error) as error:
        raise InputError(f"{path} is not a regular CSV table ({error_text(error)}): write it again") from error
    last_line = _last_line(path)
    n_last = len(next(csv.reader([last_line], delimiter=dialect.delimiter)))
    if n_last < len(dialect.header) and frame.iloc[-1:, -1].isna().any():
        raise InputError(
            f"{path} is truncated: its last line has {n_last} of {len(dialect.header)} values; write it again"
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


def _dialect(path: Path) -> _Dialect:
    """Find the delimiter that gives header and first row equally many fields, and the most of them."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        sample = file.read(_SAMPLE_CHARACTERS)
    if not sample.strip():
        raise InputError(f"{path} is empty: write the table to it again")
    present = [delimiter for delimiter in DELIMITERS if delimiter in sample] or [","]
    heads = {delimiter: _first_two_records(path, delimiter) for delimiter in present}
    regular = {delimiter: head for delimiter, head in heads.items() if _is_regular(*head) and len(head[0]) > 1}
    delimiter, (header, row) = max((regular or heads).items(), key=lambda item: len(item[1][0]))
    if not _is_regular(header, row):
        raise InputError(
            f"{path} has {len(header)} column names but {len(row)} values in its first row: name each column once"
        )
    _refuse_bad_header(path, header)
    return _Dialect(delimiter, _decimal(path, delimiter), header)


def _decimal(path: Path, delimiter: str) -> str:
    """Return the decimal sign: a comma if numbers have commas, else a point; refuse a file with both."""
    if delimiter == ",":
        return "."
    ends = delimiter.encode() + rb"\r\n"
    cell = rb'[%b] *"?(%b)"? *(?=[%b]|\Z)'
    comma = _first_match(path, cell % (ends, _DECIMAL_COMMA, ends))
    point = comma and _first_match(path, cell % (ends, _DECIMAL_POINT, ends))
    if point:
        raise InputError(
            f"{path} has numbers with a comma ({comma}) and with a point ({point}): write all decimals with points, "
            "and thousands without commas"
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


def _refuse_bad_header(path: Path, header: list[str]) -> None:
    """Raise an `InputError` for column names that are empty, repeated, or all numbers."""
    nameless = [position for position, name in enumerate(header, start=1) if position > 1 and not name.strip()]
    if nameless:
        raise InputError(f"{path} has no name for column {nameless[0]}: name it in the header, or remove the column")
    _refuse_duplicates(path, header)
    if all(_is_number(name) for name in header if name.strip()):
        raise InputError(f"{path} has numbers for column names: put a line with the columns' names first")


def _read_parquet(path: Path) -> pd.DataFrame:
    """Read a Parquet file; raise an `InputError` if it is damaged or has repeated column names."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            _refuse_duplicates(path, file.schema_arrow.names)
            return file.read().to_pandas()
    except (pa.ArrowException, OSError) as error:  # a damaged footer raises either
        raise InputError(f"{path} is not a whole Parquet file ({error_text(error)}): write it again") from error


def _refuse_duplicates(path: Path, names: Iterable[str]) -> None:
    """Raise an `InputError` for a column name that occurs twice."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(f"{path} has more than one column called {repeated[0]!r}: give each column its own name")


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

"""A user's CSV or Parquet file as a DataFrame, or one line that says why not."""

import csv
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from heteroscope.errors import InputError, cause

DELIMITERS = (",", ";", "\t")
_SAMPLE_CHARACTERS = 65_536
_DECIMAL_COMMA = re.compile(r"(^|[;\t])\s*[-+]?\d+,\d+\s*($|[;\t])", re.MULTILINE)


def read_table(path: str | Path) -> pd.DataFrame:
    """The rows of a .csv or .parquet file, with the file's own column names and row order.

    A CSV file is UTF-8 with one header line, separated by commas, semicolons (then with decimal commas too, if the
    values have them) or tabs. A first column without a name holds row labels and becomes the index.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path} does not exist: check the name, or give the full path (this is {Path.cwd()})")
    if not path.is_file():
        raise InputError(f"{path} is a folder: name one .csv or .parquet file")
    readers = {".csv": _read_csv, ".parquet": _read_parquet}
    if path.suffix.lower() not in readers:
        raise InputError(f"{path} has the extension {path.suffix!r}: save the table as .csv or .parquet")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty: write the table to it again")
    try:
        frame = readers[path.suffix.lower()](path)
    except PermissionError as error:
        raise InputError(f"{path} may not be read by you: change the file's permissions") from error
    if frame.empty:
        raise InputError(f"{path} has column names but no rows: write the table to it again")
    return frame


class _Dialect(NamedTuple):
    delimiter: str
    decimal: str
    header: list[str]


def _read_csv(path: Path) -> pd.DataFrame:
    try:
        dialect = _dialect(path)
        frame = pd.read_csv(
            path,
            sep=dialect.delimiter,
            decimal=dialect.decimal,
            index_col=0 if dialect.header[0].strip() == "" else None,
            encoding="utf-8-sig",
            low_memory=False,
        )
    except UnicodeDecodeError as error:
        found = f"byte 0x{error.object[error.start]:02x}"
        raise InputError(f"{path} is not UTF-8 text ({found} is not): save it with the encoding UTF-8") from error
    except (pd.errors.ParserError, csv.Error) as error:
        raise InputError(f"{path} is not a regular CSV table ({cause(error)}): write it again") from error
    last_line = _last_line(path)
    n_last = len(next(csv.reader([last_line], delimiter=dialect.delimiter)))
    if n_last < len(dialect.header) and frame.iloc[-1:, -1].isna().any():
        raise InputError(
            f"{path} is truncated: its last line has {n_last} of {len(dialect.header)} values; write it again"
        )
    return frame


def _dialect(path: Path) -> _Dialect:
    """The delimiter that gives header and first row equally many fields, and the most of them."""
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
    decimal = "," if delimiter != "," and _DECIMAL_COMMA.search(sample) else "."
    return _Dialect(delimiter, decimal, header)


def _first_two_records(path: Path, delimiter: str) -> tuple[list[str], list[str]]:
    """Header and first row; the row is empty if there is none."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        records = (record for record in csv.reader(file, delimiter=delimiter) if record)
        return next(records), next(records, [])


def _is_regular(header: list[str], row: list[str]) -> bool:
    return not row or len(header) == len(row)


def _refuse_bad_header(path: Path, header: list[str]) -> None:
    nameless = [position for position, name in enumerate(header, start=1) if position > 1 and not name.strip()]
    if nameless:
        raise InputError(f"{path} has no name for column {nameless[0]}: name it in the header, or remove the column")
    _refuse_duplicates(path, header)
    if all(_is_number(name) for name in header if name.strip()):
        raise InputError(f"{path} has numbers for column names: put a line with the columns' names first")


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        with pq.ParquetFile(path) as file:
            _refuse_duplicates(path, file.schema_arrow.names)
            return file.read().to_pandas()
    except (pa.ArrowException, OSError) as error:  # a damaged footer is either
        raise InputError(f"{path} is not a whole Parquet file ({cause(error)}): write it again") from error


def _refuse_duplicates(path: Path, names: Iterable[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(f"{path} has more than one column called {repeated[0]!r}: give each column its own name")


def _last_line(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _SAMPLE_CHARACTERS))
        lines = file.read().decode("utf-8", errors="replace").rstrip("\r\n").splitlines()
    return lines[-1]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

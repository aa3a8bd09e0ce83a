"""Read a text file (CSV, TSV) as a DataFrame: find its encoding, its delimiter and how it writes numbers."""

import codecs
import csv
import mmap
import re
import tempfile
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from pandas.api.types import infer_dtype, is_numeric_dtype

from heteroscope.core import InputError, Parameter, TableWarning, error_text
from heteroscope.data.table_headers import (
    MOST_LINES,
    are_numbers,
    header_place,
    refuse_numbers,
    unique_names,
    warn_of_lines_above,
)
from heteroscope.data.text_numbers import gap_spellings, read_numbers

DELIMITERS = (",", ";", "\t", "|")
FALLBACK = "cp1252"  # Windows' encoding of western Europe; most files that are not UTF-8 have it
_SAMPLE_CHARACTERS = 65_536  # read from the beginning of a text file to find its delimiter, and from its end
_CHUNK_ROWS = 100_000  # rows of text that are searched for codes at a time
_CHUNK_BYTES = 1 << 20  # bytes that are decoded at a time
# Codes such as 007 at the beginning of a cell, and numbers with a decimal comma or a decimal point.
_LEADING_ZERO = rb'[,;|\t\r\n"] *(0\d\d)'
_DECIMAL_COMMA, _DECIMAL_POINT = rb"[-+]?\d+,\d+", rb"[-+]?\d*\.\d+(?:[eE][-+]?\d+)?"
_WIDTH_ERROR = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")


class Numbers(NamedTuple):
    """How a text file writes numbers: the decimal sign and what separates thousands; None where it is not known."""

    decimal: str | None = None
    thousands: str | None = None


class TextFile(NamedTuple):
    """A text file: its name for messages, and where it is."""

    name: str
    path: Path


class _Dialect(NamedTuple):
    """How a text file is written: its delimiter and decimal sign, the lines above its column names, and these."""

    delimiter: str
    decimal: str
    n_lines_above: int
    header: list[str]


def read_text_table(file: TextFile, text: Collection[str], numbers: Numbers, delimiter: str | None) -> pd.DataFrame:
    """Read a text file; raise an `InputError` if it is not text, not regular or truncated.

    Parameters
    ----------
    file : TextFile
        The file.
    text : collection of str
        Columns that are read as text even if all their values are numbers.
    numbers : Numbers
        How it writes numbers.
    delimiter : str or None
        What separates its values; None finds it.

    Returns
    -------
    pandas.DataFrame
    """
    with _as_utf8(file) as path:
        try:
            dialect = _dialect(TextFile(file.name, path), numbers, delimiter)
            frame, names = _numbers_and_text(TextFile(file.name, path), dialect, text, numbers)
        except (pd.errors.ParserError, csv.Error) as error:
            raise InputError(f"{file.name} is not a regular CSV table ({_why(error)}): write it again") from error
        _refuse_no_rows(file.name, frame)
        _refuse_truncated(TextFile(file.name, path), dialect, frame)
    kept = [k for k, name in enumerate(names) if name or not k]
    frame = frame.iloc[:, kept].set_axis([names[k] for k in kept], axis=1)
    return frame if names[0] else frame.set_index(frame.columns[0]).rename_axis(index=None)


@contextmanager
def _as_utf8(file: TextFile) -> Iterator[Path]:
    """Yield the file, or a copy of it in UTF-8."""
    encoding = _encoding(file)
    if encoding == "utf-8":
        yield file.path
        return
    with tempfile.TemporaryDirectory(prefix="heteroscope-") as folder:
        copy = Path(folder) / "table.csv"
        try:
            with file.path.open(encoding=encoding, newline="") as given, copy.open("w", encoding="utf-8") as text:
                while part := given.read(_CHUNK_BYTES):
                    text.write(part)
        except UnicodeDecodeError as error:
            found = f"byte 0x{error.object[error.start]:02x}"
            raise InputError(f"{file.name} is no text ({found}): save it with the encoding UTF-8") from error
        if encoding == FALLBACK:
            warnings.warn(
                f"{file.name} is not UTF-8 text and is read as Windows-1252: if letters look wrong, save it with the "
                "encoding UTF-8",
                TableWarning,
                stacklevel=5,
            )
        yield copy


def _encoding(file: TextFile) -> str:
    """Return UTF-8, UTF-16 or, if it is neither, Windows' encoding; refuse a file that is no text."""
    with file.path.open("rb") as opened:
        head = opened.read(4)
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        opened.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        while part := opened.read(_CHUNK_BYTES):
            if b"\0" in part:
                raise InputError(f"{file.name} is no text (it has bytes that are zero): save the table as a text file")
            try:
                decoder.decode(part)
            except UnicodeDecodeError:
                return FALLBACK
    return "utf-8"


def _why(error: Exception) -> str:
    """Return what a parser complains of, in plain words."""
    found = _WIDTH_ERROR.search(str(error))
    return f"line {found[2]} has {found[3]} values, and there are {found[1]} columns" if found else error_text(error)


def _numbers_and_text(
    file: TextFile, dialect: _Dialect, text: Collection[str], numbers: Numbers
) -> tuple[pd.DataFrame, list[str]]:
    """Read columns of numbers, where words such as NA are missing values, and of text, where only empty cells are.

    Also return the names of the columns, "" for those without names and values.
    """
    frame = _parse(file.path, dialect, na_values=gap_spellings())
    names = unique_names(file.name, dialect.header, frame.notna().any().tolist())
    gapped = {k for k in range(frame.shape[1]) if _is_gapped_text(frame.iloc[:, k])}
    named = {k for k, name in enumerate(names) if name in text}
    again = sorted(gapped | named | _codes(file.path, dialect, frame))
    if again:
        texts = _parse(file.path, dialect, usecols=again, dtype=str, keep_default_na=False, na_values=[""])
        for place, k in enumerate(again):
            frame.isetitem(k, texts.iloc[:, place])
    known = "," if dialect.decimal == "," else numbers.decimal
    for k in set(range(frame.shape[1])) - named:
        frame.isetitem(k, read_numbers(frame.iloc[:, k], known, numbers.thousands))
    return frame, names


def _parse(path: Path, dialect: _Dialect, **options: Any) -> Any:
    """Return what pandas reads, with numbers exact to the last digit."""
    return pd.read_csv(
        path,
        sep=dialect.delimiter,
        decimal=dialect.decimal,
        skiprows=dialect.n_lines_above,
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


def _dialect(file: TextFile, numbers: Numbers, delimiter: str | None) -> _Dialect:
    """Find the delimiter, unless it is given, as the one that gives header and first row equally many and most fields.

    Check the header.
    """
    with file.path.open(encoding="utf-8-sig", newline="") as opened:
        sample = opened.read(_SAMPLE_CHARACTERS)
    if not sample.strip():
        raise InputError(f"{file.name} is empty: write the table to it again")
    present = [delimiter] if delimiter else [one for one in DELIMITERS if one in sample] or [","]
    heads = {one: _head(file.path, one) for one in present}
    regular = {one: head for one, head in heads.items() if head.is_regular and len(head.names) > 1}
    delimiter, head = max((regular or heads).items(), key=lambda item: item[1].plausibility)
    if not head.is_regular:
        raise InputError(
            f"{file.name} has {len(head.names)} column names but {len(head.row)} values in its first row: name each "
            "column once"
        )
    refuse_numbers(file.name, head.names)
    warn_of_lines_above(file.name, head.names, head.n_lines_above)
    return _Dialect(delimiter, _decimal(file, delimiter, numbers), head.n_lines_above, head.names)


class _Head(NamedTuple):
    """The lines above the column names, these, and the first row, an empty list if there is none."""

    n_lines_above: int
    names: list[str]
    row: list[str]

    @property
    def is_regular(self) -> bool:
        """Whether the first row, if there is one, has as many values as there are names."""
        return not self.row or len(self.names) == len(self.row)

    @property
    def plausibility(self) -> tuple[bool, int, int]:
        """Larger for a better delimiter: names that are not all numbers, few lines above them, many columns."""
        return not are_numbers(self.names), -self.n_lines_above, len(self.names)


def _head(path: Path, delimiter: str) -> _Head:
    """Return the beginning of a file for this delimiter."""
    records: list[list[str]] = []
    starts: list[int] = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter)
        start = 0
        for record in islice(reader, MOST_LINES):
            if record:
                records.append(record)
                starts.append(start)
            start = reader.line_num
    place = header_place(records)
    above = starts[place] if place else 0
    return _Head(above, records[place], records[place + 1] if place + 1 < len(records) else [])


def _decimal(file: TextFile, delimiter: str, numbers: Numbers) -> str:
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
    path, ends = file.path, re.escape(delimiter).encode() + rb"\r\n"
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


def _refuse_no_rows(file: str, frame: pd.DataFrame) -> None:
    """Raise an `InputError` for a table that has only column names."""
    if frame.empty:
        raise InputError(f"{file} has column names but no rows: write the table to it again")


def _refuse_truncated(file: TextFile, dialect: _Dialect, frame: pd.DataFrame) -> None:
    """Raise an `InputError` if the last line lacks values."""
    n_last = len(next(csv.reader([_last_line(file.path)], delimiter=dialect.delimiter)))
    if n_last < len(dialect.header) and frame.iloc[-1:, -1].isna().any():
        raise InputError(
            f"{file.name} is truncated: its last line has {n_last} of {len(dialect.header)} values; write it again"
        )


def _last_line(path: Path) -> str:
    """Return the last line that is not empty."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _SAMPLE_CHARACTERS))
        lines = file.read().decode("utf-8", errors="replace").rstrip("\r\n").splitlines()
    return lines[-1]

"""Read the data files of other packages: text with numbers, CSV, KEEL, Excel, and archives with a CSV inside.

pandas is imported where it is needed: importing it takes longer than reading most of these files.
"""

import functools
import importlib.util
import io
import tarfile
import zipfile
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from heteroscope.core import InputError

if TYPE_CHECKING:
    import pandas as pd

#: Numbers between blanks.
numbers = np.loadtxt


def numbers_between(delimiter: str, *, header: bool) -> Callable[[IO[bytes]], Float64[np.ndarray, "row column"]]:
    """Return a reader of numbers between delimiters, the target last, with or without a line of names above."""
    return functools.partial(np.loadtxt, delimiter=delimiter, skiprows=int(header))


def target_first(file: IO[bytes]) -> Float64[np.ndarray, "row column"]:
    """Read a CSV file whose first column is the target, and move this column to the end."""
    return np.roll(np.loadtxt(file, delimiter=",", skiprows=1), -1, axis=1)


def keel(file: IO[bytes]) -> Float64[np.ndarray, "row column"]:
    """Read a KEEL file: numbers between commas, the target last, below lines that begin with "@"."""
    return np.loadtxt(file, delimiter=",", comments="@")


def excel(file: IO[bytes], sheet: str = "Sheet1") -> Float64[np.ndarray, "row column"]:
    """Read a sheet of an Excel file, the target last."""
    if importlib.util.find_spec("openpyxl") is None:
        raise InputError(
            'this data set is an Excel sheet and openpyxl is not installed: run pip install "heteroscope[uci]"'
        )
    import pandas as pd

    return pd.read_excel(file, sheet_name=sheet, engine="openpyxl").to_numpy(dtype=np.float64)


def csv(**options: Any) -> Callable[[IO[bytes]], "pd.DataFrame"]:
    """Return a reader of a CSV file, with the options of `pandas.read_csv`."""

    return functools.partial(_frame, **options)


def _frame(file: IO[bytes] | io.BufferedIOBase, **options: Any) -> "pd.DataFrame":
    """Read a CSV file, its numbers to the last digit."""
    import pandas as pd

    frame: pd.DataFrame = pd.read_csv(file, float_precision="round_trip", **options)
    return frame


def zipped_csv(member: str) -> Callable[[IO[bytes]], "pd.DataFrame"]:
    """Return a reader of one CSV file in a zip archive."""

    def read(file: IO[bytes]) -> "pd.DataFrame":
        with zipfile.ZipFile(file) as archive, archive.open(member) as inside:
            return _frame(inside)

    return read


def csv_in_tar(member: str) -> Callable[[IO[bytes]], "pd.DataFrame"]:
    """Return a reader of one CSV file in a gzipped tar archive; its first column holds the numbers of the rows."""

    def read(file: IO[bytes]) -> "pd.DataFrame":
        with tarfile.open(fileobj=file, mode="r:gz") as archive:
            try:
                inside = archive.extractfile(member)
            except KeyError:
                inside = None
            if inside is None:
                raise InputError(f"the archive {getattr(file, 'name', '')} has no {member}: install its package again")
            return _frame(inside, index_col=0)

    return read

"""Read the named real sets out of PyPI packages that are installed.

Only data files are read; no code of the packages runs.
"""

import functools
import importlib.resources
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import IO, TYPE_CHECKING, TypeAlias

import numpy as np
from jaxtyping import Float64

from heteroscope.core import InputError
from heteroscope.datasets.splitting import Sample

if TYPE_CHECKING:
    import pandas as pd

#: What a file becomes: numbers whose last column is the target, or a frame with the names of its columns.
Table: TypeAlias = "Float64[np.ndarray, 'row column'] | pd.DataFrame"


@dataclass(frozen=True)
class Source:
    """Where a real set comes from, what it holds, and whether it has already decided anything here.

    Parameters
    ----------
    package, path : str
        The package that is installed, by the name under which it is imported, and the data file in it.
    extra : str
        The extra of this project that installs the package.
    read : callable
        Turns the open file into numbers whose last column is the target, or into a frame.
    n_rows : int
        The number of rows without gaps.
    feature_names : tuple of str
        The columns to predict from. Columns of text become one feature for each category.
    target_name, target_unit : str
        The column to predict, and its unit.
    origin, licence : str
        Who published the rows, and under which licence; "none stated" where the publisher names none.
    used_to_choose : bool
        Whether the set was looked at before a default was decided.
    left_out : tuple of str, default=()
        The other columns of a frame: those that give the target away, identifiers, and columns with mostly gaps.
    n_gaps : int, default=0
        The number of rows that are left out because they have gaps.
    """

    package: str
    path: str
    extra: str
    read: Callable[[IO[bytes]], Table]
    n_rows: int
    feature_names: tuple[str, ...]
    target_name: str
    target_unit: str
    origin: str
    licence: str
    used_to_choose: bool
    left_out: tuple[str, ...] = ()
    n_gaps: int = 0

    @property
    def install(self) -> str:
        """The command that installs the package."""
        return f'pip install "heteroscope[{self.extra}]"'


@functools.cache
def read_source(name: str, source: Source) -> Sample:
    """Return all rows of a set, in read-only arrays that later calls share.

    Parameters
    ----------
    name : str
        The name of the set.
    source : Source
        Where it is.

    Returns
    -------
    Sample
    """
    file = _package_files(source, name) / source.path
    if not file.is_file():
        raise InputError(
            f"the installed {source.package} has no {source.path} for {name}: run {source.install} --upgrade"
        )
    with file.open("rb") as stream:
        table = source.read(stream)
    if isinstance(table, np.ndarray):
        _refuse_other_size(file, name, source, table.shape, (source.n_rows, len(source.feature_names) + 1))
        feature_names, x, y = source.feature_names, table[:, :-1], table[:, -1]
    else:
        feature_names, x, y = _encoded(file, name, source, table)
    for array in (x, y):
        array.flags.writeable = False
    return Sample(name, x, y, feature_names, source.target_name, source.target_unit)


def _encoded(
    file: Traversable, name: str, source: Source, frame: "pd.DataFrame"
) -> tuple[tuple[str, ...], Float64[np.ndarray, "row feature"], Float64[np.ndarray, " row"]]:
    """Return names and values of the features and the target of a frame, without the rows that have gaps."""
    from heteroscope.data import TableEncoder  # here, because it imports pandas

    used = [*source.feature_names, source.target_name]
    size = (source.n_rows + source.n_gaps, len(used) + len(source.left_out))
    _refuse_other_size(file, name, source, frame.shape, size)
    if unknown := set(frame.columns) - {*used, *source.left_out}:
        raise InputError(f"{file} has a column {min(unknown)!r} that {name} lacks: run {source.install} --upgrade")
    whole = frame[used].dropna()
    if len(whole) != source.n_rows:
        raise InputError(
            f"{file} has {len(whole)} rows without gaps, but {name} has {source.n_rows}: reinstall it with "
            f"{source.install} --force-reinstall"
        )
    encoder = TableEncoder.fit(whole, source.target_name)
    return encoder.feature_names, encoder.features(whole), encoder.targets(whole)


def _refuse_other_size(
    file: Traversable, name: str, source: Source, found: tuple[int, ...], expected: tuple[int, int]
) -> None:
    """Raise an `InputError` unless a table has the rows and columns of its published file."""
    if found != expected:
        raise InputError(
            f"{file} has {found[0]} rows of {found[1]} columns, but {name} has {expected[0]} rows of "
            f"{expected[1]}: reinstall it with {source.install} --force-reinstall"
        )


def _package_files(source: Source, name: str) -> Traversable:
    """Return the folder of an installed package without importing the package."""
    spec = importlib.util.find_spec(source.package)
    if spec is None:
        raise InputError(f"{name} is a data file of {source.package}, which is not installed: run {source.install}")
    return importlib.resources.files(importlib.util.module_from_spec(spec))  # the module is created, not executed

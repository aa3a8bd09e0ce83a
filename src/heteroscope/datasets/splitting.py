"""Divide the rows of a data set into training and test rows, in the paper's way or in that of the literature."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Float64, Int64

from heteroscope.core import Identity, InputError

#: Numbers of the training rows and of the test rows.
Indices: TypeAlias = tuple[Int64[np.ndarray, " train"], Int64[np.ndarray, " test"]]


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows of one data set, in the units of its source.

    Parameters
    ----------
    name : str
        The name of the data set.
    x_train, x_test : array of shape (row, feature)
        The inputs.
    y_train, y_test : array of shape (row,)
        The targets.
    feature_names : tuple of str
        The names of the inputs.
    target_name, target_unit : str
        The name and unit of the target; a pure number has the unit "".
    identity : dict or None, default=None
        Which rows these are, in words and numbers, equal on all processors even if the last digits of the rows are not.
        None: the rows are identified by their bytes.
    """

    name: str
    x_train: Float64[np.ndarray, "train feature"]
    y_train: Float64[np.ndarray, " train"]
    x_test: Float64[np.ndarray, "test feature"]
    y_test: Float64[np.ndarray, " test"]
    feature_names: tuple[str, ...]
    target_name: str
    target_unit: str
    identity: Identity | None = None


@dataclass(frozen=True, eq=False)
class Sample:
    """All rows of one data set, not yet divided into training and test rows.

    Parameters
    ----------
    name : str
        The name of the data set.
    x : array of shape (row, feature)
        The inputs.
    y : array of shape (row,)
        The targets.
    feature_names : tuple of str
        The names of the inputs.
    target_name, target_unit : str
        The name and unit of the target; a pure number has the unit "".
    """

    name: str
    x: Float64[np.ndarray, "row feature"]
    y: Float64[np.ndarray, " row"]
    feature_names: tuple[str, ...]
    target_name: str
    target_unit: str

    def split(self, indices: Indices, identity: Identity | None = None) -> Split:
        """Divide the rows into training and test rows.

        Parameters
        ----------
        indices : pair of integer arrays
            The numbers of the training rows and of the test rows.
        identity : dict or None, default=None
            The identity of the result, see `Split`.

        Returns
        -------
        Split
            Copies of these rows.
        """
        train, test = indices
        return Split(
            name=self.name,
            x_train=self.x[train],
            y_train=self.y[train],
            x_test=self.x[test],
            y_test=self.y[test],
            feature_names=self.feature_names,
            target_name=self.target_name,
            target_unit=self.target_unit,
            identity=identity,
        )


def paper_split(n: int, seed: int = 0) -> Indices:
    """Divide n rows at random: two thirds, rounded, for training and the rest for testing.

    Parameters
    ----------
    n : int
        The number of rows.
    seed : int, default=0
        The seed of the draw.

    Returns
    -------
    train, test : arrays of int
        The numbers of the training rows and of the test rows.
    """
    return _cut(n, round(2 * n / 3), np.random.default_rng(seed))


def literature_splits(n: int, n_splits: int = 20, seed: int = 0) -> Iterator[Indices]:
    """Yield independent random divisions of n rows, 90 % for training and the rest for testing.

    Parameters
    ----------
    n : int
        The number of rows.
    n_splits : int, default=20
        The number of divisions; the k-th does not depend on it.
    seed : int, default=0
        The seed of all of them.

    Yields
    ------
    train, test : arrays of int
        The numbers of the training rows and of the test rows.
    """
    for rng in np.random.default_rng(seed).spawn(n_splits):
        yield _cut(n, round(0.9 * n), rng)


def _cut(n: int, n_train: int, rng: np.random.Generator) -> Indices:
    """Divide n rows at random into `n_train` training rows and the rest."""
    if not 0 < n_train < n:
        raise InputError(f"{n} rows are too few for training and test rows: add more rows")
    order = rng.permutation(n)
    return order[:n_train], order[n_train:]

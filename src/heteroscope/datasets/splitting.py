"""The one record that every data set ends in, and the two ways the literature cuts rows into train and test."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from heteroscope.core import Identity, InputError

Indices = tuple[Int64[np.ndarray, " train"], Int64[np.ndarray, " test"]]


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows of one data set, in the units of the source; a pure number has the unit "".

    `identity` says which rows these are without looking at them: it stays the same where a processor computes other
    last digits. Without, they are identified by their bytes.
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
    """All rows of one data set, before anything is held out."""

    name: str
    x: Float64[np.ndarray, "row feature"]
    y: Float64[np.ndarray, " row"]
    feature_names: tuple[str, ...]
    target_name: str
    target_unit: str

    def split(self, indices: Indices, identity: Identity | None = None) -> Split:
        """The Split whose training and test rows are these, and what identifies it; it owns copies of them."""
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
    """Two thirds of n rows, rounded, to train on and the rest to test on, at random."""
    return _cut(n, round(2 * n / 3), np.random.default_rng(seed))


def literature_splits(n: int, n_splits: int = 20, seed: int = 0) -> Iterator[Indices]:
    """`n_splits` independent random splits of n rows, 90 % to train on; split k does not depend on `n_splits`."""
    for rng in np.random.default_rng(seed).spawn(n_splits):
        yield _cut(n, round(0.9 * n), rng)


def _cut(n: int, n_train: int, rng: np.random.Generator) -> Indices:
    if not 0 < n_train < n:
        raise InputError(f"{n} rows leave nothing to train on or to test on: bring more rows")
    order = rng.permutation(n)
    return order[:n_train], order[n_train:]

"""Split rows into folds: shuffled folds, the folds of a scikit-learn splitter, or one share that is held out once."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import BaseCrossValidator, KFold, check_cv
from sklearn.utils import check_consistent_length

from heteroscope.core import InputError, Parameter, resolve_folds
from heteroscope.data import Rows, merge_rows

# A number of folds, a share of the rows, "auto", a splitter, or pairs of row numbers (training, held out).
CrossValidation: TypeAlias = int | float | str | BaseCrossValidator | Iterable[tuple[ArrayLike, ArrayLike]] | None


class Fold(NamedTuple):
    """Training rows, held-out rows, and the seeds of the models: one model per seed, the same seeds for all points."""

    training: Rows
    held: Rows
    seeds: tuple[int, ...] = (0,)

    def logged(self) -> "Fold":
        """Return the same fold with the logarithms of the targets."""
        return self._replace(training=self.training.logged(), held=self.held.logged())


Folds: TypeAlias = Sequence[Fold]


def held_rows(folds: Folds) -> Rows:
    """Concatenate the held-out rows of all folds, in the order of a `Point`'s predictions."""
    return Rows(*(np.concatenate(parts) for parts in zip(*(fold.held for fold in folds), strict=True)))


def check_share(share: object) -> float:
    """Return the share of rows to hold out as a float, 0 <= share < 1."""
    if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0 <= share < 1:
        raise InputError(f"held_out must be a share of the rows from 0 to less than 1, got {share!r}")
    return float(share)


def held_out_fold(share: object, rows: Rows, random: np.random.RandomState) -> Fold | None:
    """Hold out a random share of the rows; return None if the share is 0 or leaves fewer than two training rows."""
    n_held = int(np.ceil(check_share(share) * len(rows.y)))
    order = random.permutation(len(rows.y))
    if n_held == 0 or len(rows.y) - n_held < 2:
        return None
    return Fold(rows.take(np.sort(order[n_held:])), rows.take(np.sort(order[:n_held])))


def make_folds(
    cv: CrossValidation, given: Rows, merged: Rows, random: np.random.RandomState, groups: ArrayLike | None = None
) -> list[Fold]:
    """Split the rows.

    A number of folds or a share splits the merged rows, so that identical rows are never on both sides. A scikit-learn
    splitter uses row numbers, so it splits the rows as given; each side is merged afterwards.
    """
    check_consistent_length(given.y, groups)
    chosen = resolve_folds(cv, len(merged.y))
    if isinstance(chosen, float):
        fold = held_out_fold(chosen, merged, random) if 0 < chosen < 1 else None
        if fold is None:
            raise InputError(
                Parameter("cv", chosen), " as a share must leave at least one row to test on and two to train on"
            )
        return [fold]
    if isinstance(chosen, int | np.integer) and not isinstance(chosen, bool):
        if chosen < 2:
            raise InputError(
                Parameter("cv"),
                f" must be at least 2 folds, a share of the rows or a scikit-learn splitter, got {chosen!r}",
            )
        splitter = KFold(min(int(chosen), len(merged.y)), shuffle=True, random_state=random.randint(2**31 - 1))
        return [Fold(merged.take(train), merged.take(held)) for train, held in splitter.split(merged.x)]
    folds = [
        Fold(merge_rows(*given.take(train)), merge_rows(*given.take(held)))
        for train, held in check_cv(chosen).split(given.x, given.y, groups)
    ]
    if not folds:
        raise InputError(f"cv={chosen!r} has no folds: give a number, a share of the rows or a scikit-learn splitter")
    if any(len(fold.training.y) < 1 or len(fold.held.y) < 1 for fold in folds):
        raise InputError(
            "a fold has no row of positive weight to train on or to test on; choose other folds or weights"
        )
    return folds

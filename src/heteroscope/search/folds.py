"""Split rows into folds: shuffled folds, the folds of a scikit-learn splitter, or one share that is held out once.

Rows with the same inputs and other targets, such as repeated measurements, are held out together: a network that has
seen one of them has seen the level of the others, and its held-out error would be too small. Rows with fewer different
inputs than two per fold are split one by one, since a fold would then lack many of them, and so are rows of one input
that would fill a fold.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Int
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


FEWEST_GROUPS = 2  # different inputs per fold from which rows of the same inputs are held out together
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
    group = _same_inputs(rows, n_held, 2 * FEWEST_GROUPS)
    if group is not None:
        _, rank = np.unique(group[order], return_index=True)  # groups in the order of their first row
        order = order[np.argsort(rank[group[order]], kind="stable")]
        ends = np.flatnonzero(np.diff(group[order])) + 1  # where a group ends
        n_held = int(ends[np.argmin(np.abs(ends - n_held))])
        if len(rows.y) - n_held < 2:
            return None
    return Fold(rows.take(np.sort(order[n_held:])), rows.take(np.sort(order[:n_held])))


def make_folds(
    cv: CrossValidation, given: Rows, merged: Rows, random: np.random.RandomState, groups: ArrayLike | None = None
) -> list[Fold]:
    """Split the rows.

    A number of folds or a share splits the merged rows, so that identical rows are never on both sides, and keeps rows
    of the same inputs together. A scikit-learn splitter uses row numbers, so it splits the rows as given; each side is
    merged afterwards.
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
        n_folds, seed = min(int(chosen), len(merged.y)), random.randint(2**31 - 1)
        group = _same_inputs(merged, len(merged.y) // n_folds, FEWEST_GROUPS * n_folds)
        if group is not None:
            return _grouped_folds(merged, group, n_folds, np.random.RandomState(seed))
        splitter = KFold(n_folds, shuffle=True, random_state=seed)
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


def _same_inputs(rows: Rows, most: int, fewest: int) -> Int[np.ndarray, " row"] | None:
    """Return a number per row that rows of equal inputs share, in groups of at most `most`; merged rows are sorted.

    None if all inputs differ, or fewer than `fewest` do.
    """
    new = np.concatenate([[True], np.any(rows.x[1:] != rows.x[:-1], axis=1)])
    if new.all() or new.sum() < fewest:
        return None
    large = np.bincount(np.cumsum(new) - 1) > most
    return np.cumsum(new | large[np.cumsum(new) - 1]) - 1


def _grouped_folds(
    rows: Rows, group: Int[np.ndarray, " row"], n_folds: int, random: np.random.RandomState
) -> list[Fold]:
    """Split the rows into folds of about equal size that no group is spread over: the largest go to the smallest fold.

    Groups of equal size are shuffled, so that single rows fall into random folds.
    """
    sizes = np.bincount(group)
    shuffled = random.permutation(len(sizes))
    fold_of, filled = np.empty(len(sizes), int), np.zeros(n_folds, int)
    for number in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        fold_of[number] = np.argmin(filled)
        filled[fold_of[number]] += sizes[number]
    held = [fold_of[group] == k for k in range(n_folds)]
    return [Fold(rows.take(np.flatnonzero(~part)), rows.take(np.flatnonzero(part))) for part in held]

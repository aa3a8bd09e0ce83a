"""Which rows a model is trained on and which it is judged by: folds, a splitter's own, or a share held out once."""

from typing import Any

import numpy as np
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import check_consistent_length

from heteroscope.core import InputError, Parameter, resolve_folds
from heteroscope.data import Rows, merge_rows
from heteroscope.search.points import Fold


def check_share(share: Any) -> float:
    """The share of rows to hold out, as a number."""
    if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0 <= share < 1:
        raise InputError(f"held_out must be a share of the rows from 0 to less than 1, got {share!r}")
    return float(share)


def held_out_fold(share: Any, rows: Rows, random: np.random.RandomState) -> Fold | None:
    """Rows for the model that judges a fit; None if no share is wanted or too few rows are there to judge by."""
    n_held = int(np.ceil(check_share(share) * len(rows.y)))
    order = random.permutation(len(rows.y))
    if n_held == 0 or len(rows.y) - n_held < 2:
        return None
    return Fold(rows.take(np.sort(order[n_held:])), rows.take(np.sort(order[:n_held])))


def make_folds(cv: Any, given: Rows, merged: Rows, random: np.random.RandomState, groups: Any = None) -> list[Fold]:
    """Shuffled folds of the merged rows for a number; a splitter's own, which counts the rows as they were given."""
    check_consistent_length(given.y, groups)
    cv = resolve_folds(cv, len(merged.y))
    if isinstance(cv, float):
        fold = held_out_fold(cv, merged, random) if 0 < cv < 1 else None
        if fold is None:
            raise InputError(Parameter("cv", cv), " as a share must leave rows to judge by and two rows to train on")
        return [fold]
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if cv < 2:
            raise InputError(
                Parameter("cv"),
                f" must be at least 2 folds, a share of the rows or a scikit-learn splitter, got {cv!r}",
            )
        splitter = KFold(min(int(cv), len(merged.y)), shuffle=True, random_state=random.randint(2**31 - 1))
        return [Fold(merged.take(train), merged.take(held)) for train, held in splitter.split(merged.x)]
    folds = [
        Fold(merge_rows(*given.take(train)), merge_rows(*given.take(held)))
        for train, held in check_cv(cv).split(given.x, given.y, groups)
    ]
    if not folds:
        raise InputError(f"cv={cv!r} has no folds: give a number, a share of the rows or a scikit-learn splitter")
    if any(len(fold.training.y) < 1 or len(fold.held.y) < 1 for fold in folds):
        raise InputError(
            "a fold has no row of positive weight to train on or to judge by; choose other folds or weights"
        )
    return folds

"""Collect the held-out rows of folds with their predictions, and judge them beside the constant model of each fold."""

import numpy as np
from jaxtyping import Float, Int

from heteroscope.data import Rows
from heteroscope.distributions import lognormal_moments
from heteroscope.phases import HeldOutRows, Verdict, judge
from heteroscope.search.folds import Folds, held_rows


def held_out_rows(
    folds: Folds, mean: Float[np.ndarray, " held"], std: Float[np.ndarray, " held"], given: Rows | None
) -> HeldOutRows | None:
    """Return the held-out rows of all folds with their predictions; None if there are no such rows.

    Parameters
    ----------
    folds : sequence of Fold
        The folds that held the rows out.
    mean, std : ndarray of shape (n_held,)
        Their predictions, as delivered, fold after fold.
    given : Rows or None
        The rows as the user gave them, by whose numbers rows are named.

    Returns
    -------
    HeldOutRows or None
        The rows, in the order of the predictions.
    """
    held = held_rows(folds)
    if not len(held.y):
        return None
    fold = np.repeat(np.arange(len(folds)), [len(fold.held.y) for fold in folds])
    return HeldOutRows(held.y, mean, std, held.weight, fold, None if given is None else _row_numbers(held, given))


def judge_folds(
    folds: Folds, held: HeldOutRows | None, std_scale: float = 1.0, df: float = np.inf, lognormal: bool = False
) -> Verdict | None:
    """Judge predictions of the held-out rows; None if there are no such rows.

    Parameters
    ----------
    folds : sequence of Fold
        The folds that held the rows out.
    held : HeldOutRows or None
        What `held_out_rows` has returned for these folds.
    std_scale : float, default=1.0
        Factor that made the networks' std that of the rows.
    df : float, default=infinity
        Degrees of freedom of the predictions, a Student-t with this std; infinite for a Gaussian.
    lognormal : bool, default=False
        Whether the predictions are lognormal; the constant model then is, too.

    Returns
    -------
    Verdict or None
        See `judge`.
    """
    if held is None:
        return None
    training = [fold.training.logged() if lognormal else fold.training for fold in folds]
    centres = np.array([np.average(rows.y, weights=rows.weight) for rows in training])
    spreads = [
        np.sqrt(np.average((rows.y - centre) ** 2, weights=rows.weight))
        for rows, centre in zip(training, centres, strict=True)
    ]
    constant = centres[held.fold], np.array(spreads)[held.fold]
    if lognormal:
        constant = lognormal_moments(*constant)
    return judge(held.y, held.mean, held.std, *constant, held.weight, held.number, std_scale, df, lognormal)


def _row_numbers(rows: Rows, given: Rows) -> Int[np.ndarray, " row"]:
    """Return the number of the first given row that equals each of these rows, which are merged copies of them."""
    known, wanted = (np.column_stack([part.x, part.y]) + 0.0 for part in (given, rows))  # + 0.0: -0.0 becomes 0.0
    first: dict[bytes, int] = {}
    for number, row in enumerate(known):
        first.setdefault(row.tobytes(), number)
    return np.array([first[row.tobytes()] for row in wanted])

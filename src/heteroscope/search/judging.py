"""Judge predictions of the held-out rows of folds, each beside the constant model of its fold."""

import numpy as np
from jaxtyping import Float, Int

from heteroscope.data import Rows
from heteroscope.distributions import lognormal_moments
from heteroscope.phases import Verdict, judge
from heteroscope.search.folds import Folds, held_rows


def judge_folds(
    folds: Folds,
    mean: Float[np.ndarray, " held"],
    std: Float[np.ndarray, " held"],
    given: Rows | None,
    std_scale: float = 1.0,
    df: float = np.inf,
    lognormal: bool = False,
) -> Verdict | None:
    """Judge predictions of the held-out rows, fold after fold; None if there are no such rows.

    Parameters
    ----------
    folds : sequence of Fold
        The folds that held the rows out.
    mean, std : ndarray of shape (n_held,)
        Their predictions, as delivered.
    given : Rows or None
        The rows as the user gave them, by whose numbers rows are named.
    std_scale : float, default=1.0
        Factor that made the networks' std `std`.
    df : float, default=infinity
        Degrees of freedom of the predictions, a Student-t with this std; infinite for a Gaussian.
    lognormal : bool, default=False
        Whether the predictions are lognormal; the constant model then is, too.

    Returns
    -------
    Verdict or None
        See `judge`.
    """
    held = held_rows(folds)
    if not len(held.y):
        return None
    sizes = [len(fold.held.y) for fold in folds]
    training = [fold.training.logged() if lognormal else fold.training for fold in folds]
    centres = [np.average(rows.y, weights=rows.weight) for rows in training]
    spreads = [
        np.sqrt(np.average((rows.y - centre) ** 2, weights=rows.weight))
        for rows, centre in zip(training, centres, strict=True)
    ]
    constant = np.repeat(centres, sizes), np.repeat(spreads, sizes)
    if lognormal:
        constant = lognormal_moments(*constant)
    numbers = None if given is None else _row_numbers(held, given)
    return judge(held.y, mean, std, *constant, held.weight, numbers, std_scale, df, lognormal)


def _row_numbers(rows: Rows, given: Rows) -> Int[np.ndarray, " row"]:
    """Return the number of the first given row that equals each of these rows, which are merged copies of them."""
    known, wanted = (np.column_stack([part.x, part.y]) + 0.0 for part in (given, rows))  # + 0.0: -0.0 becomes 0.0
    first: dict[bytes, int] = {}
    for number, row in enumerate(known):
        first.setdefault(row.tobytes(), number)
    return np.array([first[row.tobytes()] for row in wanted])

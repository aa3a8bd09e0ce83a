"""What the final fit takes from a search: the points of its members, and the tails of its distribution."""

from typing import NamedTuple

from heteroscope.search.cross_validation import Point
from heteroscope.search.cv_results import SearchResult
from heteroscope.search.folded_rows import FoldedRows
from heteroscope.search.std_calibration import final_std_scale, share_of_more_members
from heteroscope.search.tails import choose_tails

MOST_NEAR = 3  # points that share the members of the final fit; measured in docs/research/selection.md


class FinalTails(NamedTuple):
    """Factor of every std for the models of the folds and for those of the final fit, and the degrees of freedom."""

    fold_scale: float = 1.0
    std_scale: float = 1.0
    df: float = float("inf")


def shared_points(result: SearchResult, n_members: int) -> tuple[int, ...]:
    """Return the indices of the points that share the members: the chosen one first, then those that tie with it."""
    near = result.near or (result.best,)
    return near[: min(MOST_NEAR, n_members)]


def final_tails(point: Point, data: FoldedRows, tamed: FoldedRows, family: str, n_members: int) -> FinalTails:
    """Return the tails that fit the held-out rows, for the folds' models and for `n_members` fitted to all rows.

    Parameters
    ----------
    point : Point
        The chosen point, with the members of all points that share the final fit.
    data, tamed : FoldedRows
        All rows, which the tails fit, and those without wild targets; both in the units of the networks' target.
    family : {"auto", "gaussian", "student-t"}
        The distributions to choose from.
    n_members : int
        Number of models of the final fit.

    Returns
    -------
    FinalTails
        The factors and the degrees of freedom.
    """
    fold_scale, df = choose_tails(point, data.folds, family)
    more = share_of_more_members(point, tamed.folds, n_members)
    return FinalTails(fold_scale, final_std_scale(fold_scale, more, data.training_share, data.n_held), df)

"""Search near a point that was predicted without training, with few models.

From the predicted point (alpha, beta) the search follows a ray to weaker penalties, as the diagonal does:

    (alpha e^(-2u), beta e^(-u)),    u = 0, 3, 8

since a theory of slopes knows nothing of what else keeps networks smooth: their start, their layers and the end of
training.
"""

import numpy as np
from jaxtyping import Float

from heteroscope.core import DIAGONAL_LOGITS, alpha_beta, logits_from_alpha_beta
from heteroscope.search.cross_validation import Logits, Point
from heteroscope.search.cv_results import SearchResult
from heteroscope.search.diagonal_and_grid import CandidateSearch, off_diagonal_points, refine_around
from heteroscope.search.folds import Fold
from heteroscope.search.selection import row_loss
from heteroscope.search.tails import FEW

FEWEST_FOLDS = 3  # that this search uses of those that cv="auto" makes; more until they hold out enough rows
RAY = (0.0, 3.0, 8.0)  # u of the first points
REFINEMENTS = 2  # points beside the best of them, one on each side
PLATEAU = 0.95  # share of the gain over the constant model from which on short trainings count as equally good
_LEAST_LOG_ALPHA = -2.0 * DIAGONAL_LOGITS[1]  # of the diagonal's weakest penalty


def search_around(search: CandidateSearch, centre: Logits) -> SearchResult:
    """Search near a point with about a quarter of the steps that the diagonal takes, and choose one.

    1. Train the points of the ray, then two beside the best, one on each side, then one with a weaker penalty of the
       precision.
    2. Repeat with a longer training the strongest penalty that was about as good as the best.
    3. Evaluate the best point on the other folds; steps 1 and 2 use the first fold only.

    Parameters
    ----------
    search : CandidateSearch
        Trains and scores the points.
    centre : tuple of float
        logit rho and logit gamma of the predicted point.

    Returns
    -------
    SearchResult
        All points and the chosen one.
    """
    shortest, *longer = search.recipes
    search.plan([len(RAY) + REFINEMENTS + 1, *[1] * len(longer)], 1)
    visited = _reachable(np.array(RAY), centre)
    points = search.evaluate_on_first_fold([_along(centre, u) for u in visited], shortest)
    more = _beside(visited, search.best_by_score(points))
    points += search.evaluate_on_first_fold([_along(centre, u) for u in more], shortest)
    steps = np.concatenate([visited, more])
    best = points[search.best_by_score(points)].logits
    points += search.evaluate_on_first_fold(off_diagonal_points([best], 1, stride=2), shortest)
    for recipe in longer:
        again = _along(centre, _first_of_plateau(search, points, steps))
        points += search.evaluate_on_first_fold([again], recipe)
    return search.select(points, 1)


def enough_folds(folds: list[Fold]) -> list[Fold]:
    """Return the first three of these folds, or more until they hold out the rows that determine a scale of the std."""
    held = np.cumsum([len(fold.held.y) for fold in folds])
    return folds[: max(FEWEST_FOLDS, 1 + int(np.searchsorted(held, FEW)))]


def _along(centre: Logits, u: float) -> Logits:
    """Return the point of the ray at (alpha e^(-2u), beta e^(-u))."""
    alpha, beta = alpha_beta(*centre)
    rho, gamma = logits_from_alpha_beta(alpha * np.exp(-2.0 * u), beta * np.exp(-u))
    return float(rho), float(gamma)


def _beside(line: Float[np.ndarray, " u"], best: int) -> Float[np.ndarray, " v"]:
    """Return a point on each side of the best: of the predicted point also one of stronger penalties."""
    if best > 0:
        return refine_around(line, best, REFINEMENTS)
    return line[1] * np.array([-0.5, 0.5])


def _reachable(line: Float[np.ndarray, " u"], centre: Logits) -> Float[np.ndarray, " u"]:
    """Return the line, shrunk so that its weakest penalty is none below that of the diagonal's end."""
    log_alpha = float(np.log(alpha_beta(*centre)[0]))
    room = max(0.5 * (log_alpha - _LEAST_LOG_ALPHA), 1.0)
    return line * min(1.0, room / line[-1])


def _first_of_plateau(search: CandidateSearch, points: list[Point], steps: Float[np.ndarray, " u"]) -> float:
    """Return the smallest u, the strongest penalty, whose score is about the best: longer trainings need no weaker one.

    `points` begins with those of the ray, at `steps`.
    """
    fold = search.folds[0]
    centre = np.average(fold.training.y, weights=fold.training.weight)
    spread = np.sqrt(np.average((fold.training.y - centre) ** 2, weights=fold.training.weight))
    mean, std = np.full_like(fold.held.y, centre), np.full_like(fold.held.y, spread)
    constant = np.average(row_loss(search.selection, fold.held.y, mean, std), weights=fold.held.weight)
    scores = search.scores(points)[: len(steps)]
    best = float(scores.min())
    enough = scores <= best + (1.0 - PLATEAU) * max(constant - best, 0.0)
    return float(steps[enough].min())

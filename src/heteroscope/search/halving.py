"""Search a table of many rows by halving: many short trainings, then fewer and fewer of twice the length.

With many rows one model tells penalties apart, so each point has one model at first. An ensemble gains more from long
trainings and weak penalties than its first member shows. So a longer training wins if its first member is no worse,
and otherwise ensembles decide.
"""

import numpy as np
from jaxtyping import Float

from heteroscope.search.cross_validation import Point, add_members, first_member
from heteroscope.search.cv_results import SearchResult
from heteroscope.search.diagonal_and_grid import CandidateSearch, add_off_diagonal_points, plateau_start, search_line
from heteroscope.search.selection import choose_finalists

HALVING_LENGTHS = (0.125, 0.25, 0.5, 1.0)  # training lengths, as shares of max_steps
SURVIVORS = (4, 2, 1)  # points of the second, third and fourth round; measured in docs/research/defaults.md


def search_by_halving(
    search: CandidateSearch, coarse: Float[np.ndarray, " t"], n_fine: int, n_off_diagonal: int
) -> SearchResult:
    """Search the diagonal and points near it with rows that are held out once, and choose a point.

    1. Train points on the diagonal and off it, as `search_diagonal` does: short trainings, one model per point.
    2. Train a few of the best points for twice as long; fewer in each round, the last one with all members.
    3. Stop, and choose the best point of the shorter trainings, if a round's best point has the worse score, first of
       one member and then of all.

    Parameters
    ----------
    search : CandidateSearch
        Trains and scores the points, with one fold, one recipe per round, and one model per point on the first fold.
    coarse : array of float
        Logits of the first points, sorted.
    n_fine : int
        Number of points that refine the line.
    n_off_diagonal : int
        Number of points off the diagonal.

    Returns
    -------
    SearchResult
        All points and the chosen one.
    """
    shortest, *longer = search.recipes
    (fold,) = search.folds
    counts = (len(coarse) + n_fine + n_off_diagonal, *SURVIVORS[:-1], SURVIVORS[-1] * len(fold.seeds))
    search.n_planned = sum(n * recipe.steps for n, recipe in zip(counts, search.recipes, strict=True))
    path = search_line(search, coarse, n_fine, shortest)
    plateau = path[plateau_start(search.scores(path))]
    points = add_off_diagonal_points(search, path, n_off_diagonal)
    best = search.best_by_score(points)
    chosen = _with_plateau(search, points, points.index(plateau))
    for n, recipe in zip((*SURVIVORS[1:], 0), longer, strict=True):
        logits, first = [points[k].logits for k in chosen], len(points)
        points += search.evaluate(logits, search.folds, recipe) if n == 0 else search.evaluate_on_first_fold(logits, recipe)
        rival = first + search.best_by_score(points[first:])
        if not _is_better(search, first_member(points[rival]), first_member(points[best])):
            for k in (best, rival):
                points[k] = _with_all_members(search, points[k])
            if not _is_better(search, points[rival], points[best]):
                break
        best = rival
        chosen = [first + k for k in _finalists(search, points[first:], n)]
    points[best] = _with_all_members(search, points[best])
    return search.finish(SearchResult(points, best))


def _is_better(search: CandidateSearch, longer: Point, shorter: Point) -> bool:
    """Return whether the longer training has the lower score, or the same."""
    return search.best_by_score([longer, shorter]) == 0


def _with_all_members(search: CandidateSearch, point: Point) -> Point:
    """Return the point with one member per seed of the fold; train those that are missing."""
    (fold,) = search.folds
    missing = fold.seeds[point.results[0].means.shape[0] :]
    if not missing:
        return point
    (others,) = search.evaluate([point.logits], [fold._replace(seeds=missing)], point.recipe)
    return add_members(point, others)


def _finalists(search: CandidateSearch, points: list[Point], n: int) -> list[int]:
    """Return the sorted indices of the `n` best points, which lie apart if there are such."""
    return choose_finalists(points, search.folds, search.selection, n, search.calibrate)


def _with_plateau(search: CandidateSearch, points: list[Point], plateau: int) -> list[int]:
    """Return the sorted indices of the second round's points: the best ones, and the one where the plateau begins.

    Longer trainings need at least as strong a penalty as short ones; the plateau's first point has a stronger one.
    """
    chosen = _finalists(search, points, SURVIVORS[0])
    if plateau not in chosen:
        chosen = sorted([*_finalists(search, points, SURVIVORS[0] - 1), plateau])
    return chosen

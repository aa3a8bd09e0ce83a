"""Search a table of many rows by halving: many short trainings, fewer of twice the length, one of the whole length.

With many rows one model tells points apart, so each point has one model at first. An ensemble gains more from long
trainings and weak penalties than its first member shows. So a longer training wins if its first member is no worse,
and otherwise ensembles decide.
"""

import numpy as np
from jaxtyping import Float

from heteroscope.search.cross_validation import Logits, Point, first_member, stack_points
from heteroscope.search.cv_results import SearchResult
from heteroscope.search.diagonal_and_grid import (
    CandidateSearch,
    off_diagonal_points,
    plateau_start,
    search_line,
    up_to_plateau,
)
from heteroscope.search.selection import TIE

HALVING_LENGTHS = (0.125, 0.25, 1.0)  # training lengths, as shares of max_steps; measured in docs/research/selection.md
SECOND_POINTS = 2  # points of the second round up to the plateau


def search_by_halving(
    search: CandidateSearch, coarse: Float[np.ndarray, " t"], n_fine: int, n_off_diagonal: int
) -> SearchResult:
    """Search the diagonal and points off it with rows that are held out once, and choose a point.

    1. Train points of the diagonal, as `search_diagonal` does, and off it: short trainings, one model per point.
    2. Train for twice as long up to the plateau of the scores, and off the diagonal.
    3. Train the best of the second round to the end, even if it is behind: its gain may come at the end only.

    Each round has `n_off_diagonal` points off the diagonal whose mean penalty is the strongest that leaves the mean
    nearly its best error, or still stronger; the first round has half as many with that of the best score. If a round's
    best point has a worse score than the best before it, first of one member and then of all, the shorter training is
    chosen.

    Parameters
    ----------
    search : CandidateSearch
        Trains and scores the points, with one fold, one recipe per round, and one model per point on the first fold.
    coarse : array of float
        Logits of the first points, sorted.
    n_fine : int
        Number of points that refine the line.
    n_off_diagonal : int
        Number of points off the diagonal in each of the first two rounds.

    Returns
    -------
    SearchResult
        All points and the chosen one.
    """
    short, half, full = search.recipes
    n_more = n_off_diagonal // 2
    counts = (
        len(coarse) + n_fine + n_off_diagonal + n_more,
        SECOND_POINTS + 1 + n_off_diagonal,
        len(search.folds[0].seeds),
    )
    search.n_planned = sum(n * recipe.steps for n, recipe in zip(counts, search.recipes, strict=True))
    line = search_line(search, coarse, n_fine, short)
    scores = search.scores(line)
    starts = strong_penalties(line, search.mean_errors(line))
    best_off = off_diagonal_points([line[search.best_by_score(line)].logits], n_more, stride=2)
    off = off_diagonal_points(starts, n_off_diagonal)
    new = [logits for logits in dict.fromkeys([*off, *best_off]) if logits not in {point.logits for point in line}]
    points = _sorted([*line, *search.evaluate_on_first_fold(new, short)])
    best = search.best_by_score(points)
    first = len(points)
    diagonal = [(t, -t) for t in up_to_plateau(line, scores, SECOND_POINTS)]
    points += _sorted(search.evaluate_on_first_fold(list(dict.fromkeys(diagonal + off)), half))
    longer = first + search.best_by_score(points[first:])
    best = _longer_if_better(search, points, best, longer)
    points += search.evaluate([points[longer].logits], search.folds, full)
    best = _longer_if_better(search, points, best, len(points) - 1)
    points[best] = _with_all_members(search, points[best])
    near = search.within([first_member(point) for point in points], list(range(len(points))), TIE)
    return search.finish(SearchResult(points, best, (best, *(k for k in near if k != best))))


def strong_penalties(line: list[Point], errors: Float[np.ndarray, " point"]) -> list[Logits]:
    """Return two points of the diagonal: the first on the plateau of the mean's errors, and halfway to the one before.

    Longer trainings need at least as strong a penalty of the mean as short ones.
    """
    k = plateau_start(errors)
    t, before = line[k].logits[0], line[max(k - 1, 0)].logits[0]
    return list(dict.fromkeys((u, -u) for u in (t, (t + before) / 2)))


def _longer_if_better(search: CandidateSearch, points: list[Point], shorter: int, longer: int) -> int:
    """Return the index of the better of two points; where only all members can tell, train them."""
    first_members = [first_member(points[k]) for k in (longer, shorter)]
    if search.best_by_score(first_members) == 0:
        return longer
    for k in (longer, shorter):
        points[k] = _with_all_members(search, points[k])
    return (longer, shorter)[search.best_by_score([points[longer], points[shorter]])]


def _with_all_members(search: CandidateSearch, point: Point) -> Point:
    """Return the point with one member per seed of the fold; train those that are missing."""
    (fold,) = search.folds
    missing = fold.seeds[point.results[0].means.shape[0] :]
    if not missing:
        return point
    (others,) = search.evaluate([point.logits], [fold._replace(seeds=missing)], point.recipe)
    return stack_points([point, others])


def _sorted(points: list[Point]) -> list[Point]:
    return sorted(points, key=lambda point: point.logits[0])

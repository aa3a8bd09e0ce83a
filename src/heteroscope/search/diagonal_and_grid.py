"""Search the diagonal rho = 1 - gamma, points near it, or a grid of the whole square.

On the diagonal, logit rho = -logit gamma = t. Every point is scored on the first fold: score = average held-out loss of
models that were not trained on the row. Only the best points are evaluated on the other folds.

Short trainings come first: they are cheap, and on some tables they give the better model. Longer trainings need the
same penalty or a stronger one, so they search up to the short trainings' plateau, plus one point beyond.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from heteroscope.core import Progress, alpha_beta, logits_from_alpha_beta
from heteroscope.phases import Phase
from heteroscope.search.cross_validation import Logits, Point, cap_predictions, cross_validate
from heteroscope.search.cv_results import SearchResult
from heteroscope.search.folds import Folds
from heteroscope.search.selection import (
    LOST,
    OVERFIT,
    TIE,
    choose,
    choose_finalists,
    held_out_mean_mse,
    losses_and_scores,
    paper_midpoint,
    within,
)
from heteroscope.training import Recipe

UNDERFIT = (Phase.U_I, Phase.U_II)
LONG_POINTS = 4  # points of the longer training up to the plateau; measured in docs/research/defaults.md
LONG_REFINEMENTS = 2  # points of the longer training around its best one
PLATEAU = 0.97  # share of the largest gain over the first point's score at which the plateau begins
PRECISION_FACTOR = 10**-0.5  # ratio of the precision penalties of successive off-diagonal points
STAYING = 0.6  # planned share of the finalists' later folds: of three it is within a factor of two if 1, 2 or 3 stay
MEMBERS_PER_FOLD = 2  # models per fold and point, if the std is scaled: the fewest that show how much members disagree


class CandidateSearch:
    """Trains and scores candidate points; keeps what is the same for all of them and counts the trained models.

    Parameters
    ----------
    folds : sequence of Fold
        The folds. With `calibrate` each has MEMBERS_PER_FOLD seeds, because an ensemble needs a weaker penalty than a
        single model.
    recipes : sequence of Recipe
        One recipe per training length, the shortest first.
    selection : {"nll", "crps", "paper"}, default="nll"
        The rule of choice, see `choose`.
    calibrate : bool, default=False
        Whether to cap the std at the range of the targets and to score points after scaling it.
    family : {"auto", "gaussian", "student-t"}, default="gaussian"
        The distribution by which finalists are compared, with `calibrate`; see `choose_tails`.
    keep_members : bool, default=False
        Whether results keep the trained networks, which conformal intervals predict with.
    n_jobs : int or None, default=None
        Number of processes.
    progress : callable or None, default=None
        Called with the number of finished steps, of all models together, and about how many there will be.
    n_first : int or None, default=None
        Number of models per point on the first fold; None: one for each of its seeds.
    """

    def __init__(
        self,
        folds: Folds,
        recipes: Sequence[Recipe],
        selection: str = "nll",
        calibrate: bool = False,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        family: str = "gaussian",
        keep_members: bool = False,
        n_first: int | None = None,
    ) -> None:
        self.folds, self.recipes, self.keep_members = folds, recipes, keep_members
        self.selection, self.calibrate, self.family = selection, calibrate, family
        self.n_jobs, self.progress = n_jobs, progress
        self.n_first = n_first
        self.n_planned, self.n_done = 0, 0

    def plan(self, n_points: Sequence[int], n_finalists: int) -> None:
        """Set the total of the progress bar, in steps: `n_points` of each recipe, then the finalists.

        Short trainings come first, so models would be no measure of time. Which recipe the finalists have is not known
        yet: their steps are taken as the average of the recipes.
        """
        first = len(self.folds[0].seeds[: self.n_first])
        average = sum(recipe.steps for recipe in self.recipes) // len(self.recipes)
        self.n_planned = sum(n * first * recipe.steps for n, recipe in zip(n_points, self.recipes, strict=True))
        self.n_planned += self._steps_of_finalists([average] * n_finalists, 1)

    def plan_finalists(self, points: list[Point], kept: list[int]) -> None:
        """Set the total anew for finalists that are known."""
        steps = [points[k].recipe.steps for k in kept]
        self.n_planned = self.n_done + self._steps_of_finalists(steps, len(points[kept[0]].results))

    def _steps_of_finalists(self, steps: list[int], n_folds: int) -> int:
        """Return about how many steps finalists need that have been trained on so many folds; some of them drop out."""
        following, *later = [*(len(fold.seeds) for fold in self.folds[n_folds:]), 0]
        return int(sum(steps) * (following + sum(later) * (STAYING if self.calibrate and len(steps) > 1 else 1.0)))

    def evaluate(self, points: Sequence[Logits], folds: Folds, recipe: Recipe) -> list[Point]:
        """Train every point on each of these folds."""
        before, progress = self.n_done, self.progress
        self.n_done += len(points) * sum(len(fold.seeds) for fold in folds) * recipe.steps

        def report(done: int, _: int) -> None:
            if progress:
                progress(min(before + done * recipe.steps, self.n_planned), self.n_planned)

        evaluated = cross_validate(folds, points, recipe, self.n_jobs, report if progress else None, self.keep_members)
        return [cap_predictions(point, folds) for point in evaluated] if self.calibrate else evaluated

    def evaluate_on_first_fold(self, points: Sequence[Logits], recipe: Recipe) -> list[Point]:
        """Train every point on the first fold."""
        fold = self.folds[0]
        return self.evaluate(points, [fold._replace(seeds=fold.seeds[: self.n_first])], recipe)

    def best_by_score(self, points: list[Point]) -> int:
        """Return the index of the point to choose by the first fold."""
        return choose(points, self.folds[:1], self.selection, self.calibrate)

    def mean_errors(self, points: list[Point]) -> Float[np.ndarray, " point"]:
        """Return the squared error of each point's mean on the first fold."""
        return np.array([held_out_mean_mse(point, self.folds[:1]) for point in points])

    def scores(self, points: list[Point]) -> Float[np.ndarray, " point"]:
        """Return the scores of the points on the first fold; lower is better."""
        return losses_and_scores(points, self.folds[:1], self.selection, self.calibrate)[1]

    def evaluate_on_more_folds(self, points: list[Point], chosen: list[int], n_folds: int | None = None) -> list[Point]:
        """Return all points, those at the `chosen` indices with results on the first `n_folds` folds (None: all)."""
        completed = list(points)
        for recipe in self.recipes:
            same = [k for k in chosen if points[k].recipe == recipe]
            missing = slice(len(points[chosen[0]].results), n_folds)
            more = self.evaluate([points[k].logits for k in same], self.folds[missing], recipe)
            for k, point in zip(same, more, strict=True):
                completed[k] = points[k]._replace(results=points[k].results + point.results)
        return completed

    def select(self, points: list[Point], n_finalists: int) -> SearchResult:
        """Evaluate the best points of the first fold on the other folds and choose one of them.

        With `calibrate`, points that have lost to the best one are dropped after each fold, and those that the held-out
        rows of all folds cannot tell from the best one are named beside it.
        """
        kept = choose_finalists(points, self.folds[:1], self.selection, n_finalists, self.calibrate)
        self.plan_finalists(points, kept)
        for n_folds in range(2, len(self.folds)):
            if self.calibrate and len(kept) > 1:
                points = self.evaluate_on_more_folds(points, kept, n_folds)
                kept = sorted(self.within(points, kept, LOST))
                self.plan_finalists(points, kept)
        points = self.evaluate_on_more_folds(points, kept)
        if self.calibrate:
            best, *others = self.within(points, kept, TIE)
            return self.finish(SearchResult(points, best, (best, *others)))
        best = choose([points[k] for k in kept], self.folds, self.selection)
        return self.finish(SearchResult(points, kept[best]))

    def within(self, points: list[Point], kept: list[int], n_errors: float) -> list[int]:
        """Return those of the `kept` indices whose points are within so many standard errors of the best, it first."""
        near = within([points[k] for k in kept], self.folds, self.selection, self.family, n_errors)
        return [kept[k] for k in near]

    def select_as_in_paper(self, points: list[Point]) -> SearchResult:
        """Choose by the paper's rule, which uses training rows only; the other folds serve the held-out scores."""
        best = choose(points, self.folds[:1], "paper")
        return self.finish(SearchResult(self.evaluate_on_more_folds(points, [best]), best))

    def finish(self, result: SearchResult) -> SearchResult:
        """Move the progress bar to its end, since the plan is an estimate."""
        if self.progress:
            self.progress(self.n_planned, self.n_planned)
        return result


def search_diagonal(
    search: CandidateSearch,
    coarse: Float[np.ndarray, " t"],
    n_fine: int,
    n_finalists: int,
    n_off_diagonal: int = 0,
) -> SearchResult:
    """Search the diagonal, then points near it, and choose one.

    1. Train the `coarse` points of the diagonal.
    2. Train up to half of the `n_fine` points between the last underfit and the first overfit point, the rest around
       the best score.
    3. Train `n_off_diagonal` points: the mean penalty of the best score and of the best mean, weaker precision
       penalties.
    4. Repeat with longer trainings near the best points, with half as many off-diagonal points.
    5. Evaluate the best `n_finalists` points on the other folds; steps 1 to 4 use the first fold only.

    Parameters
    ----------
    search : CandidateSearch
        Trains and scores the points.
    coarse : array of float
        Logits of the first points, sorted.
    n_fine : int
        Number of points of step 2.
    n_finalists : int
        Number of points that are evaluated on all folds.
    n_off_diagonal : int, default=0
        Number of points of step 3.

    Returns
    -------
    SearchResult
        All points and the chosen one.
    """
    n_half = -(-n_off_diagonal // 2)
    n_longer = LONG_POINTS + 1 + LONG_REFINEMENTS + n_half
    search.plan([len(coarse) + n_fine + n_off_diagonal, *[n_longer] * (len(search.recipes) - 1)], n_finalists)
    shortest = search.recipes[0]
    if search.selection == "paper":
        path = _bisected_line(search, coarse, n_fine // 2, shortest)
        return search.select_as_in_paper(extend_line(search, path, [paper_midpoint(path)], shortest))
    path = search_line(search, coarse, n_fine, shortest)
    points = add_off_diagonal_points(search, path, n_off_diagonal)
    for recipe in search.recipes[1:]:
        longer = extend_line(search, [], up_to_plateau(path, search.scores(path)), recipe)
        refined = refine_around(_line(longer), search.best_by_score(longer), LONG_REFINEMENTS)
        longer = extend_line(search, longer, refined, recipe)
        points += add_off_diagonal_points(search, longer, n_half, stride=2)
    return search.select(points, n_finalists)


def search_line(search: CandidateSearch, coarse: Float[np.ndarray, " t"], n_fine: int, recipe: Recipe) -> list[Point]:
    """Train the `coarse` points of the diagonal and `n_fine` more: where overfitting begins, and around the best."""
    path = _bisected_line(search, coarse, n_fine // 2, recipe)
    n_left = len(coarse) + n_fine - len(path)
    return extend_line(search, path, refine_around(_line(path), search.best_by_score(path), n_left), recipe)


def _bisected_line(
    search: CandidateSearch, coarse: Float[np.ndarray, " t"], n_halves: int, recipe: Recipe
) -> list[Point]:
    """Train the `coarse` points and at most `n_halves` between the last underfit and the first overfit point."""
    path = extend_line(search, [], coarse, recipe)
    underfit, overfit = ([p.phase in phases for p in path] for phases in (UNDERFIT, OVERFIT))
    return extend_line(search, path, bisect_transition(_line(path), underfit, overfit, n_halves), recipe)


def search_grid(search: CandidateSearch, line: Float[np.ndarray, " t"], n_finalists: int) -> SearchResult:
    """Train all pairs (logit rho, logit gamma) = (t, -u) for t and u in `line`, and choose one.

    Parameters
    ----------
    search : CandidateSearch
        Trains and scores the points.
    line : array of float
        Logits of rho, and with the opposite sign of gamma; the grid contains the diagonal.
    n_finalists : int
        Number of points that are evaluated on all folds.

    Returns
    -------
    SearchResult
        All points and the chosen one.
    """
    points = [(float(rho), -float(t)) for rho in line for t in line[::-1]]
    search.plan([len(points)] * len(search.recipes), n_finalists)
    evaluated = [point for recipe in search.recipes for point in search.evaluate_on_first_fold(points, recipe)]
    return search.select(evaluated, n_finalists)


def bisect_transition(
    visited: Float[np.ndarray, " t"], underfit: Sequence[bool], overfit: Sequence[bool], n_points: int
) -> Float[np.ndarray, " u"]:
    """Return at most `n_points` new logits between the last underfit and the first overfit point of a sorted line.

    The new logits are the midpoints of the widest intervals there. If no point is underfit, the line's first point
    takes its place; if none is overfit, the last point does.
    """
    first_over = overfit.index(True) if True in overfit else len(visited) - 1
    last_under = max((k for k in range(first_over) if underfit[k]), default=0)
    intervals = list(pairwise(visited[last_under : first_over + 1]))
    widest = sorted(intervals, key=lambda pair: pair[0] - pair[1])[:n_points]
    return np.sort(np.array([(low + high) / 2 for low, high in widest]))


def refine_around(visited: Float[np.ndarray, " t"], best: int, n_points: int) -> Float[np.ndarray, " u"]:
    """Return `n_points` new logits, evenly spaced in the two intervals beside the best of the sorted visited points.

    If `n_points` is odd, the left interval (stronger penalty) gets one more. At an end of the line its only interval
    gets all of them. A line of one point has no interval, so nothing is returned.
    """
    around = visited[max(best - 1, 0) : best + 2]
    n_intervals = len(around) - 1
    shares = [len(part) for part in np.array_split(np.arange(n_points), max(n_intervals, 1))]
    parts = [
        np.linspace(low, high, share + 2)[1:-1] for (low, high), share in zip(pairwise(around), shares, strict=False)
    ]
    return np.concatenate([np.empty(0), *parts])


def up_to_plateau(path: list[Point], scores: Float[np.ndarray, " point"], n: int = LONG_POINTS) -> list[float]:
    """Return logits for longer trainings: `n` up to the plateau of the scores, and one beyond.

    They are evenly spaced from the last underfit point, which is excluded, to the first point of the plateau. The one
    beyond lies halfway between the plateau's first point and the end of the path.
    """
    plateau = plateau_start(scores)
    t, end = path[plateau].logits[0], path[-1].logits[0]
    first = max((p.logits[0] for p in path[:plateau] if p.phase in UNDERFIT), default=path[0].logits[0])
    return sorted({*np.linspace(first, t, n + 1)[1:].tolist(), (t + end) / 2})


def plateau_start(scores: Float[np.ndarray, " point"]) -> int:
    """Return the index of the first point whose score has PLATEAU of the largest gain over the first point's."""
    gain = scores[0] - scores.min() if np.isfinite(scores[0]) else 0.0  # an infinite first score measures no gain
    return int(np.argmax(scores <= scores.min() + (1.0 - PLATEAU) * gain))


def add_off_diagonal_points(search: CandidateSearch, path: list[Point], n: int, stride: int = 1) -> list[Point]:
    """Return the path with `n` more points near its best score and its best mean, trained with the path's recipe."""
    best = search.best_by_score(path), int(np.argmin(search.mean_errors(path)))
    new = off_diagonal_points(list(dict.fromkeys(path[k].logits for k in best)), n, stride)
    return _sorted(path + search.evaluate_on_first_fold(new, path[0].recipe))


def off_diagonal_points(starts: Sequence[Logits], n: int, stride: int = 1) -> list[Logits]:
    """Return `n` points with the mean penalty of a start and weaker precision penalties.

    (alpha, beta) = (alpha_s, beta_s f^j),    f = PRECISION_FACTOR,    j = stride n_starts, 2 stride n_starts, ...

    The starts s take turns. Because j grows in steps of n_starts, several starts reach the same weakest penalty as one.
    """
    points = []
    for k in range(n):
        alpha, beta = alpha_beta(*starts[k % len(starts)])
        n_factors = stride * len(starts) * (k // len(starts) + 1)
        rho, gamma = logits_from_alpha_beta(alpha, beta * PRECISION_FACTOR**n_factors)
        points.append((float(rho), float(gamma)))
    return points


def extend_line(
    search: CandidateSearch, path: list[Point], logits: Sequence[float] | np.ndarray, recipe: Recipe
) -> list[Point]:
    """Return the path with these diagonal points added, sorted; points already on the path are not trained again."""
    known = _line(path)
    new = [float(t) for t in logits if not np.any(np.abs(known - t) < 1e-9)]
    return _sorted(path + search.evaluate_on_first_fold([(t, -t) for t in new], recipe))


def _sorted(points: list[Point]) -> list[Point]:
    return sorted(points, key=lambda point: point.logits[0])


def _line(path: list[Point]) -> Float[np.ndarray, " t"]:
    return np.array([point.logits[0] for point in path])

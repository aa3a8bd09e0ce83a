"""The search as a race: all points run on the first fold, the transition is looked at more closely, few see others.

Short trainings walk the line first, for they are cheap, and some tables are better off with them. Longer ones need as
much of a penalty or more, so they look at stronger ones than those at which the short ones level off, and once beyond.

logit rho = -logit gamma = t on the diagonal;    score = average held-out loss of models that did not see the row
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from heteroscope.core import Progress, alpha_beta, logits_from_alpha_beta
from heteroscope.phases import Phase
from heteroscope.search.cross_validation import Folds, Logits, Point, cap_stds, cross_validate
from heteroscope.search.cv_results import Search
from heteroscope.search.refinement import bisect_transition, refine_around
from heteroscope.search.selection import (
    OVERFIT,
    choose,
    finalists,
    held_out_mean_mse,
    losses_and_scores,
    paper_midpoint,
)
from heteroscope.training import Recipe

UNDERFIT = (Phase.U_I, Phase.U_II)
JUDGES = 2  # members a fold by which points are judged whose std is scaled
LONGER, CLOSER = 4, 2  # points of a longer training up to where the short ones level off, and around its best one
LEVEL = 0.97  # of what the short trainings gain on the first, flat point: where they level off
ASIDE = 10**-0.5  # the precision's penalty from point to point, where a search leaves the diagonal


class Race:
    """What is the same for all points: the folds, how models are trained, the rule of choice; and how far it has come.

    `recipes` differ in the length of the training, the shortest first. With `calibrate`, points are judged by their std
    after scaling, none of them beyond belief; folds then have two seeds, since an ensemble stands a weaker penalty than
    one model.
    """

    def __init__(
        self,
        folds: Folds,
        recipes: Sequence[Recipe],
        selection: str = "nll",
        calibrate: bool = False,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.folds, self.recipes = folds, recipes
        self.selection, self.calibrate = selection, calibrate
        self.n_jobs, self.progress = n_jobs, progress
        self.n_planned, self.n_done = 0, 0

    def plan(self, n_points: int, n_finalists: int) -> None:
        """Tell the progress bar how many models there will be at most."""
        first, *others = (len(fold.seeds) for fold in self.folds)
        left = [max(1, n_finalists - gone) if self.calibrate else n_finalists for gone in range(len(others))]
        self.n_planned = n_points * first + sum(n * seeds for n, seeds in zip(left, others, strict=True))

    def fit(self, points: Sequence[Logits], folds: Folds, recipe: Recipe) -> list[Point]:
        """Every point on every one of these folds."""
        before, progress = self.n_done, self.progress
        self.n_done += len(points) * sum(len(fold.seeds) for fold in folds)
        told = (lambda done, _: progress(before + done, self.n_planned)) if progress else None
        fitted = cross_validate(folds, points, recipe, self.n_jobs, told)
        return [cap_stds(point, folds) for point in fitted] if self.calibrate else fitted

    def screen(self, points: Sequence[Logits], recipe: Recipe) -> list[Point]:
        """Every point on the first fold."""
        return self.fit(points, self.folds[:1], recipe)

    def best(self, points: list[Point]) -> int:
        """The number of the best point by what the first fold says."""
        return choose(points, self.folds[:1], self.selection, self.calibrate)

    def best_mean(self, points: list[Point]) -> int:
        """The number of the point whose mean errs least on the first fold."""
        return int(np.argmin([held_out_mean_mse(point, self.folds[:1]) for point in points]))

    def scores(self, points: list[Point]) -> Float[np.ndarray, " point"]:
        """What the first fold says of points: lower is better."""
        return losses_and_scores(points, self.folds[:1], self.selection, self.calibrate)[1]

    def complete(self, points: list[Point], chosen: list[int], n_folds: int | None = None) -> list[Point]:
        """All points, the chosen ones with the results of the first `n_folds` folds, or of all."""
        completed = list(points)
        for recipe in self.recipes:
            same = [k for k in chosen if points[k].recipe == recipe]
            unseen = slice(len(points[chosen[0]].results), n_folds)
            more = self.fit([points[k].logits for k in same], self.folds[unseen], recipe)
            for k, point in zip(same, more, strict=True):
                completed[k] = points[k]._replace(results=points[k].results + point.results)
        return completed

    def decide(self, points: list[Point], n_finalists: int) -> Search:
        """The best points of the first fold see the others, and one of them is chosen.

        With `calibrate` the lowest score wins, so after each fold but the last the worst of them leaves.
        """
        few = finalists(points, self.folds[:1], self.selection, n_finalists, self.calibrate)
        for n_folds in range(2, len(self.folds)):
            if self.calibrate and len(few) > 1:
                points = self.complete(points, few, n_folds)
                seen = [points[k] for k in few]
                _, scores = losses_and_scores(seen, self.folds[:n_folds], self.selection, self.calibrate)
                del few[int(np.argmax(scores))]
        points = self.complete(points, few)
        best = choose([points[k] for k in few], self.folds, self.selection, self.calibrate)
        return self._done(Search(points, few[best]))

    def decide_as_the_paper(self, points: list[Point]) -> Search:
        """The paper's rule looks at training rows; the other folds are for what is told of the choice."""
        best = choose(points, self.folds[:1], "paper")
        return self._done(Search(self.complete(points, [best]), best))

    def _done(self, found: Search) -> Search:
        """The search, with the progress bar at its end: fewer models may have been enough."""
        if self.progress:
            self.progress(self.n_planned, self.n_planned)
        return found


def search_diagonal(
    race: Race, coarse: Float[np.ndarray, " t"], n_fine: int, n_finalists: int, n_aside: int = 0
) -> Search:
    """The whole line, then half of `n_fine` points between its labels U and O, the others around the best score.

    The line finds the penalty of the mean, by the score and by the mean's error; `n_aside` points then leave it, with
    these penalties and weaker ones of the precision. Longer trainings begin where that has led, with half as many
    points aside. All on the first fold; then the race decides.
    """
    n_half = -(-n_aside // 2)
    n_longer = (len(race.recipes) - 1) * (LONGER + 1 + CLOSER + n_half)
    race.plan(len(coarse) + n_fine + n_aside + n_longer, n_finalists)
    shortest = race.recipes[0]
    path = _walk(race, [], coarse, shortest)
    halves = bisect_transition(
        _line(path), [p.phase in UNDERFIT for p in path], [p.phase in OVERFIT for p in path], n_fine // 2
    )
    path = _walk(race, path, halves, shortest)
    if race.selection == "paper":
        return race.decide_as_the_paper(_walk(race, path, [paper_midpoint(path)], shortest))
    path = _walk(race, path, refine_around(_line(path), race.best(path), n_fine - len(halves)), shortest)
    points = with_points_aside(race, path, n_aside)
    for recipe in race.recipes[1:]:
        longer = _walk(race, [], up_to_the_level(path, race.scores(path)), recipe)
        longer = _walk(race, longer, refine_around(_line(longer), race.best(longer), CLOSER), recipe)
        points += with_points_aside(race, longer, n_half, stride=2)
    return race.decide(points, n_finalists)


def up_to_the_level(path: list[Point], scores: Float[np.ndarray, " point"]) -> list[float]:
    """Evenly from the last underfit point to where the scores level off, and halfway on from there to the end."""
    gain = scores[0] - scores.min() if np.isfinite(scores[0]) else 0.0  # a first point that broke is no measure
    level = int(np.argmax(scores <= scores.min() + (1.0 - LEVEL) * gain))
    t, end = path[level].logits[0], path[-1].logits[0]
    first = max((p.logits[0] for p in path[:level] if p.phase in UNDERFIT), default=path[0].logits[0])
    return sorted({*np.linspace(first, t, LONGER + 1)[1:].tolist(), (t + end) / 2})


def with_points_aside(race: Race, path: list[Point], n: int, stride: int = 1) -> list[Point]:
    """The path and, trained as it is, `n` points beside those of its best score and its best mean."""
    starts = dict.fromkeys(path[k].logits for k in (race.best(path), race.best_mean(path)))
    return _sorted(path + race.screen(aside(list(starts), n, stride), path[0].recipe))


def aside(starts: Sequence[Logits], n: int, stride: int = 1) -> list[Logits]:
    """Points with the alpha of a start, beta times ASIDE, ASIDE^2, ...: the precision ever freer, the mean as it is.

    Several starts take turns, and longer steps, so that each gets as far as one alone; a `stride` makes them longer.
    """
    found = []
    for k in range(n):
        alpha, beta = alpha_beta(*starts[k % len(starts)])
        n_factors = stride * len(starts) * (k // len(starts) + 1)
        rho, gamma = logits_from_alpha_beta(alpha, beta * ASIDE**n_factors)
        found.append((float(rho), float(gamma)))
    return found


def search_grid(race: Race, line: Float[np.ndarray, " t"], n_finalists: int) -> Search:
    """Every pair of a rho of the line and a gamma of its mirror image, which hold the diagonal: the search in full."""
    points = [(float(rho), -float(t)) for rho in line for t in line[::-1]]
    race.plan(len(race.recipes) * len(points), n_finalists)
    return race.decide([point for recipe in race.recipes for point in race.screen(points, recipe)], n_finalists)


def _walk(race: Race, path: list[Point], logits: Sequence[float] | np.ndarray, recipe: Recipe) -> list[Point]:
    """The path with these points added to it, sorted; points that it has are not fitted again."""
    known = _line(path)
    new = [float(t) for t in logits if not np.any(np.abs(known - t) < 1e-9)]
    return _sorted(path + race.screen([(t, -t) for t in new], recipe))


def _sorted(points: list[Point]) -> list[Point]:
    return sorted(points, key=lambda point: point.logits[0])


def _line(path: list[Point]) -> Float[np.ndarray, " t"]:
    return np.array([point.logits[0] for point in path])

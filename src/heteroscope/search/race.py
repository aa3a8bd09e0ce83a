"""The search as a race: all points run on the first fold, the transition is looked at more closely, few see all folds.

Each recipe, such as a shorter training, which noisy tables are better off with, has a race of its own; the best wins.

logit rho = -logit gamma = t on the diagonal;    score = average held-out loss of models that did not see the row
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from heteroscope.grids import bisect, refine
from heteroscope.phases import Phase
from heteroscope.progress import Progress
from heteroscope.regularisation import alpha_beta, logits_from_alpha_beta
from heteroscope.search.points import Fold, Folds, Logits, Point, add_members, believable, cross_validate
from heteroscope.search.results import Search
from heteroscope.search.selection import OVERFIT, best_score, choose, finalists, paper_midpoint
from heteroscope.stages import Recipe

UNDERFIT = (Phase.U_I, Phase.U_II)
JUDGES = 2
ASIDE = 10**-0.5  # the precision's penalty from point to point, where a search leaves the diagonal


class Race:
    """What is the same for all points: the folds, how models are trained, the rule of choice; and how far it has come.

    With `calibrate`, points are judged by their std after scaling, none of them beyond belief, and by two members a
    fold, since an ensemble stands a weaker penalty than one model; the chosen one gets all seeds of every fold, so that
    its scale can be told for an ensemble.
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
        self.all_folds = folds
        self.recipes, self.recipe = recipes, recipes[0]
        self.selection, self.calibrate = selection, calibrate
        self.n_jobs, self.progress = n_jobs, progress
        self.n_planned, self.n_done = 0, 0

    def plan(self, n_points: int, n_finalists: int) -> None:
        """Tell the progress bar how many models there will be at most."""
        first, *others = (len(fold.seeds) for fold in self.folds(0, self.n_judges))
        n_more = sum(len(fold.seeds) for fold in self.folds(self.n_judges)) if self.calibrate else 0
        self.n_planned = len(self.recipes) * (n_points * first + n_finalists * sum(others)) + n_more

    @property
    def n_judges(self) -> int:
        """Members a fold by which points are judged."""
        return JUDGES if self.calibrate else 1

    def folds(self, first: int = 0, last: int | None = None) -> list[Fold]:
        """The folds with some of their seeds."""
        return [fold._replace(seeds=fold.seeds[first:last]) for fold in self.all_folds]

    def fit(self, points: Sequence[Logits], folds: Folds) -> list[Point]:
        """Every point on every one of these folds."""
        before, progress = self.n_done, self.progress
        self.n_done += len(points) * sum(len(fold.seeds) for fold in folds)
        told = (lambda done, _: progress(before + done, self.n_planned)) if progress else None
        fitted = cross_validate(folds, points, self.recipe, self.n_jobs, told)
        return [believable(point, folds) for point in fitted] if self.calibrate else fitted

    def screen(self, points: Sequence[Logits]) -> list[Point]:
        """Every point on the first fold."""
        return self.fit(points, self.folds(0, self.n_judges)[:1])

    def complete(self, points: list[Point], chosen: list[int]) -> list[Point]:
        """All points, the chosen ones with the results of all folds."""
        more = self.fit([points[k].logits for k in chosen], self.folds(0, self.n_judges)[1:])
        results = {k: point.results for k, point in zip(chosen, more, strict=True)}
        return [Point(point.logits, point.results + results.get(k, ())) for k, point in enumerate(points)]

    def best_of(self, points: list[Point], n_finalists: int) -> Search:
        """The best points of the first fold see the other folds, and one of them is chosen."""
        few = finalists(points, self.all_folds[:1], self.selection, n_finalists, self.calibrate)
        points = self.complete(points, few)
        best = choose([points[k] for k in few], self.all_folds, self.selection, self.calibrate)
        return Search(points, few[best], self.recipe)

    def finish(self, found: Search) -> Search:
        """The choice; if it is to be calibrated, with all members of every fold."""
        self.recipe = found.recipe
        if self.calibrate and self.folds(self.n_judges)[0].seeds:
            (more,) = self.fit([found.chosen.logits], self.folds(self.n_judges))
            points = [add_members(p, more) if k == found.best else p for k, p in enumerate(found.points)]
            found = found._replace(points=points)
        if self.progress:
            self.progress(self.n_planned, self.n_planned)
        return found


def search_lengths(race: Race, search: Callable[[Race], Search]) -> Search:
    """The search with every recipe; the one whose choice has the lowest score over all folds is finished."""
    found = []
    for recipe in race.recipes:
        race.recipe = recipe
        found.append(search(race))
    if len(found) > 1:
        scores = [best_score([one.chosen], race.all_folds, race.selection, race.calibrate) for one in found]
        found = [found[int(np.argmin(scores))]]
    return race.finish(found[0])


def search_diagonal(
    race: Race, coarse: Float[np.ndarray, " t"], n_fine: int, n_finalists: int, n_aside: int = 0
) -> Search:
    """The whole line, then half of `n_fine` points between its labels U and O, the others around the best score.

    The line finds the penalty of the mean; `n_aside` points then leave it, with that penalty and weaker ones of the
    precision. All that on the first fold; the `n_finalists` best see the other folds, and one of them is chosen.
    """
    race.plan(len(coarse) + n_fine + n_aside, n_finalists)
    path = _walk(race, [], coarse)
    halves = bisect(_line(path), [p.phase in UNDERFIT for p in path], [p.phase in OVERFIT for p in path], n_fine // 2)
    path = _walk(race, path, halves)
    if race.selection == "paper":
        path = _walk(race, path, [paper_midpoint(path)])
        best = choose(path, race.all_folds[:1], "paper")
        return Search(race.complete(path, [best]), best, race.recipe)
    best = choose(path, race.all_folds[:1], race.selection, race.calibrate)
    path = _walk(race, path, refine(_line(path), best, n_fine - len(halves)))
    best = choose(path, race.all_folds[:1], race.selection, race.calibrate)
    path += race.screen(aside(path[best].logits, n_aside))
    return race.best_of(sorted(path, key=lambda point: point.logits[0]), n_finalists)


def aside(point: Logits, n: int) -> list[Logits]:
    """Points with the same alpha, and beta times ASIDE, ASIDE^2, ...: the precision ever freer, the mean as it is."""
    alpha, beta = alpha_beta(*point)
    return [(float(a), float(b)) for a, b in (logits_from_alpha_beta(alpha, beta * ASIDE**k) for k in range(1, n + 1))]


def search_grid(race: Race, line: Float[np.ndarray, " t"], n_finalists: int) -> Search:
    """Every pair of a rho of the line and a gamma of its mirror image, which hold the diagonal: the search in full."""
    points = [(float(rho), -float(t)) for rho in line for t in line[::-1]]
    race.plan(len(points), n_finalists)
    return race.best_of(race.screen(points), n_finalists)


def _walk(race: Race, path: list[Point], logits: Sequence[float] | np.ndarray) -> list[Point]:
    """The path with these points added to it, sorted; points that it has are not fitted again."""
    known = _line(path)
    new = [float(t) for t in logits if not np.any(np.abs(known - t) < 1e-9)]
    return sorted(path + race.screen([(t, -t) for t in new]), key=lambda point: point.logits[0])


def _line(path: list[Point]) -> Float[np.ndarray, " t"]:
    return np.array([point.logits[0] for point in path])

"""Evaluate candidate points: all on the first fold, the best few on the other folds, then choose one.

score = average held-out loss of models that were not trained on the row
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from heteroscope.core import Progress
from heteroscope.search.cross_validation import Logits, Point, cap_stds, cross_validate
from heteroscope.search.cv_results import SearchResult
from heteroscope.search.folds import Folds
from heteroscope.search.selection import choose, choose_finalists, held_out_mean_mse, losses_and_scores
from heteroscope.training import Recipe

#: Models per fold at each point, if the std is scaled: two are the fewest that show how much members disagree.
MEMBERS_PER_FOLD = 2


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
    n_jobs : int or None, default=None
        Number of processes.
    progress : callable or None, default=None
        Called with the number of trained models and their largest possible number.
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
        """Set the total of the progress bar: the largest possible number of models."""
        first, *others = (len(fold.seeds) for fold in self.folds)
        left = [max(1, n_finalists - dropped) if self.calibrate else n_finalists for dropped in range(len(others))]
        self.n_planned = n_points * first + sum(n * seeds for n, seeds in zip(left, others, strict=True))

    def evaluate(self, points: Sequence[Logits], folds: Folds, recipe: Recipe) -> list[Point]:
        """Train every point on each of these folds."""
        before, progress = self.n_done, self.progress
        self.n_done += len(points) * sum(len(fold.seeds) for fold in folds)
        overall = (lambda done, _: progress(before + done, self.n_planned)) if progress else None
        evaluated = cross_validate(folds, points, recipe, self.n_jobs, overall)
        return [cap_stds(point, folds) for point in evaluated] if self.calibrate else evaluated

    def evaluate_on_first_fold(self, points: Sequence[Logits], recipe: Recipe) -> list[Point]:
        """Train every point on the first fold."""
        return self.evaluate(points, self.folds[:1], recipe)

    def best_by_score(self, points: list[Point]) -> int:
        """Return the index of the point to choose by the first fold."""
        return choose(points, self.folds[:1], self.selection, self.calibrate)

    def best_by_mean(self, points: list[Point]) -> int:
        """Return the index of the point with the smallest squared error of the mean on the first fold."""
        return int(np.argmin([held_out_mean_mse(point, self.folds[:1]) for point in points]))

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

        With `calibrate` the lowest score is chosen at the end, so the worst point is dropped after each fold but the
        last.
        """
        kept = choose_finalists(points, self.folds[:1], self.selection, n_finalists, self.calibrate)
        for n_folds in range(2, len(self.folds)):
            if self.calibrate and len(kept) > 1:
                points = self.evaluate_on_more_folds(points, kept, n_folds)
                finalists = [points[k] for k in kept]
                _, scores = losses_and_scores(finalists, self.folds[:n_folds], self.selection, self.calibrate)
                del kept[int(np.argmax(scores))]
        points = self.evaluate_on_more_folds(points, kept)
        best = choose([points[k] for k in kept], self.folds, self.selection, self.calibrate)
        return self._finish(SearchResult(points, kept[best]))

    def select_as_in_paper(self, points: list[Point]) -> SearchResult:
        """Choose by the paper's rule, which uses training rows only; the other folds serve the held-out scores."""
        best = choose(points, self.folds[:1], "paper")
        return self._finish(SearchResult(self.evaluate_on_more_folds(points, [best]), best))

    def _finish(self, result: SearchResult) -> SearchResult:
        """Move the progress bar to its end, since fewer models than planned may have been trained."""
        if self.progress:
            self.progress(self.n_planned, self.n_planned)
        return result

"""The search as a race: every point runs on the first fold, the transition is looked at more closely, few see all folds.

logit rho = -logit gamma = t on the diagonal;    score = average held-out loss of models that did not see the row
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from heteroscope.grids import bisect, refine
from heteroscope.phases import Phase
from heteroscope.progress import Progress
from heteroscope.search.points import Folds, Logits, Point, cross_validate
from heteroscope.search.results import Search
from heteroscope.search.selection import OVERFIT, choose, finalists, paper_midpoint
from heteroscope.stages import Recipe

UNDERFIT = (Phase.U_I, Phase.U_II)


class Trainer:
    """Fits points on folds, and tells the progress of a search of about `n_models` fits."""

    def __init__(
        self, recipe: Recipe, n_jobs: int | None = None, progress: Progress | None = None, n_models: int = 0
    ) -> None:
        self.recipe, self.n_jobs, self.progress = recipe, n_jobs, progress
        self.n_models, self.n_done = n_models, 0

    def fit(self, points: Sequence[Logits], folds: Folds) -> list[Point]:
        """Every point on every one of these folds."""
        before = self.n_done
        self.n_done += len(points) * len(folds)
        return cross_validate(folds, points, self.recipe, self.n_jobs, self._told_from(before))

    def _told_from(self, before: int) -> Progress | None:
        progress = self.progress
        return (lambda done, _: progress(min(before + done, self.n_models), self.n_models)) if progress else None


def search_diagonal(
    folds: Folds,
    coarse: Float[np.ndarray, " t"],
    n_fine: int,
    n_finalists: int,
    recipe: Recipe,
    selection: str = "nll",
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Search:
    """The whole line, then half of `n_fine` points between its labels U and O, the others around the best score.

    All that on the first fold; the `n_finalists` best see the other folds, and one of them is chosen.
    """
    trainer = Trainer(recipe, n_jobs, progress, len(coarse) + n_fine + n_finalists * (len(folds) - 1))
    path = _walk(trainer, folds, [], coarse)
    halves = bisect(*_labelled(path), n_fine // 2)
    path = _walk(trainer, folds, path, halves)
    if selection == "paper":
        return _paper_choice(trainer, folds, _walk(trainer, folds, path, [paper_midpoint(path)]))
    best = choose(path, folds[:1], selection)
    path = _walk(trainer, folds, path, refine(_line(path), best, n_fine - len(halves)))
    return run_final(trainer, folds, path, selection, n_finalists)


def search_grid(
    folds: Folds,
    line: Float[np.ndarray, " t"],
    n_finalists: int,
    recipe: Recipe,
    selection: str = "nll",
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Search:
    """Every pair of a rho of the line and a gamma of its mirror image, which hold the diagonal: the search in full."""
    points = [(float(rho), -float(t)) for rho in line for t in line[::-1]]
    trainer = Trainer(recipe, n_jobs, progress, len(points) + n_finalists * (len(folds) - 1))
    return run_final(trainer, folds, trainer.fit(points, folds[:1]), selection, n_finalists)


def run_final(trainer: Trainer, folds: Folds, points: list[Point], selection: str, n_finalists: int) -> Search:
    """The best points of the first fold see the other folds, and one of them is chosen."""
    best = finalists(points, folds[:1], selection, n_finalists)
    points = _complete(trainer, folds, points, best)
    return Search(points, best[choose([points[index] for index in best], folds, selection)])


def _complete(trainer: Trainer, folds: Folds, points: list[Point], chosen: list[int]) -> list[Point]:
    """The points with the results of all folds where they are chosen."""
    more = trainer.fit([points[index].logits for index in chosen], folds[1:])
    completed = {index: point.results for index, point in zip(chosen, more, strict=True)}
    return [Point(p.logits, p.results + completed.get(index, ())) for index, p in enumerate(points)]


def _paper_choice(trainer: Trainer, folds: Folds, path: list[Point]) -> Search:
    """The midpoint by the training rows; the other folds are only asked how it does."""
    best = choose(path, folds[:1], "paper")
    return Search(_complete(trainer, folds, path, [best]), best)


def _walk(trainer: Trainer, folds: Folds, path: list[Point], logits: Sequence[float] | np.ndarray) -> list[Point]:
    """The path with these points added to it on the first fold, sorted; points that it has are not fitted again."""
    known = _line(path)
    new = [float(t) for t in logits if not np.any(np.abs(known - t) < 1e-9)]
    return sorted(path + trainer.fit([(t, -t) for t in new], folds[:1]), key=lambda point: point.logits[0])


def _line(path: list[Point]) -> Float[np.ndarray, " t"]:
    return np.array([point.logits[0] for point in path])


def _labelled(path: list[Point]) -> tuple[Float[np.ndarray, " t"], list[bool], list[bool]]:
    """The line, and which of its points underfit and which overfit."""
    return _line(path), [p.phase in UNDERFIT for p in path], [p.phase in OVERFIT for p in path]

"""The one-dimensional search along rho = 1 - gamma: a path of cross-validated models, and the rules that pick a point.

logit rho = -logit gamma = t,    score(t) = average held-out loss of the models that did not see the row
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import expit

from heteroscope import metrics
from heteroscope.engine import Task, train
from heteroscope.errors import InputError
from heteroscope.grids import refine
from heteroscope.phases import Observables, Phase, label, observe
from heteroscope.predictive import predict_members, stack_members
from heteroscope.progress import Progress
from heteroscope.rows import Rows
from heteroscope.stages import Recipe
from heteroscope.status import Status
from heteroscope.tile import Job

SELECTIONS = ("nll", "crps", "paper")


class Fold(NamedTuple):
    """Rows to train on and rows to judge by."""

    training: Rows
    held: Rows


Folds = Sequence[Fold]


class Point(NamedTuple):
    """One point of the diagonal, cross-validated: held-out predictions row by row, fold after fold."""

    logit_rho: float
    mean: Float[np.ndarray, " held"]
    std: Float[np.ndarray, " held"]
    training: tuple[dict[str, float], ...]
    observables: Observables
    status: tuple[Status, ...]

    @property
    def phase(self) -> Phase:
        """The label that the observables earn."""
        return label(self.observables, runaway=Status.RUNAWAY in self.status)


def cross_validate_points(
    folds: Folds,
    logits: Sequence[float],
    recipe: Recipe,
    seeds: Sequence[int],
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Point]:
    """Fit every point of the diagonal on every fold; a fold's models share one start, so that points compare fairly."""
    scalings = [fold.training.scaling() for fold in folds]
    tasks = [
        Task(fold.training.batch(scaling), [Job(t, -t, seed) for t in logits])
        for fold, scaling, seed in zip(folds, scalings, seeds, strict=True)
    ]
    fits = train(tasks, recipe, n_jobs=n_jobs, progress=progress)
    activation = recipe.architecture.activation
    predictions = [
        predict_members(
            stack_members([fit.params for fit in fold_fits]),
            np.concatenate([fold.training.x, fold.held.x]),
            scaling,
            activation,
        )
        for fold_fits, fold, scaling in zip(fits, folds, scalings, strict=True)
    ]
    return [
        _point(t, folds, [(mean[k], std[k]) for mean, std in predictions], tuple(part[k].status for part in fits))
        for k, t in enumerate(logits)
    ]


def _point(t: float, folds: Folds, predictions: list[tuple[Any, Any]], status: tuple[Status, ...]) -> Point:
    training, observables, held_mean, held_std = [], [], [], []
    for fold, (mean, std) in zip(folds, predictions, strict=True):
        n, rows = len(fold.training.y), fold.training
        training.append(metrics.evaluate(rows.y, mean[:n], std[:n], sample_weight=rows.weight))
        observables.append(observe(rows.y, mean[:n], std[:n], rows.weight))
        held_mean.append(mean[n:])
        held_std.append(std[n:])
    averages = {name: float(np.mean([getattr(f, name) for f in observables])) for name in Observables._fields[:4]}
    mean, std, held = np.concatenate(held_mean), np.concatenate(held_std), held_rows(folds)
    score = float(np.average(((held.y - mean) / std) ** 2, weights=held.weight))
    return Point(t, mean, std, tuple(training), Observables(**averages, held_out_score=score), status)


def held_rows(folds: Folds) -> Rows:
    """All held-out rows, fold after fold, as the predictions of a `Point` are ordered."""
    return Rows(*(np.concatenate(parts) for parts in zip(*(fold.held for fold in folds), strict=True)))


class Search(NamedTuple):
    """The whole path, sorted by logit rho, and the point that was chosen."""

    points: list[Point]
    best: int


def search_diagonal(
    folds: Folds,
    coarse: Float[np.ndarray, " t"],
    n_fine: int,
    recipe: Recipe,
    seeds: Sequence[int],
    selection: str = "nll",
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Search:
    """Two passes: the whole line, then `n_fine` more points between the neighbours of the best one so far."""
    total = (len(coarse) + n_fine) * len(folds)

    def told(offset: int) -> Progress | None:
        return (lambda done, _: progress(offset + done, total)) if progress else None

    def visit(logits: Sequence[float], offset: int) -> list[Point]:
        return cross_validate_points(folds, logits, recipe, seeds, n_jobs, told(offset)) if len(logits) else []

    points = visit([float(t) for t in coarse], 0)
    fine = refine(np.array([p.logit_rho for p in points]), choose(points, folds, selection), n_fine)
    points = _sorted(points + visit([float(t) for t in fine], len(points) * len(folds)))
    if selection == "paper":
        middle = paper_midpoint(points)
        if all(abs(middle - point.logit_rho) > 1e-9 for point in points):
            points = _sorted(points + visit([middle], total - len(folds)))
        return Search(points, int(np.argmin([abs(middle - point.logit_rho) for point in points])))
    return Search(points, choose(points, folds, selection))


def _sorted(points: list[Point]) -> list[Point]:
    return sorted(points, key=lambda point: point.logit_rho)


def choose(points: list[Point], folds: Folds, selection: str) -> int:
    """The index of the point to take from a path sorted by logit rho.

    The lowest held-out score wins, points that overfit being passed over while there are others; then the most
    regularised point of the same phase that is no worse by more than one standard error of the paired difference
    takes its place.
    """
    if selection == "paper":
        return int(np.argmin([abs(paper_midpoint(points) - point.logit_rho) for point in points]))
    held = held_rows(folds)
    losses = np.array([row_loss(selection, held.y, point.mean, point.std) for point in points])
    scores = np.nan_to_num(np.average(losses, axis=1, weights=held.weight), nan=np.inf)
    allowed = np.array([point.phase not in (Phase.O_I, Phase.O_II) for point in points])
    if not allowed.any():
        allowed[:] = True
    best = int(np.argmin(np.where(allowed, scores, np.inf)))
    for index in (k for k in range(best) if points[k].phase == points[best].phase):
        difference = losses[index] - losses[best]
        excess = np.average(difference, weights=held.weight)
        share = held.weight / held.weight.sum()
        if excess <= np.sqrt(np.sum(share**2 * (difference - excess) ** 2)):
            return index
    return best


def row_loss(
    selection: str, y: Float[np.ndarray, " held"], mean: Float[np.ndarray, " held"], std: Float[np.ndarray, " held"]
) -> Float[np.ndarray, " held"]:
    """The loss of each row: negative log likelihood or CRPS."""
    functions = {"nll": metrics.nll_by_row, "crps": metrics.crps_by_row}
    if selection not in functions:
        raise InputError(f"selection must be one of {', '.join(SELECTIONS)}, got {selection!r}")
    return functions[selection](y, mean, std)


def paper_midpoint(points: list[Point]) -> float:
    """Halfway in the logit between the points of lowest *training* mean MSE and std MSE: the paper's rule."""
    logits = np.array([point.logit_rho for point in points])
    lowest = [
        logits[np.argmin([np.mean([part[name] for part in point.training]) for point in points])]
        for name in ("mean_mse", "std_mse")
    ]
    return float(np.mean(lowest))


def results_table(search: Search, folds: Folds, selection: str) -> dict[str, Any]:
    """The path as scikit-learn's `cv_results_`: a dictionary of columns that pandas takes as it is."""
    held = held_rows(folds)
    splits = np.split(np.arange(len(held.y)), np.cumsum([len(fold.held.y) for fold in folds])[:-1])
    logits = np.array([point.logit_rho for point in search.points])
    table: dict[str, Any] = {"rho": expit(logits), "gamma": expit(-logits), "logit_rho": logits}
    for name, function in metrics.METRICS.items():
        by_fold = np.array(
            [
                [function(held.y[s], p.mean[s], p.std[s], sample_weight=held.weight[s]) for s in splits]
                for p in search.points
            ]
        )
        table[f"mean_test_{name}"], table[f"std_test_{name}"] = by_fold.mean(axis=1), by_fold.std(axis=1)
        if name == ("nll" if selection == "paper" else selection):
            table |= {f"split{k}_test_{name}": by_fold[:, k] for k in range(len(splits))}
            table["rank_test_score"] = by_fold.mean(axis=1).argsort().argsort() + 1
        table[f"mean_train_{name}"] = np.array([np.mean([part[name] for part in p.training]) for p in search.points])
    table["phase"] = np.array([str(point.phase) for point in search.points])
    table["status"] = np.array([", ".join(sorted(set(point.status))) for point in search.points])
    return table

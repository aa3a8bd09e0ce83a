"""Cross-validation of points (rho, gamma): every point on every fold asked for, and what each fold says of it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope import metrics
from heteroscope.engine import Task, train
from heteroscope.phases import Observables, Phase, label, observe
from heteroscope.predictive import predict_members, stack_members
from heteroscope.progress import Progress
from heteroscope.rows import Rows
from heteroscope.stages import Recipe
from heteroscope.status import Status
from heteroscope.tile import Job

Logits = tuple[float, float]  # of rho and of gamma


class Fold(NamedTuple):
    """Rows to train on, rows to judge by, and the seed of the models that are trained: all start alike."""

    training: Rows
    held: Rows
    seed: int = 0


Folds = Sequence[Fold]


class FoldResult(NamedTuple):
    """What one fold says of a point: predictions for its held-out rows, scores and observables of its training rows."""

    mean: Float[np.ndarray, " held"]
    std: Float[np.ndarray, " held"]
    training: dict[str, float]
    observables: Observables
    status: Status


class Point(NamedTuple):
    """One point of the square and what the folds it has seen say of it, in the order of the folds."""

    logits: Logits
    results: tuple[FoldResult, ...]

    @property
    def mean(self) -> Float[np.ndarray, " held"]:
        """Held-out means, fold after fold."""
        return np.concatenate([result.mean for result in self.results])

    @property
    def std(self) -> Float[np.ndarray, " held"]:
        """Held-out stds, fold after fold."""
        return np.concatenate([result.std for result in self.results])

    @property
    def status(self) -> tuple[Status, ...]:
        """How training ended, fold by fold."""
        return tuple(result.status for result in self.results)

    @property
    def observables(self) -> Observables:
        """Averages over the folds, each held-out row counted once."""
        parts = [result.observables for result in self.results]
        held = [0.0 if part.held_out_score is None else part.held_out_score for part in parts]
        sizes = [len(result.mean) for result in self.results]
        averages = [float(np.mean(values)) for values in zip(*(part[:4] for part in parts), strict=True)]
        return Observables(*averages, held_out_score=float(np.average(held, weights=sizes)))

    @property
    def phase(self) -> Phase:
        """The label that the observables earn."""
        return label(self.observables, runaway=Status.RUNAWAY in self.status)

    def training_score(self, name: str) -> float:
        """A metric of the training rows, averaged over folds."""
        return float(np.mean([result.training[name] for result in self.results]))


def cross_validate(
    folds: Folds,
    points: Sequence[Logits],
    recipe: Recipe,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Point]:
    """Fit every point on every fold; a fold's models share one start, so that points compare fairly."""
    if not points:
        return []
    scalings = [fold.training.scaling() for fold in folds]
    tasks = [
        Task(fold.training.batch(scaling), [Job(*point, fold.seed) for point in points])
        for fold, scaling in zip(folds, scalings, strict=True)
    ]
    fits = train(tasks, recipe, n_jobs=n_jobs, progress=progress)
    columns = []
    for fold, scaling, fold_fits in zip(folds, scalings, fits, strict=True):
        members = stack_members([fit.params for fit in fold_fits])
        everywhere = np.concatenate([fold.training.x, fold.held.x])
        means, stds = predict_members(members, everywhere, scaling, recipe.architecture.activation)
        columns.append([_judge(fold, *one) for one in zip(means, stds, (fit.status for fit in fold_fits), strict=True)])
    return [Point(point, tuple(column[k] for column in columns)) for k, point in enumerate(points)]


def _judge(
    fold: Fold, mean: Float[np.ndarray, " point"], std: Float[np.ndarray, " point"], status: Status
) -> FoldResult:
    rows, held, n = fold.training, fold.held, len(fold.training.y)
    score = float(np.average(((held.y - mean[n:]) / std[n:]) ** 2, weights=held.weight))
    return FoldResult(
        mean[n:],
        std[n:],
        metrics.evaluate(rows.y, mean[:n], std[:n], sample_weight=rows.weight),
        observe(rows.y, mean[:n], std[:n], rows.weight, held_out_score=score),
        status,
    )


def held_rows(folds: Folds) -> Rows:
    """All held-out rows, fold after fold, as the predictions of a `Point` are ordered."""
    return Rows(*(np.concatenate(parts) for parts in zip(*(fold.held for fold in folds), strict=True)))

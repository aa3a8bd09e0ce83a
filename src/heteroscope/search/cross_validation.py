"""Cross-validation of points (rho, gamma): every point on every fold asked for, and what each fold says of it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.core import Progress, Status
from heteroscope.data import Rows, Scaling
from heteroscope.distributions import metrics
from heteroscope.networks import moment_match, predict_members, stack_members, widest_std
from heteroscope.phases import Observables, Phase, label, observe
from heteroscope.training import Fit, Job, Recipe, Task, train

Logits = tuple[float, float]  # of rho and of gamma
Moments = tuple[Float[np.ndarray, " held"], Float[np.ndarray, " held"]]  # mean and std


class Fold(NamedTuple):
    """Rows to train on, rows to judge by, and the seeds of its models: those of all points start alike."""

    training: Rows
    held: Rows
    seeds: tuple[int, ...] = (0,)


Folds = Sequence[Fold]


class FoldResult(NamedTuple):
    """What one fold says of a point: its members' predictions for the held-out rows, and the first one's training."""

    means: Float[np.ndarray, "member held"]
    stds: Float[np.ndarray, "member held"]
    training: dict[str, float]
    observables: Observables
    status: Status


class Point(NamedTuple):
    """One point of the square, how it is trained, and what the folds it has seen say of it, in their order."""

    logits: Logits
    results: tuple[FoldResult, ...]
    recipe: Recipe

    @property
    def held_out(self) -> Moments:
        """Mean and std of the held-out rows, fold after fold, the members of a fold moment-matched."""
        parts = [moment_match(result.means, result.stds) for result in self.results]
        return np.concatenate([part.mean for part in parts]), np.concatenate([part.std for part in parts])

    @property
    def status(self) -> tuple[Status, ...]:
        """How training ended, fold by fold."""
        return tuple(result.status for result in self.results)

    @property
    def observables(self) -> Observables:
        """Averages over the folds, each held-out row counted once."""
        table = np.array([result.observables for result in self.results], float)
        sizes = [result.means.shape[1] for result in self.results]
        averages = [*table[:, :4].mean(axis=0), np.average(table[:, 4], weights=sizes)]
        return Observables._make(float(value) for value in averages)

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
    """Fit every point on every fold with every seed of the fold."""
    scalings = [fold.training.scaling() for fold in folds]
    tasks = [
        Task(fold.training.batch(scaling), [Job(*point, seed) for point in points for seed in fold.seeds])
        for fold, scaling in zip(folds, scalings, strict=True)
    ]
    capacity = max((len(fold.training.y) + len(fold.held.y) for fold in folds), default=0)  # final models see all rows
    fits = train(tasks, recipe, n_jobs=n_jobs, capacity=capacity, progress=progress)
    columns = [
        _judge_all(fold, scaling, fold_fits, recipe) if fold_fits else []
        for fold, scaling, fold_fits in zip(folds, scalings, fits, strict=True)
    ]
    return [Point(point, tuple(column[k] for column in columns), recipe) for k, point in enumerate(points)]


def cap_stds(point: Point, folds: Folds) -> Point:
    """The point with no held-out std above the widest that the training targets of its fold can have asked for."""
    return point._replace(
        results=tuple(
            result._replace(stds=np.minimum(result.stds, widest_std(fold.training.y)))
            for fold, result in zip(folds, point.results, strict=True)
        )
    )


def _judge_all(fold: Fold, scaling: Scaling, fits: Sequence[Fit], recipe: Recipe) -> list[FoldResult]:
    """One result for each run of as many fits as the fold has seeds."""
    everywhere = np.concatenate([fold.training.x, fold.held.x])
    members = stack_members([fit.params for fit in fits])
    means, stds = predict_members(members, everywhere, scaling, recipe.architecture.activation)
    return [
        _judge(fold, means[first : first + len(fold.seeds)], stds[first : first + len(fold.seeds)], fits[first].status)
        for first in range(0, len(fits), len(fold.seeds))
    ]


def _judge(
    fold: Fold, means: Float[np.ndarray, "member point"], stds: Float[np.ndarray, "member point"], status: Status
) -> FoldResult:
    rows, held, n = fold.training, fold.held, len(fold.training.y)
    mean, std = means[0], stds[0]
    score = metrics.squared_score(held.y, mean[n:], std[n:], sample_weight=held.weight)
    return FoldResult(
        means[:, n:],
        stds[:, n:],
        metrics.evaluate(rows.y, mean[:n], std[:n], sample_weight=rows.weight),
        observe(rows.y, mean[:n], std[:n], rows.weight, held_out_score=score),
        status,
    )


def held_rows(folds: Folds) -> Rows:
    """All held-out rows, fold after fold, as the predictions of a `Point` are ordered."""
    return Rows(*(np.concatenate(parts) for parts in zip(*(fold.held for fold in folds), strict=True)))

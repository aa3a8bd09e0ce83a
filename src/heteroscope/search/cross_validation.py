"""Cross-validate points (rho, gamma): train models at each point on each fold and predict the held-out rows."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float

from heteroscope.core import Progress, Status
from heteroscope.data import Rows, Scaling
from heteroscope.distributions import metrics
from heteroscope.networks import Params, mean_bounds, moment_match, predict_members, stack_members, widest_std
from heteroscope.phases import HeldOut, Observables, Phase, label, observe, observe_held_out
from heteroscope.search.folds import Fold, Folds
from heteroscope.training import Fit, Job, Recipe, Task, train

Logits: TypeAlias = tuple[float, float]  # logit rho, logit gamma
Moments: TypeAlias = tuple[Float[np.ndarray, " held"], Float[np.ndarray, " held"]]  # mean, std
SCORED_ROWS = 8192  # training rows that a model is scored on: their scores label it, and change little beyond


class FoldResult(NamedTuple):
    """The result of one point on one fold.

    `means` and `stds` are the predictions of all members for the held-out rows. `training` (metrics of the training
    rows, of at most SCORED_ROWS), `observables` and `status` belong to the first member. `members` are the networks, if
    they are kept.
    """

    means: Float[np.ndarray, "member held"]
    stds: Float[np.ndarray, "member held"]
    training: dict[str, float]
    observables: Observables
    status: Status
    members: tuple[Params, ...] = ()


class Point(NamedTuple):
    """A point (logit rho, logit gamma), its training recipe, and its results on the folds evaluated so far."""

    logits: Logits
    results: tuple[FoldResult, ...]
    recipe: Recipe

    @property
    def held_out(self) -> Moments:
        """Mean and std of the held-out rows, fold after fold; the members of each fold are moment-matched."""
        parts = [moment_match(result.means, result.stds) for result in self.results]
        return np.concatenate([part.mean for part in parts]), np.concatenate([part.std for part in parts])

    @property
    def status(self) -> tuple[Status, ...]:
        """How training ended on each fold."""
        return tuple(result.status for result in self.results)

    @property
    def observables(self) -> Observables:
        """Observables of the networks, before the std is capped or scaled, averaged over folds."""
        *training, held_out = zip(*(result.observables for result in self.results), strict=True)
        averages = [float(np.mean(values)) for values in training]
        return Observables._make([*averages, average_held_out(held_out, self._sizes)])

    @property
    def phase(self) -> Phase:
        """The phase of the averaged observables."""
        return label(self.observables, runaway=Status.RUNAWAY in self.status)

    @property
    def _sizes(self) -> list[int]:
        """Number of held-out rows of each fold."""
        return [result.means.shape[1] for result in self.results]

    def training_score(self, name: str) -> float:
        """Return a metric of the training rows, averaged over folds."""
        return float(np.mean([result.training[name] for result in self.results]))


def cross_validate(
    folds: Folds,
    points: Sequence[Logits],
    recipe: Recipe,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    keep_members: bool = False,
) -> list[Point]:
    """Train one model per point, fold and seed of the fold; return the points with their results on these folds."""
    scalings = [fold.training.scaling() for fold in folds]
    tasks = [
        Task(fold.training.batch(scaling), [Job(*point, seed) for point in points for seed in fold.seeds])
        for fold, scaling in zip(folds, scalings, strict=True)
    ]
    # Reserve space for all rows, so that the final fit, which has no held-out rows, reuses the compiled programs.
    capacity = max((len(fold.training.y) + len(fold.held.y) for fold in folds), default=0)
    fits = train(tasks, recipe, n_jobs=n_jobs, capacity=capacity, progress=progress)
    columns = [
        _fold_results(fold, scaling, fold_fits, recipe, keep_members) if fold_fits else []
        for fold, scaling, fold_fits in zip(folds, scalings, fits, strict=True)
    ]
    return [Point(point, tuple(column[k] for column in columns), recipe) for k, point in enumerate(points)]


def first_member(point: Point) -> Point:
    """Return the point with the predictions of each fold's first member only."""
    results = (result._replace(means=result.means[:1], stds=result.stds[:1]) for result in point.results)
    return point._replace(results=tuple(results))


def stack_points(points: Sequence[Point]) -> Point:
    """Return the first point with the members of all of them on every fold, which all must have been evaluated on.

    Training metrics, observables and status stay those of the first point.
    """
    columns = zip(*(point.results for point in points), strict=True)
    results = tuple(
        column[0]._replace(
            means=np.concatenate([result.means for result in column]),
            stds=np.concatenate([result.stds for result in column]),
            members=tuple(member for result in column for member in result.members),
        )
        for column in columns
    )
    return points[0]._replace(results=results)


def average_held_out(parts: Sequence[HeldOut], n_rows: Sequence[int]) -> HeldOut:
    """Average what the held-out rows of several folds say, each fold by its number of rows."""
    return HeldOut(*(float(np.average(values, weights=n_rows)) for values in zip(*parts, strict=True)))


def cap_predictions(point: Point, folds: Folds) -> Point:
    """Keep every held-out mean and std within the bounds that the fold's training targets give."""
    return point._replace(
        results=tuple(
            result._replace(
                means=np.clip(result.means, *mean_bounds(fold.training.y)),
                stds=np.minimum(result.stds, widest_std(fold.training.y)),
            )
            for fold, result in zip(folds, point.results, strict=True)
        )
    )


def _fold_results(
    fold: Fold, scaling: Scaling, fits: Sequence[Fit], recipe: Recipe, keep_members: bool
) -> list[FoldResult]:
    """Return one result per point; the fits are grouped by point, one fit per seed."""
    fold = fold._replace(training=_scored_rows(fold.training))
    all_inputs = np.concatenate([fold.training.x, fold.held.x])
    members = stack_members([fit.params for fit in fits])
    means, stds = predict_members(members, all_inputs, scaling, recipe.architecture.activation)
    n = len(fold.seeds)
    results = [
        _fold_result(fold, means[first : first + n], stds[first : first + n], fits[first].status)
        for first in range(0, len(fits), n)
    ]
    if not keep_members:
        return results
    return [
        result._replace(members=tuple(fit.params for fit in fits[k * n : (k + 1) * n]))
        for k, result in enumerate(results)
    ]


def _scored_rows(rows: Rows) -> Rows:
    """Return at most SCORED_ROWS random rows, the same for every model."""
    n_rows = len(rows.y)
    if n_rows <= SCORED_ROWS:
        return rows
    return rows.take(np.sort(np.random.default_rng(0).choice(n_rows, SCORED_ROWS, replace=False)))


def _fold_result(
    fold: Fold, means: Float[np.ndarray, "member point"], stds: Float[np.ndarray, "member point"], status: Status
) -> FoldResult:
    """Split predictions into training rows, which are scored, and held-out rows, which are kept."""
    rows, held, n = fold.training, fold.held, len(fold.training.y)
    mean, std = means[0], stds[0]
    held_out = observe_held_out(held.y, mean[n:], std[n:], rows.y, held.weight, rows.weight)
    return FoldResult(
        means[:, n:],
        stds[:, n:],
        metrics.evaluate(rows.y, mean[:n], std[:n], sample_weight=rows.weight),
        observe(rows.y, mean[:n], std[:n], rows.weight, held_out),
        status,
    )

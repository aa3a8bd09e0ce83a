"""Search the diagonal on a stream: models of all points train together on each batch that is read."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from heteroscope.core import Identity
from heteroscope.distributions import metrics
from heteroscope.networks import stack_members
from heteroscope.phases import observe, observe_held_out
from heteroscope.search.cross_validation import FoldResult, Point
from heteroscope.search.cv_results import SearchResult
from heteroscope.search.folds import Fold, Folds
from heteroscope.search.selection import choose
from heteroscope.training import Fit, Job, PredictMembers, Recipe, StreamRun


def stream_fold(run: StreamRun) -> Fold:
    """Return the only fold of a stream: a sample of its training rows, and its held-out rows."""
    return Fold(run.survey.sample, run.survey.held)


class StreamSearch(NamedTuple):
    """All points with the chosen one, the steps that each point's model took, and the members at the chosen point."""

    result: SearchResult
    steps: Int[np.ndarray, " point"]
    members: list[Fit]


def search_stream(
    run: StreamRun,
    method: Identity,
    logits: Sequence[float],
    recipe: Recipe,
    seeds: Sequence[int],
    selection: str,
    calibrate: bool,
    predict: PredictMembers,
) -> StreamSearch:
    """Train one model per diagonal point on the stream, choose a point by the held-out rows, and train others there.

    Parameters
    ----------
    run : StreamRun
        The surveyed stream, its row order and checkpoint folder.
    method : dict
        The declared settings by which a checkpoint is recognised.
    logits : sequence of float
        logit rho = -logit gamma of the points.
    recipe : Recipe
        How each model is trained.
    seeds : sequence of int
        The seed of the models of all points, whose best one is the first member, then those of the other members.
    selection : {"nll", "crps", "paper"}
        The rule of choice, see `choose`.
    calibrate : bool
        Whether points are compared after scaling their std.
    predict : callable
        Returns mean and std of each member for rows of inputs.

    Returns
    -------
    StreamSearch
        The points, in the order of `logits`, and the members.
    """
    seed, *others = seeds
    jobs = [Job(t, -t, seed) for t in logits]
    fits = run.train("search", method, jobs, recipe, predict, drop_losing=True)
    folds: Folds = [stream_fold(run)]
    points = [_point(t, fit, recipe, run, predict) for t, fit in zip(logits, fits, strict=True)]
    rule = {**method, "selection": selection}
    result = SearchResult(points, run.choose(rule, jobs, recipe, lambda: choose(points, folds, selection, calibrate)))
    more = [Job(*result.chosen.logits, other) for other in others]
    rest = run.train("members", {**method, "point": result.best}, more, recipe, predict) if more else []
    return StreamSearch(result, np.array([fit.steps for fit in fits]), [fits[result.best], *rest])


def _point(t: float, fit: Fit, recipe: Recipe, run: StreamRun, predict: PredictMembers) -> Point:
    """Return the point with one fold result; the sample of the survey replaces the training rows."""
    members = stack_members([fit.params])
    sample, held = run.survey.sample, run.survey.held
    (mean,), (std,) = predict(members, sample.x, run.order.scaling)
    held_means, held_stds = predict(members, held.x, run.order.scaling)
    held_out = observe_held_out(held.y, held_means[0], held_stds[0], sample.y)
    observables = observe(sample.y, mean, std, held_out=held_out)
    result = FoldResult(held_means, held_stds, metrics.evaluate(sample.y, mean, std), observables, fit.status)
    return Point((t, -t), (result,), recipe)

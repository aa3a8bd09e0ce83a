"""Search the diagonal on a stream: all points train side by side on each batch that is read."""

from collections.abc import Sequence

from heteroscope.core import Identity
from heteroscope.distributions import metrics
from heteroscope.networks import stack_members
from heteroscope.phases import observe
from heteroscope.search.points import Fold, FoldResult, Folds, Point
from heteroscope.search.results import Search
from heteroscope.search.selection import choose
from heteroscope.training import Fit, Job, PredictMembers, Recipe, StreamRun


def stream_fold(ground: StreamRun) -> Fold:
    """The sample to observe training by, and the rows held out."""
    return Fold(ground.survey.sample, ground.survey.held)


def search_stream(
    ground: StreamRun,
    method: Identity,
    logits: Sequence[float],
    recipe: Recipe,
    seed: int,
    selection: str,
    calibrate: bool,
    read: PredictMembers,
) -> tuple[Search, list[Fit]]:
    """All points of the diagonal side by side on one stream; the path, the choice, and the fits in the path's order."""
    jobs = [Job(t, -t, seed) for t in logits]
    fits = ground.train("search", method, jobs, recipe, read, drop_losing=True)
    folds: Folds = [stream_fold(ground)]
    points = [_point(t, fit, recipe, ground, read) for t, fit in zip(logits, fits, strict=True)]
    rule = {**method, "selection": selection}
    best = ground.choose(rule, jobs, recipe, lambda: choose(points, folds, selection, calibrate))
    return Search(points, best), fits


def _point(t: float, fit: Fit, recipe: Recipe, ground: StreamRun, read: PredictMembers) -> Point:
    """A point as a cross-validation of one fold would have it, the sample standing for the training rows."""
    members = stack_members([fit.params])
    sample, held = ground.survey.sample, ground.survey.held
    (mean,), (std,) = read(members, sample.x, ground.order.scaling)
    held_means, held_stds = read(members, held.x, ground.order.scaling)
    score = metrics.squared_score(held.y, held_means[0], held_stds[0])
    seen = observe(sample.y, mean, std, held_out_score=score)
    result = FoldResult(held_means, held_stds, metrics.evaluate(sample.y, mean, std), seen, fit.status)
    return Point((t, -t), (result,), recipe)

"""Search the diagonal on a stream: models of all points train together on each batch that is read."""

from collections.abc import Sequence

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


def search_stream(
    run: StreamRun,
    method: Identity,
    logits: Sequence[float],
    recipe: Recipe,
    seed: int,
    selection: str,
    calibrate: bool,
    predict: PredictMembers,
) -> tuple[SearchResult, list[Fit]]:
    """Train one model per diagonal point on the stream and choose a point by the held-out rows.

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
    seed : int
        The seed of all models.
    selection : {"nll", "crps", "paper"}
        The rule of choice, see `choose`.
    calibrate : bool
        Whether points are compared after scaling their std.
    predict : callable
        Returns mean and std of each member for rows of inputs.

    Returns
    -------
    result : SearchResult
        The points and the chosen one.
    fits : list of Fit
        The trained models, in the order of the points.
    """
    jobs = [Job(t, -t, seed) for t in logits]
    fits = run.train("search", method, jobs, recipe, predict, drop_losing=True)
    folds: Folds = [stream_fold(run)]
    points = [_point(t, fit, recipe, run, predict) for t, fit in zip(logits, fits, strict=True)]
    rule = {**method, "selection": selection}
    best = run.choose(rule, jobs, recipe, lambda: choose(points, folds, selection, calibrate))
    return SearchResult(points, best), fits


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

"""Choose the scale of the target by held-out rows: the target itself, or its logarithm.

    y ~ Gaussian or Student-t,    or    log y ~ Gaussian, so that y is lognormal:  -log p(y) = -log p(log y) + log y

Both are scored in the target's units. The logarithm is tried only where it may help: if all targets are positive, their
skewness exceeds 1, and that of their logarithms is smaller. The trial takes a few short trainings of each scale on the
first fold, and of the best of them on the other folds.
"""

import numpy as np
from jaxtyping import Float

from heteroscope.core import InputError, Parameter
from heteroscope.data import Rows
from heteroscope.distributions import exponentiated, frozen, metrics
from heteroscope.networks import Prediction
from heteroscope.search.cross_validation import Point
from heteroscope.search.diagonal_and_grid import CandidateSearch
from heteroscope.search.folded_rows import FoldedRows
from heteroscope.search.folds import held_rows
from heteroscope.search.plan import SearchPlan
from heteroscope.search.tails import choose_tails
from heteroscope.training import Recipe

TARGETS = ("auto", "none", "log")
TRIAL_STRIDE = 2  # every second point of the coarse line is in the trial
SKEWED = 1.0  # skewness of the targets above which their logarithm is tried; an exponential distribution has 2
EXTREME = 1e100  # targets beyond, or below its inverse, have lognormal moments that overflow


def check_target(target: object, family: str) -> None:
    """Raise an `InputError` unless the scale is known and has the family."""
    if target not in TARGETS:
        raise InputError(f"target must be one of {', '.join(TARGETS)}, got {target!r}")
    if target == "log" and family == "student-t":
        raise InputError(
            Parameter("family", "student-t"),
            ' is not for the logarithm of the target, since its exponential has no finite mean: use "auto"',
        )


def check_log_targets(y: Float[np.ndarray, " row"]) -> None:
    """Raise an `InputError` unless these targets have logarithms with moments in range."""
    if not y.min() > 0:
        raise InputError(
            f'the logarithm of the target needs targets above 0, and the smallest is {y.min():g}: choose "auto" or '
            '"none" as the scale'
        )
    if y.min() < 1 / EXTREME or y.max() > EXTREME:
        raise InputError(f"the targets range from {y.min():.0e} to {y.max():.0e}: express them in another unit")


def may_need_logarithm(rows: Rows) -> bool:
    """Return whether the logarithm is worth a trial: positive targets, skewed, and less so in logarithms."""
    y = rows.y
    if not (y.min() > 1 / EXTREME and y.max() < EXTREME):
        return False
    skewness = _skewness(y, rows.weight)
    return bool(skewness > SKEWED and abs(_skewness(np.log(y), rows.weight)) < skewness)


def choose_target(
    target: str, plan: SearchPlan, data: FoldedRows, recipe: Recipe, family: str, n_jobs: int | None = None
) -> str:
    """Return what the networks predict: "none", the target itself, or "log", its logarithm.

    Parameters
    ----------
    target : {"auto", "none", "log"}
        The user's choice; "auto" compares both where the logarithm may help.
    plan : SearchPlan
        The settings of the search: every second of its first points is in the trial.
    data : FoldedRows
        All rows, in the target's units.
    recipe : Recipe
        How the models of the trial are trained.
    family : {"auto", "gaussian", "student-t"}
        The distribution of the target itself.
    n_jobs : int or None, default=None
        Number of processes.

    Returns
    -------
    {"none", "log"}
        The scale.
    """
    if target == "log":
        check_log_targets(data.rows.y)
    if target != "auto":
        return target
    if not plan.compares_lengths or family == "student-t" or not may_need_logarithm(data.rows):
        return "none"
    plain, logged = (_trial_loss(plan, data, logged, recipe, family, n_jobs) for logged in (False, True))
    return "log" if logged < plain else "none"


def _trial_loss(
    plan: SearchPlan, data: FoldedRows, logged: bool, recipe: Recipe, family: str, n_jobs: int | None
) -> float:
    """Return the held-out loss, in the target's units, of the best point of a few short trainings of one scale."""
    scaled = data.logged() if logged else data
    folds = scaled.without_wild_targets().folds
    search = CandidateSearch(folds, [recipe], plan.selection, calibrate=True, n_jobs=n_jobs)
    points = search.evaluate_on_first_fold([(float(t), -float(t)) for t in plan.line[::TRIAL_STRIDE]], recipe)
    best = search.best_by_score(points)
    point = search.evaluate_on_more_folds(points, [best])[best]
    tails = choose_tails(point, scaled.folds, "gaussian" if logged else family)
    spread = scaled.folds[0].training.scaling().y_scale if logged else None
    forecast = frozen(*held_moments(point, tails.std_scale, spread), tails.df, logged)
    held, loss = held_rows(data.folds), metrics.crps if plan.selection == "crps" else metrics.nll
    return loss(held.y, forecast, sample_weight=held.weight)


def held_moments(
    point: Point, std_scale: float, spread: float | None
) -> tuple[Float[np.ndarray, " held"], Float[np.ndarray, " held"]]:
    """Return mean and scaled std of the held-out rows in the target's units.

    `spread` is the std of the logarithms of the targets of the fit; None if the target is predicted as it is.
    """
    mean, std = point.held_out
    if spread is None:
        return mean, std_scale * std
    parts = exponentiated(Prediction(mean, std_scale * std, std_scale * std, np.zeros_like(std)), spread)
    return parts.mean, parts.std


def _skewness(values: Float[np.ndarray, " row"], weight: Float[np.ndarray, " row"]) -> float:
    """Return the weighted mean of ((value - mean) / std)^3; 0 if the values do not vary."""
    apart = values - np.average(values, weights=weight)
    apart /= np.abs(apart).max() or 1.0
    variance = np.average(apart**2, weights=weight)
    return float(np.average(apart**3, weights=weight) / variance**1.5) if variance > 0 else 0.0

"""Inspect one model between chunks of steps: measure convergence, replace collapsed networks, decide what follows.

relative gradient = |gradient of L| / (|likelihood's gradient| + |penalty's gradient|)
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PyTree

from heteroscope.core import Status, Strengths
from heteroscope.data import Batch
from heteroscope.networks import (
    Params,
    collapse_networks,
    find_collapsing,
    fit_precision_level,
    hold_constant,
    predict_mean,
    predict_precision,
    settle_levels,
)
from heteroscope.training.stages import NetworkName, PrecisionLevel, Stage

STATIONARY = 0.02  # relative gradient at which a model counts as converged
RUNAWAY_SQUARED_SCORE = 0.05  # mean of precision * residual^2 below which the mean has outrun the precision
RUNAWAY_LOG_PRECISION = float(np.log(1e8))  # mean log precision beyond any noise that single precision can resolve
GRADIENT_FLOOR = 1e-3  # times rho: added to the scale of gradients, so that rounding alone is no gradient
#: With `HoldCollapsed`, the order in which collapsed networks are replaced; the later one sees the earlier constant.
HOLDING_ORDER: tuple[NetworkName, ...] = ("precision", "mean")


class Inspection(NamedTuple):
    """What is measured of a model, after collapsed networks were replaced by constants."""

    objective: Float[Array, ""]  # divided by rho
    relative_gradient: Float[Array, ""]  # of the last parameters
    average_gradient: Float[Array, ""]  # the same of the gradient averaged over the last steps
    squared_score: Float[Array, ""]  # mean of precision * residual^2
    log_precision: Float[Array, ""]  # mean of log precision
    finite: Bool[Array, ""]
    constant_mean: Bool[Array, ""]
    constant_precision: Bool[Array, ""]


def inspect_model(
    stage: Stage,
    params: Params,
    strengths: Strengths,
    rows: Batch,
    sample: Batch,
    activation: str,
    average: Float[Array, " variable"],
    moves: bool = True,
) -> tuple[Params, Inspection]:
    """Measure convergence on a sample of the rows; if `moves`, replace collapsed networks by constants.

    `average` is the optimiser's average gradient. In a stage in which nothing collapses, no network is replaced. Return
    the model, with levels as the stage asks for, and the measurements.
    """
    if stage.held is not None:
        params = hold_constant(params, rows, activation, stage.held)
    if stage.precision_level is PrecisionLevel.SOLVED:
        params = fit_precision_level(params, sample, activation)
    pull_at = jax.grad(lambda p: stage.objective(p, sample, strengths, activation).likelihood)
    pull = pull_at(params)
    shrink = jax.grad(lambda p: stage.objective(p, sample, strengths, activation).penalty)(params)
    gradient = _norm(stage.trained(jax.tree.map(jnp.add, pull, shrink)))
    scale = _norm(stage.trained(pull)) + _norm(stage.trained(shrink)) + GRADIENT_FLOOR * strengths.likelihood

    levelled = settle_levels(params, sample, activation, weighted=stage.holds_collapsed)
    if stage.precision_level is PrecisionLevel.FROM_RESIDUALS:
        params = params._replace(precision=levelled.precision)
    collapsing = {
        name: collapses & (moves and stage.collapses)
        for name, collapses in find_collapsing(stage.trains, levelled, pull_at, shrink, sample, activation).items()
    }
    all_collapsing = jnp.all(jnp.stack(list(collapsing.values())))
    if stage.holds_collapsed:
        for network in HOLDING_ORDER:
            held = hold_constant(params, rows, activation, network)
            params = _choose(collapsing[network] & ~all_collapsing, held, params)
    collapsed_networks = stage.trains if stage.held is None else (*stage.trains, stage.held)
    params = _choose(all_collapsing, collapse_networks(params, rows, collapsed_networks), params)

    terms = stage.objective(params, sample, strengths, activation)
    precision = predict_precision(params, sample.x, activation)
    residual = predict_mean(params, sample.x, activation) - sample.y
    level_slope = shrink.precision[-1].bias[0] / strengths.likelihood if stage.penalises_gradients else 0.0
    imbalance = _level_imbalance(precision, residual, sample, level_slope) if "precision" in stage.trains else 0.0
    return params, Inspection(
        objective=(terms.likelihood + terms.penalty) / strengths.likelihood,
        relative_gradient=jnp.where(all_collapsing, 0.0, jnp.maximum(gradient / scale, imbalance)),
        average_gradient=jnp.where(all_collapsing, 0.0, jnp.maximum(_norm(average) / scale, imbalance)),
        squared_score=jnp.mean(sample.weight * precision * residual**2),
        log_precision=jnp.mean(sample.weight * jnp.log(precision)),
        finite=jnp.isfinite(gradient),
        constant_mean=collapsing.get("mean", jnp.asarray(stage.held == "mean")),
        constant_precision=collapsing.get("precision", jnp.asarray(stage.held == "precision")),
    )


def is_settled(inspection: Inspection) -> bool:
    """Return whether further steps gain nothing: the model has converged, run away or is not finite.

    The average gradient does not count: it is only reliable at the end, when steps are small.
    """
    return bool(
        not inspection.finite
        or inspection.relative_gradient <= STATIONARY
        or inspection.log_precision >= RUNAWAY_LOG_PRECISION
    )


def final_status(inspection: Inspection) -> Status:
    """Return the status of a training that ended with this inspection."""
    if not inspection.finite:
        return Status.NOT_FINITE
    if residual_gradient(inspection) <= STATIONARY:
        return Status.CONVERGED
    if inspection.squared_score < RUNAWAY_SQUARED_SCORE or inspection.log_precision >= RUNAWAY_LOG_PRECISION:
        return Status.RUNAWAY
    return Status.OUT_OF_STEPS


def residual_gradient(inspection: Inspection) -> float:
    """Return the smaller of the last relative gradient and the one averaged over the last steps.

    Minima of networks with kinks lie on kinks: the gradient jumps there from step to step, only its average vanishes.
    Before the first step there is no average (NaN).
    """
    return float(np.fmin(inspection.relative_gradient, inspection.average_gradient))


def _level_imbalance(
    precision: Float[Array, " point"],
    residual: Float[Array, " point"],
    rows: Batch,
    penalty_slope: Float[Array, ""] | float,
) -> Float[Array, ""]:
    """Return |sum s (precision r^2 - 1)| / sum s (precision r^2 + 1): the gradient of the precision's output bias.

    s is the derivative of log precision with respect to that bias. A penalty of weights does not depend on the bias; of
    one of gradients, `penalty_slope` is the derivative divided by rho. The bias is slow, so its gradient has to be
    small by itself, not only as a part of the norm.
    """
    slope = rows.weight * -jnp.expm1(-precision) / precision
    score = precision * residual**2
    excess = jnp.mean(slope * (score - 1.0)) + 2.0 * penalty_slope
    return jnp.abs(excess) / jnp.mean(slope * (score + 1.0))


def _choose(condition: Bool[Array, ""], yes: Params, no: Params) -> Params:
    chosen: Params = jax.tree.map(lambda new, old: jnp.where(condition, new, old), yes, no)
    return chosen


def _norm(tree: PyTree) -> Float[Array, ""]:
    return jnp.sqrt(sum((jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree)), start=jnp.zeros(())))

"""What is measured of one model between chunks of steps, and what follows: is it settled, and how did it end?

relative gradient = |gradient of L| / (|likelihood's gradient| + |penalty's gradient|)
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

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
from heteroscope.training.recipes import Stage

STATIONARY = 0.02  # relative gradient at which a model counts as converged
RUNAWAY_SQUARED_SCORE = 0.05  # mean of precision * residual^2 below which the mean has outrun the precision
RUNAWAY_LOG_PRECISION = float(np.log(1e8))  # the precision has outgrown any noise that single precision can resolve
GRADIENT_FLOOR = 1e-3  # of rho: what counts as a gradient at all where targets have variance one


class Inspection(NamedTuple):
    """Where a model stands; the objective is divided by rho, and a constant network has been moved to its level."""

    objective: Float[Array, ""]
    relative_gradient: Float[Array, ""]
    average_gradient: Float[Array, ""]
    squared_score: Float[Array, ""]
    log_precision: Float[Array, ""]
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
    """The model, if it `moves` with networks that collapse made constant, and what a sample of the rows shows of it."""
    if stage.held:
        params = hold_constant(params, rows, activation, stage.held)
    if stage.levels and "precision" in stage.trains:
        params = fit_precision_level(params, sample, activation)
    pull_at = jax.grad(lambda p: stage.objective(p, sample, strengths, activation).likelihood)
    pull = pull_at(params)
    shrink = jax.grad(lambda p: stage.objective(p, sample, strengths, activation).penalty)(params)
    gradient = _norm(trained(jax.tree.map(jnp.add, pull, shrink), stage))
    scale = _norm(trained(pull, stage)) + _norm(trained(shrink, stage)) + GRADIENT_FLOOR * strengths.likelihood

    levelled = settle_levels(params, sample, activation, weighted=bool(stage.alone))
    if stage.levels and "precision" not in stage.trains and not stage.held:
        params = params._replace(precision=levelled.precision)
    flat = {
        name: verdict & moves
        for name, verdict in find_collapsing(stage.trains, levelled, pull_at, shrink, sample, activation).items()
    }
    collapsed = jnp.all(jnp.stack(list(flat.values())))
    for survivor, _ in stage.alone:
        (other,) = set(stage.trains) - {survivor}
        params = _choose(flat[other] & ~collapsed, hold_constant(params, rows, activation, other), params)
    settled_networks = (*stage.trains, stage.held) if stage.held else stage.trains
    params = _choose(collapsed, collapse_networks(params, rows, settled_networks), params)

    terms = stage.objective(params, sample, strengths, activation)
    precision = predict_precision(params, sample.x, activation)
    residual = predict_mean(params, sample.x, activation) - sample.y
    imbalance = _level_imbalance(precision, residual, sample) if "precision" in stage.trains else 0.0
    return params, Inspection(
        objective=(terms.likelihood + terms.penalty) / strengths.likelihood,
        relative_gradient=jnp.where(collapsed, 0.0, jnp.maximum(gradient / scale, imbalance)),
        average_gradient=jnp.where(collapsed, 0.0, jnp.maximum(_norm(average) / scale, imbalance)),
        squared_score=jnp.mean(sample.weight * precision * residual**2),
        log_precision=jnp.mean(sample.weight * jnp.log(precision)),
        finite=jnp.isfinite(gradient),
        constant_mean=flat.get("mean", jnp.asarray(stage.held == "mean")),
        constant_precision=flat.get("precision", jnp.asarray(stage.held == "precision")),
    )


def settled(found: Inspection) -> bool:
    """Nothing is left to gain from further steps; an average says so only once the steps are small, at the end."""
    return bool(
        not found.finite or found.relative_gradient <= STATIONARY or found.log_precision >= RUNAWAY_LOG_PRECISION
    )


def status_of(found: Inspection) -> Status:
    """How a training that stopped here has ended."""
    if not found.finite:
        return Status.NOT_FINITE
    if residual_gradient(found) <= STATIONARY:
        return Status.CONVERGED
    if found.squared_score < RUNAWAY_SQUARED_SCORE or found.log_precision >= RUNAWAY_LOG_PRECISION:
        return Status.RUNAWAY
    return Status.OUT_OF_STEPS


def residual_gradient(found: Inspection) -> float:
    """The smaller of the last relative gradient and the one averaged over the last steps.

    Minima of networks with kinks lie on kinks: the gradient jumps there from step to step, only its average vanishes.
    Before the first step there is no average (NaN).
    """
    return float(np.fmin(found.relative_gradient, found.average_gradient))


def trained(params: Params, stage: Stage) -> dict[str, Any]:
    """The networks that a stage moves, by name."""
    return {name: getattr(params, name) for name in stage.trains}


def _level_imbalance(
    precision: Float[Array, " point"], residual: Float[Array, " point"], rows: Batch
) -> Float[Array, ""]:
    """|sum s (precision r^2 - 1)| / sum s (precision r^2 + 1): the gradient of the precision's free output bias.

    s is the derivative of log precision by that bias. The bias moves slowly, so its gradient is judged by itself.
    """
    slope = rows.weight * -jnp.expm1(-precision) / precision
    score = precision * residual**2
    return jnp.abs(jnp.mean(slope * (score - 1.0))) / jnp.mean(slope * (score + 1.0))


def _choose(condition: Bool[Array, ""], yes: Params, no: Params) -> Params:
    chosen: Params = jax.tree.map(lambda new, old: jnp.where(condition, new, old), yes, no)
    return chosen


def _norm(tree: Any) -> Float[Array, ""]:
    return jnp.sqrt(sum((jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree)), start=jnp.zeros(())))

"""The constant model, a stationary point in closed form, and the test whether a network is on its way there.

    mean = average y,    precision = 1 / average (y - mean)^2,    all weights zero

Under an L2 penalty the zero network is a local minimum once there are two hidden layers: the likelihood's pull on a
weight is a product of the other layers, the penalty's is not. A network caught there need not be trained to the end.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from heteroscope.data import Batch
from heteroscope.networks.model import (
    PRECISION_FLOOR,
    Layer,
    Network,
    Params,
    apply_network,
    predict_mean,
    predict_precision,
    to_positive,
)

FLAT = 0.05  # standard deviation of a network's output over the rows below which it says nothing about them
DOMINATED = 0.5  # the likelihood's pull on the weights relative to the penalty's below which they only shrink
HALVINGS = 60  # of an interval of 1e8: to well below what single precision resolves
NEGLIGIBLE = 1e-7  # a pull that a network which has collapsed before still feels, from rounding


def constant_params(params: Params, batch: Batch) -> Params:
    """The constant model in the shape of `params`."""
    level = jnp.mean(batch.weight * batch.y)
    variance = jnp.mean(batch.weight * (batch.y - level) ** 2) + PRECISION_FLOOR
    return Params(_constant(params.mean, level), _constant(params.precision, _inverse_softplus(1.0 / variance)))


def collapse_networks(params: Params, batch: Batch, networks: tuple[str, ...]) -> Params:
    """`params` with the named networks replaced by those of the constant model."""
    constant = constant_params(params, batch)
    return params._replace(**{name: getattr(constant, name) for name in networks})


def hold_constant(params: Params, batch: Batch, activation: str, network: str) -> Params:
    """`params` with one network constant, at the level that is best beside the other one.

    mean = sum w p y / sum w p,    precision = 1 / average w (mean - y)^2
    """
    if network == "mean":
        share = batch.weight * predict_precision(params, batch.x, activation)
        return params._replace(mean=_constant(params.mean, jnp.sum(share * batch.y) / jnp.sum(share)))
    residual = predict_mean(params, batch.x, activation) - batch.y
    variance = jnp.mean(batch.weight * residual**2) + PRECISION_FLOOR
    return params._replace(precision=_constant(params.precision, _inverse_softplus(1.0 / variance)))


def settle_levels(params: Params, batch: Batch, activation: str, weighted: bool = False) -> Params:
    """The same networks with output biases at their best: otherwise a bias in motion looks like a pull on weights.

    With `weighted`, the mean's level is best for the precisions that the rows have; without, for equal ones.
    """
    residual = batch.y - predict_mean(params, batch.x, activation)
    precision = predict_precision(params, batch.x, activation)
    share = batch.weight * precision if weighted else batch.weight
    offset = jnp.sum(share * residual) / jnp.sum(share)
    variance = jnp.mean(batch.weight * (residual - offset) ** 2) + PRECISION_FLOOR
    typical = jnp.exp(jnp.mean(batch.weight * jnp.log(precision)))
    shift = _inverse_softplus(1.0 / variance) - _inverse_softplus(typical)
    return Params(_shift_level(params.mean, offset), _shift_level(params.precision, shift))


def fit_precision_level(params: Params, batch: Batch, activation: str) -> Params:
    """The same networks with the precision's output bias at its best, where mean[w s (r^2 - 1 / precision)] = 0.

    s is the slope of softplus. A bias can be far from there: it is to reach hundreds, a learning rate at a time. The
    likelihood is convex in it, so that its slope, which rises, is halved down on.
    """
    output = apply_network(params.precision, batch.x, activation)
    squared = (predict_mean(params, batch.x, activation) - batch.y) ** 2

    def halve(_: Any, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        middle = 0.5 * (low + high)
        slope = jnp.mean(
            batch.weight * jax.nn.sigmoid(output + middle) * (squared - 1.0 / to_positive(output + middle))
        )
        return jnp.where(slope < 0, middle, low), jnp.where(slope < 0, high, middle)

    ends = (jnp.log(PRECISION_FLOOR) - jnp.max(output), 1.0 / PRECISION_FLOOR - jnp.min(output))
    low, high = jax.lax.fori_loop(0, HALVINGS, halve, ends)
    return params._replace(precision=_shift_level(params.precision, 0.5 * (low + high)))


def find_collapsing(
    networks: tuple[str, ...],
    params: Params,
    pull_at: Callable[[Params], Params],
    shrink: Params,
    batch: Batch,
    activation: str,
) -> dict[str, Bool[Array, ""]]:
    """For each named network: is it flat over the rows, and does the penalty outweigh the likelihood in its weights?

    `pull_at` gives the gradient of the likelihood, and is asked only if a network is flat; `shrink` is the penalty's.
    The output biases are to be at their best.
    """
    if len(params.mean) < 3:
        return {name: jnp.zeros((), bool) for name in networks}
    outputs = {
        "mean": predict_mean(params, batch.x, activation),
        "precision": jnp.log(predict_precision(params, batch.x, activation)),
    }
    flat = {name: _spread(outputs[name], batch) < FLAT for name in networks}
    any_flat = jnp.any(jnp.stack(list(flat.values())))
    pull = jax.lax.cond(any_flat, pull_at, lambda params: jax.tree.map(jnp.zeros_like, params), params)
    return {
        name: flat[name]
        & (_weight_size(getattr(pull, name)) <= DOMINATED * _weight_size(getattr(shrink, name)) + NEGLIGIBLE)
        for name in networks
    }


def _constant(network: Network, level: Float[Array, ""]) -> Network:
    zeros: Network = jax.tree.map(jnp.zeros_like, network)
    return _shift_level(zeros, level)


def _shift_level(network: Network, shift: Float[Array, ""]) -> Network:
    last = network[-1]
    return (*network[:-1], Layer(last.weight, last.bias + shift))


def _inverse_softplus(value: Float[Array, ""]) -> Float[Array, ""]:
    return value + jnp.log(-jnp.expm1(-value))


def _spread(output: Float[Array, " point"], batch: Batch) -> Float[Array, ""]:
    centre = jnp.mean(batch.weight * output)
    return jnp.sqrt(jnp.mean(batch.weight * (output - centre) ** 2))


def _weight_size(network: Network) -> Float[Array, ""]:
    return jnp.sqrt(sum((jnp.sum(layer.weight**2) for layer in network), start=jnp.zeros(())))

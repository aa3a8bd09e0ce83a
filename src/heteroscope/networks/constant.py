"""The constant model, a stationary point in closed form, and the test whether a network collapses to it.

    mean = average y,    precision = 1 / average (y - mean)^2,    all weights zero

With two or more hidden layers and an L2 penalty, the zero network is a local minimum: the gradient of the likelihood
with respect to a weight is a product of the other layers' weights and vanishes with them. A network that shrinks
towards zero can be replaced by its constant at once. Averages use the rows' weights, which average to one.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from heteroscope.data import Batch
from heteroscope.networks.architecture import PRECISION_FLOOR, Layer, Network, Params
from heteroscope.networks.model import apply_network, predict_mean, predict_precision, to_positive

FLAT = 0.05  # standard deviation of a network's output over the rows below which it counts as flat
DOMINATED = 0.5  # |likelihood's gradient| / |penalty's gradient| below which weights only shrink
HALVINGS = 60  # bisections of an interval of 1e8: to well below the resolution of single precision
NEGLIGIBLE = 1e-7  # gradient that rounding leaves in a network that has collapsed before


def constant_params(params: Params, batch: Batch) -> Params:
    """Return the constant model in the shape of `params`."""
    level = jnp.mean(batch.weight * batch.y)
    variance = jnp.mean(batch.weight * (batch.y - level) ** 2) + PRECISION_FLOOR
    return Params(_constant(params.mean, level), _constant(params.precision, _inverse_softplus(1.0 / variance)))


def collapse_networks(params: Params, batch: Batch, networks: tuple[str, ...]) -> Params:
    """Return `params` with the named networks replaced by those of the constant model."""
    constant = constant_params(params, batch)
    return params._replace(**{name: getattr(constant, name) for name in networks})


def hold_constant(params: Params, batch: Batch, activation: str, network: str) -> Params:
    """Return `params` with one network replaced by the constant that is best beside the other network.

    mean = sum w p y / sum w p,    or    precision = 1 / average w (mean - y)^2
    """
    if network == "mean":
        share = batch.weight * predict_precision(params, batch.x, activation)
        return params._replace(mean=_constant(params.mean, jnp.sum(share * batch.y) / jnp.sum(share)))
    residual = predict_mean(params, batch.x, activation) - batch.y
    variance = jnp.mean(batch.weight * residual**2) + PRECISION_FLOOR
    return params._replace(precision=_constant(params.precision, _inverse_softplus(1.0 / variance)))


def settle_levels(params: Params, batch: Batch, activation: str, weighted: bool = False) -> Params:
    """Return the same networks with output biases shifted to fit the rows.

    The mean is shifted by the average residual; with `weighted`, rows count by their precision. The precision is
    shifted so that its geometric mean is 1 / variance of the residuals. Without the shifts, `find_collapsing` would see
    weights that only make up for a bias that is still moving.
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
    """Return the same networks with the best output bias of the precision, where mean[w s (r^2 - 1 / precision)] = 0.

    s is the derivative of softplus. The likelihood is convex in the bias: bisect the derivative. Steps of an optimiser
    would take long, since the bias may have to reach hundreds and moves by about a learning rate per step.
    """
    output = apply_network(params.precision, batch.x, activation)
    squared = (predict_mean(params, batch.x, activation) - batch.y) ** 2

    def halve(_: Int[Array, ""] | int, ends: tuple[Array, Array]) -> tuple[Array, Array]:
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
    """Return for each named network whether it collapses: it is flat, and the penalty outweighs the likelihood.

    `pull_at` returns the gradient of the likelihood; it is evaluated only if a network is flat. `shrink` is the
    gradient of the penalty. The output biases must fit the rows, see `settle_levels`. With fewer than two hidden
    layers the zero network is no minimum, so no network collapses.
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
    """Return a network of the same shape with all weights zero and output `level`."""
    zeros: Network = jax.tree.map(jnp.zeros_like, network)
    return _shift_level(zeros, level)


def _shift_level(network: Network, shift: Float[Array, ""]) -> Network:
    """Return the network with `shift` added to its output bias."""
    last = network[-1]
    return (*network[:-1], Layer(last.weight, last.bias + shift))


def _inverse_softplus(value: Float[Array, ""]) -> Float[Array, ""]:
    return value + jnp.log(-jnp.expm1(-value))


def _spread(output: Float[Array, " point"], batch: Batch) -> Float[Array, ""]:
    """Return the weighted standard deviation over the rows."""
    centre = jnp.mean(batch.weight * output)
    return jnp.sqrt(jnp.mean(batch.weight * (output - centre) ** 2))


def _weight_size(network: Network) -> Float[Array, ""]:
    """Return the norm of all weights, without biases."""
    return jnp.sqrt(sum((jnp.sum(layer.weight**2) for layer in network), start=jnp.zeros(())))

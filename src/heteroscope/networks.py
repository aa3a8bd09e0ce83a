"""The mean and the precision network of one model: how they start and what they compute.

    f(x) = W_k a(W_{k-1} ... a(W_1 x + b_1) ... + b_{k-1}) + b_k,    precision(x) = softplus(f(x)) + 1e-8
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from heteroscope.errors import InputError

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "leaky_relu": jax.nn.leaky_relu,
    "relu": jax.nn.relu,
    "silu": jax.nn.silu,
    "gelu": jax.nn.gelu,
    "tanh": jnp.tanh,
}
PRECISION_FLOOR = 1e-8
UNIT_PRECISION_BIAS = 0.5413248546129181  # softplus of it is one: log(e - 1)


class Layer(NamedTuple):
    """x -> x @ weight + bias."""

    weight: Float[Array, "input output"]
    bias: Float[Array, " output"]


Network = tuple[Layer, ...]


class Params(NamedTuple):
    """Everything that is learned: one network for the mean, one for the precision."""

    mean: Network
    precision: Network


class Architecture(NamedTuple):
    """What is chosen before learning: shape, activation and the scale of the start ("he" or a standard deviation)."""

    n_features: int
    hidden: tuple[int, ...] = (128, 128, 128)
    activation: str = "leaky_relu"
    start: str | float = "he"


def check_architecture(hidden: object, activation: object, start: object) -> None:
    """Raise an `InputError` for hidden sizes, an activation or a start that no network can have."""
    if not isinstance(hidden, tuple | list) or not all(isinstance(h, int) and h > 0 for h in hidden):
        raise InputError(f"hidden must be a tuple of positive integers such as (128, 128, 128), got {hidden!r}")
    if activation not in ACTIVATIONS:
        raise InputError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {activation!r}")
    if start != "he" and not (isinstance(start, int | float) and 0 < start < float("inf")):
        raise InputError(f'start must be "he" or a positive standard deviation such as 1e-3, got {start!r}')


def init_params(key: Key[Array, ""], architecture: Architecture) -> Params:
    """Random weights: N(0, 2 / inputs) with zero biases for "he", N(0, start^2) for both otherwise.

    The He start sets the precision to one where its network is silent, which is what the mean-first stage assumes.
    """
    mean_key, precision_key = jax.random.split(key)
    params = Params(_init_network(mean_key, architecture), _init_network(precision_key, architecture))
    if architecture.start != "he":
        return params
    last = params.precision[-1]
    return params._replace(precision=(*params.precision[:-1], last._replace(bias=last.bias + UNIT_PRECISION_BIAS)))


def _init_network(key: Key[Array, ""], architecture: Architecture) -> Network:
    sizes = (architecture.n_features, *architecture.hidden, 1)
    layers = []
    for layer_key, n_in, n_out in zip(jax.random.split(key, len(sizes) - 1), sizes[:-1], sizes[1:], strict=True):
        weight_key, bias_key = jax.random.split(layer_key)
        weight, bias = jax.random.normal(weight_key, (n_in, n_out)), jnp.zeros(n_out)
        if architecture.start == "he":
            weight = weight * jnp.sqrt(2.0 / n_in)
        else:
            weight, bias = weight * architecture.start, jax.random.normal(bias_key, (n_out,)) * architecture.start
        layers.append(Layer(weight, bias))
    return tuple(layers)


def apply_network(network: Network, x: Float[Array, "point feature"], activation: str) -> Float[Array, " point"]:
    """f(x) for every row."""
    for layer in network[:-1]:
        x = ACTIVATIONS[activation](x @ layer.weight + layer.bias)
    return (x @ network[-1].weight + network[-1].bias)[:, 0]


def predict_mean(params: Params, x: Float[Array, "point feature"], activation: str) -> Float[Array, " point"]:
    """The mean network's output."""
    return apply_network(params.mean, x, activation)


def predict_precision(params: Params, x: Float[Array, "point feature"], activation: str) -> Float[Array, " point"]:
    """softplus of the precision network's output, kept above 1e-8."""
    return jax.nn.softplus(apply_network(params.precision, x, activation)) + PRECISION_FLOOR


def input_gradients(
    params: Params, x: Float[Array, "point feature"], activation: str
) -> tuple[Float[Array, "point feature"], Float[Array, "point feature"]]:
    """Exact gradients of mean and precision with respect to the inputs, row by row (rows do not interact)."""
    mean_gradient = jax.grad(lambda rows: jnp.sum(predict_mean(params, rows, activation)))(x)
    precision_gradient = jax.grad(lambda rows: jnp.sum(predict_precision(params, rows, activation)))(x)
    return mean_gradient, precision_gradient

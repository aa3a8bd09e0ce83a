"""The mean and the precision network of one model: how they start and what they compute.

f(x) = W_k a(W_{k-1} ... a(W_1 x + b_1) ... + b_{k-1}) + b_k,    precision(x) = softplus(f(x)) + 1e-8
"""

from collections.abc import Callable
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from heteroscope.core import InputError, Parameter, defaults

AnyArray: TypeAlias = Array | np.ndarray  # JAX takes both


@jax.custom_jvp
def silu(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """x sigmoid(x), as `jax.nn.silu`, with which a training step takes up to a twelfth longer."""
    return x * _sigmoid(x)


@silu.defjvp
def _silu_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """The slope, s + x s (1 - s), is worked out beside the value, where the sigmoid s is at hand."""
    (x,), (change,) = primals, tangents
    sigmoid = _sigmoid(x)
    value = x * sigmoid
    return value, (sigmoid + value * (1.0 - sigmoid)) * change


def _sigmoid(x: Float[Array, "..."]) -> Float[Array, "..."]:
    return 0.5 * jnp.tanh(0.5 * x) + 0.5


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "leaky_relu": jax.nn.leaky_relu,
    "relu": jax.nn.relu,
    "silu": silu,
    "gelu": jax.nn.gelu,
    "tanh": jnp.tanh,
}
PRECISION_FLOOR = 1e-8
UNIT_PRECISION_BIAS = 0.5413248546129181  # softplus of it is one: log(e - 1)


class Layer(NamedTuple):
    """x -> x @ weight + bias."""

    weight: Float[AnyArray, "input output"]
    bias: Float[AnyArray, " output"]


Network = tuple[Layer, ...]


class Params(NamedTuple):
    """Everything that is learned: one network for the mean, one for the precision."""

    mean: Network
    precision: Network


class Architecture(NamedTuple):
    """What is chosen before learning: shape, activation and the scale of the start ("he" or a standard deviation).

    The mean network has one output. The other has `outputs`, and the first of them is the precision.
    """

    n_features: int
    hidden: tuple[int, ...] = defaults.PAPER_HIDDEN
    activation: str = defaults.PAPER_ACTIVATION
    start: str | float = "he"
    outputs: int = 1


def check_architecture(hidden: Any, activation: Any, start: Any) -> None:
    """Raise an `InputError` for hidden sizes, an activation or a start that no network can have."""
    if not isinstance(hidden, tuple | list) or not all(_is_number(h, Integral) and h > 0 for h in hidden):
        raise InputError(
            Parameter("hidden"), f" must be a tuple of positive integers such as (128, 128, 128), got {hidden!r}"
        )
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        raise InputError(Parameter("activation"), f" must be one of {', '.join(ACTIVATIONS)}, got {activation!r}")
    if start != "he" and not (_is_number(start, Real) and 0 < float(start) < float("inf")):
        raise InputError(
            Parameter("start"), f' must be "he" or a positive standard deviation such as 1e-3, got {start!r}'
        )


def _is_number(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def init_params(seed: int, architecture: Architecture) -> Params:
    """Random weights: N(0, 2 / inputs) with zero biases for "he", N(0, start^2) for both otherwise.

    The He start sets the precision to one where its network is silent, which is what the mean-first stage assumes.
    """
    random = np.random.default_rng(seed)
    params = Params(_init_network(random, architecture, 1), _init_network(random, architecture, architecture.outputs))
    if architecture.start == "he":
        params.precision[-1].bias[:] = UNIT_PRECISION_BIAS
    return params


def _init_network(random: np.random.Generator, architecture: Architecture, outputs: int) -> Network:
    sizes = (architecture.n_features, *architecture.hidden, outputs)
    layers = []
    for n_in, n_out in pairwise(sizes):
        weight, bias = random.standard_normal((n_in, n_out), np.float32), random.standard_normal(n_out, np.float32)
        if architecture.start == "he":
            layers.append(Layer(weight * np.float32(np.sqrt(2.0 / n_in)), np.zeros_like(bias)))
        else:
            layers.append(Layer(weight * np.float32(architecture.start), bias * np.float32(architecture.start)))
    return tuple(layers)


def apply_trunk(network: Network, x: Float[AnyArray, "point feature"], activation: str) -> Float[Array, "point unit"]:
    """What the last hidden layer gives for every row."""
    hidden = jnp.asarray(x)
    for layer in network[:-1]:
        hidden = ACTIVATIONS[activation](hidden @ layer.weight + layer.bias[None, :])
    return hidden


def apply_layer(layer: Layer, hidden: Float[Array, "point unit"]) -> Float[Array, "point output"]:
    """hidden @ weight + bias."""
    return hidden @ layer.weight + layer.bias[None, :]


def apply_network(network: Network, x: Float[AnyArray, "point feature"], activation: str) -> Float[Array, " point"]:
    """f(x) for every row: the first output if there are several."""
    return apply_layer(network[-1], apply_trunk(network, x, activation))[:, 0]


def to_positive(output: Float[Array, "..."]) -> Float[Array, "..."]:
    """softplus(f) + 1e-8: what makes a precision, or another number that must be positive, of a network's output."""
    return jax.nn.softplus(output) + PRECISION_FLOOR


def predict_mean(params: Params, x: Float[AnyArray, "point feature"], activation: str) -> Float[Array, " point"]:
    """The mean network's output."""
    return apply_network(params.mean, x, activation)


def predict_precision(params: Params, x: Float[AnyArray, "point feature"], activation: str) -> Float[Array, " point"]:
    """softplus of the precision network's output, kept above 1e-8."""
    return to_positive(apply_network(params.precision, x, activation))


def input_gradients(
    params: Params, x: Float[AnyArray, "point feature"], activation: str
) -> tuple[Float[Array, "point feature"], Float[Array, "point feature"]]:
    """Exact gradients of mean and precision with respect to the inputs, row by row (rows do not interact)."""
    mean_gradient = jax.grad(lambda rows: jnp.sum(predict_mean(params, rows, activation)))(x)
    precision_gradient = jax.grad(lambda rows: jnp.sum(predict_precision(params, rows, activation)))(x)
    return mean_gradient, precision_gradient

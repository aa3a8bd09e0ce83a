"""One model in JAX: the outputs of its mean and precision networks, and their gradients.

f(x) = W_k a(W_{k-1} ... a(W_1 x + b_1) ... + b_{k-1}) + b_k,    precision(x) = softplus(f(x)) + 1e-8
"""

from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from heteroscope.networks.architecture import PRECISION_FLOOR, Layer, Network, Params

AnyArray: TypeAlias = Array | np.ndarray  # JAX accepts both


@jax.custom_jvp
def silu(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """Return x sigmoid(x), as `jax.nn.silu` does; with that one a training step takes up to a twelfth longer."""
    return x * _sigmoid(x)


@silu.defjvp
def _silu_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """Return the value and its derivative, s + x s (1 - s), both from one evaluation of the sigmoid s."""
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


def apply_trunk(network: Network, x: Float[AnyArray, "point feature"], activation: str) -> Float[Array, "point unit"]:
    """Return the output of the last hidden layer for every row."""
    hidden = jnp.asarray(x)
    for layer in network[:-1]:
        hidden = ACTIVATIONS[activation](hidden @ layer.weight + layer.bias[None, :])
    return hidden


def apply_layer(layer: Layer, hidden: Float[Array, "point unit"]) -> Float[Array, "point output"]:
    """Return hidden @ weight + bias."""
    return hidden @ layer.weight + layer.bias[None, :]


def apply_network(network: Network, x: Float[AnyArray, "point feature"], activation: str) -> Float[Array, " point"]:
    """Return f(x) for every row: the first output if there are several."""
    return apply_layer(network[-1], apply_trunk(network, x, activation))[:, 0]


def to_positive(output: Float[Array, "..."]) -> Float[Array, "..."]:
    """Return softplus(f) + 1e-8: map an output f to a precision, or to another number that must be positive."""
    return jax.nn.softplus(output) + PRECISION_FLOOR


def predict_mean(params: Params, x: Float[AnyArray, "point feature"], activation: str) -> Float[Array, " point"]:
    """Return the output of the mean network for every row."""
    return apply_network(params.mean, x, activation)


def predict_precision(params: Params, x: Float[AnyArray, "point feature"], activation: str) -> Float[Array, " point"]:
    """Return the precision for every row: softplus of the precision network's output, plus 1e-8."""
    return to_positive(apply_network(params.precision, x, activation))


def input_gradients(
    params: Params, x: Float[AnyArray, "point feature"], activation: str
) -> tuple[Float[Array, "point feature"], Float[Array, "point feature"]]:
    """Return exact gradients of mean and precision with respect to the inputs of each row.

    Rows do not interact, so the gradient of a sum over rows has the gradient of each row in its own place.
    """
    mean_gradient = jax.grad(lambda rows: jnp.sum(predict_mean(params, rows, activation)))(x)
    precision_gradient = jax.grad(lambda rows: jnp.sum(predict_precision(params, rows, activation)))(x)
    return mean_gradient, precision_gradient

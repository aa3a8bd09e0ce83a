"""Evaluate trained networks in NumPy: no JAX, so that a model predicts in any process, at once and after a fork.

The numbers are those of `model.py` but for the last bits. All members of an ensemble are evaluated together.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from heteroscope.networks.architecture import PRECISION_FLOOR, Network

LEAK = 0.01  # slope of leaky_relu below zero
GELU_CUBE = 0.044715  # in gelu's approximation by tanh, which JAX uses by default


def _silu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1.0 + np.tanh(0.5 * x))


def _gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1.0 + np.tanh(float(np.sqrt(2.0 / np.pi)) * (x + GELU_CUBE * x * x * x)))


def _relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0.0)


def _leaky_relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, LEAK * x)


#: The functions of `ACTIVATION_NAMES`; single precision stays single precision.
NUMPY_ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "leaky_relu": _leaky_relu,
    "relu": _relu,
    "silu": _silu,
    "gelu": _gelu,
    "tanh": np.tanh,
}


def evaluate_network(
    network: Network, inputs: Float[np.ndarray, "point feature"], activation: str
) -> Float[np.ndarray, "member point output"]:
    """Return all outputs of a network whose layers are stacked over members, in the precision of its weights."""
    function, hidden = NUMPY_ACTIVATIONS[activation], inputs
    with np.errstate(over="ignore", invalid="ignore"):  # a member that is not finite is not an error here
        for layer in network[:-1]:
            hidden = function(hidden @ layer.weight + layer.bias[:, np.newaxis, :])
        return np.asarray(hidden @ network[-1].weight + network[-1].bias[:, np.newaxis, :])


def positive(output: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Return softplus(f) + 1e-8, the precision of an output f."""
    return np.logaddexp(output, np.zeros((), output.dtype)) + PRECISION_FLOOR

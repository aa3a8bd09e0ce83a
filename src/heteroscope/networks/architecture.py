"""One model before it is trained: the architecture of its mean and precision networks, and their random start.

f(x) = W_k a(W_{k-1} ... a(W_1 x + b_1) ... + b_{k-1}) + b_k

This module needs NumPy only: a saved model is read and evaluated without JAX.
"""

from itertools import pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.core import InputError, Parameter, defaults

if TYPE_CHECKING:  # only annotations name JAX
    from jaxtyping import Array

#: The activation functions of hidden layers, by name: `model.py` has them for JAX, `forward.py` for NumPy.
ACTIVATION_NAMES = ("leaky_relu", "relu", "silu", "gelu", "tanh")
PRECISION_FLOOR = 1e-8  # added to every precision, so that its logarithm is finite
UNIT_PRECISION_BIAS = 0.5413248546129181  # softplus of it is one: log(e - 1)


class Layer(NamedTuple):
    """The map x -> x @ weight + bias."""

    weight: "Float[Array | np.ndarray, 'input output']"
    bias: "Float[Array | np.ndarray, ' output']"


Network = tuple[Layer, ...]


class Params(NamedTuple):
    """Everything that is trained: one network for the mean, one for the precision."""

    mean: Network
    precision: Network


class Architecture(NamedTuple):
    """What is chosen before training: the shape of the networks, their activation and their random start.

    The mean network has one output. The precision network has `outputs`, and the first of them is the precision.
    """

    n_features: int
    hidden: tuple[int, ...] = defaults.PAPER_HIDDEN
    activation: str = defaults.PAPER_ACTIVATION
    start: str | float = "he"  # "he", or the standard deviation of all weights and biases
    outputs: int = 1


def check_architecture(hidden: object, activation: object, start: object) -> None:
    """Raise an `InputError` for invalid hidden sizes, activation or start."""
    if not isinstance(hidden, tuple | list) or not all(_is_size(size) for size in hidden):
        raise InputError(
            Parameter("hidden"), f" must be a tuple of positive integers such as (128, 128, 128), got {hidden!r}"
        )
    if not isinstance(activation, str) or activation not in ACTIVATION_NAMES:
        raise InputError(Parameter("activation"), f" must be one of {', '.join(ACTIVATION_NAMES)}, got {activation!r}")
    if start != "he" and not (
        isinstance(start, Real) and not isinstance(start, bool) and 0 < float(start) < float("inf")
    ):
        raise InputError(
            Parameter("start"), f' must be "he" or a positive standard deviation such as 1e-3, got {start!r}'
        )


def _is_size(value: object) -> bool:
    """Return whether the value is a positive integer, and not True."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) > 0


def init_params(seed: int, architecture: Architecture) -> Params:
    """Return random weights: N(0, 2 / inputs) and zero biases for "he", otherwise N(0, start^2) for both.

    With "he", the output bias of the precision gives a precision of one where the rest of its network outputs zero. The
    first stage, which trains the mean alone, assumes a precision of one.
    """
    random = np.random.default_rng(seed)
    params = Params(_init_network(random, architecture, 1), _init_network(random, architecture, architecture.outputs))
    if architecture.start == "he":
        params.precision[-1].bias[:] = UNIT_PRECISION_BIAS
    return params


def _init_network(random: np.random.Generator, architecture: Architecture, outputs: int) -> Network:
    """Draw the weights of one network."""
    sizes = (architecture.n_features, *architecture.hidden, outputs)
    layers = []
    for n_in, n_out in pairwise(sizes):
        weight, bias = random.standard_normal((n_in, n_out), np.float32), random.standard_normal(n_out, np.float32)
        if architecture.start == "he":
            layers.append(Layer(weight * np.float32(np.sqrt(2.0 / n_in)), np.zeros_like(bias)))
        else:
            layers.append(Layer(weight * np.float32(architecture.start), bias * np.float32(architecture.start)))
    return tuple(layers)

"""What the second network of a baseline stands for, and which hidden layers it uses.

Head: turns the positive output o = softplus(f(x)) + 1e-8 of the second network into a precision.

variance head: variance = o, precision = 1 / o,    precision head: precision = o

Trunk: the hidden layers. With a "shared" trunk the second network is only an output layer on the hidden layers of the
mean network. Its own hidden layers are not used while it trains; `share_trunk` then replaces them by those of the mean
network, so that a trained model is two complete networks like any other.
"""

from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Array, Float

from heteroscope.core import InputError
from heteroscope.networks import AnyArray, Params, apply_layer, apply_network, apply_trunk

TRUNKS = ("shared", "separate")

#: An array of NumPy or of JAX: heads are applied to both.
ArrayT = TypeVar("ArrayT", np.ndarray, Array)


@runtime_checkable
class Head(Protocol):
    """A function that turns the positive outputs of the second network into precisions, element by element."""

    def __call__(self, output: ArrayT, /) -> ArrayT:
        """Return one precision per output."""


def variance_head(output: ArrayT) -> ArrayT:
    """Return 1 / output: the second network gives the variance, as in most of the literature."""
    return 1.0 / output


def precision_head(output: ArrayT) -> ArrayT:
    """Return the output itself: the second network gives the precision, as in `HeteroskedasticRegressor`.

    Parameters
    ----------
    output : array
        What the second network gives for each row, made positive.

    Returns
    -------
    array
        The precision of each row.
    """
    return output


def check_trunk(trunk: object) -> str:
    """Return `trunk` if it is one of `TRUNKS`; raise an `InputError` otherwise."""
    if not isinstance(trunk, str) or trunk not in TRUNKS:
        raise InputError(f"trunk must be one of {', '.join(TRUNKS)}, got {trunk!r}")
    return trunk


def second_output(
    params: Params, x: Float[AnyArray, "point feature"], activation: str, trunk: str
) -> Float[Array, " point"]:
    """Return the first output of the second network, on the mean network's hidden layers or on its own."""
    if trunk == "shared":
        return apply_layer(params.precision[-1], apply_trunk(params.mean, x, activation))[:, 0]
    return apply_network(params.precision, x, activation)


def share_trunk(params: Params) -> Params:
    """Return the same model with the mean network's hidden layers in both networks."""
    return params._replace(precision=(*params.mean[:-1], params.precision[-1]))

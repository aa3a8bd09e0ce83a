"""What the second network stands for: a head turns its positive output o = softplus(f(x)) + 1e-8 into a precision.

variance head: variance = o, precision = 1 / o,    precision head: precision = o
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from jaxtyping import Array, Float

from heteroscope.core import InputError
from heteroscope.networks import AnyArray, Params, apply_layer, apply_network, apply_trunk

Head: TypeAlias = Callable[[Any], Any]  # element by element, for NumPy's arrays and for JAX's


def variance_head(output: Any) -> Any:
    """1 / o: the network gives the variance, as in most of the literature."""
    return 1.0 / output


def precision_head(output: Any) -> Any:
    """o itself: the network gives the precision, as in `HeteroskedasticRegressor`."""
    return output


TRUNKS = ("shared", "separate")


def check_trunk(trunk: Any) -> str:
    """`trunk` if it is one of `TRUNKS`."""
    if not isinstance(trunk, str) or trunk not in TRUNKS:
        raise InputError(f"trunk must be one of {', '.join(TRUNKS)}, got {trunk!r}")
    return trunk


def second_output(
    params: Params, x: Float[AnyArray, "point feature"], activation: str, trunk: str
) -> Float[Array, " point"]:
    """The first output of the second network, on the mean network's trunk or on its own."""
    if trunk == "shared":
        return apply_layer(params.precision[-1], apply_trunk(params.mean, x, activation))[:, 0]
    return apply_network(params.precision, x, activation)


def share_trunk(params: Params) -> Params:
    """The same model with the trunk in both networks."""
    return params._replace(precision=(*params.mean[:-1], params.precision[-1]))

"""Two outputs on one trunk: the hidden layers are the mean network's, and the other network is its last layer alone.

While such a model is trained, the other network's own hidden layers are idle; afterwards `share_trunk` puts the
trunk into their place, so that a trained model is two networks like any other.
"""

from typing import Any

from jaxtyping import Array, Float

from heteroscope.core import InputError
from heteroscope.networks import AnyArray, Params, apply_layer, apply_network, apply_trunk

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

"""From trained members to one Gaussian a row: moments of the mixture, its noise and its disagreement told apart.

mean = average of means,    variance = average of variances (aleatoric) + variance of means (epistemic)
"""

from functools import partial
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from heteroscope.networks import Params, predict_mean, predict_precision
from heteroscope.scaling import Scaling

BLOCK = 8192  # rows evaluated at once; shorter blocks are padded to a power of two, so that few shapes are compiled


class Prediction(NamedTuple):
    """One Gaussian a row in the target's units; std^2 = aleatoric^2 + epistemic^2."""

    mean: Float[np.ndarray, " point"]
    std: Float[np.ndarray, " point"]
    aleatoric: Float[np.ndarray, " point"]
    epistemic: Float[np.ndarray, " point"]


def stack_members(members: list[Params]) -> Params:
    """Members side by side, along a new first axis of every array."""
    stacked: Params = jax.tree.map(lambda *leaves: np.stack(leaves), *members)
    return stacked


def predict_members(
    members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling, activation: str
) -> tuple[Float[np.ndarray, "member point"], Float[np.ndarray, "member point"]]:
    """Mean and std of every member in the target's units."""
    means, precisions = [], []
    for first in range(0, len(x), BLOCK):
        block = scaling.inputs(x[first : first + BLOCK])
        padded = np.pad(block, ((0, _next_power_of_two(len(block)) - len(block)), (0, 0)))
        mean, precision = jax.device_get(_forward(members, padded, activation))
        means.append(mean[:, : len(block)])
        precisions.append(precision[:, : len(block)])
    mean = np.concatenate(means, axis=1).astype(np.float64)
    precision = np.concatenate(precisions, axis=1).astype(np.float64)
    return mean * scaling.y_scale + scaling.y_centre, scaling.y_scale / np.sqrt(precision)


def moment_match(mean: Float[np.ndarray, "member point"], std: Float[np.ndarray, "member point"]) -> Prediction:
    """The Gaussian with the mixture's mean and variance."""
    aleatoric = np.sqrt(np.mean(std**2, axis=0))
    epistemic = np.std(mean, axis=0)
    return Prediction(np.mean(mean, axis=0), np.hypot(aleatoric, epistemic), aleatoric, epistemic)


@partial(jax.jit, static_argnames="activation")
def _forward(members: Params, x: jax.Array, activation: str) -> tuple[jax.Array, jax.Array]:
    def one(params: Params) -> tuple[jax.Array, jax.Array]:
        return predict_mean(params, x, activation), predict_precision(params, x, activation)

    return jax.vmap(one)(members)


def _next_power_of_two(n: int) -> int:
    return max(64, 1 << (n - 1).bit_length())

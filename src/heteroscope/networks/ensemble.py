"""From trained members to one Gaussian a row: moments of the mixture, its noise and its disagreement told apart.

mean = average of means,    variance = average of variances (aleatoric) + variance of means (epistemic)
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from heteroscope.data import Scaling
from heteroscope.networks.model import Params, apply_layer, apply_trunk, predict_mean, to_positive

BLOCK = 8192  # rows evaluated at once; shorter blocks are padded to a power of two, so that few shapes are compiled


class Prediction(NamedTuple):
    """One Gaussian a row in the target's units; std^2 = aleatoric^2 + epistemic^2."""

    mean: Float[np.ndarray, " point"]
    std: Float[np.ndarray, " point"]
    aleatoric: Float[np.ndarray, " point"]
    epistemic: Float[np.ndarray, " point"]

    def scaled(self, factor: float) -> "Prediction":
        """The same means with every std, and its parts, times a factor."""
        return Prediction(self.mean, factor * self.std, factor * self.aleatoric, factor * self.epistemic)


def stack_members(members: list[Params]) -> Params:
    """Members side by side, along a new first axis of every array."""
    stacked: Params = jax.tree.map(lambda *leaves: np.stack(leaves), *members)
    return stacked


def each_member(members: Params) -> Iterator[Params]:
    """The members one by one; a program of one member serves ensembles of any size."""
    for k in range(len(members.mean[-1].bias)):
        yield jax.tree.map(lambda leaf, k=k: leaf[k], members)


def predict_members(
    members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling, activation: str
) -> tuple[Float[np.ndarray, "member point"], Float[np.ndarray, "member point"]]:
    """Mean and std of every member in the target's units."""
    mean, outputs = member_outputs(members, x, scaling, activation)
    return mean, scaling.y_scale / np.sqrt(outputs[:, :, 0])


def member_outputs(
    members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling, activation: str
) -> tuple[Float[np.ndarray, "member point"], Float[np.ndarray, "member point output"]]:
    """Every member's mean in the target's units, and all that its second network gives, made positive."""
    means, outputs = [], []
    for block, n_rows in padded_blocks(x):
        inputs = scaling.inputs(block)
        found = jax.device_get([_forward(params, inputs, activation) for params in each_member(members)])
        means.append(np.stack([mean[:n_rows] for mean, _ in found]))
        outputs.append(np.stack([output[:n_rows] for _, output in found]))
    mean = np.concatenate(means, axis=1).astype(np.float64)
    return mean * scaling.y_scale + scaling.y_centre, np.concatenate(outputs, axis=1).astype(np.float64)


def padded_blocks(x: Float[np.ndarray, "point feature"]) -> Iterator[tuple[Float[np.ndarray, "row feature"], int]]:
    """Blocks of rows, each with the number of those that are no padding."""
    for first in range(0, len(x), BLOCK):
        block = x[first : first + BLOCK]
        yield np.pad(block, ((0, _next_power_of_two(len(block)) - len(block)), (0, 0))), len(block)


def widest_std(y: Float[np.ndarray, " point"]) -> float:
    """max y - min y, beyond which no row can have asked for a std; infinite where the target does not vary."""
    return float(np.ptp(y)) or np.inf


def moment_match(mean: Float[np.ndarray, "member point"], std: Float[np.ndarray, "member point"]) -> Prediction:
    """The Gaussian with the mixture's mean and variance."""
    aleatoric = np.sqrt(np.mean(std**2, axis=0))
    epistemic = np.std(mean, axis=0)
    return Prediction(np.mean(mean, axis=0), np.hypot(aleatoric, epistemic), aleatoric, epistemic)


@partial(jax.jit, static_argnames="activation")
def _forward(params: Params, x: jax.Array, activation: str) -> tuple[jax.Array, jax.Array]:
    outputs = apply_layer(params.precision[-1], apply_trunk(params.precision, x, activation))
    return predict_mean(params, x, activation), to_positive(outputs)


def _next_power_of_two(n: int) -> int:
    return max(64, 1 << (n - 1).bit_length())

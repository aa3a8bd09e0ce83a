"""Combine the members of an ensemble into one Gaussian per row.

mean = average of means,    variance = average of variances (aleatoric) + variance of means (epistemic)

These are the moments of the mixture of all members. The first part of the variance is the noise of the data, the second
one the disagreement of the members.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from heteroscope.data import Scaling
from heteroscope.networks.model import Params, apply_layer, apply_trunk, predict_mean, to_positive

BLOCK = 8192  # rows evaluated at once
SMALLEST_BLOCK = 64  # shorter blocks are padded to a power of two from here on, so that few shapes are compiled


class Prediction(NamedTuple):
    """One Gaussian per row in the target's units; std^2 = aleatoric^2 + epistemic^2."""

    mean: Float[np.ndarray, " point"]
    std: Float[np.ndarray, " point"]
    aleatoric: Float[np.ndarray, " point"]
    epistemic: Float[np.ndarray, " point"]

    def scaled(self, factor: float) -> "Prediction":
        """Return the same means with every std, and both of its parts, multiplied by `factor`."""
        return Prediction(self.mean, factor * self.std, factor * self.aleatoric, factor * self.epistemic)


def stack_members(members: list[Params]) -> Params:
    """Stack members along a new first axis of every array."""
    stacked: Params = jax.tree.map(lambda *leaves: np.stack(leaves), *members)
    return stacked


def each_member(members: Params) -> Iterator[Params]:
    """Yield the members one by one, so that one program, compiled for one member, serves ensembles of any size."""
    for k in range(len(members.mean[-1].bias)):
        yield jax.tree.map(lambda leaf, k=k: leaf[k], members)


def predict_members(
    members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling, activation: str
) -> tuple[Float[np.ndarray, "member point"], Float[np.ndarray, "member point"]]:
    """Return mean and std of every member in the target's units."""
    mean, outputs = member_outputs(members, x, scaling, activation)
    return mean, scaling.y_scale / np.sqrt(outputs[:, :, 0])


def member_outputs(
    members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling, activation: str
) -> tuple[Float[np.ndarray, "member point"], Float[np.ndarray, "member point output"]]:
    """Return every member's mean in the target's units, and all outputs of its second network, made positive.

    The second network's outputs are in units of the scaled target.
    """
    means, outputs = [], []
    for block, n_rows in padded_blocks(x):
        inputs = scaling.inputs(block)
        predicted = jax.device_get([_forward(params, inputs, activation) for params in each_member(members)])
        means.append(np.stack([mean[:n_rows] for mean, _ in predicted]))
        outputs.append(np.stack([output[:n_rows] for _, output in predicted]))
    mean = np.concatenate(means, axis=1).astype(np.float64)
    return mean * scaling.y_scale + scaling.y_centre, np.concatenate(outputs, axis=1).astype(np.float64)


def padded_blocks(x: Float[np.ndarray, "point feature"]) -> Iterator[tuple[Float[np.ndarray, "row feature"], int]]:
    """Yield blocks of rows, padded with zeros, each with its number of rows before padding."""
    for first in range(0, len(x), BLOCK):
        block = x[first : first + BLOCK]
        yield np.pad(block, ((0, _next_power_of_two(len(block)) - len(block)), (0, 0))), len(block)


def widest_std(y: Float[np.ndarray, " point"]) -> float:
    """Return max y - min y, an upper bound for a sensible std; infinity if the target does not vary."""
    return float(np.ptp(y)) or np.inf


def moment_match(mean: Float[np.ndarray, "member point"], std: Float[np.ndarray, "member point"]) -> Prediction:
    """Return the Gaussian with the mean and the variance of the mixture of all members."""
    aleatoric = np.sqrt(np.mean(std**2, axis=0))
    epistemic = np.std(mean, axis=0)
    return Prediction(np.mean(mean, axis=0), np.hypot(aleatoric, epistemic), aleatoric, epistemic)


@partial(jax.jit, static_argnames="activation")
def _forward(params: Params, x: jax.Array, activation: str) -> tuple[jax.Array, jax.Array]:
    """Return one member's mean and the positive outputs of its second network."""
    outputs = apply_layer(params.precision[-1], apply_trunk(params.precision, x, activation))
    return predict_mean(params, x, activation), to_positive(outputs)


def _next_power_of_two(n: int) -> int:
    return max(SMALLEST_BLOCK, 1 << (n - 1).bit_length())

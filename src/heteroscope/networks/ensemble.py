"""Combine the members of an ensemble into one Gaussian per row.

mean = average of means,    variance = average of variances (aleatoric) + variance of means (epistemic)

These are the moments of the mixture of all members. The first part of the variance is the noise of the data, the second
one the disagreement of the members.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float

from heteroscope.data import Scaling
from heteroscope.networks.architecture import Layer, Network, Params
from heteroscope.networks.forward import evaluate_network, positive

BLOCK = 1024  # rows evaluated at once, so that the hidden layers of all members stay in the processor's cache
MEAN_MARGIN = 0.25  # of the targets' range, by which a member's mean may leave it; measured in docs/research/tails.md
PADDED_BLOCK = 8192  # rows that a compiled program evaluates at once
SMALLEST_BLOCK = 64  # shorter blocks are padded to a power of two from here on, so that few shapes are compiled


#: Mean and std of every member and row.
Moments: TypeAlias = tuple[Float[np.ndarray, "member point"], Float[np.ndarray, "member point"]]


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
    return Params(*(_stack_networks(networks) for networks in zip(*members, strict=True)))


def _stack_networks(networks: tuple[Network, ...]) -> Network:
    return tuple(Layer(*map(np.stack, zip(*layers, strict=True))) for layers in zip(*networks, strict=True))


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
    for first in range(0, len(x), BLOCK):
        inputs = scaling.inputs(x[first : first + BLOCK])
        means.append(evaluate_network(members.mean, inputs, activation)[:, :, 0])
        outputs.append(positive(evaluate_network(members.precision, inputs, activation)))
    mean = np.concatenate(means, axis=1).astype(np.float64)
    return mean * scaling.y_scale + scaling.y_centre, np.concatenate(outputs, axis=1).astype(np.float64)


def padded_blocks(x: Float[np.ndarray, "point feature"]) -> Iterator[tuple[Float[np.ndarray, "row feature"], int]]:
    """Yield blocks of rows for JAX, padded with zeros, each with its number of rows before padding."""
    for first in range(0, len(x), PADDED_BLOCK):
        block = x[first : first + PADDED_BLOCK]
        yield np.pad(block, ((0, _next_power_of_two(len(block)) - len(block)), (0, 0))), len(block)


def widest_std(y: Float[np.ndarray, " point"]) -> float:
    """Return max y - min y, an upper bound for a sensible std; infinity if the target does not vary."""
    return float(np.ptp(y)) or np.inf


def mean_bounds(y: Float[np.ndarray, " point"]) -> tuple[float, float]:
    """Return bounds for a sensible mean: the targets' range, widened on both sides by MEAN_MARGIN of its length."""
    margin = MEAN_MARGIN * float(np.ptp(y))
    return float(y.min()) - margin, float(y.max()) + margin


def moment_match(mean: Float[np.ndarray, "member point"], std: Float[np.ndarray, "member point"]) -> Prediction:
    """Return the Gaussian with the mean and the variance of the mixture of all members."""
    aleatoric = np.sqrt(np.mean(std**2, axis=0))
    epistemic = np.std(mean, axis=0)
    return Prediction(np.mean(mean, axis=0), np.hypot(aleatoric, epistemic), aleatoric, epistemic)


class FittedEnsemble(NamedTuple):
    """All that predictions read of a fitted model: its members, and what its held-out rows and targets have fixed.

    Each member's mean is kept within `mean_bounds` and its std below `widest_std`. The std of their mixture is
    multiplied by `std_scale`. The distribution with that mean and std is a Student-t with `df` degrees of freedom, or a
    Gaussian if they are infinite.
    """

    members: Params
    scaling: Scaling
    activation: str
    std_scale: float = 1.0
    widest_std: float = np.inf
    mean_bounds: tuple[float, float] = (-np.inf, np.inf)
    df: float = np.inf

    def predict_members(self, x: Float[np.ndarray, "point feature"]) -> Moments:
        """Return mean and std of every member in the target's units, within the bounds."""
        mean, std = predict_members(self.members, x, self.scaling, self.activation)
        return np.clip(mean, *self.mean_bounds), np.minimum(std, self.widest_std)

    def predict(self, x: Float[np.ndarray, "point feature"]) -> Prediction:
        """Return the Gaussian that matches the members, with its std scaled."""
        return moment_match(*self.predict_members(x)).scaled(self.std_scale)


def _next_power_of_two(n: int) -> int:
    return max(SMALLEST_BLOCK, 1 << (n - 1).bit_length())

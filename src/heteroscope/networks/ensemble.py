"""Combine the members of an ensemble into one mean and one std per row.

mean = average of means,    variance = average of variances (aleatoric) + variance of means (epistemic)

These are the moments of the mixture of all members. The first part of the variance is the noise of the data, the second
one the disagreement of the members.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.data import Scaling
from heteroscope.networks.architecture import Layer, Network, Params
from heteroscope.networks.forward import evaluate_network, positive

BLOCK = 512  # rows evaluated at once, so that the hidden layers of all members stay in the processor's cache
MEAN_MARGIN = 0.25  # of the targets' range, by which a member's mean may leave it; measured in docs/research/tails.md
PADDED_BLOCK = 8192  # rows that a compiled program evaluates at once
SMALLEST_BLOCK = 64  # shorter blocks are padded to a power of two from here on, so that few shapes are compiled


class Prediction(NamedTuple):
    """Mean and std per row in the target's units; std^2 = aleatoric^2 + epistemic^2."""

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
    mean = np.concatenate(means, axis=1)
    return mean * scaling.y_scale + scaling.y_centre, np.concatenate(outputs, axis=1)


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
    """Return the mean and the std of the mixture of all members."""
    aleatoric = np.sqrt(np.mean(std**2, axis=0))
    epistemic = np.std(mean, axis=0)
    return Prediction(np.mean(mean, axis=0), np.hypot(aleatoric, epistemic), aleatoric, epistemic)


class FittedEnsemble(NamedTuple):
    """All that predictions read of a fitted model: its members, and what its held-out rows and targets have fixed.

    Each member's mean is kept within `mean_bounds` and its std below `widest_std`. The std of their mixture is
    multiplied by `std_scale`. The distribution with that mean and std is a Student-t with `df` degrees of freedom, or a
    Gaussian if they are infinite. With `lognormal`, all this is of the logarithm of the target, see `exponentiated`.
    """

    members: Params
    scaling: Scaling
    activation: str
    std_scale: float = 1.0
    widest_std: float = np.inf
    mean_bounds: tuple[float, float] = (-np.inf, np.inf)
    df: float = np.inf
    lognormal: bool = False

    def predict(self, x: Float[np.ndarray, "point feature"]) -> Prediction:
        """Return the members' mean and std, within the bounds, with the std scaled.

        The disagreement is that of the means before they are bounded, and at most `widest_std`: far from all rows,
        where every member may be at the same bound, the std still says so.
        """
        means, stds = predict_members(self.members, x, self.scaling, self.activation)
        aleatoric = np.sqrt(np.mean(np.minimum(stds, self.widest_std) ** 2, axis=0))
        epistemic = np.minimum(np.std(means, axis=0), self.widest_std)
        mean = np.mean(np.clip(means, *self.mean_bounds), axis=0)
        return Prediction(mean, np.hypot(aleatoric, epistemic), aleatoric, epistemic).scaled(self.std_scale)


def _next_power_of_two(n: int) -> int:
    return max(SMALLEST_BLOCK, 1 << (n - 1).bit_length())

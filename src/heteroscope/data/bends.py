"""Bend inputs with values far from all others, between which most rows would be one point to the networks.

t(x) = arcsinh((x - pivot) / width)

is linear near the pivot and logarithmic far from it. A column is bent if its middle half lies within a fifth of its
standard deviation and its kurtosis exceeds 20: with a lognormal column whose logarithm has a standard deviation of 3,
the middle half of the rows covers a twentieth of one. Of two bends the one is taken that makes the middle half widest:

    pivot = median, width = that of a Gaussian with this middle half;      for values to both sides
    pivot = 0,      width = the smallest value, so that t = log(2 x / width);    for positive columns
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

NARROW = 0.2  # width of the middle half, in standard deviations, below which a column may be bent; a Gaussian has 1.35
HEAVY = 20.0  # kurtosis above which it is; a Gaussian has 3, an exponential distribution 9
QUARTILES_APART = 1.349  # of a Gaussian, in standard deviations


class Bends(NamedTuple):
    """Pivot and width of the bend of each column; a width of zero leaves a column straight."""

    pivot: Float[np.ndarray, " feature"]
    width: Float[np.ndarray, " feature"]

    def apply(self, x: Float[np.ndarray, "*rows feature"]) -> Float[np.ndarray, "*rows feature"]:
        """Return t(x)."""
        with np.errstate(over="ignore"):
            return np.where(self.width > 0, np.arcsinh((x - self.pivot) / self._divisor), x)

    def undo(self, t: Float[np.ndarray, "*rows feature"]) -> Float[np.ndarray, "*rows feature"]:
        """Return the x with t(x) = t."""
        with np.errstate(over="ignore"):
            return np.where(self.width > 0, self.pivot + self.width * np.sinh(np.where(self.width > 0, t, 0.0)), t)

    def slopes(self, x: Float[np.ndarray, "row feature"]) -> Float[np.ndarray, "row feature"]:
        """Return dt / dx = 1 / sqrt((x - pivot)^2 + width^2), which is 1 for a straight column."""
        return np.where(self.width > 0, 1.0 / np.hypot(x - self.pivot, self._divisor), 1.0)

    @property
    def _divisor(self) -> Float[np.ndarray, " feature"]:
        return np.where(self.width > 0, self.width, 1.0)


def fit_bends(
    x: Float[np.ndarray, "row feature"],
    weight: Float[np.ndarray, " row"],
    centre: Float[np.ndarray, " feature"],
    scale: Float[np.ndarray, " feature"],
) -> Bends | None:
    """Return the bends of these columns, whose means and standard deviations are given; None if all stay straight."""
    share, kurtosis = weight / weight.sum(), np.zeros(x.shape[1])
    for column in np.flatnonzero(scale > 0):
        kurtosis[column] = share @ ((x[:, column] - centre[column]) / scale[column]) ** 4
    pivot, width = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for column in np.flatnonzero(kurtosis > HEAVY):
        pivot[column], width[column] = _bend(x[:, column], weight)
    return Bends(pivot, width) if width.any() else None


def _bend(x: Float[np.ndarray, " row"], weight: Float[np.ndarray, " row"]) -> tuple[float, float]:
    """Return pivot and width for one column; a width of zero if its middle half is wide enough, or does not vary."""
    low, median, high = np.quantile(x, [0.25, 0.5, 0.75], weights=weight, method="inverted_cdf")
    if high == low or _middle_half(x, weight, low, high) >= NARROW:
        return 0.0, 0.0
    candidates = [(float(median), float(high - low) / QUARTILES_APART)]
    if x.min() > 0:
        candidates.append((0.0, float(x.min())))
    return max(candidates, key=lambda bend: _middle_half(*_bent(x, weight, low, high, bend)))


def _bent(
    x: Float[np.ndarray, " row"], weight: Float[np.ndarray, " row"], low: float, high: float, bend: tuple[float, float]
) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"], float, float]:
    """Return the bent column with its weights and quartiles."""
    pivot, width = bend
    quartiles = np.arcsinh((np.array([low, high]) - pivot) / width)
    return np.arcsinh((x - pivot) / width), weight, float(quartiles[0]), float(quartiles[1])


def _middle_half(x: Float[np.ndarray, " row"], weight: Float[np.ndarray, " row"], low: float, high: float) -> float:
    """Return the distance of the quartiles in standard deviations."""
    centre = np.average(x, weights=weight)
    return float((high - low) / np.sqrt(np.average((x - centre) ** 2, weights=weight)))

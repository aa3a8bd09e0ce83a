"""Standardise inputs and targets: networks are trained on mean 0 and variance 1, users see their own units."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.core import InputError
from heteroscope.data.bends import Bends, fit_bends

ROUNDING = 1e-12  # a spread below this share of the centre is rounding error, not variation


class Scaling(NamedTuple):
    """standardised = (value - centre) / scale; a column that does not vary has scale one.

    `x_low` and `x_high` are the least and greatest inputs of the fit. Networks say nothing about inputs far outside
    them, so inputs are moved to the edge of the box of twice this width, and their distance from it is known:

        reach = (x_high - x_low) / 2,    x' = clip(x, x_low - reach, x_high + reach),
        distance = |(x - x') / x_scale|

    Inputs with values far from all others are bent first: centre, scale, reach and distance are then those of t(x), see
    `Bends`; `x_low` and `x_high` are in the user's units.
    """

    x_centre: Float[np.ndarray, " feature"]
    x_scale: Float[np.ndarray, " feature"]
    y_centre: float
    y_scale: float
    x_low: Float[np.ndarray, " feature"]
    x_high: Float[np.ndarray, " feature"]
    bends: Bends | None = None

    def inputs(self, x: Float[np.ndarray, "point feature"]) -> Float[np.ndarray, "point feature"]:
        """Return standardised inputs in float32, those far outside the fit at the edge; subtract in float64."""
        return self.standardised(self._within_reach(x)).astype(np.float32)

    def standardised(self, x: Float[np.ndarray, "point feature"]) -> Float[np.ndarray, "point feature"]:
        """Return bent and standardised inputs, wherever they lie."""
        return (self._bent(x) - self.x_centre) / self.x_scale

    def input_slopes(self, x: Float[np.ndarray, "point feature"]) -> Float[np.ndarray, "point feature"]:
        """Return the derivative of each standardised input with respect to the input."""
        slopes = np.ones_like(x) if self.bends is None else self.bends.slopes(x)
        return slopes / self.x_scale

    def targets(self, y: Float[np.ndarray, " point"]) -> Float[np.ndarray, " point"]:
        """Return standardised targets in float32."""
        return ((y - self.y_centre) / self.y_scale).astype(np.float32)

    def outside(self, x: Float[np.ndarray, "point feature"]) -> Float[np.ndarray, "point feature"]:
        """Return how far each input lies outside the box, in units of x_scale; 0 inside."""
        with np.errstate(over="ignore"):
            return np.abs(self._bent(x) - self._bent(self._within_reach(x))) / self.x_scale

    def covering(self, x: Float[np.ndarray, "point feature"]) -> "Scaling":
        """Return the same scaling for a fit that has also seen these inputs."""
        return self._replace(x_low=np.minimum(self.x_low, x.min(axis=0)), x_high=np.maximum(self.x_high, x.max(axis=0)))

    def edges(self) -> tuple[Float[np.ndarray, " feature"], Float[np.ndarray, " feature"]]:
        """Return the lower and the upper edges of the box of twice the width of the fit's inputs."""
        low, high = self._bent(self.x_low), self._bent(self.x_high)
        reach = np.maximum(
            (high - low) / 2, ROUNDING * np.abs(low)
        )  # a column that did not vary may differ by rounding
        return self._straight(low - reach), self._straight(high + reach)

    def _bent(self, x: Float[np.ndarray, "*points feature"]) -> Float[np.ndarray, "*points feature"]:
        return x if self.bends is None else self.bends.apply(x)

    def _straight(self, t: Float[np.ndarray, " feature"]) -> Float[np.ndarray, " feature"]:
        return t if self.bends is None else self.bends.undo(t)

    def _within_reach(self, x: Float[np.ndarray, "point feature"]) -> Float[np.ndarray, "point feature"]:
        return np.clip(x, *self.edges())


#: The parts of a scaling that every one has; bends are kept beside them.
SCALING_PARTS = tuple(name for name in Scaling._fields if name != "bends")


def fit_scaling(
    x: Float[np.ndarray, "point feature"],
    y: Float[np.ndarray, " point"],
    weight: Float[np.ndarray, " point"],
    bend: bool = True,
) -> Scaling:
    """Return the weighted means and standard deviations of inputs and targets, and the range of the inputs.

    With `bend`, inputs with values far from all others are bent.
    """
    x_centre, x_scale = _moments(x, weight)
    y_centre, y_scale = (float(part[0]) for part in _moments(y[:, None], weight))
    _refuse_extremes("column {column} of the inputs", x, x_scale)
    _refuse_extremes("the target", y[:, None], np.array([y_scale]))
    bends = fit_bends(x, weight, x_centre, x_scale) if bend else None
    if bends is not None:
        x_centre, x_scale = _moments(bends.apply(x), weight)
    x_scale = np.where(x_scale > ROUNDING * np.abs(x_centre), x_scale, 1.0)
    y_scale = y_scale if y_scale > ROUNDING * abs(y_centre) else 1.0
    return Scaling(x_centre, x_scale, y_centre, y_scale, x.min(axis=0), x.max(axis=0), bends)


def _moments(
    values: Float[np.ndarray, "point column"], weight: Float[np.ndarray, " point"]
) -> tuple[Float[np.ndarray, " column"], Float[np.ndarray, " column"]]:
    """Return the weighted mean and standard deviation of each column."""
    centre = np.average(values, axis=0, weights=weight)
    with np.errstate(over="ignore", invalid="ignore"):
        return centre, np.sqrt(np.average((values - centre) ** 2, axis=0, weights=weight))


def _refuse_extremes(what: str, values: Float[np.ndarray, "point column"], scale: Float[np.ndarray, " column"]) -> None:
    """Raise an `InputError` for a column whose spread overflows or underflows.

    Squares of numbers beyond 1e154 overflow, and those of numbers below 1e-154 become zero.
    """
    lost = ~np.isfinite(scale) | ((scale == 0) & (values.max(axis=0) > values.min(axis=0)))
    if lost.any():
        column = int(np.argmax(lost))
        size = np.abs(values[:, column]).max()
        raise InputError(f"{what.format(column=column)} has values of size {size:.0e}: express it in another unit")

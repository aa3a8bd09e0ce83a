"""Standardise inputs and targets: networks are trained on mean 0 and variance 1, users see their own units."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.core import InputError

ROUNDING = 1e-12  # a spread below this share of the centre is rounding error, not variation


class Scaling(NamedTuple):
    """standardised = (value - centre) / scale; a column that does not vary has scale one.

    `x_low` and `x_high` are the least and greatest inputs of the fit. Networks say nothing about inputs far outside
    them, so inputs are moved to the edge of the box of twice this width, and their distance from it is known:

        reach = (x_high - x_low) / 2,    x' = clip(x, x_low - reach, x_high + reach),
        distance = |(x - x') / x_scale|
    """

    x_centre: Float[np.ndarray, " feature"]
    x_scale: Float[np.ndarray, " feature"]
    y_centre: float
    y_scale: float
    x_low: Float[np.ndarray, " feature"]
    x_high: Float[np.ndarray, " feature"]

    def inputs(self, x: Float[np.ndarray, "point feature"]) -> Float[np.ndarray, "point feature"]:
        """Return standardised inputs in float32, those far outside the fit at the edge; subtract in float64."""
        return ((self._within_reach(x) - self.x_centre) / self.x_scale).astype(np.float32)

    def targets(self, y: Float[np.ndarray, " point"]) -> Float[np.ndarray, " point"]:
        """Return standardised targets in float32."""
        return ((y - self.y_centre) / self.y_scale).astype(np.float32)

    def outside(self, x: Float[np.ndarray, "point feature"]) -> Float[np.ndarray, "point feature"]:
        """Return how far each input lies outside the box, in units of x_scale; 0 inside."""
        with np.errstate(over="ignore"):
            return np.abs(x - self._within_reach(x)) / self.x_scale

    def covering(self, x: Float[np.ndarray, "point feature"]) -> "Scaling":
        """Return the same scaling for a fit that has also seen these inputs."""
        return self._replace(x_low=np.minimum(self.x_low, x.min(axis=0)), x_high=np.maximum(self.x_high, x.max(axis=0)))

    def edges(self) -> tuple[Float[np.ndarray, " feature"], Float[np.ndarray, " feature"]]:
        """Return the lower and the upper edges of the box of twice the width of the fit's inputs."""
        # A column that did not vary may differ by rounding.
        reach = np.maximum((self.x_high - self.x_low) / 2, ROUNDING * np.abs(self.x_low))
        return self.x_low - reach, self.x_high + reach

    def _within_reach(self, x: Float[np.ndarray, "point feature"]) -> Float[np.ndarray, "point feature"]:
        return np.clip(x, *self.edges())


def fit_scaling(
    x: Float[np.ndarray, "point feature"], y: Float[np.ndarray, " point"], weight: Float[np.ndarray, " point"]
) -> Scaling:
    """Return the weighted means and standard deviations of inputs and targets, and the range of the inputs."""
    x_centre, y_centre = np.average(x, axis=0, weights=weight), float(np.average(y, weights=weight))
    with np.errstate(over="ignore", invalid="ignore"):
        x_scale = np.sqrt(np.average((x - x_centre) ** 2, axis=0, weights=weight))
        y_scale = float(np.sqrt(np.average((y - y_centre) ** 2, weights=weight)))
    _refuse_extremes("column {column} of the inputs", x, x_scale)
    _refuse_extremes("the target", y[:, None], np.array([y_scale]))
    x_scale = np.where(x_scale > ROUNDING * np.abs(x_centre), x_scale, 1.0)
    y_scale = y_scale if y_scale > ROUNDING * abs(y_centre) else 1.0
    return Scaling(x_centre, x_scale, y_centre, y_scale, x.min(axis=0), x.max(axis=0))


def _refuse_extremes(what: str, values: Float[np.ndarray, "point column"], scale: Float[np.ndarray, " column"]) -> None:
    """Raise an `InputError` for a column whose spread overflows or underflows.

    Squares of numbers beyond 1e154 overflow, and those of numbers below 1e-154 become zero.
    """
    lost = ~np.isfinite(scale) | ((scale == 0) & (values.max(axis=0) > values.min(axis=0)))
    if lost.any():
        column = int(np.argmax(lost))
        size = np.abs(values[:, column]).max()
        raise InputError(f"{what.format(column=column)} has values of size {size:.0e}: express it in another unit")

"""The rows that a model is fitted to: in the user's units (`Rows`) and standardised (`Batch`)."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from heteroscope.data.scaling import Scaling, fit_scaling

FENCE = 30.0  # interquartile ranges beyond the quartiles, 40 standard deviations of a Gaussian
RARE = 0.02  # largest share of rows that can be wild

if TYPE_CHECKING:  # only annotations name JAX, so that this package does not import it
    from jax import Array


class Batch(NamedTuple):
    """Standardised rows for one model. Weights average to one; padding rows have weight zero."""

    x: "Float[Array | np.ndarray, 'point feature']"
    y: "Float[Array | np.ndarray, ' point']"
    weight: "Float[Array | np.ndarray, ' point']"


class Rows(NamedTuple):
    """Inputs, targets and weights in the user's units."""

    x: Float[np.ndarray, "point feature"]
    y: Float[np.ndarray, " point"]
    weight: Float[np.ndarray, " point"]

    def take(self, index: Int[np.ndarray, "_"]) -> "Rows":
        """Return the rows with these numbers."""
        return Rows(self.x[index], self.y[index], self.weight[index])

    def logged(self) -> "Rows":
        """Return the same rows with the logarithms of the targets."""
        return self._replace(y=np.log(self.y))

    def target_fences(self) -> tuple[float, float]:
        """Return bounds beyond which a target is wild: FENCE interquartile ranges beyond the quartiles.

        They are infinite if the middle half of the targets does not vary, or if more than RARE of the rows lie beyond:
        such a target is skewed, and its largest values are what it is about.
        """
        low, high = np.quantile(self.y, [0.25, 0.75], weights=self.weight, method="inverted_cdf")
        reach = FENCE * float(high - low)
        wild = (self.y < low - reach) | (self.y > high + reach)
        if reach == 0 or np.average(wild, weights=self.weight) > RARE:
            return -np.inf, np.inf
        return float(low) - reach, float(high) + reach

    def within(self, fences: tuple[float, float]) -> "Rows":
        """Return the rows whose targets lie within the bounds."""
        return self.take(np.flatnonzero((self.y >= fences[0]) & (self.y <= fences[1])))

    def ignoring_beyond(self, fences: tuple[float, float]) -> "Rows":
        """Return all rows, with weight zero for targets beyond the bounds, unless no weight would be left."""
        weight = np.where((self.y >= fences[0]) & (self.y <= fences[1]), self.weight, 0.0)
        return self._replace(weight=weight) if weight.any() else self

    def scaling(self, bend: bool = True) -> Scaling:
        """Return the weighted centre and scale of inputs and targets; without `bend`, all inputs stay straight."""
        return fit_scaling(self.x, self.y, self.weight, bend)

    def batch(self, scaling: Scaling) -> Batch:
        """Return the rows standardised by `scaling`, ready for training."""
        return Batch(scaling.inputs(self.x), scaling.targets(self.y), self.weight)


def merge_rows(
    x: Float[np.ndarray, "point feature"], y: Float[np.ndarray, " point"], weight: Float[np.ndarray, " point"]
) -> Rows:
    """Merge identical rows into one with the sum of their weights, drop rows of weight zero, and sort the rest.

    The objective stays the same. As a result, a weight of two equals a row given twice to the last digit, the order of
    rows does not matter, and no fold of a cross-validation holds out a copy of one of its training rows.
    """
    counted = weight > 0
    table, which = np.unique(np.column_stack([x, y])[counted], axis=0, return_inverse=True)
    return Rows(table[:, :-1], table[:, -1], np.bincount(which.ravel(), weight[counted], len(table)))

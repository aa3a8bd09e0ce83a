"""The rows that a fit sees, in the user's units: identical rows merged, weights in float64; how many a step sees."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from heteroscope.data.scaling import Scaling, fit_scaling

if TYPE_CHECKING:  # only the annotations of `Batch` name JAX, so that data are read without importing it
    from jax import Array


class Batch(NamedTuple):
    """Rows that one model is fitted to, standardised; weights average to one, padding rows have weight zero."""

    x: "Float[Array | np.ndarray, 'point feature']"
    y: "Float[Array | np.ndarray, ' point']"
    weight: "Float[Array | np.ndarray, ' point']"


class Rows(NamedTuple):
    """Inputs, targets and weights."""

    x: Float[np.ndarray, "point feature"]
    y: Float[np.ndarray, " point"]
    weight: Float[np.ndarray, " point"]

    def take(self, index: Int[np.ndarray, "_"]) -> "Rows":
        """The rows of these numbers."""
        return Rows(self.x[index], self.y[index], self.weight[index])

    def scaling(self) -> Scaling:
        """Their centre and scale."""
        return fit_scaling(self.x, self.y, self.weight)

    def batch(self, scaling: Scaling) -> Batch:
        """What the engine is given."""
        return Batch(scaling.inputs(self.x), scaling.targets(self.y), self.weight)


def merge_rows(
    x: Float[np.ndarray, "point feature"], y: Float[np.ndarray, " point"], weight: Float[np.ndarray, " point"]
) -> Rows:
    """Identical rows as one with the sum of their weights, in sorted order; rows of weight zero are gone.

    The objective is the same, a weight of two equals a row given twice to the last digit, the order of rows does not
    matter, and no fold of a cross-validation holds out a copy of a row that it trains on.
    """
    counted = weight > 0
    table, which = np.unique(np.column_stack([x, y])[counted], axis=0, return_inverse=True)
    return Rows(table[:, :-1], table[:, -1], np.bincount(which.ravel(), weight[counted], len(table)))

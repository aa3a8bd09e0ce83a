"""The rows that a fit sees, in the user's units: identical rows merged, weights in float64; how many a step sees."""

from numbers import Integral
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from heteroscope import defaults
from heteroscope.errors import InputError
from heteroscope.objective import Batch
from heteroscope.scaling import Scaling, fit_scaling

FULL_BATCH_ROWS = 512  # up to here a step sees all rows; beyond, batches of AUTO_BATCH reach the same scores sooner
AUTO_BATCH = 256


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


def batch_rows(wanted: object, n_rows: int) -> int | None:
    """How many rows a step sees: None for all of them, which "auto" takes up to FULL_BATCH_ROWS."""
    if wanted == "auto":
        return None if n_rows <= FULL_BATCH_ROWS else AUTO_BATCH
    if wanted is None:
        return None
    if isinstance(wanted, bool) or not isinstance(wanted, Integral) or wanted < 1:
        raise InputError(f'batch_size must be a positive integer, None or "auto", got {wanted!r}')
    return int(wanted)


def step_count(wanted: object, n_rows: int) -> int:
    """How many steps a model takes; "auto" is 0.7 a row, but no fewer than 2,000 and no more than 20,000."""
    if wanted == "auto":
        few, many = defaults.FEWEST_STEPS, defaults.MOST_STEPS
        return min(max(round(defaults.STEPS_A_ROW * n_rows), few), many)
    if isinstance(wanted, bool) or not isinstance(wanted, Integral) or wanted < 1:
        raise InputError(f'max_steps must be a positive integer or "auto", got {wanted!r}')
    return int(wanted)

"""The rows that a fit sees, in the user's units: identical rows merged, weights in float64; how many a step sees."""

from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from heteroscope.core import InputError, defaults
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


def resolve_batch_size(wanted: object, n_rows: int) -> int | None:
    """How many rows a step sees, None for all of them; "auto" is half of the rows, but at most 128 of few, 256 of many.

    Steps with noise in them end in models that predict better than exact ones do.
    """
    if wanted == "auto":
        most = defaults.BATCH_OF_FEW_ROWS if n_rows <= defaults.FEW_ROWS else defaults.BATCH_OF_MANY_ROWS
        return None if n_rows <= defaults.NO_BATCHES_UP_TO else min(most, -(-n_rows // 2))
    if wanted is None:
        return None
    if isinstance(wanted, bool) or not isinstance(wanted, Integral) or wanted < 1:
        raise InputError(f'batch_size must be a positive integer, None or "auto", got {wanted!r}')
    return int(wanted)


def resolve_max_steps(wanted: object, n_rows: int) -> int:
    """How many steps a model takes; "auto" is as many as rows, but no fewer than 1,000 and no more than 20,000."""
    if wanted == "auto":
        return min(max(n_rows, defaults.FEWEST_STEPS), defaults.MOST_STEPS)
    if isinstance(wanted, bool) or not isinstance(wanted, Integral) or wanted < 1:
        raise InputError(f'max_steps must be a positive integer or "auto", got {wanted!r}')
    return int(wanted)

"""Held-out rows beside their predictions: what the verdict, the report and conformal intervals are computed from."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int


class HeldOutRows(NamedTuple):
    """Held-out rows and their predictions as delivered, fold after fold.

    A row appears once for each fold that held it out. Identical rows are merged into one with the sum of their weights.

    Attributes
    ----------
    y, mean, std : ndarray of shape (n_held,)
        Targets and predictions of models that were not trained on the row, in the units of the target. The std is
        scaled, and it is that of the predictive distribution: for a Student-t, its scale is smaller.
    weight : ndarray of shape (n_held,)
        Weights of the rows.
    fold : ndarray of shape (n_held,)
        Number of the fold that held the row out, counted from 0.
    number : ndarray of shape (n_held,) or None
        Number of the first equal row among those given to `fit`, counted from 0; None for a stream.
    """

    y: Float[np.ndarray, " held"]
    mean: Float[np.ndarray, " held"]
    std: Float[np.ndarray, " held"]
    weight: Float[np.ndarray, " held"]
    fold: Int[np.ndarray, " held"]
    number: Int[np.ndarray, " held"] | None = None

    @property
    def score(self) -> Float[np.ndarray, " held"]:
        """Errors in units of the predicted std: (y - mean) / std."""
        return (self.y - self.mean) / self.std

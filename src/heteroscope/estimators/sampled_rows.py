"""Rows of a fit that an estimator keeps, for pages that show what drives the predictions."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from heteroscope.data import Rows

MOST_SAMPLED = 3000  # rows that an estimator keeps after its fit, for `report`


class SampledRows(NamedTuple):
    """Rows of a fit, and their numbers among those given; a stream has none."""

    rows: Rows
    number: Int[np.ndarray, " row"] | None

    @classmethod
    def of(cls, given: Rows) -> "SampledRows":
        """Return at most MOST_SAMPLED of the rows of positive weight, chosen evenly from the first to the last."""
        counted = np.flatnonzero(given.weight > 0)
        chosen = counted[np.linspace(0, len(counted) - 1, min(len(counted), MOST_SAMPLED)).round().astype(int)]
        return cls(given.take(chosen), chosen)

"""Centre and scale of the inputs and of the target: networks see mean 0 and variance 1, users their units."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

ROUNDING = 1e-12  # a spread below this share of the centre is rounding, not variation


class Scaling(NamedTuple):
    """standardised = (value - centre) / scale; what does not vary keeps scale one."""

    x_centre: Float[np.ndarray, " feature"]
    x_scale: Float[np.ndarray, " feature"]
    y_centre: float
    y_scale: float

    def inputs(self, x: Float[np.ndarray, "point feature"]) -> Float[np.ndarray, "point feature"]:
        """Standardised inputs in single precision; the subtraction is done in double."""
        return ((x - self.x_centre) / self.x_scale).astype(np.float32)

    def targets(self, y: Float[np.ndarray, " point"]) -> Float[np.ndarray, " point"]:
        """Standardised targets in single precision."""
        return ((y - self.y_centre) / self.y_scale).astype(np.float32)


def fit_scaling(
    x: Float[np.ndarray, "point feature"], y: Float[np.ndarray, " point"], weight: Float[np.ndarray, " point"]
) -> Scaling:
    """Weighted means and standard deviations."""
    x_centre, y_centre = np.average(x, axis=0, weights=weight), float(np.average(y, weights=weight))
    x_scale = np.sqrt(np.average((x - x_centre) ** 2, axis=0, weights=weight))
    y_scale = float(np.sqrt(np.average((y - y_centre) ** 2, weights=weight)))
    x_scale = np.where(x_scale > ROUNDING * np.abs(x_centre), x_scale, 1.0)
    return Scaling(x_centre, x_scale, y_centre, y_scale if y_scale > ROUNDING * abs(y_centre) else 1.0)

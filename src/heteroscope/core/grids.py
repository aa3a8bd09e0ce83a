"""The (rho, gamma) points to train at: the paper's grids, and the diagonal rho = 1 - gamma, evenly spaced in the logit.

All values are decimals written out: a computed power or logarithm has other last bits on another processor.
"""

import numpy as np
from jaxtyping import Float

_DECADES = (1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
_MIDDLE = tuple(k / 10 for k in range(1, 10))

#: rho and gamma of the paper's network diagrams: 22 values.
NETWORK_GRID: Float[np.ndarray, "22"] = np.array([*_DECADES, *_MIDDLE, 0.99, 0.999, 0.9999])
#: rho and gamma of the paper's field theory: 19 different values (its text lists one twice).
FIELD_GRID: Float[np.ndarray, "19"] = np.array([*_DECADES[5:], *_MIDDLE, 0.99, 0.999, 0.9999, 0.99999, 0.999999])
#: rho along the paper's diagonal, without its two ends 0 and 1, which have no solution.
PAPER_DIAGONAL: Float[np.ndarray, "94"] = np.array([*_DECADES, *(k / 100 for k in range(10, 91)), 0.99, 0.999, 0.9999])
#: logit rho at the two ends of the diagonal search: rho = 1/2 and rho = 1 - 1e-6, where logit rho = -logit 1e-6.
#: In our measurements all networks below rho = 1/2 were flat, and all at the upper end had memorised their data.
DIAGONAL_LOGITS = (0.0, 13.815509557963773)


def diagonal_logits(
    n_points: int, low: float = DIAGONAL_LOGITS[0], high: float = DIAGONAL_LOGITS[1]
) -> Float[np.ndarray, " t"]:
    """Return logit rho = -logit gamma at `n_points` points of the diagonal, evenly spaced from `low` to `high`."""
    return np.linspace(low, high, n_points)


def cell_borders(logits: Float[np.ndarray, " value"]) -> Float[np.ndarray, " border"]:
    """Return the borders of cells, half way between increasing values of logit rho or of logit gamma.

    The outer borders are as far from the first and last values as the borders next to them; a single value has its
    borders at distance 1.
    """
    middle = (logits[1:] + logits[:-1]) / 2.0
    first, last = (logits[0] - middle[0], logits[-1] - middle[-1]) if len(logits) > 1 else (-1.0, 1.0)
    return np.concatenate([[logits[0] + first], middle, [logits[-1] + last]])

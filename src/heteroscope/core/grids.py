"""Which (rho, gamma) points to visit: the paper's grids, and the diagonal rho = 1 - gamma, even in the logit."""

import numpy as np
from jaxtyping import Float
from scipy.special import logit

# Decimals as they are written: a power or a logarithm has other last bits on another processor.
_DECADES = (1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
_MIDDLE = tuple(k / 10 for k in range(1, 10))

#: rho and gamma of the paper's network diagrams: 22 values.
NETWORK_GRID: Float[np.ndarray, "22"] = np.array([*_DECADES, *_MIDDLE, 0.99, 0.999, 0.9999])
#: rho and gamma of the paper's field theory: 19 different values (its text lists one twice).
FIELD_GRID: Float[np.ndarray, "19"] = np.array([*_DECADES[5:], *_MIDDLE, 0.99, 0.999, 0.9999, 0.99999, 0.999999])
#: rho along the paper's diagonal, its two ends left out: they have no solution.
PAPER_DIAGONAL: Float[np.ndarray, "94"] = np.array([*_DECADES, *(k / 100 for k in range(10, 91)), 0.99, 0.999, 0.9999])
#: The logits of rho between which the diagonal search looks: rho from one half to 1 - 1e-6.
#: Below one half every network measured was flat; at the upper end every one had memorised its data.
DIAGONAL_LOGITS = (0.0, float(-logit(1e-6)))


def diagonal_logits(
    n_points: int, low: float = DIAGONAL_LOGITS[0], high: float = DIAGONAL_LOGITS[1]
) -> Float[np.ndarray, " t"]:
    """logit rho = -logit gamma for `n_points` points of the diagonal, evenly spaced in the logit."""
    return np.linspace(low, high, n_points)

"""From what a user gives to a problem: every check of a target, and alpha and beta from rho and gamma."""

import numpy as np
from numpy.typing import ArrayLike

from heteroscope.core import InputError, alpha_beta, logits
from heteroscope.field.lattice import Field, Lattice
from heteroscope.field.problem import Problem


def state(lattice: Lattice, y: ArrayLike, rho: float, gamma: float, variance: ArrayLike | None = None) -> Problem:
    """The problem on any lattice, with float64 alpha and beta; `variance` is for an average over all draws of y."""
    alpha, beta = alpha_beta(*logits(rho, gamma))
    target = _check_target(lattice, y)
    spread = np.zeros_like(target) if variance is None else np.asarray(variance, dtype=float)
    if spread.shape != target.shape or not np.all(np.isfinite(spread) & (spread >= 0)):
        raise InputError("variance must hold one finite number >= 0 for each y, or be None for a single draw of y")
    if not spread.any() and np.ptp(target) == 0:
        raise InputError("y is constant, so its precision has no finite value; give a target that varies")
    return Problem(lattice, target, float(alpha), float(beta), spread)


def _check_target(lattice: Lattice, y: ArrayLike) -> Field:
    """`y` as float64, one finite number for each point."""
    values = np.asarray(y, dtype=float)
    if values.shape != lattice.weights.shape:
        raise InputError(
            f"y has shape {values.shape}, but there are {len(lattice.weights)} points; give one y for each x"
        )
    if not np.all(np.isfinite(values)):
        raise InputError("y contains NaN or infinity; drop those points from x and y")
    return values

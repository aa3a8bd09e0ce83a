"""How far two phase diagrams agree, once one is shifted over the other.

    (log alpha, log beta) -> (log alpha + a, log beta + b)

Networks and the field theory share alpha and beta but not their units: a weight is not a slope. The best shift is the
exchange rate between them, and the share of equal labels after it is the agreement.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float, Shaped
from scipy.special import logit

from heteroscope.diagrams.dataset import majority_phase

REACH, STEP = 12.0, 0.5  # how far and how finely shifts are tried, in natural logarithms


class Agreement(NamedTuple):
    """Share of equal cells as they are, and after the best shift, which is added to log alpha and log beta."""

    unshifted: float
    share: float
    log_alpha: float
    log_beta: float


def agreement(diagram: xr.Dataset, theory: xr.Dataset) -> Agreement:
    """Compare every cell of `diagram` with the nearest cell of `theory`, for every shift; the smallest best one wins.

    A cell that the shift moves beyond the theory's grid is compared with the grid's edge.
    """
    ours, theirs = majority_phase(diagram).values, majority_phase(theory).values
    log_alpha, log_beta = _log_strengths(diagram)
    axes = logit(theory["rho"].values), logit(theory["gamma"].values)

    def share(a: float, b: float) -> float:
        return float(np.mean(_labels_at(log_alpha + a, log_beta + b, theirs, axes)[ours != ""] == ours[ours != ""]))

    steps = np.arange(-REACH, REACH + STEP / 2, STEP)
    best = max(product(steps, steps), key=lambda shift: (share(*shift), -abs(shift[0]) - abs(shift[1])))
    return Agreement(share(0.0, 0.0), share(*best), float(best[0]), float(best[1]))


def _log_strengths(diagram: xr.Dataset) -> tuple[Float[np.ndarray, "rho gamma"], Float[np.ndarray, "rho gamma"]]:
    """log alpha and log beta of every cell."""
    z_rho, gamma = logit(diagram["rho"].values)[:, None], diagram["gamma"].values[None, :]
    return np.log(gamma) - z_rho, np.log1p(-gamma) - z_rho


def _labels_at(
    log_alpha: Float[np.ndarray, "rho gamma"],
    log_beta: Float[np.ndarray, "rho gamma"],
    labels: Shaped[np.ndarray, "_ _"],
    axes: tuple[Float[np.ndarray, "_"], Float[np.ndarray, "_"]],
) -> Shaped[np.ndarray, "rho gamma"]:
    """The nearest cell's label: logit rho = -log(alpha + beta), logit gamma = log alpha - log beta."""
    z_rho, z_gamma = -np.logaddexp(log_alpha, log_beta), log_alpha - log_beta
    row, column = (_nearest(axis, z) for axis, z in zip(axes, (z_rho, z_gamma), strict=True))
    return labels[row, column]


def _nearest(axis: Float[np.ndarray, " value"], z: Float[np.ndarray, "rho gamma"]) -> Shaped[np.ndarray, "rho gamma"]:
    return np.searchsorted((axis[1:] + axis[:-1]) / 2, z)

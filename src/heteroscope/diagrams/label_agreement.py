"""Measure how far two phase diagrams agree after one is shifted over the other.

    (log alpha, log beta) -> (log alpha + a, log beta + b)

Networks and the field theory share alpha and beta but not their units: a weight is not a slope. The best shift converts
between the units, and the share of equal labels after it is the agreement. Cohen's kappa says how much of it is more
than chance,

    kappa = (share - chance) / (1 - chance),    chance = sum over labels of the product of both diagrams' shares
"""

from itertools import product
from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float, Shaped
from scipy.special import logit

from heteroscope.diagrams.dataset import majority_phase

REACH, STEP = 12.0, 0.5  # largest shift and step of the search, in natural logarithms


class Agreement(NamedTuple):
    """Agreement of two diagrams without a shift, and after the best shift.

    Attributes
    ----------
    unshifted, unshifted_kappa : float
        Share of equal labels, and Cohen's kappa, without a shift.
    share, kappa : float
        The same after the best shift.
    log_alpha, log_beta : float
        The best shift, which is added to log alpha and log beta.
    at_edge : bool
        Whether the best shift lies at the edge of the search, so that a larger one may be better.
    """

    unshifted: float
    share: float
    log_alpha: float
    log_beta: float
    unshifted_kappa: float
    kappa: float
    at_edge: bool


def agreement(diagram: xr.Dataset, theory: xr.Dataset) -> Agreement:
    """Compare every cell of `diagram` with the nearest cell of `theory` for every shift, and return the best shift.

    Of equally good shifts the smallest is returned. A cell that the shift moves outside the theory's grid is compared
    with the grid's edge.
    """
    labels, theory_labels = majority_phase(diagram).values, majority_phase(theory).values
    log_alpha, log_beta = _log_strengths(diagram)
    axes = logit(theory["rho"].values), logit(theory["gamma"].values)

    known = labels != ""

    def shifted(a: float, b: float) -> Shaped[np.ndarray, " cell"]:
        return _labels_at(log_alpha + a, log_beta + b, theory_labels, axes)[known]

    def share(a: float, b: float) -> float:
        return float(np.mean(shifted(a, b) == labels[known]))

    steps = np.arange(-REACH, REACH + STEP / 2, STEP)
    best = max(product(steps, steps), key=lambda shift: (share(*shift), -abs(shift[0]) - abs(shift[1])))
    return Agreement(
        share(0.0, 0.0),
        share(*best),
        float(best[0]),
        float(best[1]),
        cohens_kappa(labels[known], shifted(0.0, 0.0)),
        cohens_kappa(labels[known], shifted(*best)),
        bool(max(abs(best[0]), abs(best[1])) >= REACH),
    )


def cohens_kappa(labels: Shaped[np.ndarray, " cell"], others: Shaped[np.ndarray, " cell"]) -> float:
    """Return Cohen's kappa of two labellings: 1 if they are equal, 0 if they agree as chance would; NaN for one label.

    With one and the same label everywhere chance explains all, and kappa is not defined.
    """
    equal = float(np.mean(labels == others))
    chance = sum(float(np.mean(labels == name) * np.mean(others == name)) for name in np.unique(labels))
    return (equal - chance) / (1.0 - chance) if chance < 1.0 else float("nan")


def _log_strengths(diagram: xr.Dataset) -> tuple[Float[np.ndarray, "rho gamma"], Float[np.ndarray, "rho gamma"]]:
    """Return log alpha and log beta of every cell."""
    logit_rho, gamma = logit(diagram["rho"].values)[:, None], diagram["gamma"].values[None, :]
    return np.log(gamma) - logit_rho, np.log1p(-gamma) - logit_rho


def _labels_at(
    log_alpha: Float[np.ndarray, "rho gamma"],
    log_beta: Float[np.ndarray, "rho gamma"],
    labels: Shaped[np.ndarray, "_ _"],
    axes: tuple[Float[np.ndarray, "_"], Float[np.ndarray, "_"]],
) -> Shaped[np.ndarray, "rho gamma"]:
    """Return the label of the nearest cell: logit rho = -log(alpha + beta), logit gamma = log alpha - log beta."""
    logit_rho, logit_gamma = -np.logaddexp(log_alpha, log_beta), log_alpha - log_beta
    row, column = (_nearest(axis, z) for axis, z in zip(axes, (logit_rho, logit_gamma), strict=True))
    return labels[row, column]


def _nearest(axis: Float[np.ndarray, " value"], z: Float[np.ndarray, "rho gamma"]) -> Shaped[np.ndarray, "rho gamma"]:
    """Return the index of the nearest value of a sorted axis."""
    return np.searchsorted((axis[1:] + axis[:-1]) / 2, z)

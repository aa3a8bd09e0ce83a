"""Label a fit with one of the five phases, by one rule on dimensionless observables.

The same rule labels networks and the field theory. With r = y - mean and precision = 1 / std^2, an honest std gives a
mean of precision r^2 of 1. `docs/phases.md` explains the thresholds.
"""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.distributions import squared_score

FLAT_MEAN = 0.95  # the mean is flat if more than this share of the target's variance remains in the training residuals
FLAT_PRECISION = 0.05  # the precision is flat if the std of log precision over the training rows is smaller
MEMORISED_STD = 0.05  # the std follows each residual if mean (std - |r|)^2 / mean r^2 is smaller; 0.40 for honest noise
RUNAWAY_SCORE = 0.05  # the mean has fitted the training rows faster than the std if mean precision r^2 is smaller
OVERCONFIDENT = 3.0  # the std is far too small if mean precision r^2 on held-out rows is larger


class Phase(StrEnum):
    """The phase of a fit: U_I and U_II underfit, O_I and O_II overfit, S is good."""

    U_I = "U_I"
    U_II = "U_II"
    O_I = "O_I"
    O_II = "O_II"
    S = "S"

    @property
    def meaning(self) -> str:
        """What a fit in this phase looks like, in one sentence."""
        return _MEANINGS[self]


_MEANINGS = {
    Phase.U_I: "underfit: mean and std are both constant, so the inputs have no effect",
    Phase.U_II: "underfit mean: the mean is constant, but the std follows the data",
    Phase.O_I: "overfit mean: the mean memorises the training rows, and the std is far too small",
    Phase.O_II: "overfit std: the std follows each training residual instead of the noise",
    Phase.S: "good: the mean follows the data, and the std matches the errors on new rows",
}


class Observables(NamedTuple):
    """The dimensionless numbers that decide the phase, with r = y - mean on the training rows.

    Attributes
    ----------
    residual_share : float
        mean r^2 / variance of y.
    log_precision_spread : float
        Standard deviation of log(1 / std^2) over the rows.
    std_mismatch : float
        mean (std - |r|)^2 / mean r^2.
    training_score : float
        mean (r / std)^2.
    held_out_score : float or None
        mean (r / std)^2 of held-out rows; None if no rows were held out.
    """

    residual_share: float
    log_precision_spread: float
    std_mismatch: float
    training_score: float
    held_out_score: float | None = None


def observe(
    y: Float[np.ndarray, " point"],
    mean: Float[np.ndarray, " point"],
    std: Float[np.ndarray, " point"],
    weight: Float[np.ndarray, " point"] | None = None,
    held_out_score: float | None = None,
) -> Observables:
    """Compute the observables of a fit from its training rows.

    Parameters
    ----------
    y, mean, std : ndarray of shape (n_rows,)
        Targets and predictions, in the same units.
    weight : ndarray of shape (n_rows,) or None, default=None
        Weights of the rows in all averages; None counts them equally.
    held_out_score : float or None, default=None
        Copied into the result.

    Returns
    -------
    Observables
        Dimensionless numbers.
    """
    residual = np.asarray(y, float) - mean
    spread = np.sqrt(np.average((y - np.average(y, weights=weight)) ** 2, weights=weight))
    log_precision = -2.0 * np.log(std)
    size = np.average(residual**2, weights=weight)
    mismatch = np.average((std - np.abs(residual)) ** 2, weights=weight)
    return Observables(
        residual_share=float(size / spread**2) if spread > 0 else 1.0,
        log_precision_spread=float(
            np.sqrt(np.average((log_precision - np.average(log_precision, weights=weight)) ** 2, weights=weight))
        ),
        std_mismatch=float(mismatch / size) if size > 0 else np.inf,
        training_score=squared_score(y, mean, std, sample_weight=weight),
        held_out_score=held_out_score,
    )


def label(found: Observables, runaway: bool = False) -> Phase:
    """Return the phase of a fit.

    1. Flat mean and flat precision: U_I.
    2. Overconfident: O_II if the mean is flat or the std follows each residual, else O_I. A fit is overconfident if
       its held-out score exceeds OVERCONFIDENT; without held-out rows, if its training is a runaway (by its status or
       a training score below RUNAWAY_SCORE) or its std follows each residual.
    3. Flat mean: U_II. Otherwise: S.

    Parameters
    ----------
    found : Observables
        The observables of the fit.
    runaway : bool, default=False
        Whether a training ended as `Status.RUNAWAY`; used only without held-out rows.

    Returns
    -------
    Phase
        The label.
    """
    flat_mean = found.residual_share > FLAT_MEAN
    if flat_mean and found.log_precision_spread < FLAT_PRECISION:
        return Phase.U_I
    follows_residuals = found.std_mismatch < MEMORISED_STD
    if found.held_out_score is None:
        overconfident = runaway or follows_residuals or not found.training_score >= RUNAWAY_SCORE
    else:
        overconfident = not found.held_out_score <= OVERCONFIDENT  # NaN counts as overconfident
    if overconfident:
        return Phase.O_II if flat_mean or follows_residuals else Phase.O_I
    return Phase.U_II if flat_mean else Phase.S

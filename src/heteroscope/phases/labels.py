"""Which of the five phases a fit is in, by one written rule on dimensionless observables.

The same rule labels networks and the field theory; `docs/phases.md` explains it.
"""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.distributions import squared_score

FLAT_MEAN = 0.95  # share of the target's variance left in the training residuals above which the mean is flat
FLAT_PRECISION = 0.05  # standard deviation of log precision over the training rows below which the precision is flat
MEMORISED_STD = 0.05  # mean (std - |r|)^2 / mean r^2 below which std retraces each residual; 0.40 for honest noise
RUNAWAY_SCORE = 0.05  # mean of precision * r^2 on training rows below which the mean has outrun the std; 1 if honest
OVERCONFIDENT = 3.0  # mean of precision * r^2 on held-out rows above which the std is far too small; 1 if honest


class Phase(StrEnum):
    """The four bad phases and the good one."""

    U_I = "U_I"
    U_II = "U_II"
    O_I = "O_I"
    O_II = "O_II"
    S = "S"

    @property
    def meaning(self) -> str:
        """What a model in this phase does, in one sentence."""
        return _MEANINGS[self]


_MEANINGS = {
    Phase.U_I: "underfit: mean and std are both constant, as if the inputs had not been seen",
    Phase.U_II: "underfit mean: the mean is constant, but the std still follows the data",
    Phase.O_I: "overfit mean: the mean memorises the training rows and the std is far too small",
    Phase.O_II: "overfit std: the std retraces the training residuals instead of the noise behind them",
    Phase.S: "good: the mean follows the data, and the std holds on rows it has not seen",
}


class Observables(NamedTuple):
    """Dimensionless numbers that decide the phase; `held_out_score` is None where no rows were held out."""

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
    """The observables of a fit on its training rows: averages of squares, so that no unit is left in them."""
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
    """The phase of a fit; without held-out rows the training rows alone must show that it is overconfident.

    1. Flat mean and flat precision: U_I.
    2. Overconfident (held-out rows lie far outside the std; without them: a runaway, or a std that retraces the
       residuals): O_II if the mean is flat or the std retraces the residuals, O_I otherwise.
    3. Flat mean: U_II. Otherwise: S.
    """
    flat_mean = found.residual_share > FLAT_MEAN
    if flat_mean and found.log_precision_spread < FLAT_PRECISION:
        return Phase.U_I
    retraced = found.std_mismatch < MEMORISED_STD
    if found.held_out_score is None:
        overconfident = runaway or retraced or not found.training_score >= RUNAWAY_SCORE
    else:
        overconfident = not found.held_out_score <= OVERCONFIDENT  # also where a broken model gives NaN
    if overconfident:
        return Phase.O_II if flat_mean or retraced else Phase.O_I
    return Phase.U_II if flat_mean else Phase.S

"""Label a fit with one of the five phases, by one rule on dimensionless observables.

The same rule labels networks, the field theory and anyone's forecasts. With r = y - mean and precision = 1 / std^2, an
honest std gives a mean of precision r^2 of 1. `docs/phases.md` explains the rule and its thresholds.
"""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.distributions import metrics

FLAT_MEAN = 0.05  # the mean is flat if its std over the training rows is less than this share of the target's
FLAT_PRECISION = 0.05  # the precision is flat if the std of log precision over the training rows is smaller
MEMORISED = 1.5  # the mean memorises if its residual share on held-out rows is more than this times the training rows'
HONEST_SCORE = 2.0  # the std holds on held-out rows if mean precision r^2 there lies between 1 / HONEST_SCORE and this
RETRACED_STD = 0.05  # the std follows each residual if mean (std - |r|)^2 / mean r^2 is smaller; 0.40 for honest noise


class Phase(StrEnum):
    """The phase of a fit: U_I and U_II underfit, O_I and O_II overfit, S is good.

    NONE and UNKNOWN are no phases: the fit is in none of the five, or only held-out rows can tell.
    """

    U_I = "U_I"
    U_II = "U_II"
    O_I = "O_I"
    O_II = "O_II"
    S = "S"
    NONE = "none"
    UNKNOWN = "unknown"

    @property
    def meaning(self) -> str:
        """What a fit in this phase looks like, in one sentence."""
        return _MEANINGS[self]


_MEANINGS = {
    Phase.U_I: "underfit: mean and std are both constant, so the inputs have no effect",
    Phase.U_II: "underfit mean: the mean is constant, but the std varies with the inputs",
    Phase.O_I: "overfit mean: the mean memorises the training rows, and residuals and std shrink towards zero",
    Phase.O_II: "overfit std: the mean does not memorise, but the std retraces its residuals on the training rows",
    Phase.S: "good: mean and std hold on new rows",
    Phase.NONE: "none of the five: nothing was memorised, and yet mean or std do not hold on new rows",
    Phase.UNKNOWN: "not known: the fit is not flat, and only held-out rows can tell good from overfit",
}


class HeldOut(NamedTuple):
    """What held-out rows say of a fit, with r = y - mean there, compared with the constant model.

    The constant model predicts the mean and the std of the training targets for every row.

    Attributes
    ----------
    score : float
        mean (r / std)^2.
    residual_share : float
        mean r^2 / mean r^2 of the constant model.
    nll_gain : float
        Mean negative log likelihood of the constant model minus that of the fit: positive if the fit is better.
    """

    score: float
    residual_share: float
    nll_gain: float

    @property
    def honest(self) -> bool:
        """Whether the std is neither too small nor too large: score within a factor of HONEST_SCORE of 1."""
        return bool(1.0 / HONEST_SCORE <= self.score <= HONEST_SCORE)  # False for NaN

    @property
    def overconfident(self) -> bool:
        """Whether the std is too small; NaN counts as too small."""
        return not bool(self.score <= HONEST_SCORE)

    @property
    def better_than_constant(self) -> bool:
        """Whether the fit has a lower negative log likelihood than the constant model."""
        return bool(self.nll_gain > 0.0)  # False for NaN

    @property
    def holds(self) -> bool:
        """Whether mean and std hold: better than the constant model, with an honest std."""
        return self.better_than_constant and self.honest


class Observables(NamedTuple):
    """The dimensionless numbers that decide the phase, with r = y - mean on the training rows.

    Attributes
    ----------
    mean_spread : float
        std of the mean / std of y: how much the mean moves.
    residual_share : float
        mean r^2 / variance of y.
    log_precision_spread : float
        std of log(1 / std^2) over the rows: how much the precision moves.
    std_mismatch : float
        mean (std - |r|)^2 / mean r^2.
    training_score : float
        mean (r / std)^2.
    held_out : HeldOut or None
        What held-out rows say; None if no rows were held out.
    """

    mean_spread: float
    residual_share: float
    log_precision_spread: float
    std_mismatch: float
    training_score: float
    held_out: HeldOut | None = None

    @property
    def flat_mean(self) -> bool:
        """Whether the mean is the same for all rows."""
        return bool(self.mean_spread < FLAT_MEAN)

    @property
    def flat_precision(self) -> bool:
        """Whether the std is the same for all rows."""
        return bool(self.log_precision_spread < FLAT_PRECISION)

    @property
    def memorises(self) -> bool:
        """Whether the mean knows its training rows much better than held-out ones; False without held-out rows."""
        return self.held_out is not None and not bool(self.held_out.residual_share <= MEMORISED * self.residual_share)

    @property
    def retraces(self) -> bool:
        """Whether the std knows the training residuals: it follows each one, or far better than held-out ones."""
        if self.flat_precision:
            return False
        known = self.held_out is not None and not bool(self.held_out.score <= HONEST_SCORE * self.training_score)
        return known or bool(self.std_mismatch < RETRACED_STD)


def observe(
    y: Float[np.ndarray, " point"],
    mean: Float[np.ndarray, " point"],
    std: Float[np.ndarray, " point"],
    weight: Float[np.ndarray, " point"] | None = None,
    held_out: HeldOut | None = None,
) -> Observables:
    """Compute the observables of a fit from its training rows.

    Parameters
    ----------
    y, mean, std : ndarray of shape (n_rows,)
        Targets and predictions, in the same units.
    weight : ndarray of shape (n_rows,) or None, default=None
        Weights of the rows in all averages; None counts them equally.
    held_out : HeldOut or None, default=None
        What held-out rows say, see `observe_held_out`.

    Returns
    -------
    Observables
        Dimensionless numbers.
    """
    residual = np.asarray(y, float) - mean
    variance = _weighted_std(y, weight) ** 2
    size = np.average(residual**2, weights=weight)
    mismatch = np.average((std - np.abs(residual)) ** 2, weights=weight)
    return Observables(
        mean_spread=float(_weighted_std(mean, weight) / np.sqrt(variance)) if variance > 0 else 0.0,
        residual_share=float(size / variance) if variance > 0 else 1.0,
        log_precision_spread=_weighted_std(-2.0 * np.log(std), weight),
        std_mismatch=float(mismatch / size) if size > 0 else np.inf,
        training_score=metrics.squared_score(y, mean, std, sample_weight=weight),
        held_out=held_out,
    )


def observe_held_out(
    y: Float[np.ndarray, " held"],
    mean: Float[np.ndarray, " held"],
    std: Float[np.ndarray, " held"],
    training_y: Float[np.ndarray, " point"],
    weight: Float[np.ndarray, " held"] | None = None,
    training_weight: Float[np.ndarray, " point"] | None = None,
) -> HeldOut:
    """Compare a fit on held-out rows with the constant model of the training targets.

    Parameters
    ----------
    y, mean, std : ndarray of shape (n_held,)
        Held-out targets and their predictions.
    training_y : ndarray of shape (n_rows,)
        Targets that the fit was trained on; their mean and std are the constant model.
    weight, training_weight : ndarray or None, default=None
        Weights of held-out and of training rows; None counts them equally.

    Returns
    -------
    HeldOut
        Dimensionless numbers.
    """
    level, spread = np.average(training_y, weights=training_weight), _weighted_std(training_y, training_weight)
    constant = np.full(len(y), level), np.full(len(y), spread)
    sizes = [np.average((np.asarray(y, float) - forecast) ** 2, weights=weight) for forecast in (mean, constant[0])]
    losses = [np.average(metrics.nll_by_row(y, *moments), weights=weight) for moments in ((mean, std), constant)]
    return HeldOut(
        score=metrics.squared_score(y, mean, std, sample_weight=weight),
        residual_share=float(sizes[0] / sizes[1]) if sizes[1] > 0 else np.inf,
        nll_gain=float(losses[1] - losses[0]),
    )


def label(found: Observables, runaway: bool = False) -> Phase:
    """Return the phase of a fit: the first line that holds.

    With held-out rows, a fit *holds* if its NLL there is lower than the constant model's and its squared score lies
    between 1 / HONEST_SCORE and HONEST_SCORE.

    1. Flat mean and flat precision: U_I.
    2. The mean moves, and the fit holds: S.
    3. The mean moves and memorises: O_I.
    4. The std is overconfident and retraces the training residuals: O_II.
    5. Flat mean: U_II. Otherwise: NONE.

    Without held-out rows nobody can tell whether a mean that moves holds on new rows. Only what the training rows show
    is claimed: a runaway, whose residuals and std shrink without end, is O_I, a std that follows each residual is O_II,
    then come U_I and U_II as above, and all else is UNKNOWN. Even a mean that equals y may be right, if y has no noise.

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
    if found.flat_mean and found.flat_precision:
        return Phase.U_I
    held_out = found.held_out
    if held_out is None:
        if runaway and not found.flat_mean:
            return Phase.O_I
        if found.retraces:
            return Phase.O_II
        return Phase.U_II if found.flat_mean else Phase.UNKNOWN
    if not found.flat_mean:
        if held_out.holds:
            return Phase.S
        if found.memorises:
            return Phase.O_I
    if held_out.overconfident and found.retraces:
        return Phase.O_II
    return Phase.U_II if found.flat_mean else Phase.NONE


def _weighted_std(values: Float[np.ndarray, " point"], weight: Float[np.ndarray, " point"] | None) -> float:
    """Return the standard deviation over the rows, with their weights."""
    centre = np.average(values, weights=weight)
    return float(np.sqrt(np.average((values - centre) ** 2, weights=weight)))

"""Judge anyone's forecasts, and describe them: is the std real, or has it memorised the training rows?

New rows alone tell whether a forecast holds. Why it does not hold, they cannot tell: a std that retraces the residuals
of its training rows and one that was never right look the same on new rows. Forecasts of the training rows beside them
tell the two apart, by the same rule that labels networks (`label`).
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.phases.diagnosis import Diagnosis, describe_answer, describe_next, share_text
from heteroscope.phases.labels import Observables, Phase, label, observe, observe_held_out
from heteroscope.phases.verdict import Verdict, judge_forecast

_STATES = {
    Phase.U_I: "the forecasts are the same for every row (U_I)",
    Phase.U_II: "the mean is the same for every row, while the std varies (U_II)",
    Phase.S: "the forecasts are in the good phase (S)",
    Phase.O_I: "the mean has memorised its training rows, and residuals and std shrink there (O_I)",
    Phase.O_II: "the std retraces the residuals of its training rows (O_II)",
    Phase.NONE: "the forecasts are in none of the five phases: nothing was memorised, and yet they do not hold",
    Phase.UNKNOWN: "the phase is not known",
}
_NEXT = {
    Phase.U_I: "Check that the inputs reach the model; a weaker penalty or other inputs may find more.",
    Phase.U_II: "Weaken the penalty of the mean, or find inputs that predict the target.",
    Phase.O_I: "Strengthen the penalty of the mean, stop the training earlier or get more rows, then forecast again.",
    Phase.O_II: "Strengthen the penalty of the std, or fit it to residuals of rows that the mean was not trained on.",
    Phase.NONE: "Multiply the std by a factor from rows of its own, and judge it on further ones.",
    Phase.UNKNOWN: "Give the forecasts of the training rows as well: they tell whether the std was memorised.",
}


class JudgedForecasts(NamedTuple):
    """The verdict on forecasts of new rows, their observables and their phase.

    Attributes
    ----------
    verdict : Verdict
        What the new rows say of the forecasts.
    observables : Observables
        Those of the training rows if their forecasts are known, else those of the new rows.
    phase : Phase
        The phase; UNKNOWN if only forecasts of the training rows could tell.
    knows_training : bool
        Whether forecasts of the training rows are known.
    """

    verdict: Verdict
    observables: Observables
    phase: Phase
    knows_training: bool


def judge_anyones(
    y: Float[np.ndarray, " held"],
    forecast: Any,
    weight: Float[np.ndarray, " held"] | None = None,
    training: tuple[Float[np.ndarray, " point"], Any] | None = None,
) -> JudgedForecasts:
    """Judge forecasts of new rows, and label them if that can be known.

    The constant model beside them has the mean and the std of the training targets, or, if these are not known, of all
    other new targets: each row is left out of its own constant model.

    Parameters
    ----------
    y : ndarray of shape (n_held,)
        Targets of new rows.
    forecast : rv_frozen or RowForecast
        Their predicted distributions.
    weight : ndarray of shape (n_held,) or None, default=None
        Weights of the new rows; None counts them equally.
    training : tuple of ndarray and forecast, default=None
        Targets of the training rows and their predicted distributions, by the same model.

    Returns
    -------
    JudgedForecasts
        Verdict, observables and phase.
    """
    share = np.full(len(y), 1.0 / len(y)) if weight is None else weight / weight.sum()
    numbers = np.arange(len(y))
    if training is None:
        constant = _constant_model_of_others(y, share)
        moments = y, forecast.mean(), forecast.std()
        held_out = observe_held_out(*moments, y, weight, weight)
        found = observe(*moments, weight, held_out)
        phase = label(found)
        if phase in (Phase.NONE, Phase.O_II) or (phase == Phase.U_II and held_out.overconfident):
            phase = Phase.UNKNOWN
    else:
        known, fit = training
        constant = np.full(len(y), known.mean()), np.full(len(y), known.std())
        held_out = observe_held_out(y, forecast.mean(), forecast.std(), known, weight)
        found = observe(known, fit.mean(), fit.std(), held_out=held_out)
        phase = label(found)
    verdict = judge_forecast(y, forecast, *constant, weight, numbers)
    return JudgedForecasts(verdict, found, phase, training is not None)


def _constant_model_of_others(
    y: Float[np.ndarray, " held"], share: Float[np.ndarray, " held"]
) -> tuple[Float[np.ndarray, " held"], Float[np.ndarray, " held"]]:
    """Return the mean and the std of all targets but the row's own.

    mean_i = (m - w_i y_i) / (1 - w_i) with m = sum w y; the variance likewise from sum w (y - m)^2.
    """
    centre = share @ y
    residual = y - centre
    left = np.maximum(1.0 - share, np.finfo(float).eps)
    shift = -share * residual / left  # mean_i - centre
    variance = (share @ residual**2 - share * residual**2) / left - shift**2
    scale = float(np.sqrt(share @ residual**2))
    return centre + shift, np.sqrt(np.maximum(variance, (1e-6 * scale) ** 2))


def describe_forecasts(judged: JudgedForecasts) -> Diagnosis:
    """Describe forecasts: whether to trust them, how good they are, what to do, and whether the std is memorised.

    Parameters
    ----------
    judged : JudgedForecasts
        What `judge_anyones` has returned.

    Returns
    -------
    Diagnosis
        Text for `print`, a table for a notebook.
    """
    verdict, phase = judged.verdict, judged.phase
    return Diagnosis(
        verdict=verdict,
        phase=str(phase),
        answer=describe_answer(verdict),
        advice=("What to do:", *describe_next(verdict, _NEXT.get(phase))),
        networks=tuple(_sentences(judged)),
        title="these forecasts",
    )


def _sentences(judged: JudgedForecasts) -> list[str]:
    """Return the phase, whether the std is real or memorised, and how much it varies."""
    verdict, found, phase, knows_training = judged
    score = verdict.squared_score
    where = "By forecasts of training rows and of new ones," if knows_training else "By these rows alone,"
    said = [f"{where} {_STATES[phase]}{_kind_of_s(phase, found)}."]
    if knows_training:
        said.append(
            f"The squared error is {found.training_score:.3g} times the predicted variance on training rows and "
            f"{score:.3g} times on new ones (1 is honest, more is overconfident)."
        )
        known, new = share_text(1.0 - found.residual_share), share_text(verdict.ours.r2)
        said.append(f"The mean explains {known} of its training rows and {new} of new ones.")
    else:
        said.append(
            f"The squared error is {score:.3g} times the predicted variance (1 is honest, more is overconfident)."
        )
    said.append(_whether_real(judged))
    return said


def _kind_of_s(phase: Phase, found: Observables) -> str:
    if phase != Phase.S:
        return ""
    return ", with a constant std" if found.flat_precision else ", with a std that adapts"


def _whether_real(judged: JudgedForecasts) -> str:
    """Answer the question: is this std real or memorised?"""
    verdict, found, phase, knows_training = judged
    if phase == Phase.O_II:
        return "Is the std real or memorised? Memorised: it knows the residuals of the training rows, not of new ones."
    if phase == Phase.O_I:
        return "Is the std real or memorised? Memorised, with the mean: both fit the training rows alone."
    if found.flat_precision:
        return "The std is the same for all rows, so it cannot have memorised any."
    if phase in (Phase.S, Phase.U_II) and verdict.over_homoskedastic.clear:
        return (
            "Is the std real or memorised? Real: on new rows it beats one constant std by "
            f"{verdict.over_homoskedastic.nats:.3g} ± {verdict.over_homoskedastic.error:.2g} nats per row."
        )
    if phase in (Phase.S, Phase.U_II):
        as_well = "better" if verdict.over_homoskedastic.clearly_negative else "as well"
        return f"Is the std real or memorised? It holds on new rows, but one constant std would do {as_well} there."
    if knows_training:
        return "Is the std real or memorised? Neither: it is wrong on training rows and on new ones alike."
    return "Whether the std was memorised or never right, only forecasts of the training rows can tell."

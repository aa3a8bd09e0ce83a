"""Describe a fit in a few sentences: its phase, the evidence for it, and what to do next."""

import math
from typing import Protocol, runtime_checkable

from heteroscope.core import Status
from heteroscope.phases.labels import Observables, Phase

#: The mean has memorised training rows if its r2 on held-out rows is below this share of its r2 on training rows.
MEMORISED_MEAN = 0.5

_NEXT_POINT = {
    Phase.U_I: "Raise rho (weaken the penalty), or use HeteroskedasticRegressorCV, which finds the point.",
    Phase.U_II: "Raise rho or lower gamma (weaken the penalty of the mean), or use HeteroskedasticRegressorCV, which "
    "finds the point.",
    Phase.O_I: "Lower rho (strengthen the penalty), or use HeteroskedasticRegressorCV, which finds the point; do not "
    "trust these standard deviations on new rows.",
    Phase.O_II: "Lower gamma (strengthen the penalty of the precision), or use HeteroskedasticRegressorCV, which finds "
    "the point; do not trust these standard deviations on new rows.",
}
_STILL_OVERFITS = (
    "The best point found still overfits: use smaller hidden layers, fewer inputs or more rows; do not trust these "
    "standard deviations on new rows."
)
_NOTHING_BETTER = {
    Phase.U_I: "No point tried was better: these rows do not show that the inputs predict the target. Find other "
    "inputs or more rows.",
    Phase.U_II: "No point tried was better: these rows show that the inputs predict the size of the noise, but not the "
    "target.",
    Phase.O_I: _STILL_OVERFITS,
    Phase.O_II: _STILL_OVERFITS,
}


@runtime_checkable
class Diagnosable(Protocol):
    """A fitted model with a phase; after a search it also has `held_out_scores_`."""

    phase_: str
    rho_: float
    gamma_: float
    std_scale_: float
    observables_: Observables
    status_: tuple[Status, ...]


def diagnose(model: Diagnosable) -> str:
    """Describe a fitted model: its phase, the evidence, how training ended, and one sentence of advice.

    Parameters
    ----------
    model : HeteroskedasticRegressor or HeteroskedasticRegressorCV
        The fitted model.

    Returns
    -------
    str
        One sentence per line.
    """
    phase = Phase(model.phase_)
    held_out: dict[str, float] | None = getattr(model, "held_out_scores_", None)
    lines = [
        f"Phase {phase} at rho = {_near_one(model.rho_)}, gamma = {_near_one(model.gamma_)}.",
        f"{phase.meaning[0].upper()}{phase.meaning[1:]}.",
        *_evidence(model.observables_, model.std_scale_, held_out),
        *_endings(model.status_, phase),
        _advice(phase, model.observables_, held_out),
    ]
    return "\n".join(lines)


def _advice(phase: Phase, found: Observables, held_out: dict[str, float] | None) -> str:
    """Return what to do next; `held_out` is None if there was no search."""
    if phase != Phase.S:
        return (_NEXT_POINT if held_out is None else _NOTHING_BETTER)[phase]
    if held_out is not None and held_out["r2"] < MEMORISED_MEAN * (1.0 - found.residual_share):
        return (
            "The intervals are wide enough, but the mean fits the training rows much better than new ones: more rows "
            "or fewer inputs would improve it more than other settings."
        )
    return "Nothing to do: use the intervals as they are, and check their coverage on new data from time to time."


def _near_one(value: float) -> str:
    """Format a probability with enough digits near 1, such as "1 - 0.001"."""
    return f"1 - {1 - value:.2g}" if value > 0.99 else f"{value:.3g}"


def _evidence(found: Observables, std_scale: float, held_out: dict[str, float] | None) -> list[str]:
    """Return the observables as sentences."""
    explained = max(0.0, 1.0 - found.residual_share)
    lines = [f"On the training rows the mean explains {explained:.1%} of the target's variance."]
    if held_out:
        lines = [
            f"The mean explains {max(0.0, held_out['r2']):.1%} of the target's variance on held-out rows, and "
            f"{explained:.1%} on the training rows."
        ]
    if found.flat_precision:
        lines.append("Std: the same for all rows; these rows do not show that the noise varies.")
    else:
        factor = math.exp(found.log_precision_spread / 2)
        lines.append(f"Std: varies between rows, typically by a factor of {factor:.2f}.")
    if std_scale != 1.0:
        lines.append(f"Std scaled by {std_scale:.2f} to match held-out errors.")
    elif found.held_out_score is None:
        lines.append("No rows were held out, so the phase is based on the training rows alone.")
    else:
        lines.append(
            f"On held-out rows the squared error is {found.held_out_score:.2f} times the predicted variance (1 is "
            "honest, more is overconfident)."
        )
    if held_out:
        lines.append(f"90 % intervals contain {held_out['interval_coverage']:.0%} of the held-out rows.")
    return lines


def _endings(status: tuple[Status, ...], phase: Phase) -> list[str]:
    """Return a sentence about each way in which training failed."""
    if phase == Phase.S and Status.RUNAWAY in status:
        return [
            "Training stopped while the std was still shrinking; the held-out rows show that it stopped in time, so do "
            "not raise max_steps here."
        ]
    worst = [ending for ending in (Status.NOT_FINITE, Status.RUNAWAY) if ending in status]
    return [f"{status.count(ending)} of {len(status)} members ended {ending}: {ending.meaning}." for ending in worst]

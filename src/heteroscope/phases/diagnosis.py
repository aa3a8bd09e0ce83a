"""A fit in a few sentences for a person: the phase, the evidence for it, and what to do next."""

import math
from typing import Any

from heteroscope.core import Status
from heteroscope.phases.labels import FLAT_PRECISION, Observables, Phase

KNOWN_BY_HEART = 0.5  # of what the mean explains of its training rows: it explains less of new ones

_NEXT_POINT = {
    Phase.U_I: "Raise rho (weaken the penalty), or let HeteroskedasticRegressorCV find the point.",
    Phase.U_II: "Raise rho or lower gamma so that the mean may move, or let HeteroskedasticRegressorCV find the point.",
    Phase.O_I: "Lower rho (strengthen the penalty), or let HeteroskedasticRegressorCV find the point; do not trust "
    "these standard deviations on new rows.",
    Phase.O_II: "Lower gamma so that the precision is penalised more, or let HeteroskedasticRegressorCV find the "
    "point; do not trust these standard deviations on new rows.",
}
_STILL_OVERFITS = (
    "The best point that was found still overfits: use smaller hidden layers, fewer inputs or more rows; do not trust "
    "these standard deviations on new rows."
)
_NOTHING_BETTER = {
    Phase.U_I: "No point that was tried did better: these rows do not prove that the inputs say anything about the "
    "target. Look for other inputs or more rows.",
    Phase.U_II: "No point that was tried did better: these rows prove that the inputs predict the size of the noise, "
    "but not the target.",
    Phase.O_I: _STILL_OVERFITS,
    Phase.O_II: _STILL_OVERFITS,
}


def diagnose(model: Any) -> str:
    """Phase and meaning, the observables in words, how training ended, and one sentence of advice."""
    phase = Phase(model.phase_)
    lines = [
        f"Phase {phase} at rho = {_near_one(model.rho_)}, gamma = {_near_one(model.gamma_)}.",
        f"{phase.meaning[0].upper()}{phase.meaning[1:]}.",
        *_evidence(model.observables_, model.std_scale_, getattr(model, "held_out_scores_", None)),
        *_endings(model.status_, phase),
        _advice(model, phase),
    ]
    return "\n".join(lines)


def _advice(model: Any, phase: Phase) -> str:
    searched = hasattr(model, "held_out_scores_")
    if phase != Phase.S:
        return (_NOTHING_BETTER if searched else _NEXT_POINT)[phase]
    if searched and model.held_out_scores_["r2"] < KNOWN_BY_HEART * (1.0 - model.observables_.residual_share):
        return (
            "The intervals are wide enough for that, but the mean knows the training rows better than new ones: more "
            "rows or fewer inputs would help more than other settings."
        )
    return "Nothing to do: use the intervals as they are, and check their coverage on new data now and then."


def _near_one(value: float) -> str:
    return f"1 - {1 - value:.2g}" if value > 0.99 else f"{value:.3g}"


def _evidence(found: Observables, std_scale: float, held_out: dict[str, float] | None) -> list[str]:
    explained = max(0.0, 1.0 - found.residual_share)
    lines = [f"On the training rows the mean explains {explained:.1%} of the target's variance."]
    if held_out:
        lines = [
            f"The mean explains {max(0.0, held_out['r2']):.1%} of the target's variance on held-out rows, and "
            f"{explained:.1%} on the training rows."
        ]
    if found.log_precision_spread < FLAT_PRECISION:
        lines.append("The std is the same for all rows: these rows do not prove that the noise varies.")
    else:
        factor = math.exp(found.log_precision_spread / 2)
        lines.append(f"The std typically varies by a factor of {factor:.2f} between rows.")
    if std_scale != 1.0:
        lines.append(
            f"By held-out rows it needs a std {std_scale:.2f} times that of the networks alone: it was scaled so."
        )
    elif found.held_out_score is None:
        lines.append("No rows were held out, so this label rests on the training rows alone.")
    else:
        lines.append(
            f"On held-out rows the squared error is {found.held_out_score:.2f} times what the std promises (1 is "
            "honest, more is overconfident)."
        )
    if held_out:
        lines.append(f"Intervals of 90 % hold {held_out['interval_coverage']:.0%} of the held-out rows.")
    return lines


def _endings(status: tuple[Status, ...], phase: Phase) -> list[str]:
    if phase == Phase.S and Status.RUNAWAY in status:
        return [
            "Training would still have made the std smaller when it stopped; the held-out rows say that it stopped in "
            "time, so do not raise max_steps here."
        ]
    worst = [ending for ending in (Status.NOT_FINITE, Status.RUNAWAY) if ending in status]
    return [f"{status.count(ending)} of {len(status)} members ended {ending}: {ending.meaning}." for ending in worst]

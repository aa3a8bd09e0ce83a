"""The five phases: the label of a fit, and the diagnosis in words."""

from heteroscope.phases.diagnosis import diagnose
from heteroscope.phases.labels import RUNAWAY_SCORE, Observables, Phase, label, observe

__all__ = ["RUNAWAY_SCORE", "Observables", "Phase", "diagnose", "label", "observe"]

"""The five phases: label a fit with one of them, and describe it in a few sentences."""

from heteroscope.phases.diagnosis import diagnose
from heteroscope.phases.labels import RUNAWAY_SCORE, Observables, Phase, label, observe

__all__ = ["RUNAWAY_SCORE", "Observables", "Phase", "diagnose", "label", "observe"]

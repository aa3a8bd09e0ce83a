"""The five phases: label a fit with one of them, and describe it in a few sentences."""

from heteroscope.phases.diagnosis import diagnose
from heteroscope.phases.labels import (
    HeldOut,
    Observables,
    Phase,
    label,
    observe,
    observe_held_out,
)

__all__ = ["HeldOut", "Observables", "Phase", "diagnose", "label", "observe", "observe_held_out"]

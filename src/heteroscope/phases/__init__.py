"""The five phases: label a fit with one of them, and describe it in a few sentences."""

from heteroscope.phases.diagnosis import diagnose
from heteroscope.phases.labels import (
    FLAT_PRECISION,
    HeldOut,
    Observables,
    Phase,
    label,
    observe,
    observe_held_out,
)

__all__ = ["FLAT_PRECISION", "HeldOut", "Observables", "Phase", "diagnose", "label", "observe", "observe_held_out"]

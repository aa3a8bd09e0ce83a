"""The five phases of networks, the verdict on their predictions, and both in words."""

from heteroscope.phases.diagnosis import Diagnosis, diagnose
from heteroscope.phases.held_out_rows import HeldOutRows
from heteroscope.phases.labels import (
    FLAT_PRECISION,
    HeldOut,
    Observables,
    Phase,
    label,
    observe,
    observe_held_out,
)
from heteroscope.phases.verdict import Gain, NamedRow, Scores, Trust, Verdict, judge

__all__ = [
    "FLAT_PRECISION",
    "Diagnosis",
    "Gain",
    "HeldOut",
    "HeldOutRows",
    "NamedRow",
    "Observables",
    "Phase",
    "Scores",
    "Trust",
    "Verdict",
    "diagnose",
    "judge",
    "label",
    "observe",
    "observe_held_out",
]

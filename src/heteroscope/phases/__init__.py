"""The five phases of networks, the verdict on their predictions, and both in words."""

from heteroscope.phases.diagnosis import Diagnosis, diagnose
from heteroscope.phases.forecast_diagnosis import JudgedForecasts, describe_forecasts, judge_anyones
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
from heteroscope.phases.verdict import (
    COVERAGE,
    Gain,
    NamedRow,
    Scores,
    Trust,
    Verdict,
    is_lognormal,
    judge,
    judge_forecast,
    quarters_by_std,
)

__all__ = [
    "COVERAGE",
    "FLAT_PRECISION",
    "Diagnosis",
    "Gain",
    "HeldOut",
    "HeldOutRows",
    "JudgedForecasts",
    "NamedRow",
    "Observables",
    "Phase",
    "Scores",
    "Trust",
    "Verdict",
    "describe_forecasts",
    "diagnose",
    "is_lognormal",
    "judge",
    "judge_anyones",
    "judge_forecast",
    "label",
    "observe",
    "observe_held_out",
    "quarters_by_std",
]

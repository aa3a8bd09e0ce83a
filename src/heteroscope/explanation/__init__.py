"""Explain fitted models and anyone's forecasts: calibration, what drives mean and std, rows that deserve a look.

`plots` and `report` draw what these functions return.
"""

from heteroscope.explanation.calibration import calibration, held_out_forecasts
from heteroscope.explanation.effects import EffectCurve, effect_curves
from heteroscope.explanation.fit_explanation import Explanation, explain, feature_names, most_important
from heteroscope.explanation.forecasts import ForecastDiagnosis, diagnose
from heteroscope.explanation.importance import permutation_importance
from heteroscope.explanation.inputs import Inputs, group_features
from heteroscope.explanation.model_card import ModelCard, model_card
from heteroscope.explanation.odd_rows import FarRow, MissedRow, far_rows, missed_rows
from heteroscope.explanation.search_path import search_path
from heteroscope.explanation.slopes import input_slopes, slope_sizes

__all__ = [
    "EffectCurve",
    "Explanation",
    "FarRow",
    "ForecastDiagnosis",
    "Inputs",
    "MissedRow",
    "ModelCard",
    "calibration",
    "diagnose",
    "effect_curves",
    "explain",
    "far_rows",
    "feature_names",
    "group_features",
    "held_out_forecasts",
    "input_slopes",
    "missed_rows",
    "model_card",
    "most_important",
    "permutation_importance",
    "search_path",
    "slope_sizes",
]

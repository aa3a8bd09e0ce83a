"""Estimators in the style of scikit-learn: a fit at one point, a search by cross-validation, and Optuna."""

from heteroscope.estimators.base import (
    GaussianRegressor,
    Inputs,
    MemberMoments,
    RandomState,
    check_weights,
    member_seeds,
)
from heteroscope.estimators.fitted_fields import COMMON_FIELDS, NETWORK_FIELDS, FieldKind, FittedFields
from heteroscope.estimators.one_point import HeteroskedasticRegressor
from heteroscope.estimators.optuna_search import OptunaObjective
from heteroscope.estimators.point_regressor import PointRegressor
from heteroscope.estimators.search_cv import HeteroskedasticRegressorCV
from heteroscope.estimators.streams import StreamRegressor, refuse_store, refuse_stream

__all__ = [
    "COMMON_FIELDS",
    "NETWORK_FIELDS",
    "FieldKind",
    "FittedFields",
    "GaussianRegressor",
    "HeteroskedasticRegressor",
    "HeteroskedasticRegressorCV",
    "Inputs",
    "MemberMoments",
    "OptunaObjective",
    "PointRegressor",
    "RandomState",
    "StreamRegressor",
    "check_weights",
    "member_seeds",
    "refuse_store",
    "refuse_stream",
]

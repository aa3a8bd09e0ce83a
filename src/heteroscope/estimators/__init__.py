"""The scikit-learn face: one point, the search, and Optuna."""

from heteroscope.estimators.base import GaussianRegressor, MemberMoments, member_seeds, refuse_store, refuse_stream
from heteroscope.estimators.fitted_fields import COMMON_FIELDS, NETWORK_FIELDS, FieldKind, FittedFields
from heteroscope.estimators.optuna_search import OptunaObjective
from heteroscope.estimators.regressors import HeteroskedasticRegressor, HeteroskedasticRegressorCV, PointRegressor

__all__ = [
    "COMMON_FIELDS",
    "NETWORK_FIELDS",
    "FieldKind",
    "FittedFields",
    "GaussianRegressor",
    "HeteroskedasticRegressor",
    "HeteroskedasticRegressorCV",
    "MemberMoments",
    "OptunaObjective",
    "PointRegressor",
    "member_seeds",
    "refuse_store",
    "refuse_stream",
]

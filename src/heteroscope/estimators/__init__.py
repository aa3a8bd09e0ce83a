"""The scikit-learn face: one point, the search, and Optuna."""

from heteroscope.estimators.base import GaussianRegressor, MemberMoments, member_seeds, refuse_store, refuse_stream
from heteroscope.estimators.optuna_search import OptunaObjective
from heteroscope.estimators.search_cv import HeteroskedasticRegressor, HeteroskedasticRegressorCV, PointRegressor

__all__ = [
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

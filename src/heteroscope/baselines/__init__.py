"""Methods to compare with, on the same networks and engine; `docs/baselines.md` shows how the next is added."""

from heteroscope.baselines.base import BaselineRegressor
from heteroscope.baselines.beta_nll import BetaNLLRegressor
from heteroscope.baselines.ensembles import EnsembleRegressor
from heteroscope.baselines.faithful import FaithfulRegressor
from heteroscope.baselines.heads import precision_head
from heteroscope.baselines.methods import METHODS, choose_methods, left_out
from heteroscope.baselines.mle import MLERegressor
from heteroscope.baselines.mle_ensemble import MLEEnsembleRegressor
from heteroscope.baselines.natural_laplace import NaturalLaplaceRegressor
from heteroscope.baselines.registry import BASELINES
from heteroscope.baselines.reliable_variance import ReliableVarianceRegressor
from heteroscope.baselines.student_t_and_variational import StudentTRegressor
from heteroscope.baselines.trained import TrainedRegressor
from heteroscope.baselines.variational import VariationalVarianceRegressor

__all__ = [
    "BASELINES",
    "METHODS",
    "BaselineRegressor",
    "BetaNLLRegressor",
    "EnsembleRegressor",
    "FaithfulRegressor",
    "MLEEnsembleRegressor",
    "MLERegressor",
    "NaturalLaplaceRegressor",
    "ReliableVarianceRegressor",
    "StudentTRegressor",
    "TrainedRegressor",
    "VariationalVarianceRegressor",
    "choose_methods",
    "left_out",
    "precision_head",
]

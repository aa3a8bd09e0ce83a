"""Other methods to compare with, on the same networks and training loop; `docs/baselines.md` shows how to add one."""

from heteroscope.baselines.base import BaselineRegressor, TrainedRegressor
from heteroscope.baselines.ensembles import EnsembleRegressor, MLEEnsembleRegressor
from heteroscope.baselines.faithful import FaithfulRegressor
from heteroscope.baselines.methods import BASELINES, METHODS, AnyEstimator, choose_methods, left_out
from heteroscope.baselines.mle_and_beta_nll import BetaNLLRegressor, MLERegressor
from heteroscope.baselines.natural_laplace import NaturalLaplaceRegressor
from heteroscope.baselines.reliable_variance import ReliableVarianceRegressor
from heteroscope.baselines.second_network import precision_head
from heteroscope.baselines.student_t_and_variational import StudentTRegressor, VariationalVarianceRegressor

__all__ = [
    "BASELINES",
    "METHODS",
    "AnyEstimator",
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

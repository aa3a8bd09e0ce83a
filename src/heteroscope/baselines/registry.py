"""The baselines by name."""

from heteroscope.baselines.beta_nll import BetaNLLRegressor
from heteroscope.baselines.faithful import FaithfulRegressor
from heteroscope.baselines.mle import MLERegressor
from heteroscope.baselines.mle_ensemble import MLEEnsembleRegressor
from heteroscope.baselines.natural_laplace import NaturalLaplaceRegressor
from heteroscope.baselines.reliable_variance import ReliableVarianceRegressor
from heteroscope.baselines.student_t_and_variational import StudentTRegressor
from heteroscope.baselines.trained import TrainedRegressor
from heteroscope.baselines.variational import VariationalVarianceRegressor

#: The one place where a method is added: `heteroscope compare` and model folders know all that stand here.
BASELINES: dict[str, type[TrainedRegressor]] = {
    "mle": MLERegressor,
    "beta-nll": BetaNLLRegressor,
    "mle-ensemble": MLEEnsembleRegressor,
    "faithful": FaithfulRegressor,
    "natural-laplace": NaturalLaplaceRegressor,
    "reliable": ReliableVarianceRegressor,
    "student-t": StudentTRegressor,
    "variational": VariationalVarianceRegressor,
}

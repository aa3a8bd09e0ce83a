"""scikit-learn's Gaussian process; it maximises its marginal likelihood from several starts."""

import warnings
from typing import Literal

import numpy as np
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heteroscope.baselines.base import RandomSeed
from heteroscope.baselines.rivals.peers import Distribution, LibraryModel, PeerRegressor


class GaussianProcessPeer(PeerRegressor):
    """Gaussian process with the kernel constant * RBF or Matern-5/2 + white noise, one length scale per feature (ARD).

    Parameters
    ----------
    kernel : {"rbf", "matern"}, default="rbf"
        The RBF is smoother than most tables are; a Matern-5/2 has two derivatives.
    n_restarts : int, default=2
        Random starts of the maximisation of the likelihood, beside the first start with one length for all features.
    random_state : int or RandomState, default=None
        Seed of the random starts.

    Attributes
    ----------
    model_ : sklearn.pipeline.Pipeline
        Scaling and the fitted process.
    """

    def __init__(
        self, *, kernel: Literal["rbf", "matern"] = "rbf", n_restarts: int = 2, random_state: RandomSeed = None
    ) -> None:
        self.kernel = kernel
        self.n_restarts = n_restarts
        self.random_state = random_state

    def _fitted(self, x: np.ndarray, y: np.ndarray) -> LibraryModel:
        lengths = np.full(x.shape[1], np.sqrt(x.shape[1]))
        bounds = (1e-2, 1e4)
        shape = Matern(lengths, bounds, nu=2.5) if self.kernel == "matern" else RBF(lengths, bounds)
        kernel = ConstantKernel(1.0, (1e-3, 1e4)) * shape + WhiteKernel(0.1, (1e-8, 1e1))
        process = GaussianProcessRegressor(
            kernel, normalize_y=True, n_restarts_optimizer=self.n_restarts, random_state=self.random_state
        )
        with warnings.catch_warnings():
            # a length at its upper bound means that the feature does not matter, which is what ARD finds out
            warnings.simplefilter("ignore", ConvergenceWarning)
            return make_pipeline(StandardScaler(), process).fit(x, y)

    def _forecast(self, x: np.ndarray) -> Distribution:
        return stats.norm(*self.model_.predict(x, return_std=True))

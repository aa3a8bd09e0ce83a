"""Heteroskedastic Bayesian additive regression trees by the package stochtree."""

import numpy as np
from joblib import effective_n_jobs

from heteroscope.baselines.base import RandomSeed
from heteroscope.baselines.rivals.peers import N_DRAWS, Distribution, LibraryModel, PeerRegressor, require, whole_seed
from heteroscope.distributions import SampleForecast


class BARTPeer(PeerRegressor):
    """BART with a forest for the mean and one for the log variance (Murray 2021): draws of the posterior predictive.

    Parameters
    ----------
    n_samples : int, default=500
        Kept samples of the posterior; each gives one draw per row.
    burn_in : int, default=500
        Samples that are thrown away, after ten grow-from-root sweeps as a warm start.
    n_trees, n_variance_trees : int, default=200 and 50
        Trees of the two forests.
    n_jobs : int, default=None
        Number of threads.
    random_state : int or RandomState, default=None
        Seed of the sampler and of the draws.

    Attributes
    ----------
    model_ : stochtree.BARTModel
        The samples of the posterior.
    """

    def __init__(
        self,
        *,
        n_samples: int = N_DRAWS,
        burn_in: int = 500,
        n_trees: int = 200,
        n_variance_trees: int = 50,
        n_jobs: int | None = None,
        random_state: RandomSeed = None,
    ) -> None:
        self.n_samples = n_samples
        self.burn_in = burn_in
        self.n_trees = n_trees
        self.n_variance_trees = n_variance_trees
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fitted(self, x: np.ndarray, y: np.ndarray) -> LibraryModel:
        self._seed = whole_seed(self.random_state)
        model = require("stochtree").BARTModel()
        model.sample(
            X_train=x,
            y_train=y,
            num_gfr=10,
            num_burnin=self.burn_in,
            num_mcmc=self.n_samples,
            general_params={
                "random_seed": self._seed,
                "num_threads": effective_n_jobs(self.n_jobs),
                "sample_sigma2_global": False,  # the variance forest has the level, too
            },
            mean_forest_params={"num_trees": self.n_trees},
            variance_forest_params={"num_trees": self.n_variance_trees},
        )
        return model

    def _forecast(self, x: np.ndarray) -> Distribution:
        found = self.model_.predict(x, terms=["y_hat", "variance_forest"])
        mean, variance = found["y_hat"], found["variance_forest_predictions"]
        noise = np.random.default_rng(self._seed).standard_normal(mean.shape)
        return SampleForecast(mean + np.sqrt(variance) * noise)

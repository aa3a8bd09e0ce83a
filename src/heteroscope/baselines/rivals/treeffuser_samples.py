"""Treeffuser: a diffusion model whose score function is boosted trees."""

import numpy as np
from joblib import effective_n_jobs

from heteroscope.baselines.base import RandomSeed
from heteroscope.baselines.rivals.peers import Distribution, LibraryModel, PeerRegressor, require, whole_seed
from heteroscope.distributions import SampleForecast


class TreeffuserPeer(PeerRegressor):
    """Treeffuser (Beltran-Velez et al. 2024) with its authors' settings: samples of each row's distribution.

    Its trees stop early on 10 % of the rows, after 50 trees without a gain and at 3,000 at most.

    Parameters
    ----------
    n_draws : int, default=200
        Draws per row.
    max_trees : int, default=3000
        The highest number of trees.
    n_jobs : int, default=None
        Number of threads.
    random_state : int or RandomState, default=None
        Seed of the trees and of the draws.

    Attributes
    ----------
    model_ : treeffuser.Treeffuser
        The fitted model.
    """

    def __init__(
        self,
        *,
        n_draws: int = 200,
        max_trees: int = 3000,
        n_jobs: int | None = None,
        random_state: RandomSeed = None,
    ) -> None:
        self.n_draws = n_draws
        self.max_trees = max_trees
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fitted(self, x: np.ndarray, y: np.ndarray) -> LibraryModel:
        self._seed = whole_seed(self.random_state)
        model = require("treeffuser").Treeffuser(
            n_estimators=self.max_trees,
            early_stopping_rounds=50,
            n_jobs=effective_n_jobs(self.n_jobs),
            seed=self._seed,
            verbose=-1,
        )
        return model.fit(x, y)

    def _forecast(self, x: np.ndarray) -> Distribution:
        draws = self.model_.sample(x, n_samples=self.n_draws, seed=self._seed)
        return SampleForecast(np.asarray(draws, np.float64).reshape(self.n_draws, len(x)).T)

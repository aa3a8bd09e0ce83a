"""Quantile regression forests (Meinshausen 2006) by the package quantile-forest."""

from itertools import product

import numpy as np

from heteroscope.baselines.base import RandomSeed
from heteroscope.baselines.rivals.peers import LEVELS, Distribution, LibraryModel, PeerRegressor, require, whole_seed
from heteroscope.distributions import QuantileForecast

#: Candidates: rows per leaf, and the share of the features that each cut looks at.
LEAVES, SHARES = (2, 5, 10), (1 / 3, 1.0)


class QuantileForestPeer(PeerRegressor):
    """A quantile forest; leaf size and share of features are chosen by the CRPS of out-of-bag rows.

    Parameters
    ----------
    n_trees : int, default=500
        Trees of the forest; a candidate is judged with a fifth of them.
    n_jobs : int, default=None
        Number of threads.
    random_state : int or RandomState, default=None
        Seed of the forests.

    Attributes
    ----------
    chosen_ : tuple
        Rows per leaf and share of the features.
    model_ : quantile_forest.RandomForestQuantileRegressor
        The forest.
    """

    def __init__(self, *, n_trees: int = 500, n_jobs: int | None = None, random_state: RandomSeed = None) -> None:
        self.n_trees = n_trees
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fitted(self, x: np.ndarray, y: np.ndarray) -> LibraryModel:
        forest = require("quantile_forest").RandomForestQuantileRegressor
        seed = whole_seed(self.random_state)

        def fitted(leaf: int, share: float, n_trees: int) -> LibraryModel:
            return forest(
                n_estimators=n_trees,
                min_samples_leaf=leaf,
                max_features=share,
                max_samples_leaf=None,  # all rows of a leaf, as in the paper, instead of one at random
                n_jobs=self.n_jobs,
                random_state=seed,
            ).fit(x, y)

        def out_of_bag_crps(candidate: tuple[int, float]) -> float:
            quantiles = fitted(*candidate, max(20, self.n_trees // 5)).predict(
                x, quantiles=list(LEVELS), oob_score=True
            )
            seen = ~np.isnan(quantiles).any(axis=1)  # with few trees, a row may be in the bags of all
            return float(QuantileForecast(list(LEVELS), quantiles[seen]).crps(y[seen]).mean())

        self.chosen_ = min(product(LEAVES, SHARES), key=out_of_bag_crps)
        return fitted(*self.chosen_, self.n_trees)

    def _forecast(self, x: np.ndarray) -> Distribution:
        return QuantileForecast(list(LEVELS), self.model_.predict(x, quantiles=list(LEVELS)))

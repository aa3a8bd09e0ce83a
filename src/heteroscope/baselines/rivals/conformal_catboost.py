"""A conformal predictive system of the package crepes around CatBoost's mean and std."""

import numpy as np
from sklearn.model_selection import KFold

from heteroscope.baselines.base import Number, RandomSeed
from heteroscope.baselines.rivals.catboost_gaussian import CatBoostPeer, moments_of
from heteroscope.baselines.rivals.peers import Distribution, LibraryModel, PeerRegressor, require, whole_seed
from heteroscope.distributions import SampleForecast

N_FOLDS = 5
MOST_SCORES = 1000  # more calibration scores than this are thinned to quantiles of them


class ConformalCatBoostPeer(PeerRegressor):
    """CatBoost's mean plus its std times the scores (y - mean) / std of rows that were held out in five folds.

    The forecast of a row is the conformal predictive distribution (Vovk et al. 2019) of these scores, normalised by the
    predicted std. The folds' models have the number of trees that was chosen on all rows; the model behind the mean and
    std is fitted to all rows, so that coverage is approximate, as in cross-conformal prediction.

    Parameters
    ----------
    max_trees : int, default=2000
        The highest number of trees.
    patience : int, default=50
        Training stops after so many trees without a gain on the held-out rows.
    held_out : float, default=0.2
        Share of the rows on which the number of trees is chosen.
    n_jobs : int, default=None
        Number of threads.
    random_state : int or RandomState, default=None
        Seed of the folds and of CatBoost.

    Attributes
    ----------
    model_ : tuple
        CatBoost's model of all rows, and the fitted `crepes.ConformalPredictiveSystem`.
    """

    def __init__(
        self,
        *,
        max_trees: int = 2000,
        patience: int = 50,
        held_out: Number = 0.2,
        n_jobs: int | None = None,
        random_state: RandomSeed = None,
    ) -> None:
        self.max_trees = max_trees
        self.patience = patience
        self.held_out = held_out
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fitted(self, x: np.ndarray, y: np.ndarray) -> LibraryModel:
        crepes = require("crepes")
        seed = whole_seed(self.random_state)
        peer = CatBoostPeer(
            max_trees=self.max_trees,
            patience=self.patience,
            held_out=self.held_out,
            n_jobs=self.n_jobs,
            random_state=seed,
        ).fit(x, y)
        make = peer._maker()
        mean, std = np.empty_like(y), np.empty_like(y)
        for train, held in KFold(min(N_FOLDS, len(y)), shuffle=True, random_state=seed).split(x):
            mean[held], std[held] = moments_of(make(peer.n_trees_, seed).fit(x[train], y[train]), x[held])
        scores = (y - mean) / std
        if len(scores) > MOST_SCORES:
            scores = np.quantile(scores, np.arange(1, MOST_SCORES) / MOST_SCORES, method="weibull")
        system = crepes.ConformalPredictiveSystem().fit(residuals=scores, sigmas=np.ones_like(scores))
        return peer.model_, system

    def _forecast(self, x: np.ndarray) -> Distribution:
        model, system = self.model_
        mean, std = moments_of(model, x)
        return SampleForecast(system.predict_cpds(mean, std))

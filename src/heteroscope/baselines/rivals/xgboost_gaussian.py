"""xgboost-distribution: XGBoost with a Gaussian and natural gradients."""

from collections.abc import Callable

import numpy as np
from joblib import effective_n_jobs
from scipy import stats

from heteroscope.baselines.rivals.boosted_trees import BoostingPeer
from heteroscope.baselines.rivals.peers import Distribution, LibraryModel, require


class XGBDistributionPeer(BoostingPeer):
    """xgboost-distribution (Sigrist's natural gradients in XGBoost) with a Gaussian; `BoostingPeer` has the parameters.

    Shallow trees, a learning rate of 0.03 and 80 % of the rows per tree.
    """

    def _maker(self) -> Callable[[int, int], LibraryModel]:
        package = require("xgboost_distribution")
        threads = effective_n_jobs(self.n_jobs)
        return lambda n_trees, seed: package.XGBDistribution(
            distribution="normal",
            n_estimators=n_trees,
            learning_rate=0.03,
            max_depth=3,
            subsample=0.8,
            random_state=seed,
            n_jobs=threads,
        )

    def _stopped_at(
        self, model: LibraryModel, x: np.ndarray, y: np.ndarray, x_held: np.ndarray, y_held: np.ndarray
    ) -> int:
        model.set_params(early_stopping_rounds=self.patience)
        model.fit(x, y, eval_set=[(x_held, y_held)], verbose=False)
        return int(model.best_iteration) + 1

    def _forecast(self, x: np.ndarray) -> Distribution:
        found = self.model_.predict(x)
        return stats.norm(np.asarray(found.loc, np.float64), np.asarray(found.scale, np.float64))

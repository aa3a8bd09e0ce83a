"""NGBoost with a Gaussian."""

from collections.abc import Callable

import numpy as np
from scipy import stats

from heteroscope.baselines.rivals.boosted_trees import BoostingPeer
from heteroscope.baselines.rivals.peers import Distribution, LibraryModel, require


class NGBoostPeer(BoostingPeer):
    """NGBoost (Duan et al. 2020) with a Gaussian and its authors' learning rate; `BoostingPeer` has the parameters.

    It runs in one thread whatever `n_jobs` is.
    """

    def _maker(self) -> Callable[[int, int], LibraryModel]:
        ngboost = require("ngboost")
        return lambda n_trees, seed: ngboost.NGBRegressor(
            Dist=ngboost.distns.Normal, n_estimators=n_trees, learning_rate=0.01, verbose=False, random_state=seed
        )

    def _stopped_at(
        self, model: LibraryModel, x: np.ndarray, y: np.ndarray, x_held: np.ndarray, y_held: np.ndarray
    ) -> int:
        model.fit(x, y, X_val=x_held, Y_val=y_held, early_stopping_rounds=self.patience)
        return int(model.best_val_loss_itr) + 1

    def _forecast(self, x: np.ndarray) -> Distribution:
        found = self.model_.pred_dist(x).params
        return stats.norm(np.asarray(found["loc"]), np.asarray(found["scale"]))

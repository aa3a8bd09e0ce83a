"""CatBoost with a Gaussian."""

from collections.abc import Callable

import numpy as np
from joblib import effective_n_jobs
from scipy import stats

from heteroscope.baselines.rivals.boosted_trees import BoostingPeer
from heteroscope.baselines.rivals.peers import Distribution, LibraryModel, require


class CatBoostPeer(BoostingPeer):
    """CatBoost's RMSEWithUncertainty (Malinin et al. 2021): trees for the mean and the log variance of a Gaussian.

    `BoostingPeer` has the parameters.
    """

    def _maker(self) -> Callable[[int, int], LibraryModel]:
        catboost = require("catboost")
        threads = effective_n_jobs(self.n_jobs)
        # CatBoost's own choice of a rate depends on the number of trees, so it would change in the refit
        return lambda n_trees, seed: catboost.CatBoostRegressor(
            loss_function="RMSEWithUncertainty",
            iterations=n_trees,
            learning_rate=0.03,
            random_seed=seed,
            thread_count=threads,
            logging_level="Silent",
            allow_writing_files=False,
        )

    def _stopped_at(
        self, model: LibraryModel, x: np.ndarray, y: np.ndarray, x_held: np.ndarray, y_held: np.ndarray
    ) -> int:
        model.fit(x, y, eval_set=(x_held, y_held), early_stopping_rounds=self.patience)
        return int(model.get_best_iteration()) + 1

    def _forecast(self, x: np.ndarray) -> Distribution:
        return stats.norm(*moments_of(self.model_, x))


def moments_of(model: LibraryModel, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and std of each row."""
    found = model.predict(x, prediction_type="RMSEWithUncertainty")
    return found[:, 0], np.sqrt(found[:, 1])

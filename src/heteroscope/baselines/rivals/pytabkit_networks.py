"""RealMLP and TabM of the package pytabkit, trained by the pinball loss at many levels at once."""

from abc import abstractmethod

import numpy as np
from joblib import effective_n_jobs

from heteroscope.baselines.base import RandomSeed
from heteroscope.baselines.rivals.peers import LEVELS, Distribution, LibraryModel, PeerRegressor, require, whole_seed
from heteroscope.distributions import QuantileForecast

PINBALL = f"multi_pinball({','.join(f'{level:g}' for level in LEVELS)})"


class PytabkitPeer(PeerRegressor):
    """A network of pytabkit with its tuned defaults, as an ensemble of five folds.

    Each fold's network is that of its best epoch on the fold's held-out rows, by the pinball loss.

    Parameters
    ----------
    n_folds : int, default=5
        The number of folds and of networks.
    n_epochs : int, default=None
        Longest training in epochs; None is the package's own.
    n_jobs : int, default=None
        Number of threads.
    random_state : int or RandomState, default=None
        Seed of the folds and of the networks.

    Attributes
    ----------
    model_ : object
        pytabkit's regressor.
    """

    def __init__(
        self,
        *,
        n_folds: int = 5,
        n_epochs: int | None = None,
        n_jobs: int | None = None,
        random_state: RandomSeed = None,
    ) -> None:
        self.n_folds = n_folds
        self.n_epochs = n_epochs
        self.n_jobs = n_jobs
        self.random_state = random_state

    @abstractmethod
    def _unfitted(self, **settings: object) -> LibraryModel:
        """Return pytabkit's regressor with the settings that both networks share."""

    def _fitted(self, x: np.ndarray, y: np.ndarray) -> LibraryModel:
        require("pytabkit")
        model = self._unfitted(
            device="cpu",
            random_state=whole_seed(self.random_state),
            n_cv=self.n_folds,
            n_refit=0,
            n_epochs=self.n_epochs,
            n_threads=effective_n_jobs(self.n_jobs),
            train_metric_name=PINBALL,
            val_metric_name=PINBALL,
        )
        return model.fit(x, y)

    def _forecast(self, x: np.ndarray) -> Distribution:
        return QuantileForecast(list(LEVELS), np.asarray(self.model_.predict(x), np.float64))


class RealMLPPeer(PytabkitPeer):
    """RealMLP (Holzmueller et al. 2024) with its tuned defaults: 256 epochs; `PytabkitPeer` has the parameters.

    Its outputs are not clamped to the range of the training targets, which would cut the outer quantiles.
    """

    def _unfitted(self, **settings: object) -> LibraryModel:
        return require("pytabkit").RealMLP_TD_Regressor(clamp_output=False, **settings)


class TabMPeer(PytabkitPeer):
    """TabM (Gorishniy et al. 2025), 32 networks that share weights, with piecewise-linear embeddings.

    A fold's training stops after 16 epochs without a gain. `PytabkitPeer` has the parameters.
    """

    def _unfitted(self, **settings: object) -> LibraryModel:
        return require("pytabkit").TabM_D_Regressor(arch_type="tabm-mini", num_emb_type="pwl", patience=16, **settings)

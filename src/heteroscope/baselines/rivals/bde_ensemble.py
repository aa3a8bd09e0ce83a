"""Bayesian deep ensembles by sklearn-contrib-bde: networks for mean and scale, sampled by Langevin steps."""

import numpy as np
from sklearn.preprocessing import StandardScaler

from heteroscope.baselines.base import RandomSeed
from heteroscope.baselines.rivals.peers import Distribution, LibraryModel, PeerRegressor, require, whole_seed
from heteroscope.distributions import SampleForecast


class BDEPeer(PeerRegressor):
    """Microcanonical Langevin ensembles (Sommer et al. 2025), with the lengths of their paper instead of the defaults.

    Inputs and target are standardised. Each member is trained with early stopping and then sampled; each kept sample of
    its posterior gives one draw per row.

    Parameters
    ----------
    n_members : int, default=8
        Networks of the ensemble.
    hidden : tuple of int, default=(16, 16)
        Width of each hidden layer.
    epochs, patience : int, default=1000 and 50
        Longest training, and epochs without a gain on 15 % of the rows that end it.
    warmup_steps, n_samples, n_thinning : int, default=5000, 2000 and 10
        Steps that tune the sampler, steps after them, and the distance between those that are kept.
    random_state : int or RandomState, default=None
        Seed of the networks, the sampler and the draws.

    Attributes
    ----------
    model_ : tuple
        The fitted `bde.BdeRegressor`, and the scalers of its inputs and target.
    """

    def __init__(
        self,
        *,
        n_members: int = 8,
        hidden: tuple[int, ...] = (16, 16),
        epochs: int = 1000,
        patience: int = 50,
        warmup_steps: int = 5000,
        n_samples: int = 2000,
        n_thinning: int = 10,
        random_state: RandomSeed = None,
    ) -> None:
        self.n_members = n_members
        self.hidden = hidden
        self.epochs = epochs
        self.patience = patience
        self.warmup_steps = warmup_steps
        self.n_samples = n_samples
        self.n_thinning = n_thinning
        self.random_state = random_state

    def _fitted(self, x: np.ndarray, y: np.ndarray) -> LibraryModel:
        self._seed = whole_seed(self.random_state)
        x_scaler, y_scaler = StandardScaler().fit(x), StandardScaler().fit(y[:, np.newaxis])
        model = require("bde").BdeRegressor(
            n_members=self.n_members,
            hidden_layers=list(self.hidden),
            epochs=self.epochs,
            patience=self.patience,
            warmup_steps=self.warmup_steps,
            n_samples=self.n_samples,
            n_thinning=self.n_thinning,
            seed=self._seed,
        )
        return model.fit(x_scaler.transform(x), y_scaler.transform(y[:, np.newaxis])[:, 0]), x_scaler, y_scaler

    def _forecast(self, x: np.ndarray) -> Distribution:
        model, x_scaler, y_scaler = self.model_
        raw = np.asarray(model.predict(x_scaler.transform(x), raw=True), np.float64)  # (member, sample, row, output)
        mean, output = raw.reshape(-1, len(x), 2).transpose(2, 1, 0)
        std = np.logaddexp(0, output) + 1e-6  # as the package's likelihood has it
        noise = np.random.default_rng(self._seed).standard_normal(mean.shape)
        return SampleForecast(y_scaler.inverse_transform(mean + std * noise))

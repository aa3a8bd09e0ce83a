"""What people use today, behind the one call that a comparison needs: `predict(X, return_std=True)`.

Boosted trees stop early on a held-out part and are then refitted on all rows with that number of trees, as is usual;
a Gaussian process maximises its marginal likelihood from several starts.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from heteroscope.core import InputError

INSTALL = 'pip install "heteroscope[compare]"'


def require(package: str) -> Any:
    """The imported package of the extra `compare`, or one line with the command that installs it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise InputError(f"the package {package!r} is not installed: {INSTALL}") from error


class PeerRegressor(RegressorMixin, BaseEstimator, ABC):
    """Another library's model as a regressor that gives a mean and a std for every row."""

    def fit(self, X: Any, y: Any) -> "PeerRegressor":
        """Fit the other library's model."""
        x, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        self.model_ = self._fitted(x, target.astype(np.float64))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean of every row, or with `return_std=True` the pair (mean, std)."""
        check_is_fitted(self)
        mean, std = self._moments(validate_data(self, X, dtype=np.float64, reset=False))
        return (mean, std) if return_std else mean

    @abstractmethod
    def _fitted(self, x: np.ndarray, y: np.ndarray) -> Any:
        """A model fitted to all rows."""

    @abstractmethod
    def _moments(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and std of every row."""


class BoostingPeer(PeerRegressor):
    """Trees whose number is chosen on held-out rows; `n_trees_` is what was chosen.

    Parameters
    ----------
    max_trees : the most trees there can be.
    patience : trees without a gain on the held-out rows after which training stops.
    held_out : share of the rows on which the number is chosen.
    """

    n_trees_: int

    def __init__(
        self,
        *,
        max_trees: Any = 2000,
        patience: Any = 50,
        held_out: Any = 0.2,
        n_jobs: Any = None,
        random_state: Any = None,
    ) -> None:
        self.max_trees = max_trees
        self.patience = patience
        self.held_out = held_out
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fitted(self, x: np.ndarray, y: np.ndarray) -> Any:
        make = self._maker()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        x_train, x_held, y_train, y_held = train_test_split(x, y, test_size=self.held_out, random_state=seed)
        self.n_trees_ = self._stopped_at(make(self.max_trees, seed), x_train, y_train, x_held, y_held)
        return make(self.n_trees_, seed).fit(x, y)

    @abstractmethod
    def _maker(self) -> Callable[[int, int], Any]:
        """From a number of trees and a seed to an unfitted model."""

    @abstractmethod
    def _stopped_at(self, model: Any, x: np.ndarray, y: np.ndarray, x_held: np.ndarray, y_held: np.ndarray) -> int:
        """The number of trees that did best on the held-out rows."""


class NGBoostPeer(BoostingPeer):
    """NGBoost (Duan et al. 2020) with a Gaussian and its authors' learning rate; one process whatever `n_jobs` is."""

    def _maker(self) -> Callable[[int, int], Any]:
        ngboost = require("ngboost")
        return lambda n_trees, seed: ngboost.NGBRegressor(
            Dist=ngboost.distns.Normal, n_estimators=n_trees, learning_rate=0.01, verbose=False, random_state=seed
        )

    def _stopped_at(self, model: Any, x: np.ndarray, y: np.ndarray, x_held: np.ndarray, y_held: np.ndarray) -> int:
        model.fit(x, y, X_val=x_held, Y_val=y_held, early_stopping_rounds=self.patience)
        return int(model.best_val_loss_itr) + 1

    def _moments(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = self.model_.pred_dist(x).params
        return np.asarray(found["loc"]), np.asarray(found["scale"])


class CatBoostPeer(BoostingPeer):
    """CatBoost's RMSEWithUncertainty (Malinin et al. 2021): trees for the mean and the log variance of a Gaussian."""

    def _maker(self) -> Callable[[int, int], Any]:
        catboost = require("catboost")
        threads = effective_n_jobs(self.n_jobs)
        # a rate that CatBoost chose by itself would depend on the number of trees and change in the refit
        return lambda n_trees, seed: catboost.CatBoostRegressor(
            loss_function="RMSEWithUncertainty",
            iterations=n_trees,
            learning_rate=0.03,
            random_seed=seed,
            thread_count=threads,
            logging_level="Silent",
            allow_writing_files=False,
        )

    def _stopped_at(self, model: Any, x: np.ndarray, y: np.ndarray, x_held: np.ndarray, y_held: np.ndarray) -> int:
        model.fit(x, y, eval_set=(x_held, y_held), early_stopping_rounds=self.patience)
        return int(model.get_best_iteration()) + 1

    def _moments(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = self.model_.predict(x, prediction_type="RMSEWithUncertainty")
        return found[:, 0], np.sqrt(found[:, 1])


class GaussianProcessPeer(PeerRegressor):
    """A Gaussian process: constant * RBF with one length a feature (ARD) + white noise, hyperparameters by likelihood.

    Parameters
    ----------
    n_restarts : further starts of the likelihood's maximisation, at random; the first is one length for all features.
    """

    def __init__(self, *, n_restarts: Any = 2, random_state: Any = None) -> None:
        self.n_restarts = n_restarts
        self.random_state = random_state

    def _fitted(self, x: np.ndarray, y: np.ndarray) -> Any:
        lengths = np.full(x.shape[1], np.sqrt(x.shape[1]))
        kernel = ConstantKernel(1.0, (1e-3, 1e4)) * RBF(lengths, (1e-2, 1e4)) + WhiteKernel(0.1, (1e-8, 1e1))
        process = GaussianProcessRegressor(
            kernel, normalize_y=True, n_restarts_optimizer=self.n_restarts, random_state=self.random_state
        )
        with warnings.catch_warnings():
            # a length at its upper bound says that the feature does not matter, which ARD is there to find out
            warnings.simplefilter("ignore", ConvergenceWarning)
            return make_pipeline(StandardScaler(), process).fit(x, y)

    def _moments(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, std = self.model_.predict(x, return_std=True)
        return mean, std

"""NGBoost, CatBoost and scikit-learn's Gaussian process as regressors with `predict(X, return_std=True)`.

Boosted trees stop early on held-out rows and are then refitted on all rows with that number of trees, as is usual. The
Gaussian process maximises its marginal likelihood from several starts.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from heteroscope.baselines.base import Number, RandomSeed
from heteroscope.core import InputError

INSTALL = 'pip install "heteroscope[compare]"'

#: A model of another library, which has no common type with the others.
LibraryModel: TypeAlias = Any


def require(package: str) -> ModuleType:
    """Import a package of the extra `compare`; raise an `InputError` with the install command if it is missing."""
    try:
        return import_module(package)
    except ImportError as error:
        raise InputError(f"the package {package!r} is not installed: {INSTALL}") from error


class PeerRegressor(RegressorMixin, BaseEstimator, ABC):
    """A model of another library as a regressor that predicts a mean and a std per row."""

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> "PeerRegressor":
        """Fit the other library's model.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The inputs.
        y : array-like of shape (n_rows,)
            The target.

        Returns
        -------
        PeerRegressor
            The fitted estimator itself.
        """
        x, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        self.model_ = self._fitted(x, target.astype(np.float64))
        return self

    def predict(self, X: ArrayLike, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Predict the mean of each row, or mean and std.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The inputs.
        return_std : bool, default=False
            Whether to return the std, too.

        Returns
        -------
        ndarray of shape (n_rows,), or a pair of them
            The mean, or (mean, std), in the units of the target.
        """
        check_is_fitted(self)
        mean, std = self._moments(validate_data(self, X, dtype=np.float64, reset=False))
        return (mean, std) if return_std else mean

    @abstractmethod
    def _fitted(self, x: np.ndarray, y: np.ndarray) -> LibraryModel:
        """Return a model of the other library, fitted to all rows."""

    @abstractmethod
    def _moments(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and std of each row."""


class BoostingPeer(PeerRegressor):
    """Boosted trees whose number is chosen on held-out rows.

    Parameters
    ----------
    max_trees : int, default=2000
        The highest number of trees.
    patience : int, default=50
        Training stops after so many trees without a gain on the held-out rows.
    held_out : float, default=0.2
        Share of the rows on which the number of trees is chosen.
    n_jobs : int, default=None
        Number of threads, where the library has them.
    random_state : int or RandomState, default=None
        Seed of the held-out rows and of the library.

    Attributes
    ----------
    n_trees_ : int
        The number of trees that was chosen.
    model_ : object
        The other library's model, fitted to all rows.
    """

    n_trees_: int

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
        make = self._maker()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        x_train, x_held, y_train, y_held = train_test_split(x, y, test_size=self.held_out, random_state=seed)
        self.n_trees_ = self._stopped_at(make(self.max_trees, seed), x_train, y_train, x_held, y_held)
        return make(self.n_trees_, seed).fit(x, y)

    @abstractmethod
    def _maker(self) -> Callable[[int, int], LibraryModel]:
        """Return a function from a number of trees and a seed to an unfitted model."""

    @abstractmethod
    def _stopped_at(
        self, model: LibraryModel, x: np.ndarray, y: np.ndarray, x_held: np.ndarray, y_held: np.ndarray
    ) -> int:
        """Fit the model and return the number of trees that did best on the held-out rows."""


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

    def _moments(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = self.model_.pred_dist(x).params
        return np.asarray(found["loc"]), np.asarray(found["scale"])


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

    def _moments(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = self.model_.predict(x, prediction_type="RMSEWithUncertainty")
        return found[:, 0], np.sqrt(found[:, 1])


class GaussianProcessPeer(PeerRegressor):
    """Gaussian process with the kernel constant * RBF + white noise, and one length scale per feature (ARD).

    Parameters
    ----------
    n_restarts : int, default=2
        Random starts of the maximisation of the likelihood, beside the first start with one length for all features.
    random_state : int or RandomState, default=None
        Seed of the random starts.

    Attributes
    ----------
    model_ : sklearn.pipeline.Pipeline
        Scaling and the fitted process.
    """

    def __init__(self, *, n_restarts: int = 2, random_state: RandomSeed = None) -> None:
        self.n_restarts = n_restarts
        self.random_state = random_state

    def _fitted(self, x: np.ndarray, y: np.ndarray) -> LibraryModel:
        lengths = np.full(x.shape[1], np.sqrt(x.shape[1]))
        kernel = ConstantKernel(1.0, (1e-3, 1e4)) * RBF(lengths, (1e-2, 1e4)) + WhiteKernel(0.1, (1e-8, 1e1))
        process = GaussianProcessRegressor(
            kernel, normalize_y=True, n_restarts_optimizer=self.n_restarts, random_state=self.random_state
        )
        with warnings.catch_warnings():
            # a length at its upper bound means that the feature does not matter, which is what ARD finds out
            warnings.simplefilter("ignore", ConvergenceWarning)
            return make_pipeline(StandardScaler(), process).fit(x, y)

    def _moments(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, std = self.model_.predict(x, return_std=True)
        return mean, std

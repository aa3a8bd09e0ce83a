"""What the rivals share: another library's model as a regressor with `pred_dist(X)`, and the line for missing ones."""

from abc import ABC, abstractmethod
from importlib import import_module
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from heteroscope.baselines.base import RandomSeed
from heteroscope.core import InputError

#: The command that installs each package. treeffuser's own bounds exclude NumPy 2, with which it works.
INSTALL: dict[str, str] = {
    "bde": 'pip install "heteroscope[bde]"',
    "catboost": 'pip install "heteroscope[compare]"',
    "crepes": 'pip install "heteroscope[conformal]"',
    "ngboost": 'pip install "heteroscope[compare]"',
    "pytabkit": 'pip install "heteroscope[pytabkit]"',
    "quantile_forest": 'pip install "heteroscope[quantile-forest]"',
    "stochtree": 'pip install "heteroscope[stochtree]"',
    "tabicl": 'pip install "heteroscope[tabicl]"',
    "tabpfn": 'pip install "heteroscope[tabpfn]"',
    "treeffuser": 'pip install "heteroscope[treeffuser]" && pip install --no-deps treeffuser',
    "xgboost_distribution": 'pip install "heteroscope[xgboost-distribution]"',
}
#: Levels of the rivals that predict quantiles: every twentieth, and both ends.
LEVELS = (0.01, *(k / 20 for k in range(1, 20)), 0.99)
#: Draws per row of the rivals that predict samples.
N_DRAWS = 500

#: A model of another library, which has no common type with the others.
LibraryModel: TypeAlias = Any
#: A frozen distribution of `scipy.stats`, whose class is private, or a `RowForecast`.
Distribution: TypeAlias = Any


def require(package: str) -> ModuleType:
    """Import a package of an extra; raise an `InputError` with the install command if it is missing."""
    try:
        return import_module(package)
    except ImportError as error:
        if error.name in (None, package):
            raise InputError(f"the package {package!r} is not installed: {INSTALL[package]}") from error
        raise InputError(f"the package {package!r} lacks {error.name!r}: {INSTALL[package]}") from error


class PeerRegressor(RegressorMixin, BaseEstimator, ABC):
    """A model of another library as a regressor that predicts a distribution per row."""

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
        forecast = self.pred_dist(X)
        return (forecast.mean(), forecast.std()) if return_std else forecast.mean()

    def pred_dist(self, X: ArrayLike) -> Distribution:
        """Predict the distribution of each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The inputs.

        Returns
        -------
        frozen distribution of scipy, QuantileForecast or SampleForecast
            One entry per row, in the units of the target.
        """
        check_is_fitted(self)
        return self._forecast(validate_data(self, X, dtype=np.float64, reset=False))

    @abstractmethod
    def _fitted(self, x: np.ndarray, y: np.ndarray) -> LibraryModel:
        """Return a model of the other library, fitted to all rows."""

    @abstractmethod
    def _forecast(self, x: np.ndarray) -> Distribution:
        """Return the distribution of each row."""


def whole_seed(random_state: RandomSeed) -> int:
    """Return a seed as the whole number that other libraries take."""
    return int(check_random_state(random_state).randint(2**31 - 1))

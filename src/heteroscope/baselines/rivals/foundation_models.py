"""TabPFN and TabICL: networks trained in advance that read the training rows at prediction; their weights are files.

The packages download the weights at the first fit. Where they cannot, one line says which files are missing.
"""

from abc import abstractmethod

import numpy as np

from heteroscope.baselines.base import RandomSeed
from heteroscope.baselines.rivals.peers import LEVELS, Distribution, LibraryModel, PeerRegressor, require, whole_seed
from heteroscope.core import InputError, error_text
from heteroscope.distributions import QuantileForecast


class FoundationPeer(PeerRegressor):
    """A network trained in advance, with its package's defaults; it predicts quantiles.

    Parameters
    ----------
    model_path : str, default=None
        The file of the weights; None is where the package keeps or finds them.
    random_state : int or RandomState, default=None
        Seed of the ensemble of permuted features and targets.

    Attributes
    ----------
    model_ : object
        The package's regressor.
    """

    def __init__(self, *, model_path: str | None = None, random_state: RandomSeed = None) -> None:
        self.model_path = model_path
        self.random_state = random_state

    @abstractmethod
    def _unfitted(self, seed: int) -> tuple[str, LibraryModel]:
        """Return the name of the method and the package's regressor."""

    def _fitted(self, x: np.ndarray, y: np.ndarray) -> LibraryModel:
        name, model = self._unfitted(whole_seed(self.random_state))
        try:
            return model.fit(x, y)
        except Exception as error:  # a failed download or licence check raises classes of the packages' own
            raise InputError(
                f"{name} could not be fitted ({error_text(error)[:200]}): if it lacks its weights, let its package "
                f"download them once, or set model_path of {type(self).__name__} to the file"
            ) from error


class TabPFNPeer(FoundationPeer):
    """TabPFN (Hollmann et al. 2025). Since version 2.5 its weights are for non-commercial use."""

    def _unfitted(self, seed: int) -> tuple[str, LibraryModel]:
        path = "auto" if self.model_path is None else self.model_path
        return "TabPFN", require("tabpfn").TabPFNRegressor(model_path=path, random_state=seed)

    def _forecast(self, x: np.ndarray) -> Distribution:
        columns = self.model_.predict(x, output_type="quantiles", quantiles=list(LEVELS))
        return QuantileForecast(list(LEVELS), np.stack([np.asarray(column, np.float64) for column in columns], axis=1))


class TabICLPeer(FoundationPeer):
    """TabICL v2 (Qu et al. 2026)."""

    def _unfitted(self, seed: int) -> tuple[str, LibraryModel]:
        model = require("tabicl").TabICLRegressor(model_path=self.model_path, random_state=seed)
        return "TabICL", model

    def _forecast(self, x: np.ndarray) -> Distribution:
        found = self.model_.predict(x, output_type="quantiles", alphas=list(LEVELS))
        return QuantileForecast(list(LEVELS), np.asarray(found, np.float64))

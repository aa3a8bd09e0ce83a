"""Boosted trees that predict a distribution: stop early on held-out rows, then refit on all rows."""

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from sklearn.model_selection import train_test_split

from heteroscope.baselines.base import Number, RandomSeed
from heteroscope.baselines.rivals.peers import LibraryModel, PeerRegressor, whole_seed


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
        seed = whole_seed(self.random_state)
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

"""scikit-learn's histogram gradient boosting with the pinball loss: one model per level."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split

from heteroscope.baselines.base import Number, RandomSeed
from heteroscope.baselines.rivals.peers import Distribution, LibraryModel, PeerRegressor, whole_seed
from heteroscope.distributions import QuantileForecast

#: One model per level, so fewer of them than other rivals predict.
BOOSTED_LEVELS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


class QuantileBoostingPeer(PeerRegressor):
    """`HistGradientBoostingRegressor(loss="quantile")`, whose number of trees is chosen per level on held-out rows.

    Each level stops early on the same held-out rows and is refitted on all rows with the best number of trees.

    Parameters
    ----------
    max_trees : int, default=1000
        The highest number of trees per level.
    patience : int, default=30
        Training stops after so many trees without a gain on the held-out rows.
    held_out : float, default=0.2
        Share of the rows on which the number of trees is chosen.
    random_state : int or RandomState, default=None
        Seed of the held-out rows and of the trees.

    Attributes
    ----------
    n_trees_ : tuple of int
        The number of trees of each level.
    model_ : list of HistGradientBoostingRegressor
        One model per level.
    """

    def __init__(
        self,
        *,
        max_trees: int = 1000,
        patience: int = 30,
        held_out: Number = 0.2,
        random_state: RandomSeed = None,
    ) -> None:
        self.max_trees = max_trees
        self.patience = patience
        self.held_out = held_out
        self.random_state = random_state

    def _fitted(self, x: np.ndarray, y: np.ndarray) -> LibraryModel:
        seed = whole_seed(self.random_state)
        x_train, x_held, y_train, y_held = train_test_split(x, y, test_size=self.held_out, random_state=seed)

        def unfitted(level: float, n_trees: int, stop: bool) -> HistGradientBoostingRegressor:
            return HistGradientBoostingRegressor(
                loss="quantile",
                quantile=level,
                learning_rate=0.05,
                max_iter=n_trees,
                max_leaf_nodes=15,
                min_samples_leaf=min(20, max(2, len(y) // 20)),
                early_stopping=stop,
                n_iter_no_change=self.patience,
                random_state=seed,
            )

        def best_number(level: float) -> int:
            model = unfitted(level, self.max_trees, stop=True).fit(x_train, y_train, X_val=x_held, y_val=y_held)
            return max(1, int(np.argmax(model.validation_score_)))  # its first entry is the score without trees

        self.n_trees_ = tuple(best_number(level) for level in BOOSTED_LEVELS)
        pairs = zip(BOOSTED_LEVELS, self.n_trees_, strict=True)
        return [unfitted(level, n_trees, stop=False).fit(x, y) for level, n_trees in pairs]

    def _forecast(self, x: np.ndarray) -> Distribution:
        return QuantileForecast(list(BOOSTED_LEVELS), np.stack([model.predict(x) for model in self.model_], axis=1))

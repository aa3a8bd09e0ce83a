"""Let Optuna choose (rho, gamma): an objective for its studies, over the whole square."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import check_random_state

from heteroscope.core import DIAGONAL_LOGITS, InputError
from heteroscope.estimators.base import RandomState
from heteroscope.estimators.one_point import HeteroskedasticRegressor
from heteroscope.search import CrossValidation, row_loss

if TYPE_CHECKING:
    from optuna import Trial


class OptunaObjective:
    """The held-out loss at the point that a trial suggests, for `study.optimize(OptunaObjective(X, y), n_trials=50)`.

    logit rho is suggested between 0 and 13.8, logit gamma between -13.8 and 0: the square around the searched diagonal.
    The loss is reported after each fold, so that a pruner can stop a trial early.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The rows.
    y : array-like of shape (n_rows,)
        The target.
    estimator : HeteroskedasticRegressor or None, default=None
        The regressor whose rho and gamma are set; None is `HeteroskedasticRegressor()` with a seed.
    cv : int or splitter, default=5
        Number of folds, or any scikit-learn splitter; all trials use the same folds.
    selection : {"nll", "crps"}, default="nll"
        The loss.
    random_state : int, RandomState or None, default=None
        Seed of the folds and, if `estimator` is None, of the models.
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        estimator: BaseEstimator | None = None,
        cv: CrossValidation = 5,
        selection: str = "nll",
        random_state: RandomState = None,
    ) -> None:
        self.X, self.y = np.asarray(X, float), np.asarray(y, float)
        self.selection = selection
        row_loss(selection, np.zeros(1), np.zeros(1), np.ones(1))  # raises for an unknown selection before any training
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        self.estimator = HeteroskedasticRegressor(random_state=seed) if estimator is None else estimator
        if not {"rho", "gamma", "held_out"} <= set(self.estimator.get_params()):
            raise InputError(f"estimator must be a HeteroskedasticRegressor, got {type(self.estimator).__name__}")
        shuffled = isinstance(cv, int | np.integer)
        splitter = KFold(cv, shuffle=True, random_state=seed) if shuffled else check_cv(cv)
        self.folds = list(splitter.split(self.X, self.y))

    def __call__(self, trial: "Trial") -> float:
        """Cross-validate the point that a trial suggests.

        Parameters
        ----------
        trial : optuna.Trial
            The trial; its user attributes `rho` and `gamma` are set.

        Returns
        -------
        float
            The average loss of all held-out rows.

        Raises
        ------
        optuna.TrialPruned
            If the pruner stops the trial.
        """
        point = (
            trial.suggest_float("logit_rho", *DIAGONAL_LOGITS),
            trial.suggest_float("logit_gamma", -DIAGONAL_LOGITS[1], -DIAGONAL_LOGITS[0]),
        )
        rho, gamma = (float(value) for value in expit(point))
        trial.set_user_attr("rho", rho)
        trial.set_user_attr("gamma", gamma)
        losses: list[np.ndarray] = []
        for number, (train, held) in enumerate(self.folds):
            model = clone(self.estimator).set_params(rho=rho, gamma=gamma, held_out=0).fit(self.X[train], self.y[train])
            losses.append(row_loss(self.selection, self.y[held], *model.predict(self.X[held], return_std=True)))
            trial.report(float(np.mean(np.concatenate(losses))), number)
            if number + 1 < len(self.folds) and trial.should_prune():
                import optuna

                raise optuna.TrialPruned
        return float(np.mean(np.concatenate(losses)))

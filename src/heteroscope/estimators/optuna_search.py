"""Let Optuna drive (rho, gamma): its samplers and pruners over the whole square, our models at each point."""

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import check_random_state

from heteroscope.core import DIAGONAL_LOGITS, InputError
from heteroscope.estimators.search_cv import HeteroskedasticRegressor
from heteroscope.search import row_loss


class OptunaObjective:
    """The held-out loss at the point that a trial suggests, for `study.optimize(OptunaObjective(X, y), n_trials=50)`.

    logit rho is suggested from 0 to 13.8 and logit gamma from -13.8 to 0, the square around the diagonal search. The
    loss is reported after every fold, so that a pruner can stop a trial early.

    Parameters
    ----------
    X, y : all rows; each trial sees the same folds.
    estimator : the regressor whose rho and gamma are set; a `HeteroskedasticRegressor` unless told.
    cv : number of folds or any scikit-learn splitter.
    selection : "nll" or "crps".
    random_state : seed of the folds and, if the estimator has none, of the models.
    """

    def __init__(
        self, X: Any, y: Any, estimator: Any = None, cv: Any = 5, selection: str = "nll", random_state: Any = None
    ) -> None:
        self.X, self.y = np.asarray(X, float), np.asarray(y, float)
        self.selection = selection
        row_loss(selection, np.zeros(1), np.zeros(1), np.ones(1))  # refuses an unknown selection before any training
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        self.estimator = HeteroskedasticRegressor(random_state=seed) if estimator is None else estimator
        if not {"rho", "gamma", "held_out"} <= set(self.estimator.get_params()):
            raise InputError(f"estimator must be a HeteroskedasticRegressor, got {type(self.estimator).__name__}")
        whole_number = isinstance(cv, int | np.integer)
        splitter = KFold(int(cv), shuffle=True, random_state=seed) if whole_number else check_cv(cv)
        self.folds = list(splitter.split(self.X, self.y))

    def __call__(self, trial: Any) -> float:
        """The average loss of all held-out rows; raises `optuna.TrialPruned` where the trial's pruner says so."""
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

"""Optuna drives (rho, gamma): its trials score what cross-validation by hand scores, and its pruners are obeyed."""

import numpy as np
import optuna
import pytest
from scipy import stats
from scipy.special import expit
from sklearn.model_selection import KFold

from heteroscope import datasets
from heteroscope.core.errors import InputError
from heteroscope.estimators import HeteroskedasticRegressor, HeteroskedasticRegressorCV
from heteroscope.estimators.optuna_search import OptunaObjective

optuna.logging.set_verbosity(optuna.logging.WARNING)
SMALL = HeteroskedasticRegressor(hidden=(16,), batch_size=None, max_steps=300, random_state=0)


@pytest.fixture(scope="module")
def rows():
    split = datasets.load("sine")
    return split.x_train, split.y_train


def test_a_trial_scores_what_cross_validation_by_hand_scores(rows):
    x, y = rows
    splitter = KFold(2, shuffle=True, random_state=3)
    objective = OptunaObjective(x, y, SMALL, cv=splitter)
    found = objective(optuna.trial.FixedTrial({"logit_rho": 4.0, "logit_gamma": -2.0}))
    losses = []
    for train, held in splitter.split(x):
        model = HeteroskedasticRegressor(expit(4.0), expit(-2.0), **_settings()).fit(x[train], y[train])
        losses.append(-stats.norm(*model.predict(x[held], return_std=True)).logpdf(y[held]))
    assert found == pytest.approx(np.mean(np.concatenate(losses)))


def _settings():
    return {"hidden": (16,), "batch_size": None, "max_steps": 300, "random_state": 0, "held_out": 0}


def test_a_study_runs_and_hopeless_trials_are_pruned_after_a_fold(rows):
    class AfterTheFirst(optuna.pruners.BasePruner):
        def prune(self, study, trial):
            return trial.number > 0

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0), pruner=AfterTheFirst())
    study.optimize(OptunaObjective(*rows, SMALL, cv=3, selection="crps", random_state=0), n_trials=2)
    whole, pruned = study.trials
    assert whole.state == optuna.trial.TrialState.COMPLETE
    assert len(whole.intermediate_values) == 3
    assert pruned.state == optuna.trial.TrialState.PRUNED
    assert len(pruned.intermediate_values) == 1
    assert study.best_trial.user_attrs["rho"] == pytest.approx(expit(study.best_params["logit_rho"]))


def test_bad_settings_are_one_line(rows):
    with pytest.raises(InputError, match="nll, crps"):
        OptunaObjective(*rows, SMALL, selection="rmse")
    with pytest.raises(InputError, match="must be a HeteroskedasticRegressor"):
        OptunaObjective(*rows, HeteroskedasticRegressorCV())

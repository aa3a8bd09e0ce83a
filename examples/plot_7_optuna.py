"""
Let Optuna choose the point
===========================

The search of ``HeteroskedasticRegressorCV`` needs no tuning. Those who tune everything with Optuna can tune
(rho, gamma) as well: ``OptunaObjective`` scores a trial by cross-validated NLL and lets a pruner stop it early.
"""

import logging

import matplotlib.pyplot as plt
import optuna

from heteroscope import HeteroskedasticRegressor, datasets
from heteroscope.estimators import OptunaObjective

optuna.logging.set_verbosity(logging.WARNING)
split = datasets.load("curve")
model = HeteroskedasticRegressor(hidden=(32, 32), max_steps=500, held_out=0, random_state=0)
study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
study.optimize(OptunaObjective(split.x_train, split.y_train, model, cv=3), n_trials=12)
print({name: f"{study.best_trial.user_attrs[name]:.4g}" for name in ("rho", "gamma")}, f"NLL {study.best_value:.3f}")

# %%
# The trials: the worst scores are those of weak regularisation, where the model memorises.

done = [trial for trial in study.trials if trial.value is not None]
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
points = ax.scatter(
    [trial.user_attrs["rho"] for trial in done],
    [trial.user_attrs["gamma"] for trial in done],
    c=[min(trial.value, 3.0) for trial in done],
    cmap="viridis_r",
)
ax.set(xscale="logit", yscale="logit", xlabel=r"$\rho$", ylabel=r"$\gamma$")
figure.colorbar(points, label="cross-validated NLL, cut at 3")
plt.show()

"""The demo: search the diagonal on the sine set, fit an underfit and an overfit example, map the phases."""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from heteroscope.core import progress_bar
from heteroscope.datasets import simulated
from heteroscope.diagrams import field_diagram, phase_diagram
from heteroscope.estimators import HeteroskedasticRegressor, HeteroskedasticRegressorCV

DATA_SET = "sine"
METRICS = ("nll", "mean_mse", "std_mse", "rmse")  # shown along the diagonal
CURVE_POINTS = 400  # x at which the models and the truth are evaluated
#: A search of the diagonal alone, so small that two cores finish it in well under a minute.
SEARCH: dict[str, Any] = {"n_coarse": 8, "n_fine": 4, "calibrate": False, "cv": 4, "max_steps": 1500}

#: A small diagram around the S part of the diagonal: for each rho, 1 - rho is among the gammas.
RHOS = (0.1, 0.5, 0.9, 0.99, 0.999, 0.9999)
GAMMAS = (0.0001, 0.001, 0.01, 0.1, 0.5, 0.9)
THEORY_POINTS = 512  # of the field theory on the page


class Demo(NamedTuple):
    """The model that the search chose, the data of its figure, and the two diagrams of the page."""

    model: HeteroskedasticRegressorCV
    results: xr.Dataset
    diagram: xr.Dataset
    theory: xr.Dataset


def run_demo(seed: int = 0, n_jobs: int | None = -1, verbose: int = 0, **search: Any) -> Demo:
    """Draw the sine set, search the diagonal, fit an example at each end of the path, and map the phases.

    The examples have the labels of the path, which are based on held-out rows; their own labels would be based on
    training rows alone.

    Parameters
    ----------
    seed : int, default=0
        Seed of data and training.
    n_jobs : int or None, default=-1
        Number of processes; -1 uses every core.
    verbose : int, default=0
        1 shows progress bars.
    **search
        Parameters of HeteroskedasticRegressorCV that replace those of `SEARCH`.

    Returns
    -------
    Demo
    """
    split, truth = simulated.draw(DATA_SET, seed=seed)
    common: dict[str, Any] = {"n_jobs": n_jobs, "random_state": seed, "verbose": verbose}
    chosen = HeteroskedasticRegressorCV(**SEARCH | common | search).fit(split.x_train, split.y_train)
    path = chosen.cv_results_
    shape = {name: chosen.get_params()[name] for name in ("hidden", "activation", "max_steps")}
    points = {"underfit": 0, "chosen": chosen.best_index_, "overfit": len(path["rho"]) - 1}
    under, over = (
        HeteroskedasticRegressor(path["rho"][k], path["gamma"][k], **shape, **common).fit(split.x_train, split.y_train)
        for k in (points["underfit"], points["overfit"])
    )
    low, high = (truth.x_scale.apply(np.array([end]))[0] for end in simulated.PROCESSES[DATA_SET].domain)
    x = np.linspace(low, high, CURVE_POINTS)
    moments = [model.predict(x[:, np.newaxis], return_std=True) for model in (under, chosen, over)]
    results = xr.Dataset(
        {
            **{name: (("point", "split"), _both_splits(path, name)) for name in METRICS},
            "phase": ("point", path["phase"]),
            "status": ("point", path["status"]),
            "mean": (("model", "x"), np.array([mean for mean, _ in moments])),
            "std": (("model", "x"), np.array([std for _, std in moments])),
            "model_rho": ("model", [path["rho"][k] for k in points.values()]),
            "model_phase": ("model", [str(path["phase"][k]) for k in points.values()]),
            "true_mean": ("x", truth.mean(x)),
            "true_std": ("x", truth.std(x)),
            "y_train": ("row", split.y_train),
        },
        coords={
            "rho": ("point", path["rho"]),
            "gamma": ("point", path["gamma"]),
            "split": ["train", "held_out"],
            "model": list(points),
            "x": x,
            "x_train": ("row", split.x_train[:, 0]),
        },
        attrs={"data_set": DATA_SET, "seed": seed, "chosen": int(chosen.best_index_)},
    )
    with progress_bar("mapping", bool(verbose)) as progress:
        diagram = phase_diagram(
            split.x_train,
            split.y_train,
            X_test=split.x_test,
            y_test=split.y_test,
            rhos=RHOS,
            gammas=GAMMAS,
            random_state=seed,
            n_jobs=n_jobs,
            name=DATA_SET,
            progress=progress,
            **shape,
        )
    x_field, y_field, y_test = simulated.field_draws(DATA_SET, n_points=THEORY_POINTS, seed=seed)
    theory = field_diagram(x_field, y_field, y_test=y_test).assign_attrs(data_set=DATA_SET)
    return Demo(chosen, results, diagram, theory)


def _both_splits(path: dict[str, Any], name: str) -> np.ndarray:
    """Return a score of each point on training and held-out rows, (point, 2)."""
    return np.column_stack([path[f"mean_train_{name}"], path[f"mean_test_{name}"]])

"""The demonstration: search the diagonal on the sine set, fit a model on either side of it, map the phases."""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from heteroscope.core import progress_bar
from heteroscope.datasets import simulated
from heteroscope.diagrams import field_diagram, phase_diagram
from heteroscope.estimators import HeteroskedasticRegressor, HeteroskedasticRegressorCV

DATA_SET = "sine"
METRICS = ("nll", "mean_mse", "std_mse", "rmse")
N_GRID = 400
#: The paper's line and nothing else, by which the figure is drawn: two cores finish it in well under a minute.
SEARCH = {"n_coarse": 8, "n_fine": 4, "calibrate": False, "cv": 4, "max_steps": 1500}


#: A small diagram around the diagonal's good part: every rho has its 1 - rho among the gammas.
RHOS = (0.1, 0.5, 0.9, 0.99, 0.999, 0.9999)
GAMMAS = (0.0001, 0.001, 0.01, 0.1, 0.5, 0.9)
THEORY_POINTS = 512


class Demo(NamedTuple):
    """The model that the search chose, everything its figure shows, and the two diagrams of the page."""

    model: HeteroskedasticRegressorCV
    results: xr.Dataset
    diagram: xr.Dataset
    theory: xr.Dataset


def run_demo(seed: int = 0, n_jobs: int | None = -1, verbose: int = 0, **search: Any) -> Demo:
    """Draw the sine set, search, and fit an example at either end of the path.

    The examples carry the path's labels, which rest on held-out rows; theirs would rest on training rows alone.
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
    x = np.linspace(low, high, N_GRID)
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
    return np.column_stack([path[f"mean_train_{name}"], path[f"mean_test_{name}"]])

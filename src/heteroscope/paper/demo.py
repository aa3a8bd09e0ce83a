"""The demo: search for the best point on noise that varies, fit an underfit and an overfit example, map the phases."""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from heteroscope.core import progress_bar
from heteroscope.datasets import Split, simulated
from heteroscope.diagrams import field_diagram, phase_diagram
from heteroscope.estimators import HeteroskedasticRegressor, HeteroskedasticRegressorCV

DATA_SET = "sine"
N_ROWS = 1000  # the paper's 64 rows hardly show that the noise varies; these do
FEW_ROWS = 64  # of these rows, for the overfit example: networks of this size cannot memorise 1,000 rows
OVERFIT: dict[str, Any] = {"rho": 1 - 1e-6, "gamma": 1e-6, "max_steps": 3000}
METRICS = ("nll", "mean_mse")  # shown along the diagonal
CURVE_POINTS = 400  # x at which the models and the truth are evaluated
SEARCH: dict[str, Any] = {}  # parameters of the search that are not the defaults

#: A small diagram of the paper's 64 rows around the S part of the diagonal: for each rho, 1 - rho is among the gammas.
RHOS = (0.1, 0.5, 0.9, 0.99, 0.999, 0.9999)
GAMMAS = (0.0001, 0.001, 0.01, 0.1, 0.5, 0.9)
DIAGRAM: dict[str, Any] = {"max_steps": 1500}
THEORY_POINTS = 512  # of the field theory on the page


class Demo(NamedTuple):
    """The model that the search chose, the data of its figure, and the two diagrams of the page."""

    model: HeteroskedasticRegressorCV
    results: xr.Dataset
    diagram: xr.Dataset
    theory: xr.Dataset


def run_demo(seed: int = 0, n_jobs: int | None = -1, verbose: int = 0, **search: Any) -> Demo:
    """Draw rows of the sine process, search, fit an underfit and an overfit example, and map the phases of 64 rows.

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
    common: dict[str, Any] = {"n_jobs": n_jobs, "random_state": seed, "verbose": verbose}
    split, truth = simulated.draw(DATA_SET, n_train=N_ROWS, seed=seed)
    chosen = HeteroskedasticRegressorCV(**SEARCH | common | search).fit(split.x_train, split.y_train)
    results = _figure_data(chosen, split, truth, common)
    diagram, theory = _small_diagrams(chosen, common)
    return Demo(chosen, results, diagram, theory)


def _figure_data(
    chosen: HeteroskedasticRegressorCV, split: Split, truth: simulated.Truth, common: dict[str, Any]
) -> xr.Dataset:
    """Return the data of the figure: the chosen model between two examples, and the scores along the diagonal.

    The line is that of the shortest trainings, which cover the whole diagonal. The underfit example is its first point.
    The overfit one is a fit of a few of the rows, with a weak penalty.
    """
    path, best = chosen.cv_results_, chosen.best_index_
    on_diagonal = np.isclose(path["logit_rho"], -path["logit_gamma"]) & (path["max_steps"] == path["max_steps"].min())
    line = np.flatnonzero(on_diagonal)
    kept = line if best in line else np.sort(np.append(line, best))
    settings = common | {name: chosen.get_params()[name] for name in ("hidden", "activation")}
    few = np.arange(N_ROWS) < FEW_ROWS
    first = {"rho": path["rho"][line[0]], "gamma": path["gamma"][line[0]], "max_steps": int(path["max_steps"][line[0]])}
    under = HeteroskedasticRegressor(**first, **settings).fit(split.x_train, split.y_train)
    over = HeteroskedasticRegressor(**OVERFIT, **settings).fit(split.x_train[few], split.y_train[few])
    models = {"underfit": under, "chosen": chosen, f"overfit, {FEW_ROWS} rows": over}
    low, high = (truth.x_scale.apply(np.array([end]))[0] for end in simulated.PROCESSES[DATA_SET].domain)
    x = np.linspace(low, high, CURVE_POINTS)
    moments = [model.predict(x[:, np.newaxis], return_std=True) for model in models.values()]
    return xr.Dataset(
        {
            **{name: (("point", "split"), _both_splits(path, name)[kept]) for name in METRICS},
            "phase": ("point", path["phase"][kept]),
            "status": ("point", path["status"][kept]),
            "on_diagonal": ("point", on_diagonal[kept]),
            "mean": (("model", "x"), np.array([mean for mean, _ in moments])),
            "std": (("model", "x"), np.array([std for _, std in moments])),
            "model_rho": ("model", [model.rho_ for model in models.values()]),
            "model_phase": ("model", [model.phase_ for model in models.values()]),
            "trained_on": (("model", "row"), np.array([np.full(N_ROWS, True), np.full(N_ROWS, True), few])),
            "true_mean": ("x", truth.mean(x)),
            "true_std": ("x", truth.std(x)),
            "y_train": ("row", split.y_train),
        },
        coords={
            "rho": ("point", path["rho"][kept]),
            "gamma": ("point", path["gamma"][kept]),
            "split": ["train", "held_out"],
            "model": list(models),
            "x": x,
            "x_train": ("row", split.x_train[:, 0]),
        },
        attrs={"data_set": DATA_SET, "seed": common["random_state"], "chosen": int(np.flatnonzero(kept == best)[0])},
    )


def _small_diagrams(chosen: HeteroskedasticRegressorCV, common: dict[str, Any]) -> tuple[xr.Dataset, xr.Dataset]:
    """Return the diagrams of networks on the paper's 64 rows and of the field theory."""
    seed = common["random_state"]
    split, _ = simulated.draw(DATA_SET, seed=seed)
    shape = {name: chosen.get_params()[name] for name in ("hidden", "activation")}
    with progress_bar("mapping", bool(common["verbose"])) as progress:
        diagram = phase_diagram(
            split.x_train,
            split.y_train,
            X_test=split.x_test,
            y_test=split.y_test,
            rhos=RHOS,
            gammas=GAMMAS,
            random_state=seed,
            n_jobs=common["n_jobs"],
            name=DATA_SET,
            progress=progress,
            **shape,
            **DIAGRAM,
        )
    x_field, y_field, y_test = simulated.field_draws(DATA_SET, n_points=THEORY_POINTS, seed=seed)
    theory = field_diagram(x_field, y_field, y_test=y_test).assign_attrs(data_set=DATA_SET)
    return diagram, theory


def _both_splits(path: dict[str, Any], name: str) -> np.ndarray:
    """Return a score of each point on training and held-out rows, (point, 2)."""
    return np.column_stack([path[f"mean_train_{name}"], path[f"mean_test_{name}"]])

"""Solve the field theory over a grid of (rho, gamma) and return it as the Dataset that every phase diagram is.

A cell without a finite solution holds NaN, and its `status` is `runaway`.
"""

from importlib.metadata import version

import numpy as np
import xarray as xr
from jaxtyping import Float
from numpy.typing import ArrayLike

from heteroscope import field
from heteroscope.core import FIELD_GRID, InputError, Progress, Status
from heteroscope.diagrams.dataset import CELL, SCORES, Values, constant_scores, grid_values, score
from heteroscope.phases import Phase


def field_diagram(
    x: ArrayLike,
    y: ArrayLike,
    *,
    y_test: ArrayLike | None = None,
    rhos: Values | None = None,
    gammas: Values | None = None,
    density: ArrayLike | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Solve the field theory's phase diagram of one draw y(x), with the fold beyond which it has no finite solution.

    Parameters
    ----------
    x : array_like of shape (n_points,)
        Strictly increasing positions, at least 3.
    y : array_like of shape (n_points,)
        Target: one draw of y(x).
    y_test : array_like of shape (n_points,) or None, default=None
        Another draw at the same points. With it the labels recognise a mean that follows the noise of y.
    rhos, gammas : sequence of float or None, default=None
        Values of the grid, each strictly between 0 and 1. None is the paper's grid.
    density : array_like of shape (n_points,), "points" or None, default=None
        Density of the points; see `field.chain`.
    n_jobs : int, default=1
        Number of processes.
    progress : callable or None, default=None
        Called as progress(done, total) with numbers of values of rho and points of the fold.

    Returns
    -------
    xarray.Dataset
        Scores, `status` and `phase` of each cell; its fields as `mean` and `std`; the fold as `fold_rho`.

    See Also
    --------
    phase_diagram : The same from trained networks.
    """
    rhos, gammas = grid_values("rho", rhos, FIELD_GRID), grid_values("gamma", gammas, FIELD_GRID)
    draws = {"train": np.asarray(y, float)}
    if y_test is not None:
        draws["test"] = np.asarray(y_test, float)
        if draws["test"].shape != draws["train"].shape or not np.all(np.isfinite(draws["test"])):
            raise InputError("y_test must hold one finite number for each x, as y does")
    total = len(rhos) + len(gammas)

    def shifted_progress(offset: int) -> Progress | None:
        return (lambda done, _: progress(offset + done, total)) if progress else None

    grid = field.solve_grid(x, y, rhos, gammas, density=density, n_jobs=n_jobs, progress=shifted_progress(0))
    folds = field.fold_curve(x, y, gammas, density=density, n_jobs=n_jobs, progress=shifted_progress(len(rhos)))
    lattice = field.chain(x, density)
    energies = field.observables(lattice, draws["train"], grid)
    cells = _score_cells(lattice.weights, draws, grid)
    finite = np.where(grid.status == Status.RUNAWAY, np.nan, 1.0)[:, :, None]  # the fields of a runaway are no solution
    for name, values in (("mean_energy", energies.mean_energy), ("precision_energy", energies.precision_energy)):
        cells[name] = np.repeat(values[:, :, None, None], len(draws), axis=3)  # do not depend on the draw
    return xr.Dataset(
        {
            **{name: ((*CELL, "split"), cells[name]) for name in SCORES},
            **{name: (CELL, cells[name]) for name in ("mean_spread", "log_precision_spread")},
            "status": (CELL, grid.status[:, :, None]),
            "phase": (CELL, cells["phase"]),
            "objective": (CELL, grid.energy[:, :, None] * finite),
            "relative_gradient": (CELL, grid.residual[:, :, None] * finite),
            "mean": ((*CELL, "row"), (grid.mean[:, :, None] * finite[..., None]).astype(np.float32)),
            "std": ((*CELL, "row"), (grid.precision[:, :, None] ** -0.5 * finite[..., None]).astype(np.float32)),
            **{name: ("split", values) for name, values in constant_scores(draws, lattice.weights).items()},
            "x": (("row", "feature"), np.asarray(x, float)[:, None]),
            "y": ("row", draws["train"]),
            "row_split": ("row", np.full(len(draws["train"]), "train")),
            "fold_rho": ("fold_gamma", [fold.rho for fold in folds]),
        },
        coords={
            "rho": rhos,
            "gamma": gammas,
            "seed": [0],
            "split": list(draws),
            "feature": ["x"],
            "fold_gamma": [fold.gamma for fold in folds],
        },
        attrs={
            "source": "field theory",
            "data_set": "",
            "target": "y",
            "target_centre": 0.0,
            "target_scale": 1.0,
            "heteroscope": version("heteroscope"),
        },
    )


def _score_cells(
    weights: Float[np.ndarray, " x"], draws: dict[str, np.ndarray], grid: field.GridSolution
) -> dict[str, np.ndarray]:
    """Score and label every cell as `dataset.score` does; a runaway has no fields to score, and its phase is O_I."""
    shape = (*grid.status.shape, 1)
    values = {name: np.full((*shape, len(draws)), np.nan) for name in SCORES}
    values |= {name: np.full(shape, np.nan) for name in ("mean_spread", "log_precision_spread")}
    values["phase"] = np.full(shape, str(Phase.O_I), dtype="<U7")
    for row, column in np.argwhere(grid.status != Status.RUNAWAY):
        mean, std = grid.mean[row, column], grid.precision[row, column] ** -0.5
        status = Status(grid.status[row, column])
        scores = score(draws, dict.fromkeys(draws, mean), dict.fromkeys(draws, std), status, weights)
        for name, value in scores.items():
            values[name][row, column, 0] = value
    return values

"""The field theory over a grid of (rho, gamma), as the Dataset that every phase diagram is.

A cell without a finite solution holds NaN and says `runaway` in `status`.
"""

from importlib.metadata import version
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float
from numpy.typing import ArrayLike

from heteroscope import field
from heteroscope.core import FIELD_GRID, InputError, Progress, Status
from heteroscope.diagrams.dataset import CELL, SCORES, Values, grid_values, score
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
    """The field theory's phase diagram of one draw y(x), with the fold beyond which it has no finite solution.

    `y_test` is another draw at the same points: with it the labels see a mean that follows the noise of y. The grid is
    the paper's unless given; `mean` and `std` hold the fields of every cell. `progress(done, total)` counts columns of
    the grid and points of the fold.
    """
    rhos, gammas = grid_values("rho", rhos, FIELD_GRID), grid_values("gamma", gammas, FIELD_GRID)
    draws = {"train": np.asarray(y, float)}
    if y_test is not None:
        draws["test"] = np.asarray(y_test, float)
        if draws["test"].shape != draws["train"].shape or not np.all(np.isfinite(draws["test"])):
            raise InputError("y_test must hold one finite number for each x, as y does")
    total = len(rhos) + len(gammas)

    def told(offset: int) -> Progress | None:
        return (lambda done, _: progress(offset + done, total)) if progress else None

    grid = field.solve_grid(x, y, rhos, gammas, density=density, n_jobs=n_jobs, progress=told(0))
    folds = field.fold_curve(x, y, gammas, density=density, n_jobs=n_jobs, progress=told(len(rhos)))
    lattice = field.chain(x, density)
    energies = field.observables(lattice, draws["train"], grid)
    cells = _cells(lattice.weights, draws, grid)
    finite = np.where(grid.status == Status.RUNAWAY, np.nan, 1.0)[:, :, None]  # a runaway's fields are no solution
    for name, values in (("mean_energy", energies.mean_energy), ("precision_energy", energies.precision_energy)):
        cells[name] = np.repeat(values[:, :, None, None], len(draws), axis=3)  # the same whichever draw judges it
    return xr.Dataset(
        {
            **{name: ((*CELL, "split"), cells[name]) for name in SCORES},
            "log_precision_spread": (CELL, cells["log_precision_spread"]),
            "status": (CELL, grid.status[:, :, None]),
            "phase": (CELL, cells["phase"]),
            "objective": (CELL, grid.energy[:, :, None] * finite),
            "relative_gradient": (CELL, grid.residual[:, :, None] * finite),
            "mean": ((*CELL, "row"), (grid.mean[:, :, None] * finite[..., None]).astype(np.float32)),
            "std": ((*CELL, "row"), (grid.precision[:, :, None] ** -0.5 * finite[..., None]).astype(np.float32)),
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


def _cells(
    weights: Float[np.ndarray, " x"], draws: dict[str, np.ndarray], grid: field.GridSolution
) -> dict[str, np.ndarray]:
    """Scores and phases by the rule of `diagram.score`; a runaway has no fields to score, and is O_I by what it is."""
    shape = (*grid.status.shape, 1)
    found: dict[str, Any] = {name: np.full((*shape, len(draws)), np.nan) for name in SCORES}
    found |= {"log_precision_spread": np.full(shape, np.nan), "phase": np.full(shape, str(Phase.O_I), dtype="<U4")}
    for row, column in np.argwhere(grid.status != Status.RUNAWAY):
        mean, std = grid.mean[row, column], grid.precision[row, column] ** -0.5
        status = Status(grid.status[row, column])
        one = score(draws, dict.fromkeys(draws, mean), dict.fromkeys(draws, std), status, weights)
        for name, value in one.items():
            found[name][row, column, 0] = value
    return found

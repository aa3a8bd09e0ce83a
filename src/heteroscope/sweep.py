"""From a grid of (rho, gamma) to one labelled Dataset, the hand-over to figures, reports and files.

Dimensions rho, gamma, seed and split; a cell without a solution holds NaN and says `runaway` in `status`.
"""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float
from numpy.typing import ArrayLike

from heteroscope import field, metrics
from heteroscope.errors import InputError
from heteroscope.grids import FIELD_GRID
from heteroscope.phases import Phase, label, observe
from heteroscope.progress import Progress
from heteroscope.status import Status

Values = Sequence[float] | Float[np.ndarray, "_"]
CELL = ("rho", "gamma", "seed")
SCORES = ("mean_mse", "std_mse", "ece", "nll", "crps")


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
    rhos = FIELD_GRID if rhos is None else np.asarray(rhos, float)
    gammas = FIELD_GRID if gammas is None else np.asarray(gammas, float)
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
    return xr.Dataset(
        {
            **_scores(lattice.weights, draws, grid),
            "mean_energy": _same_for_all(energies.mean_energy, draws),
            "precision_energy": _same_for_all(energies.precision_energy, draws),
            "status": (CELL, grid.status[:, :, None]),
            "phase": (CELL, _phases(lattice.weights, draws, grid)[:, :, None]),
            "energy": (CELL, grid.energy[:, :, None]),
            "residual": (CELL, grid.residual[:, :, None]),
            "mean": ((*CELL, "x"), grid.mean[:, :, None]),
            "std": ((*CELL, "x"), grid.precision[:, :, None] ** -0.5),
            "y": ("x", draws["train"]),
            "fold_rho": ("fold_gamma", [fold.rho for fold in folds]),
        },
        coords={
            "rho": rhos,
            "gamma": gammas,
            "seed": [0],
            "split": list(draws),
            "x": np.asarray(x, float),
            "fold_gamma": [fold.gamma for fold in folds],
        },
        attrs={"source": "field theory", "heteroscope": version("heteroscope")},
    )


Weights = Float[np.ndarray, " x"]


def _scores(weights: Weights, draws: dict[str, np.ndarray], grid: field.GridSolution) -> dict[str, Any]:
    values = {name: np.full((*grid.status.shape, 1, len(draws)), np.nan) for name in SCORES}
    for row, column in _finite(grid):
        mean, std = grid.mean[row, column], grid.precision[row, column] ** -0.5
        for name in SCORES:
            values[name][row, column, 0] = [
                metrics.METRICS[name](y, mean, std, sample_weight=weights) for y in draws.values()
            ]
    return {name: ((*CELL, "split"), found) for name, found in values.items()}


def _same_for_all(values: np.ndarray, draws: dict[str, np.ndarray]) -> tuple[tuple[str, ...], np.ndarray]:
    """A field's slope is the same whichever draw judges it."""
    return (*CELL, "split"), np.repeat(values[:, :, None, None], len(draws), axis=3)


def _phases(weights: Weights, draws: dict[str, np.ndarray], grid: field.GridSolution) -> np.ndarray:
    """The rule of `phases.label`; a runaway has no fields to observe, and is O_I by what it is."""
    phases = np.full(grid.status.shape, str(Phase.O_I), dtype="<U4")
    for cell in _finite(grid):
        mean, std = grid.mean[cell], grid.precision[cell] ** -0.5
        score = np.average(((draws["test"] - mean) / std) ** 2, weights=weights) if "test" in draws else None
        found = observe(draws["train"], mean, std, weights, None if score is None else float(score))
        phases[cell] = str(label(found))
    return phases


def _finite(grid: field.GridSolution) -> list[tuple[int, int]]:
    return [(int(row), int(column)) for row, column in np.argwhere(grid.status != Status.RUNAWAY)]

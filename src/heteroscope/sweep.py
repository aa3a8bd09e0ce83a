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
from heteroscope.grids import FIELD_GRID
from heteroscope.phases import Phase, label, observe
from heteroscope.progress import Progress
from heteroscope.status import Status

Values = Sequence[float] | Float[np.ndarray, "_"]
CELL = ("rho", "gamma", "seed")
SCORES = ("ece", "nll", "crps")  # of each cell, beside the field theory's own observables


def field_diagram(
    x: ArrayLike,
    y: ArrayLike,
    *,
    rhos: Values | None = None,
    gammas: Values | None = None,
    density: ArrayLike | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> xr.Dataset:
    """The field theory's phase diagram of one draw y(x), with the fold beyond which it has no finite solution.

    The grid is the paper's unless given; `mean` and `std` hold the fields of every cell. `progress(done, total)` counts
    columns of the grid and points of the fold.
    """
    rhos = FIELD_GRID if rhos is None else np.asarray(rhos, float)
    gammas = FIELD_GRID if gammas is None else np.asarray(gammas, float)
    total = len(rhos) + len(gammas)

    def told(offset: int) -> Progress | None:
        return (lambda done, _: progress(offset + done, total)) if progress else None

    grid = field.solve_grid(x, y, rhos, gammas, density=density, n_jobs=n_jobs, progress=told(0))
    folds = field.fold_curve(x, y, gammas, density=density, n_jobs=n_jobs, progress=told(len(rhos)))
    lattice = field.chain(x, density)
    target = np.asarray(y, float)
    found = field.observables(lattice, target, grid)._asdict() | _scores(lattice.weights, target, grid)
    return xr.Dataset(
        {
            **{name: ((*CELL, "split"), values[:, :, None, None]) for name, values in found.items()},
            "status": (CELL, grid.status[:, :, None]),
            "phase": (CELL, _phases(lattice.weights, target, grid)[:, :, None]),
            "energy": (CELL, grid.energy[:, :, None]),
            "residual": (CELL, grid.residual[:, :, None]),
            "mean": ((*CELL, "x"), grid.mean[:, :, None]),
            "std": ((*CELL, "x"), grid.precision[:, :, None] ** -0.5),
            "y": ("x", target),
            "fold_rho": ("fold_gamma", [fold.rho for fold in folds]),
        },
        coords={
            "rho": rhos,
            "gamma": gammas,
            "seed": [0],
            "split": ["train"],
            "x": np.asarray(x, float),
            "fold_gamma": [fold.gamma for fold in folds],
        },
        attrs={"source": "field theory", "heteroscope": version("heteroscope")},
    )


def _scores(weights: Float[np.ndarray, " x"], y: Float[np.ndarray, " x"], grid: field.GridSolution) -> dict[str, Any]:
    values = {name: np.full(grid.status.shape, np.nan) for name in SCORES}
    for cell in zip(*np.nonzero(grid.status != Status.RUNAWAY), strict=True):
        for name in SCORES:
            values[name][cell] = metrics.METRICS[name](
                y, grid.mean[cell], grid.precision[cell] ** -0.5, sample_weight=weights
            )
    return values


def _phases(weights: Float[np.ndarray, " x"], y: Float[np.ndarray, " x"], grid: field.GridSolution) -> np.ndarray:
    """The rule of `phases.label`; a runaway has no fields to observe, and is O_I by what it is."""
    phases = np.full(grid.status.shape, str(Phase.O_I), dtype="<U4")
    for cell in zip(*np.nonzero(grid.status != Status.RUNAWAY), strict=True):
        phases[cell] = str(label(observe(y, grid.mean[cell], grid.precision[cell] ** -0.5, weights)))
    return phases

"""Find the posterior of the field theory over a grid of (rho, gamma) and return it as a phase diagram.

A cell's mean is the posterior mean of the mean field, and its std that of the predictive distribution. With them the
scores and the label are those of every other diagram.
"""

from importlib.metadata import version

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from heteroscope import field
from heteroscope.core import FIELD_GRID, Progress
from heteroscope.diagrams.dataset import CELL, SCORES, Values, grid_values, score

_SPREADS = ("mean_spread", "log_precision_spread")
_PARTS = ("mean", "std", "aleatoric", "epistemic")


def posterior_diagram(
    x: ArrayLike,
    y: ArrayLike,
    *,
    y_test: ArrayLike | None = None,
    rhos: Values | None = None,
    gammas: Values | None = None,
    method: str = "variational",
    level_prior: tuple[float, float] | None = None,
    density: ArrayLike | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Compute the phase diagram of the posterior mean and the predictive std of the field theory.

    Parameters
    ----------
    x : array_like of shape (n_points,)
        Strictly increasing positions, at least 3.
    y : array_like of shape (n_points,)
        Target: one draw of y(x).
    y_test : array_like of shape (n_points,) or None, default=None
        Another draw at the same points, for scores and labels on rows that the fields have not seen.
    rhos, gammas : sequence of float or None, default=None
        Values of the grid, each strictly between 0 and 1. None is the paper's grid.
    method : {"laplace", "variational", "hmc", "langevin"}, default="variational"
        As in `field.posterior`.
    level_prior : (shape, rate) or None, default=None
        As in `field.posterior`.
    density : array_like of shape (n_points,), "points" or None, default=None
        Density of the points; see `field.chain`.
    n_jobs : int, default=1
        Number of processes.
    progress : callable or None, default=None
        Called as progress(done, total) with numbers of values of rho.

    Returns
    -------
    xarray.Dataset
        Scores, `status` and `phase` of each cell as in `field_diagram`; `mean`, `std` and its two parts `aleatoric` and
        `epistemic` at every point; `log_evidence`, `r_hat` (NaN without a sampler) and `precision_level` of each cell.

    See Also
    --------
    field_diagram : The same of the minimum of the free energy.
    """
    rhos, gammas = grid_values("rho", rhos, FIELD_GRID), grid_values("gamma", gammas, FIELD_GRID)
    lattice = field.chain(x, density)
    draws = {"train": field.state(lattice, y, 0.5, 0.5).y}
    if y_test is not None:
        draws["test"] = field.state(lattice, y_test, 0.5, 0.5).y
    found = field.solve_posteriors(
        lattice, y, rhos, gammas, method=method, level_prior=level_prior, n_jobs=n_jobs, progress=progress
    )
    cells = [[_describe_cell(lattice, draws, one) for one in row] for row in found]

    def gather(name: str) -> np.ndarray:
        return np.array([[[cell[name]] for cell in row] for row in cells])

    return xr.Dataset(
        {
            **{name: ((*CELL, "split"), gather(name)) for name in SCORES},
            **{
                name: (CELL, gather(name))
                for name in (*_SPREADS, "status", "phase", "log_evidence", "r_hat", "precision_level")
            },
            **{name: ((*CELL, "row"), gather(name).astype(np.float32)) for name in _PARTS},
            "x": (("row", "feature"), np.asarray(x, float)[:, None]),
            "y": ("row", draws["train"]),
            "row_split": ("row", np.full(len(draws["train"]), "train")),
        },
        coords={"rho": rhos, "gamma": gammas, "seed": [0], "split": list(draws), "feature": ["x"]},
        attrs={
            "source": "field theory, posterior mean",
            "method": method,
            "data_set": "",
            "target": "y",
            "target_centre": 0.0,
            "target_scale": 1.0,
            "heteroscope": version("heteroscope"),
        },
    )


def _describe_cell(
    lattice: field.Chain, draws: dict[str, np.ndarray], found: field.Posterior
) -> dict[str, np.ndarray | list[float] | float | str]:
    """Score and label one cell, and gather what else the Dataset holds of it."""
    seen = found.predictive
    scores = score(
        draws, dict.fromkeys(draws, seen.mean), dict.fromkeys(draws, seen.std), found.status, lattice.weights
    )
    n_gaps = len(seen.mean) - 1
    energies = {
        "mean_energy": lattice.dirichlet(seen.mean) / n_gaps,
        "precision_energy": lattice.dirichlet(found.precision) / n_gaps,
    }
    return {
        **scores,
        **{name: [energy] * len(draws) for name, energy in energies.items()},
        **seen._asdict(),
        "status": str(found.status),
        "log_evidence": found.log_evidence,
        "r_hat": np.nan if found.diagnostics is None else float(np.nanmax(found.diagnostics.r_hat)),
        "precision_level": float(np.average(found.precision, weights=lattice.weights)),
    }

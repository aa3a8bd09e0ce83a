"""The Dataset that every phase diagram is, the one hand-over to figures, the page and files: its names and summaries.

Scores, mean, std and y are in units of the training targets' standard deviation, so that a mean MSE of one is the
constant model; `target_centre` and `target_scale` among the attributes lead back to the user's units.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import xarray as xr
from jaxtyping import Float, Shaped
from scipy.special import logit

from heteroscope.core import InputError, Status, check_rho_gamma
from heteroscope.distributions import metrics
from heteroscope.phases import Phase, label, observe

CELL = ("rho", "gamma", "seed")
SCORES = ("mean_mse", "std_mse", "ece", "nll", "crps", "squared_score", "mean_energy", "precision_energy")
PHASES = (Phase.U_I, Phase.U_II, Phase.S, Phase.O_II, Phase.O_I)
KEPT_ROWS = 256  # rows of a split at which a diagram keeps each model's predictions

Values = Sequence[float] | Float[np.ndarray, "_"]
Cells = TypeVar("Cells", xr.DataArray, xr.Dataset)


def grid_values(name: str, values: Values | None, default: Float[np.ndarray, "_"]) -> Float[np.ndarray, " value"]:
    """The values of one axis, rising, each once, strictly between 0 and 1."""
    if values is None:
        return default
    found = np.unique([check_rho_gamma(**{"rho": 0.5, "gamma": 0.5, name: value})[name == "gamma"] for value in values])
    if not len(found):
        raise InputError(f"{name}s is empty: give at least one value, or leave it out for the paper's grid")
    return found


def score(
    draws: dict[str, Float[np.ndarray, "_"]],
    means: dict[str, Float[np.ndarray, "_"]],
    stds: dict[str, Float[np.ndarray, "_"]],
    status: Status,
    weight: Float[np.ndarray, "_"] | None = None,
) -> dict[str, Any]:
    """One cell, from what it predicts for the targets of each split: scores by split, and the phase that they earn."""
    found: dict[str, Any] = {
        name: [metrics.METRICS[name](y, means[split], stds[split], sample_weight=weight) for split, y in draws.items()]
        for name in SCORES[:5]
    }
    found["squared_score"] = [
        metrics.squared_score(y, means[split], stds[split], sample_weight=weight) for split, y in draws.items()
    ]
    held_out = found["squared_score"][1] if len(draws) > 1 else None
    observed = observe(draws["train"], means["train"], stds["train"], weight, held_out)
    found["log_precision_spread"] = observed.log_precision_spread
    found["phase"] = str(label(observed, runaway=status == Status.RUNAWAY))
    return found


def without_rows(diagram: xr.Dataset) -> xr.Dataset:
    """Scores and labels alone, without the rows and what each model predicts for them."""
    return diagram.drop_dims([name for name in ("row", "feature") if name in diagram.dims])


def majority_phase(diagram: xr.Dataset) -> xr.DataArray:
    """The phase that most seeds of a cell are in, the first in the order U_I, U_II, S, O_II, O_I if several are."""
    counts = xr.concat([(diagram["phase"] == phase).sum("seed") for phase in PHASES], dim="which")
    names = xr.DataArray(np.array([str(phase) for phase in PHASES]), dims="which")
    return names[counts.argmax("which")].where(counts.sum("which") > 0, "").drop_vars("which", errors="ignore")


def over_seeds(diagram: xr.Dataset) -> xr.Dataset:
    """Mean and standard deviation of every score over the seeds (dimension `statistic`), and the majority's phase."""
    scores = diagram[[name for name in SCORES if name in diagram]]
    summary = xr.concat([scores.mean("seed"), std_over_seeds(scores)], dim="statistic")
    summary = summary.assign_coords(statistic=["mean", "std"]).assign_attrs(diagram.attrs)
    return summary.assign(phase=majority_phase(diagram), agreement=_agreement_of_seeds(diagram))


def std_over_seeds(values: Cells) -> Cells:
    """sqrt(mean((v - mean(v))^2)) over the seeds that have a number; NaN where none has.

    That is `values.std("seed")`, which in older releases of xarray warns of every cell without a number.
    """
    return ((values - values.mean("seed")) ** 2).mean("seed") ** 0.5


def _agreement_of_seeds(diagram: xr.Dataset) -> xr.DataArray:
    """The share of a cell's seeds that are in its majority's phase."""
    return (diagram["phase"] == majority_phase(diagram)).mean("seed")


def diagonal_cells(diagram: xr.Dataset) -> list[tuple[int, int]]:
    """Row and column of the cells on rho = 1 - gamma, by rising rho; none if the grid does not meet the diagonal."""
    z_rho, z_gamma = logit(diagram["rho"].values), logit(diagram["gamma"].values)
    nearest = [int(np.argmin(np.abs(z_gamma + z))) for z in z_rho]
    return [(row, column) for row, column in enumerate(nearest) if abs(z_gamma[column] + z_rho[row]) < 1e-6]


def kept_rows(n_rows: int) -> Shaped[np.ndarray, " row"]:
    """Which rows of a split a diagram keeps predictions of: all, or a fixed random sample in their order."""
    if n_rows <= KEPT_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, KEPT_ROWS, replace=False))

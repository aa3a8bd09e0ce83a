"""Define the Dataset that every phase diagram is: names, scores of a cell, and summaries over seeds.

Figures, the page and files all read this Dataset. Scores, mean, std and y are in units of the training targets'
standard deviation, so the constant model has a mean MSE of one; the attributes `target_centre` and `target_scale`
convert back to the user's units.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import xarray as xr
from jaxtyping import Float, Shaped
from scipy.special import logit

from heteroscope.core import InputError, Status, check_rho_gamma
from heteroscope.distributions import metrics
from heteroscope.phases import FLAT_PRECISION, Phase, label, observe, observe_held_out

# Dimensions of a cell, scores, and phases in their order of ties.
CELL = ("rho", "gamma", "seed")
SCORES = ("mean_mse", "std_mse", "ece", "nll", "crps", "squared_score", "mean_energy", "precision_energy")
FIVE_PHASES = (Phase.U_I, Phase.U_II, Phase.S, Phase.O_II, Phase.O_I)
PHASES = (*FIVE_PHASES, Phase.NONE, Phase.UNKNOWN)
# What figures and pages show: S is told apart by its std.
S_CONSTANT, S_ADAPTS = "S_constant", "S_adapts"
KINDS = (Phase.U_I, Phase.U_II, S_CONSTANT, S_ADAPTS, Phase.O_II, Phase.O_I, Phase.NONE, Phase.UNKNOWN)
CONSTANT_SCORES = ("mean_mse", "nll")  # scores of the constant model that a diagram keeps, as constant_NAME per split
KEPT_ROWS = 256  # rows of a split at which a diagram keeps each model's predictions

Values = Sequence[float] | Float[np.ndarray, "_"]
CellScores = dict[str, list[float] | float | str]  # lists hold one number per split
Cells = TypeVar("Cells", xr.DataArray, xr.Dataset)


def grid_values(name: str, values: Values | None, default: Float[np.ndarray, "_"]) -> Float[np.ndarray, " value"]:
    """Return the values of one axis, sorted and each once; raise unless each lies strictly between 0 and 1."""
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
) -> CellScores:
    """Score one cell's predictions of the targets of each split, and label its phase."""
    scores: CellScores = {
        name: [metrics.METRICS[name](y, means[split], stds[split], sample_weight=weight) for split, y in draws.items()]
        for name in SCORES[:5]
    }
    squared_scores = [
        metrics.squared_score(y, means[split], stds[split], sample_weight=weight) for split, y in draws.items()
    ]
    held_out = None
    if "test" in draws:
        held_out = observe_held_out(draws["test"], means["test"], stds["test"], draws["train"], weight, weight)
    observed = observe(draws["train"], means["train"], stds["train"], weight, held_out)
    return scores | {
        "squared_score": squared_scores,
        "mean_spread": observed.mean_spread,
        "log_precision_spread": observed.log_precision_spread,
        "phase": str(label(observed, runaway=status == Status.RUNAWAY)),
    }


def constant_scores(
    draws: dict[str, Float[np.ndarray, "_"]], weight: Float[np.ndarray, "_"] | None = None
) -> dict[str, list[float]]:
    """Score the constant model, mean and std of the training targets, on every split, as `score` scores a cell."""
    level = np.average(draws["train"], weights=weight)
    spread = np.sqrt(np.average((draws["train"] - level) ** 2, weights=weight))
    return {
        f"constant_{name}": [
            metrics.METRICS[name](y, np.full(len(y), level), np.full(len(y), spread), sample_weight=weight)
            for y in draws.values()
        ]
        for name in CONSTANT_SCORES
    }


def without_rows(diagram: xr.Dataset) -> xr.Dataset:
    """Return scores and labels alone, without the rows and what each model predicts for them."""
    return diagram.drop_dims([name for name in ("row", "feature") if name in diagram.dims])


def majority_phase(diagram: xr.Dataset) -> xr.DataArray:
    """Return the phase of most seeds of each cell; ties go to the first in the order of `PHASES`."""
    counts = xr.concat([(diagram["phase"] == phase).sum("seed") for phase in PHASES], dim="which")
    names = xr.DataArray(np.array([str(phase) for phase in PHASES]), dims="which")
    return names[counts.argmax("which")].where(counts.sum("which") > 0, "").drop_vars("which", errors="ignore")


def kinds(diagram: xr.Dataset) -> xr.DataArray:
    """Return the phase of each model, with S replaced by S_CONSTANT or S_ADAPTS: is its std the same for all rows?"""
    name = xr.where(diagram["log_precision_spread"] < FLAT_PRECISION, S_CONSTANT, S_ADAPTS)
    return xr.where(diagram["phase"] == Phase.S, name, diagram["phase"])


def majority_kind(diagram: xr.Dataset) -> xr.DataArray:
    """Return the majority's phase of each cell; an S is of the kind that most of its S seeds are, or S_CONSTANT."""
    phase, one = majority_phase(diagram), kinds(diagram)
    adapts = (one == S_ADAPTS).sum("seed") > (one == S_CONSTANT).sum("seed")
    return xr.where(phase == Phase.S, xr.where(adapts, S_ADAPTS, S_CONSTANT), phase)


def over_seeds(diagram: xr.Dataset) -> xr.Dataset:
    """Return mean and std of every score over the seeds (dimension `statistic`), and the majority's phase."""
    scores = diagram[[name for name in SCORES if name in diagram]]
    summary = xr.concat([scores.mean("seed"), std_over_seeds(scores)], dim="statistic")
    summary = summary.assign_coords(statistic=["mean", "std"]).assign_attrs(diagram.attrs)
    return summary.assign(phase=majority_phase(diagram), agreement=_agreement_of_seeds(diagram))


def std_over_seeds(values: Cells) -> Cells:
    """Return sqrt(mean((v - mean(v))^2)) over the seeds that have a number; NaN where none has.

    That is `values.std("seed")`, which in older releases of xarray warns of every cell without a number.
    """
    return ((values - values.mean("seed")) ** 2).mean("seed") ** 0.5


def _agreement_of_seeds(diagram: xr.Dataset) -> xr.DataArray:
    """Return the share of a cell's seeds that are in its majority's phase."""
    return (diagram["phase"] == majority_phase(diagram)).mean("seed")


def diagonal_cells(diagram: xr.Dataset) -> list[tuple[int, int]]:
    """Return row and column of the cells on the diagonal rho = 1 - gamma, by rising rho; there may be none."""
    logit_rhos, logit_gammas = logit(diagram["rho"].values), logit(diagram["gamma"].values)
    nearest = [int(np.argmin(np.abs(logit_gammas + z))) for z in logit_rhos]
    return [(row, column) for row, column in enumerate(nearest) if abs(logit_gammas[column] + logit_rhos[row]) < 1e-6]


def kept_rows(n_rows: int) -> Shaped[np.ndarray, " row"]:
    """Return the rows of a split whose predictions are kept: all, or a fixed random sample in their order."""
    if n_rows <= KEPT_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, KEPT_ROWS, replace=False))

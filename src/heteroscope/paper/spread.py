"""How much seeds differ in each phase: what the paper says beside its figure of standard deviations, as numbers."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr

from heteroscope.diagrams import PHASES, over_seeds
from heteroscope.paper.formatting import number
from heteroscope.phases import Phase

METRICS = {"mean_mse": "mean MSE", "mean_energy": "energy of mean", "precision_energy": "energy of precision"}
ABSENT = "-"


def spread_by_phase(found: Mapping[str, xr.Dataset]) -> tuple[pd.DataFrame, str]:
    """Mean ± standard deviation over seeds in the median cell of each phase, on test rows; and where it is largest."""
    rows, overfitted, unsteady = [], 0, dict.fromkeys(METRICS, 0)
    for name, diagram in found.items():
        summary = over_seeds(diagram)
        overfitted += bool((summary["phase"] == Phase.O_I).any())
        for metric, title in METRICS.items():
            cells = {phase: _median_cell(summary, metric, phase) for phase in PHASES}
            there = {phase: std for phase, (_, std) in cells.items() if np.isfinite(std)}
            unsteady[metric] += max(there, key=lambda phase: there[phase]) == Phase.O_I
            rows.append({"set, metric": f"{name}, {title}", **{str(phase): _text(*cells[phase]) for phase in PHASES}})
    counts = ", ".join(f"in the {title} on {unsteady[metric]}" for metric, title in METRICS.items())
    return pd.DataFrame(rows), f"Of the {overfitted} sets that have an O_I, seeds differ most there {counts}."


def _median_cell(summary: xr.Dataset, metric: str, phase: Phase) -> tuple[float, float]:
    """The medians over a phase's cells of mean and standard deviation over seeds; NaN if there is no such cell."""
    scores = summary[metric]
    there = (scores.sel(split="test") if "split" in scores.dims else scores).where(summary["phase"] == phase)
    mean, std = (float(there.sel(statistic=name).median()) for name in ("mean", "std"))
    return mean, std


def _text(mean: float, std: float) -> str:
    return f"{number(mean)} ± {number(std, 2)}" if np.isfinite(std) else ABSENT

"""Measure how well networks and the field theory agree on phases: the share of cells with equal labels.

Prints one row per simulated set: the share and Cohen's kappa as they are, and after the best shift of (log alpha, log
beta). The networks are read from the records (Figure 7 of docs/results.md, seed 0, the paper's grid). The theory is
solved here on the same grid, once on 1024 evenly spaced points and once on the networks' own 64 training rows, each
with the weight 1.
"""

from pathlib import Path

import numpy as np
import xarray as xr

from heteroscope import field_diagram
from heteroscope.datasets import simulated
from heteroscope.diagrams import agreement, majority_phase
from heteroscope.paper import EXHIBITS, SCALES, part_name
from heteroscope.paper.part_records import load_part

THEORY_POINTS = 1024  # evenly spaced points of the first theory
RECORDS = Path(__file__).parent / "records" / "parts"


def main() -> None:
    """Print the table of docs/diagrams.md."""
    theories = (f"{THEORY_POINTS} points", "the same 64 rows")
    columns = [f"{theory}: equal, kappa | after a shift | of (log alpha, log beta)" for theory in theories]
    print(f"| data set | most common phase | {' | '.join(columns)} |")
    print(f"|---|---:|{'---:|---:|---:|' * len(columns)}")
    for part in EXHIBITS["synthetic-networks"].parts(SCALES["full"].with_seeds(1)).values():
        (seed,) = part.pieces()
        kept = load_part(RECORDS, part_name(seed))
        if kept is None:
            raise SystemExit(f"{part_name(seed)} is not in {RECORDS}: make it with `heteroscope reproduce`")
        labels = majority_phase(kept.result).to_series()
        texts = [f"{100 * labels.value_counts(normalize=True).max():.0f} %"]
        texts += against(kept.result, simulated.field_draws(part.data, THEORY_POINTS), None)
        texts += against(kept.result, simulated.row_draws(part.data), "points")
        print(f"| {part.data} | {' | '.join(texts)} |", flush=True)


def against(networks: xr.Dataset, draws: tuple[np.ndarray, np.ndarray, np.ndarray], density: str | None) -> list[str]:
    """Return three cells of the table: share of equal labels and kappa, both after the best shift, and that shift."""
    x, y, y_test = draws
    axes = {"rhos": networks.rho.values, "gammas": networks.gamma.values}
    found = agreement(networks, field_diagram(x, y, y_test=y_test, density=density, folds=False, **axes))
    shift = f"({found.log_alpha:+.1f}, {found.log_beta:+.1f}){', at the edge' if found.at_edge else ''}"
    pairs = ((found.unshifted, found.unshifted_kappa), (found.share, found.kappa))
    return [*(f"{100 * share:.0f} %, {kappa:.2f}" for share, kappa in pairs), shift]

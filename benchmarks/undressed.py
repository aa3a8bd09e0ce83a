"""Compare networks whose penalty is that of the field theory with the plain theory: same rows, same units, no shift.

Prints one line per set, activation and penalty: the share of cells with equal labels and Cohen's kappa, as they are
and after the best shift, and how far the Dirichlet energies of both are apart in cells whose labels are equal. Networks
and theory are judged by a second draw at the training rows. Diagrams are kept in the system's temporary folder, so that
an interrupted run is resumed.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
import xarray as xr
from scipy.special import expit

from heteroscope import field_diagram, phase_diagram
from heteroscope.datasets import simulated
from heteroscope.diagrams import agreement, majority_phase

GRID = {"rhos": expit(np.linspace(-8.0, 10.0, 10)), "gammas": expit(np.linspace(-7.0, 7.0, 8))}
HIDDEN, STEPS = (64, 64), 4000
RUNS = (
    ("sine", "leaky_relu", "gradients"),
    ("curve", "leaky_relu", "gradients"),
    ("sine", "leaky_relu", "weights"),
    ("curve", "leaky_relu", "weights"),
    ("sine", "silu", "gradients"),
)


def main() -> None:
    """Train what is missing, and print the table."""
    print(
        "| set | activation | penalty | equal labels, kappa | after a shift | of (log alpha, log beta) | log E apart |"
    )
    print("|---|---|---|---:|---:|---:|---:|")
    for name, activation, penalty in RUNS[: int(os.environ.get("HETEROSCOPE_RUNS", len(RUNS)))]:
        networks = trained(name, activation, penalty)
        theory = solved(name)
        found = agreement(networks, theory)
        shift = f"({found.log_alpha:+.1f}, {found.log_beta:+.1f}){', at the edge' if found.at_edge else ''}"
        pairs = (found.unshifted, found.unshifted_kappa), (found.share, found.kappa)
        shares = " | ".join(f"{100 * share:.0f} %, {kappa:.2f}" for share, kappa in pairs)
        apart = f"{energies_apart(networks, theory):+.2f}" if penalty == "gradients" else ""
        print(f"| {name} | {activation} | {penalty} | {shares} | {shift} | {apart} |", flush=True)


def trained(name: str, activation: str, penalty: str) -> xr.Dataset:
    """Return the diagram of networks."""
    x, y, y_again = simulated.row_draws(name)
    return phase_diagram(
        x[:, None],
        y,
        X_test=x[:, None],
        y_test=y_again,
        **GRID,
        hidden=HIDDEN,
        activation=activation,
        penalty=penalty,
        max_steps=STEPS,
        batch_size=None,
        name=name,
        identity={"set": name, "rows": "row draws", "seed": 0},
        store=Path(tempfile.gettempdir()) / f"heteroscope-undressed-{name}-{activation}-{penalty}",
        n_jobs=1,
    )


def solved(name: str) -> xr.Dataset:
    """Return the diagram of the plain theory on the same rows, each with the same weight."""
    x, y, y_again = simulated.row_draws(name)
    return field_diagram(x, y, y_test=y_again, density="points", folds=False, **GRID)


def energies_apart(networks: xr.Dataset, theory: xr.Dataset) -> float:
    """Return the median of log (energy of the networks' mean / that of the theory) where both are in S."""
    both = (majority_phase(networks).values == "S") & (majority_phase(theory).values == "S")
    energies = [one["mean_energy"].sel(split="train").isel(seed=0).values[both] for one in (networks, theory)]
    return float(np.median(np.log(energies[0] / energies[1])))


if __name__ == "__main__":
    main()

"""How far networks and the field theory agree on the phases of the six simulated sets, after the best shift.

Every second value of the paper's grid, 11 x 11 cells and one seed a set; the theory on 1024 points. Unfinished
sweeps are kept in the system's temporary folder and resumed.
"""

import tempfile
from pathlib import Path

from heteroscope import datasets, field_diagram, phase_diagram
from heteroscope.agreement import agreement
from heteroscope.datasets import simulated
from heteroscope.grids import NETWORK_GRID

GRID = NETWORK_GRID[::2]
THEORY_POINTS = 1024
FOLDER = Path(tempfile.gettempdir()) / "heteroscope-agreement"


def main() -> None:
    """Print the table of docs/diagrams.md."""
    print("| data set | equal cells as they are | after the best shift | shift of log alpha | of log beta |")
    print("|---|---:|---:|---:|---:|")
    for name in simulated.PROCESSES:
        split = datasets.load(name)
        networks = phase_diagram(
            split.x_train,
            split.y_train,
            X_test=split.x_test,
            y_test=split.y_test,
            rhos=GRID,
            gammas=GRID,
            n_jobs=2,
            store=FOLDER / name,
        )
        x, y, y_test = simulated.field_draws(name, THEORY_POINTS)
        found = agreement(networks, field_diagram(x, y, y_test=y_test))
        shares = f"{100 * found.unshifted:.0f} % | {100 * found.share:.0f} %"
        print(f"| {name} | {shares} | {found.log_alpha:+.1f} | {found.log_beta:+.1f} |", flush=True)

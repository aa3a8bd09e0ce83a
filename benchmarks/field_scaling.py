"""Measure how the time of one cell of the field theory grows with the number of points, 1,000 to 1,000,000.

Prints one row per cell and number of points: seconds, Newton steps, microseconds per step and point, and residual. The
time is linear if the microseconds stay the same.
"""

from time import perf_counter

from heteroscope import field
from heteroscope.datasets.simulated import field_draw

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
#: (rho, gamma) by phase.
CELLS = {"S": (0.9, 0.3), "near O_II": (0.9999, 0.999)}
N_TURNS = 3  # of which the fastest counts


def main() -> None:
    """Print the table of BENCHMARKS.md."""
    print("## Field theory: cost against the number of points\n")
    print(f"The sine set, one process, best of {N_TURNS}; microseconds are per step and point.\n")
    print("| cell | points | seconds | steps | microseconds | relative residual | status |")
    print("|---|---:|---:|---:|---:|---:|---|")
    for phase, (rho, gamma) in CELLS.items():
        for n_points in SIZES:
            x, y = field_draw("sine", n_points)
            turns = []
            for _ in range(N_TURNS):
                start = perf_counter()
                found = field.solve(x, y, rho, gamma)
                turns.append(perf_counter() - start)
            each = 1e6 * min(turns) / (found.n_steps * n_points)
            print(
                f"| {phase} | {n_points:,} | {min(turns):.4f} | {found.n_steps} | {each:.2f} | {found.residual:.0e} "
                f"| {found.status} |"
            )


if __name__ == "__main__":
    main()

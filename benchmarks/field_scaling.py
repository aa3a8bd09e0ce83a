"""The cost of one cell of the field theory against the number of points: linear from a thousand to a million."""

from time import perf_counter

from heteroscope import field
from heteroscope.datasets.simulated import field_draw

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
CELLS = {"S": (0.9, 0.3), "near O_II": (0.9999, 0.999)}
N_TURNS = 3


def main() -> None:
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

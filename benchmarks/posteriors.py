"""Compare the posteriors of the field theory: methods with one another, and the number of points.

Prints two tables of docs/bayesian-field.md.
"""

import numpy as np

from heteroscope import field
from heteroscope.datasets.simulated import field_draws

#: (rho, gamma): nearly Gaussian ones first.
CELLS = ((0.5, 0.5), (0.9, 0.3), (0.999, 0.5), (0.99, 0.01), (0.9999, 0.9), (0.999999, 0.5))
METHODS = ("laplace", "variational", "langevin", "hmc")
N_POINTS = 128
SIZES = (128, 256, 512, 1024, 2048, 4096)
SCALED = ((0.9, 0.3), (0.99, 0.01), (0.9999, 0.5))


def main() -> None:
    """Print all tables."""
    compare_methods()
    scale()


def compare_methods() -> None:
    """Print the moments that each method finds, averaged over the points."""
    print(f"## Methods, sine, {N_POINTS} points\n")
    print("| rho, gamma | method | precision | its std | std of the mean | NLL of a second draw | log evidence |")
    print("|---|---|---:|---:|---:|---:|---:|")
    x, y, y_test = field_draws("sine", N_POINTS)
    for rho, gamma in CELLS:
        for method in METHODS:
            found = field.posterior(x, y, rho, gamma, method=method)
            nll = -float(found.log_predictive_density(y_test).mean())
            moments = [float(part.mean()) for part in (found.precision, found.precision_std, found.mean_std)]
            numbers = " | ".join(f"{number:.3g}" for number in (*moments, nll))
            evidence = f"{found.log_evidence:.1f} ± {found.log_evidence_error:.1f}"
            print(f"| {rho:g}, {gamma:g} | {method} | {numbers} | {evidence} |", flush=True)


def scale() -> None:
    """Print the minimum and the variational posterior as points are added."""
    print("\n## The number of points, sine\n")
    print("| rho, gamma | points | minimum | its NLL | posterior precision | noise std | std of the mean | NLL |")
    print("|---|---:|---|---:|---:|---:|---:|---:|")
    for rho, gamma in SCALED:
        for n_points in SIZES:
            x, y, y_test = field_draws("sine", n_points)
            lowest = field.solve(x, y, rho, gamma)
            nll = float(np.mean(0.5 * (lowest.precision * (y_test - lowest.mean) ** 2 - np.log(lowest.precision))))
            shown = f"{nll + 0.5 * np.log(2 * np.pi):.3f}" if lowest.status == "converged" else ""
            found = field.posterior(x, y, rho, gamma, method="variational")
            new = -float(found.log_predictive_density(y_test).mean())
            print(
                f"| {rho:g}, {gamma:g} | {n_points} | {lowest.status} | {shown} | {found.precision.mean():.3g} "
                f"| {found.predictive.aleatoric.mean():.3g} | {found.mean_std.mean():.3g} | {new:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

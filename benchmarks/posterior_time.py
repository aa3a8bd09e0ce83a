"""Measure what a posterior of the field theory costs: processor seconds, beside one solve of the same rows.

Prints the table of costs in docs/bayesian-field.md.
"""

from collections.abc import Callable
from time import process_time

from heteroscope import field
from heteroscope.datasets.simulated import field_draw

N_POINTS = 4096
RHO, GAMMA = 0.9, 0.3


def main() -> None:
    """Print processor seconds, and the effective sample size of the sampler."""
    x, y = field_draw("sine", N_POINTS)
    solve = _fastest(lambda: field.solve(x, y, RHO, GAMMA))
    print("| what | processor seconds | solves | least effective draws: bulk, tail | largest R-hat |")
    print("|---|---:|---:|---:|---:|")
    print(f"| one solve, `field.solve` | {solve:.4f} | 1 | | |")
    for method, n_draws in (("laplace", 1), ("laplace", 100), ("variational", 100)):
        seconds = _fastest(lambda m=method, n=n_draws: field.posterior(x, y, RHO, GAMMA, method=m, n_draws=n))
        draws = "one draw" if n_draws == 1 else f"{n_draws} draws"
        print(f"| {method}, {draws} | {seconds:.3f} | {seconds / solve:.1f} | | |", flush=True)
    start = process_time()
    found = field.posterior(x, y, RHO, GAMMA, method="hmc", n_draws=400)
    seconds = process_time() - start
    assert found.diagnostics is not None
    bulk, tail = found.diagnostics.ess_bulk.min(), found.diagnostics.ess_tail.min()
    print(
        f"| hmc, 4 chains of 200 + 400 draws | {seconds:.0f} | {seconds / solve:,.0f} | {bulk:.0f}, {tail:.0f} "
        f"| {found.diagnostics.r_hat.max():.3f} |"
    )


def _fastest(run: Callable[[], object], turns: int = 5) -> float:
    """Return the fewest processor seconds of several turns."""
    seconds = []
    for _ in range(turns):
        start = process_time()
        run()
        seconds.append(process_time() - start)
    return min(seconds)


if __name__ == "__main__":
    main()

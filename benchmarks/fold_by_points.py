"""Measure where the finite solution ends as points are added: logit rho of the fold, with noise and without."""

from heteroscope import field
from heteroscope.datasets import simulated

POINTS = (256, 512, 1024, 2048, 4096)
GAMMA = 0.01


def main() -> None:
    """Print the table of docs/field.md."""
    print(f"| points | {' | '.join(map(str, POINTS))} |")
    print(f"|---|{'---:|' * len(POINTS)}")
    noisy = [field.fold(*simulated.field_draw("sine", n), gamma=GAMMA).logit_rho for n in POINTS]
    print(f"| white noise: logit $\\rho$ of the fold | {' | '.join(f'{value:.2f}' for value in noisy)} |")
    smooth = [smooth_fold(n) for n in POINTS]
    print(f"| no noise: logit $\\rho$ of the fold | {' | '.join(f'{value:.3f}' for value in smooth)} |")


def smooth_fold(n_points: int) -> float:
    """Return logit rho of the fold of the true mean, standardised as noisy targets are."""
    x, _ = simulated.field_draw("sine", n_points)
    mean = simulated.field_truth("sine", n_points).mean(x)
    return field.fold(x, (mean - mean.mean()) / mean.std(), gamma=GAMMA).logit_rho


if __name__ == "__main__":
    main()

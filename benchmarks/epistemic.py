"""Compare the epistemic std of ensembles and of natural-laplace with the field theory's posterior on the same rows.

Prints the table of docs/bayesian-field.md and draws its figure: `python -m benchmarks.epistemic [FIGURE]`.
"""

import sys

import numpy as np

from heteroscope import field
from heteroscope.baselines import MLEEnsembleRegressor, NaturalLaplaceRegressor
from heteroscope.datasets.simulated import field_draw, field_truth
from heteroscope.plots import epistemic_figure, save_figure

N_ROWS = 128
REACH = 1.6  # the rows lie within [-1, 1]
PENALTIES = np.logspace(-4, 0, 9)
STEPS = 2000  # of each training
METHODS = {
    "ensemble of 10": MLEEnsembleRegressor(n_members=10, max_steps=STEPS, n_jobs=1, random_state=0),
    "natural-laplace": NaturalLaplaceRegressor(rounds=3, max_steps=STEPS, n_jobs=1, random_state=0),
}


def main(figure: str | None = None) -> None:
    """Print the table and draw the figure."""
    x, y = field_draw("sine", N_ROWS)
    truth = field_truth("sine", N_ROWS)
    positions = np.linspace(-REACH, REACH, 321)
    is_inside = np.abs(positions) <= 1.0
    alpha, beta = field.evidence_surface(x, y, PENALTIES, PENALTIES).best
    rho, gamma = 1.0 / (1.0 + alpha + beta), alpha / (alpha + beta)
    theory = field.posterior(x, y, rho, gamma, method="hmc").predict(positions)
    found = {"field theory, hmc": (theory.mean, theory.epistemic)}
    for name, model in METHODS.items():
        parts = model.fit(x[:, None], y).predict_parts(positions[:, None])
        found[name] = (parts.mean, parts.epistemic)
    print(f"## Epistemic std, sine, {N_ROWS} rows; field at alpha = {alpha:.2g}, beta = {beta:.2g}\n")
    print(
        "| method | inside | outside | at 1.6 | correlation with the field inside | error of the mean / std, inside |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    for name, (mean, std) in found.items():
        error = np.sqrt(np.mean((mean - truth.mean(positions))[is_inside] ** 2)) / np.sqrt(np.mean(std[is_inside] ** 2))
        alike = np.corrcoef(np.log(std[is_inside]), np.log(theory.epistemic[is_inside]))[0, 1]
        print(
            f"| {name} | {std[is_inside].mean():.3f} | {std[~is_inside].mean():.3f} | {std[-1]:.3f} | {alike:.2f} "
            f"| {error:.2f} |"
        )
    if figure:
        stds = {name: std for name, (_, std) in found.items()}
        save_figure(epistemic_figure(positions, stds, x, (-1.0, 1.0)), figure)


if __name__ == "__main__":
    main(*sys.argv[1:2])

"""Measure how often the paper's schedule escapes the zero network: `python -m benchmarks.minima.leaving_zero`.

Prints one row per cell with "left" or "zero" for each seed. Networks start from the paper's N(0, 0.001^2) on the sine
set and take the 250,000 steps in which the paper's schedule trains the mean alone, at the reference cells with alpha
near the value at which networks begin to escape. A network has left zero if its mean explains more than a twentieth of
the targets' variance, which is also the rule by which a mean counts as not flat.
"""

from time import perf_counter

import numpy as np
from benchmarks.minima.reference import N_PROCESSES, STEPS, describe, paper_recipe
from scipy.special import logit

from heteroscope import datasets
from heteroscope.data.rows import Rows
from heteroscope.phases.labels import FLAT_MEAN
from heteroscope.training.steps import Job
from heteroscope.training.workers import Task, train_as_tiles

CELLS = (
    *((0.99, 0.01), (0.9, 0.001), (0.999, 0.1), (0.01, 1e-6)),  # alpha = 1e-4
    *((0.5, 0.001), (0.1, 1e-4), (0.9, 0.01), (0.999, 0.99)),  # alpha = 1e-3
)
SEEDS = range(4)


def main() -> None:
    """Print which seeds have left zero in each cell."""
    split = datasets.load("sine", seed=0)
    rows = Rows(split.x_train, split.y_train, np.ones(len(split.y_train)))
    recipe = paper_recipe(rows.x.shape[1], STEPS["sine"], 1e-3)
    recipe = recipe._replace(stages=recipe.stages[:1])
    batch = rows.batch(rows.scaling())
    tasks = [Task(batch, [Job(float(logit(rho)), float(logit(gamma)), seed)]) for rho, gamma in CELLS for seed in SEEDS]
    began = perf_counter()
    left = np.zeros(len(tasks), bool)
    for index, fits in train_as_tiles(tasks, recipe, n_jobs=N_PROCESSES):
        (found,) = describe(fits, split, recipe.architecture.activation)
        left[index] = found["residual_share"] <= FLAT_MEAN
    seeds = " | ".join(f"seed {seed}" for seed in SEEDS)
    print(f"{recipe.steps:,} steps of the mean alone, {perf_counter() - began:.0f} s on {N_PROCESSES} processes.\n")
    print(f"| rho, gamma | alpha | {seeds} |\n|---|---:|{'---|' * len(SEEDS)}")
    for (rho, gamma), seen in zip(CELLS, left.reshape(len(CELLS), -1), strict=True):
        words = " | ".join("left" if one else "zero" for one in seen)
        print(f"| {rho:g}, {gamma:g} | {gamma * (1 - rho) / rho:.1e} | {words} |")


if __name__ == "__main__":
    main()

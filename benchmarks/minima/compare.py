"""The default recipe against the reference minima: `python -m benchmarks.minima.compare sine [max_steps]`.

A reference cell has a finite minimum where its status is not runaway. A cell agrees if its objective over rho is at
most 0.02 above the reference's; lower is better, since both minimise the same sum from the same start.
"""

import sys
from time import perf_counter
from typing import Any

import numpy as np
from benchmarks.minima.reference import CELLS, N_PROCESSES, STARTS, _key, describe, load
from scipy.special import logit

from heteroscope import datasets
from heteroscope.defaults import EXACT_STEPS
from heteroscope.engine import Task, train
from heteroscope.networks import Architecture
from heteroscope.rows import Rows
from heteroscope.stages import mean_first_recipe
from heteroscope.status import Status
from heteroscope.tile import Job

CLOSE, CLOSER = 0.02, 0.001


def main(name: str, max_steps: int = EXACT_STEPS) -> None:
    """Train every stored cell with the default recipe and print the two side by side."""
    split = datasets.load(name, seed=0)
    rows = Rows(split.x_train, split.y_train, np.ones(len(split.y_train)))
    batch = rows.batch(rows.scaling())
    reference = load(name)
    ours: dict[str, dict[str, Any]] = {}
    began = perf_counter()
    for start in STARTS:
        cells = [cell for cell in CELLS[name] if _key(start, cell) in reference]
        if not cells:
            continue
        recipe = mean_first_recipe(Architecture(rows.x.shape[1], start=start), max_steps)
        jobs = [Job(float(logit(rho)), float(logit(gamma)), seed=0) for rho, gamma in cells]
        (fits,) = train([Task(batch, jobs)], recipe, n_jobs=N_PROCESSES)
        found = describe(fits, split, recipe.architecture.activation)
        ours |= {_key(start, cell): one for cell, one in zip(cells, found, strict=True)}
    seconds = perf_counter() - began

    print(f"{name}, at most {max_steps:,} steps against {next(iter(reference.values()))['steps']:,} of the paper's.\n")
    print(
        "| start, rho, gamma | reference | ours | ours - reference | phases | statuses | relative gradients | steps |"
    )
    print("|---|---:|---:|---:|---|---|---|---:|")
    for key, own in ours.items():
        other = reference[key]
        difference = own["objective"] - other["objective"]
        print(
            f"| {key} | {other['objective']:.4f} | {own['objective']:.4f} | {difference:+.4f} "
            f"| {other['phase']}, {own['phase']} | {other['status']}, {own['status']} "
            f"| {other['relative_gradient']:.2g}, {own['relative_gradient']:.2g} | {own['steps']:,} |"
        )
    finite = [key for key in ours if reference[key]["status"] != Status.RUNAWAY]
    above = np.array([ours[key]["objective"] - reference[key]["objective"] for key in finite])
    same = np.mean([_same_phase(ours[key], reference[key]) for key in ours])
    print(f"\nCells with a finite minimum: {len(finite)} of {len(ours)}. At most {CLOSE} above the reference: ", end="")
    print(f"{np.mean(above <= CLOSE):.0%}; at most {CLOSER}: {np.mean(above <= CLOSER):.0%}; same phase: {same:.0%}.")
    print(f"All of ours took {seconds:.0f} s on {N_PROCESSES} processes, compilation included.")


def _same_phase(ours: dict[str, Any], reference: dict[str, Any]) -> bool:
    """The same label, and a runaway is called so by both."""
    runs_away = [found["status"] == Status.RUNAWAY for found in (ours, reference)]
    return ours["phase"] == reference["phase"] and runs_away[0] == runs_away[1]


if __name__ == "__main__":
    main(sys.argv[1], *(int(steps) for steps in sys.argv[2:3]))

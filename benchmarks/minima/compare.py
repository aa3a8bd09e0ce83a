"""A diagram's minima against the reference minima: `python -m benchmarks.minima.compare sine [folder]`.

From He's start ours are those of a whole diagram of seed 0, whose cells exchange models: the one in `folder`, which
`heteroscope map` or `heteroscope reproduce` has made, or one that is trained for this. From the paper's start, where
nothing is exchanged, the cells are trained by themselves.

A reference cell has a finite minimum where its status is not runaway. A cell agrees if its objective over rho is at
most 0.02 above the reference's; lower is better, since both minimise the same sum.
"""

import sys
from time import perf_counter
from typing import Any

import numpy as np
import xarray as xr
from benchmarks.minima.reference import CELLS, N_PROCESSES, STARTS, _key, describe, load
from scipy.special import logit

from heteroscope import datasets, open_diagram, phase_diagram
from heteroscope.engine import Task, train
from heteroscope.networks import Architecture
from heteroscope.rows import Rows
from heteroscope.stages import mean_first_recipe
from heteroscope.status import Status
from heteroscope.sweep import rows_a_step, steps_of_a_model
from heteroscope.tile import Job

CLOSE, CLOSER = 0.02, 0.001
Found = dict[str, dict[str, Any]]


def main(name: str, folder: str | None = None) -> None:
    """Print every stored cell beside ours, and how many agree."""
    split, reference = datasets.load(name, seed=0), load(name)
    began = perf_counter()
    diagram = open_diagram(folder) if folder else _diagram(split)
    ours = _of_diagram(diagram, [cell for cell in CELLS[name] if _key("he", cell) in reference])
    small = STARTS[-1]
    ours |= _trained(split, small, [cell for cell in CELLS[name] if _key(small, cell) in reference])
    seconds = perf_counter() - began
    _report(name, ours, reference, diagram)
    print(f"All of ours took {seconds:.0f} s on {N_PROCESSES} processes, compilation included.")


def _diagram(split: datasets.Split) -> xr.Dataset:
    tests = {"X_test": split.x_test, "y_test": split.y_test}
    return phase_diagram(split.x_train, split.y_train, **tests, n_jobs=N_PROCESSES)


def _of_diagram(diagram: xr.Dataset, cells: list[tuple[float, float]]) -> Found:
    found = {}
    for rho, gamma in cells:
        cell = diagram.sel(seed=0).sel(rho=rho, gamma=gamma, method="nearest")
        names = ("objective", "phase", "status", "relative_gradient", "steps")
        found[_key("he", (rho, gamma))] = {key: cell[key].item() for key in names}
    return found


def _trained(split: datasets.Split, start: str | float, cells: list[tuple[float, float]]) -> Found:
    if not cells:
        return {}
    rows = Rows(split.x_train, split.y_train, np.ones(len(split.y_train)))
    batch_size = rows_a_step("auto", len(rows.y))
    recipe = mean_first_recipe(
        Architecture(rows.x.shape[1], start=start),
        steps_of_a_model("auto", len(rows.y), batch_size),
        batch_size=batch_size,
    )
    jobs = [Job(float(logit(rho)), float(logit(gamma)), seed=0) for rho, gamma in cells]
    (fits,) = train([Task(rows.batch(rows.scaling()), jobs)], recipe, n_jobs=N_PROCESSES)
    found = describe(fits, split, recipe.architecture.activation)
    return {_key(start, cell): one for cell, one in zip(cells, found, strict=True)}


def _report(name: str, ours: Found, reference: Found, diagram: xr.Dataset) -> None:
    steps = next(iter(reference.values()))["steps"]
    print(f"{name}, at most {diagram.attrs['max_steps']:,} steps against {steps:,} of the paper's.\n")
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
    for start in STARTS:
        _count(f"From start {start}", {key: own for key, own in ours.items() if key.startswith(f"{start} ")}, reference)
    _count("Altogether", ours, reference)
    _count("The diagram against the references from both starts", _from_diagram(ours), reference)


def _from_diagram(ours: Found) -> Found:
    """What the diagram, which starts from He's weights, has at the cells of either start."""
    return {key: ours[f"he {key.split(' ', 1)[1]}"] for key in ours}


def _count(title: str, ours: Found, reference: Found) -> None:
    if not ours:
        return
    finite = [key for key in ours if reference[key]["status"] != Status.RUNAWAY]
    above = np.array([ours[key]["objective"] - reference[key]["objective"] for key in finite])
    same = sum(_same_phase(ours[key], reference[key]) for key in ours)
    print(
        f"\n{title}: {len(finite)} of {len(ours)} cells have a finite minimum; at most {CLOSE} above the reference: "
        f"{np.sum(above <= CLOSE)}; at most {CLOSER}: {np.sum(above <= CLOSER)}; same phase: {same} of {len(ours)}."
    )


def _same_phase(ours: dict[str, Any], reference: dict[str, Any]) -> bool:
    """The same label, and a runaway is called so by both."""
    runs_away = [found["status"] == Status.RUNAWAY for found in (ours, reference)]
    return ours["phase"] == reference["phase"] and runs_away[0] == runs_away[1]


if __name__ == "__main__":
    main(*sys.argv[1:3])

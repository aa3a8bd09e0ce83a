"""Compute reference minima: train with the paper's schedule to its last step, from its tiny start and from He's.

`python -m benchmarks.minima.reference sine` adds the missing cells to `benchmarks/minima/sine.json`, two at a time, and
prints each; it can be stopped and resumed at any moment. `... sine 1` uses seed 1 and writes `sine-1.json`: our
training was chosen on the cells of seed 0, so that only another seed tests it fairly. `... sine_long` takes as many
steps as the paper, 2,500,000, for a handful of the cells.
"""

import json
import sys
from importlib.metadata import version
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy.special import logit

from heteroscope import datasets
from heteroscope.core.status import Status
from heteroscope.data.rows import Rows
from heteroscope.networks import Architecture
from heteroscope.networks.ensemble import predict_members, stack_members
from heteroscope.phases.labels import label, observe, observe_held_out
from heteroscope.training.recipes import Recipe, mean_first_recipe
from heteroscope.training.steps import Job
from heteroscope.training.tile import Fit
from heteroscope.training.workers import Task, train_as_tiles

HERE = Path(__file__).parent
STEPS = {"sine": 600_000, "sine_long": 2_500_000, "yacht": 60_000, "concrete": 30_000}
STARTS = ("he", 1e-3)
PAIR = 2  # cells per tile, which one process trains together
N_PROCESSES = 2

# (rho, gamma), in an order in which the first pairs already cover the diagram
SINE = (
    *((0.9, 0.1), (0.99, 0.01), (0.5, 0.001), (0.99, 0.9), (0.999, 0.9999), (0.9, 0.001), (0.5, 0.5), (0.9, 0.5)),
    *((0.99, 0.5), (0.999, 0.1), (0.9999, 0.0001), (0.99, 0.9999), (0.1, 1e-4), (0.5, 0.01), (0.9, 0.01), (0.5, 1e-5)),
    *((0.01, 1e-6), (0.999, 0.99), (0.9, 0.99), (1e-4, 0.5)),
)
TABLE = ((0.9, 0.1), (0.99, 0.01), (0.5, 0.001), (0.99, 0.9), (0.999, 0.9999), (0.5, 0.5), (0.999, 0.1), (0.99, 0.5))
CELLS = {"sine": SINE, "sine_long": SINE[:8], "yacht": TABLE, "concrete": TABLE}


def main(name: str, seed: int = 0) -> None:
    """Train the cells of one data set that are not in its file yet."""
    split = datasets.load(name.removesuffix("_long"), seed=0)
    rows = Rows(split.x_train, split.y_train, np.ones(len(split.y_train)))
    scaling = rows.scaling()
    for start in STARTS:
        recipe = paper_recipe(rows.x.shape[1], STEPS[name], start)
        missing = [cell for cell in CELLS[name] if cell_key(start, cell) not in load(name, seed)]
        pairs = [missing[first : first + PAIR] for first in range(0, len(missing), PAIR)]
        batch = rows.batch(scaling)
        tasks = [Task(batch, [Job(float(logit(rho)), float(logit(g)), seed) for rho, g in pair]) for pair in pairs]
        began = perf_counter()
        for index, fits in train_as_tiles(tasks, recipe, n_jobs=N_PROCESSES):
            found = describe(fits, split, recipe.architecture.activation)
            _add(name, seed, {cell_key(start, cell): one for cell, one in zip(pairs[index], found, strict=True)})
            print(f"{perf_counter() - began:6.0f} s", start, *zip(pairs[index], found, strict=True), flush=True)


def paper_recipe(n_features: int, steps: int, start: str | float) -> Recipe:
    """Return the paper's schedule, in which every model trains to its last step."""
    recipe = mean_first_recipe(Architecture(n_features, start=start), steps, schedule="paper")
    return recipe._replace(retires=False)


def describe(fits: list[Fit], split: datasets.Split, activation: str) -> list[dict[str, Any]]:
    """Return objective over rho, status, relative gradient and phase of each fit; the phase uses test rows, too."""
    scaling = Rows(split.x_train, split.y_train, np.ones(len(split.y_train))).scaling()
    x = np.concatenate([split.x_train, split.x_test])
    means, stds = predict_members(stack_members([fit.params for fit in fits]), x, scaling, activation)
    n = len(split.y_train)
    found = []
    for fit, mean, std in zip(fits, means, stds, strict=True):
        held_out = observe_held_out(split.y_test, mean[n:], std[n:], split.y_train)
        observables = observe(split.y_train, mean[:n], std[:n], held_out=held_out)
        numbers = {f"held_out_{key}": value for key, value in held_out._asdict().items()}
        numbers |= {key: value for key, value in observables._asdict().items() if key != "held_out"}
        found.append(
            {
                "objective": round(fit.objective, 6),
                "status": str(fit.status),
                "phase": str(label(observables, runaway=fit.status == Status.RUNAWAY)),
                "relative_gradient": float(f"{fit.relative_gradient:.3g}"),
                "steps": fit.steps,
                **{key: float(f"{value:.4g}") for key, value in numbers.items()},
            }
        )
    return found


def load(name: str, seed: int = 0) -> dict[str, dict[str, Any]]:
    """Return the stored cells by their keys."""
    path = _file(name, seed)
    return json.loads(path.read_text())["cells"] if path.exists() else {}


def _file(name: str, seed: int) -> Path:
    """Return the file of a data set and seed."""
    return HERE / (f"{name}-{seed}.json" if seed else f"{name}.json")


def cell_key(start: str | float, cell: tuple[float, float]) -> str:
    """Return the key of a stored cell: "start rho gamma"."""
    return f"{start} {cell[0]:g} {cell[1]:g}"


def _add(name: str, seed: int, found: dict[str, dict[str, Any]]) -> None:
    """Add cells to the file, in the order of CELLS."""
    cells = load(name, seed) | found
    order = [cell_key(start, cell) for start, cell in product(STARTS, CELLS[name])]
    lines = ",\n".join(f'  "{key}": {json.dumps(cells[key])}' for key in order if key in cells)
    head = json.dumps({"data_set": name, "seed": seed, "steps": STEPS[name], "heteroscope": version("heteroscope")})
    path = _file(name, seed)
    partial = path.with_suffix(".part")
    partial.write_text(f'{head[:-1]}, "cells": {{\n{lines}\n}}}}\n')
    partial.replace(path)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))

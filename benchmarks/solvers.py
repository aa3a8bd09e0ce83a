"""Measure the GFLOPS of a training step, and their share of a large sgemm's, by number of rows and hidden size.

Prints one row per solver and hidden size, with one column per number of rows. Each program is the one that the engine
compiles, run with one thread. Only matrix products count as work and only processor time as time. A program and the
sgemm take turns, so that a change of the machine's load affects both.
"""

import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from time import process_time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from heteroscope.data.rows import Batch
from heteroscope.networks import Architecture
from heteroscope.training.recipes import Recipe, mean_first_recipe
from heteroscope.training.stages import Stage
from heteroscope.training.steps import Job, init_model, lanes, train_on_rows, with_new_optimiser
from heteroscope.training.workers import pad

ROWS = (64, 256, 1024, 4096)
HIDDEN = (64, 128, 256)
N_FEATURES = 8
N_TURNS = 3
SECONDS_A_TURN = 0.25
SGEMM_SIZE = 2000


def main() -> None:
    """Print the table from a new process, because JAX reads its number of threads only when it starts."""
    subprocess.run([sys.executable, "-m", "benchmarks.solvers"], env=os.environ | {"PJRT_NPROC": "1"}, check=True)


def table() -> None:
    """Print the table of BENCHMARKS.md: the median of a few turns in one process."""
    sgemm = _sgemm()
    sgemm()
    print("## Solvers: distance from the limit\n")
    print(f"One thread, three hidden layers, {N_FEATURES} features; GFLOPS of the matrix products, and as a share of a")
    print(f"{SGEMM_SIZE} x {SGEMM_SIZE} sgemm in the same turns. Lanes are models side by side in one program.\n")
    print("| solver | hidden | lanes | " + " | ".join(f"N = {n:,}" for n in ROWS) + " |")
    print("|---|---:|---:|" + "---:|" * len(ROWS))
    limits = []
    for hidden in HIDDEN:
        recipe = mean_first_recipe(Architecture(N_FEATURES, (hidden,) * 3), 1000, "fast")
        joint = recipe.stages[1]
        for name, stage in {
            "both networks": joint,
            "one network, the other constant": joint.holding("precision"),
        }.items():
            cells = []
            for n_rows in ROWS:
                ours, limit = _turns(_program(stage, recipe, n_rows), sgemm)
                limits.append(limit)
                cells.append(f"{ours:.0f} ({ours / limit:.0%})")
            print(f"| {name} | {hidden} | {lanes(recipe)} | {' | '.join(cells)} |", flush=True)
    print(f"\nThe sgemm itself: {min(limits):.0f} to {max(limits):.0f} GFLOPS.")


def _turns(ours: Callable[[], float], sgemm: Callable[[], float]) -> tuple[float, float]:
    """Return the median GFLOPS of the program and of the sgemm, which take turns."""
    pairs = [(ours(), sgemm()) for _ in range(N_TURNS)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def _program(stage: Stage, recipe: Recipe, n_rows: int) -> Callable[[], float]:
    """Return a function that runs the engine's compiled program for a while and returns its GFLOPS."""
    random = np.random.default_rng(0)
    rows = pad(Batch(random.normal(size=(n_rows, N_FEATURES)), random.normal(size=n_rows), np.ones(n_rows)), n_rows)
    width = lanes(recipe)
    model = with_new_optimiser(init_model(Job(4.0, -2.0, seed=0), recipe), stage)
    models = model if width == 1 else jax.tree.map(lambda leaf: np.stack([leaf] * width), model)

    def seconds(n_steps: int) -> float:
        start = process_time()
        jax.block_until_ready(train_on_rows(models, rows, n_steps, stage, recipe))
        return process_time() - start

    seconds(1)
    work = width * _flops(stage, recipe, n_rows) / 1e9
    n_steps = max(4, int(SECONDS_A_TURN / (seconds(4) / 4)))
    return lambda: n_steps * work / seconds(n_steps)


def _flops(stage: Stage, recipe: Recipe, n_rows: int) -> float:
    """Count multiplications and additions of one step: output, weight gradients and input gradients."""
    sizes = (recipe.architecture.n_features, *recipe.architecture.hidden, 1)
    products = [n_in * n_out for n_in, n_out in pairwise(sizes)]
    return 2.0 * len(stage.trains) * n_rows * (2 * sum(products) + sum(products[1:]))


def _sgemm() -> Callable[[], float]:
    """Return a function that multiplies two large matrices by JAX with one thread and returns its GFLOPS."""
    random = np.random.default_rng(0)
    left, right = (jnp.asarray(random.normal(size=(SGEMM_SIZE, SGEMM_SIZE)), jnp.float32) for _ in range(2))
    product: Any = jax.jit(jnp.matmul)
    jax.block_until_ready(product(left, right))

    def turn() -> float:
        start = process_time()
        jax.block_until_ready(product(left, right))
        return 2 * SGEMM_SIZE**3 / (process_time() - start) / 1e9

    return turn


if __name__ == "__main__":
    table()

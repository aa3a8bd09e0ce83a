"""Measure what it costs a sweep to survive a power cut: the seconds in which tiles are synced, marked and checked.

A tile of the paper's grid (22 gammas, 512 rows) is written to a store with and without syncing. The last lines compare
that with the training of the same tile by the engine, on one core.
"""

import statistics
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from unittest import mock

import numpy as np
import xarray as xr
from benchmarks.sweep import full_template
from scipy.special import logit

from heteroscope import datasets, open_diagram
from heteroscope.core.grids import NETWORK_GRID
from heteroscope.data.rows import Rows
from heteroscope.diagrams.resumable_store import CODES, open_round, open_store
from heteroscope.networks.model import Architecture
from heteroscope.training.recipes import mean_first_recipe
from heteroscope.training.steps import Job
from heteroscope.training.workers import Task, train_as_tiles

STEPS = 2000  # of each model; "auto" is at least 4,000
N_TILES = 22  # of the store, all of which are written
N_WEIGHTS = 67_330  # of a mean and a precision network of 3 x 128 units on one feature


def main() -> None:
    """Print the table."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        template, random = full_template(n_seeds=1), np.random.default_rng(0)
        names = [name for name, part in template.data_vars.items() if part.dims[:3] == ("rho", "gamma", "seed")]
        tile = {name: random.lognormal(size=template[name][0, :, 0].shape) for name in names}
        tile |= {name: np.zeros(22, np.int8) for name in CODES}
        synced = _write(place / "synced", template, tile)
        with mock.patch("os.fsync"):
            plain = _write(place / "plain", template, tile)
        start = perf_counter()
        open_diagram(place / "synced")
        opened = perf_counter() - start
    trained = _train()
    print(f"A tile of 22 models and 512 rows, median of {N_TILES}; {STEPS} steps a model.\n")
    print("| | ms a tile |\n|---|---:|")
    print(f"| written to the diagram, synced and marked | {1e3 * synced[0]:.0f} |")
    print(f"| the same without syncing | {1e3 * plain[0]:.0f} |")
    print(f"| its models written for the next round, synced and marked | {1e3 * synced[1]:.0f} |")
    print(f"| the same without syncing | {1e3 * plain[1]:.0f} |")
    print(f"| trained by the engine, one core | {1e3 * trained:,.0f} |")
    print(f"| engine over engine and both writes | {trained / (trained + sum(synced)):.3f} |")
    print(f"| checked and opened | {1e3 * opened / N_TILES:.0f} |")


def _write(folder: Path, template: xr.Dataset, tile: dict[str, np.ndarray]) -> tuple[float, float]:
    """Return the median seconds of writing a tile to a store, and its models to the store of a round."""
    models = {
        "weights": np.random.default_rng(0).standard_normal((22, N_WEIGHTS)).astype(np.float32),
        "objective_terms": np.ones((22, 3)),
        "steps": np.ones(22, np.int32),
    }
    taken: tuple[list[float], list[float]] = ([], [])
    with open_store(folder, template, {}) as store:
        rounds = open_round(folder, 0, (N_TILES, 22, 1), N_WEIGHTS)
        for row in range(N_TILES):
            for cells, values, seconds in ((store, tile, taken[0]), (rounds, models, taken[1])):
                start = perf_counter()
                cells.add((row, 0), values)
                seconds.append(perf_counter() - start)
    return statistics.median(taken[0]), statistics.median(taken[1])


def _train() -> float:
    """Return the median seconds in which one core trains a tile, after its programs are compiled."""
    split = datasets.load("sine", seed=0)
    rows = Rows(split.x_train, split.y_train, np.ones(len(split.y_train)))
    jobs = [Job(2.0, float(logit(gamma)), 0) for gamma in NETWORK_GRID]
    task = Task(rows.batch(rows.scaling()), jobs)
    recipe = mean_first_recipe(Architecture(1), STEPS)
    seconds = []
    for _ in range(3):
        start = perf_counter()
        for _ in train_as_tiles([task], recipe, n_jobs=1):
            pass
        seconds.append(perf_counter() - start)
    return statistics.median(seconds[1:])


if __name__ == "__main__":
    main()

"""Measure the overhead of a sweep over its training, and the time to open and draw a full-size diagram.

Prints two tables of seconds. The overhead compares a sweep with a store to the engine alone, which trains the same
tiles in the same worker processes; the two take turns. The full-size store (22 x 22 cells, 6 seeds, 512 rows) is filled
with made-up numbers.
"""

import statistics
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import xarray as xr
from scipy.special import logit

from heteroscope import datasets, open_diagram, phase_diagram
from heteroscope.core.grids import NETWORK_GRID
from heteroscope.data.rows import Rows
from heteroscope.diagrams.resumable_store import CODES, NAME, DiagramStore, open_store
from heteroscope.networks import Architecture
from heteroscope.plots import diagonal_slices, diagram_array, phase_maps, schematic
from heteroscope.report import write_report
from heteroscope.training.recipes import mean_first_recipe
from heteroscope.training.steps import Job
from heteroscope.training.workers import Task, train_as_tiles

N_PROCESSES = 2
N_TURNS = 3
STEPS = 2000
RHOS, GAMMAS = NETWORK_GRID[11::2], NETWORK_GRID[::3]


def main() -> None:
    """Print both tables."""
    with TemporaryDirectory() as folder:
        _overhead(Path(folder))
        _opening(Path(folder))


def _overhead(folder: Path) -> None:
    """Print the seconds of the engine alone and of the sweep."""
    split = datasets.load("sine", seed=0)
    rows = Rows(split.x_train, split.y_train, np.ones(len(split.y_train)))
    recipe = mean_first_recipe(Architecture(1), STEPS)
    batch = rows.batch(rows.scaling())
    tasks = [Task(batch, [Job(float(logit(rho)), float(logit(gamma)), 0) for gamma in GAMMAS]) for rho in RHOS]

    def engine(_: int) -> None:
        for _ in train_as_tiles(tasks, recipe, n_jobs=N_PROCESSES):
            pass

    def sweep(turn: int) -> None:
        phase_diagram(
            split.x_train,
            split.y_train,
            X_test=split.x_test,
            y_test=split.y_test,
            rhos=RHOS,
            gammas=GAMMAS,
            max_steps=STEPS,
            n_jobs=N_PROCESSES,
            store=folder / f"turn {turn}",
        )

    engine(-1)
    sweep(-1)  # both have now been compiled
    seconds: dict = {engine: [], sweep: []}
    for turn in range(N_TURNS):  # in turns, so that a change of the machine's load affects both
        for arm, taken in seconds.items():
            taken.append(_seconds(arm, turn))
    shares = [alone / whole for alone, whole in zip(seconds[engine], seconds[sweep], strict=True)]
    n_models = len(RHOS) * len(GAMMAS)
    print(f"{n_models} models of {STEPS} steps, {N_PROCESSES} processes, median of {N_TURNS} turns.\n")
    print("| | seconds |\n|---|---:|")
    print(f"| the engine alone | {statistics.median(seconds[engine]):.1f} |")
    print(f"| the sweep: training, scores, labels, store | {statistics.median(seconds[sweep]):.1f} |")
    print(f"| engine over sweep, turn by turn | {', '.join(f'{share:.2f}' for share in shares)} |\n")


def _seconds(arm: Callable[[int], None], turn: int) -> float:
    """Return the seconds of one turn."""
    start = perf_counter()
    arm(turn)
    return perf_counter() - start


def _opening(folder: Path) -> None:
    """Print the seconds of opening a full-size diagram and of each of its figures."""
    _fill(folder / "full")
    start = perf_counter()
    diagram = open_diagram(folder / "full")
    seconds = {"opening the store": perf_counter() - start}
    drawn = {
        "heat maps of the scores": lambda: diagram_array({"sine": diagram}),
        "their spread over seeds": lambda: diagram_array({"sine": diagram}, statistic="std"),
        "slices along the diagonal": lambda: diagonal_slices({"sine": diagram}),
        "map of phases with typical fits": lambda: schematic(diagram),
        "label maps": lambda: phase_maps({"sine": diagram}),
    }
    for name, draw in drawn.items():
        start = perf_counter()
        draw().savefig(folder / "figure.png")
        seconds[name] = perf_counter() - start
    start = perf_counter()
    write_report(diagram, folder / "page.html")
    seconds[f"the page ({(folder / 'page.html').stat().st_size / 1e6:.1f} MB)"] = perf_counter() - start
    files = sum(1 for path in (folder / "full" / NAME).rglob("*") if path.is_file())
    cells = " x ".join(str(diagram.sizes[name]) for name in ("rho", "gamma", "seed"))
    print(f"{cells} cells with {diagram.sizes['row']} rows each, {files} files.\n")
    print("| | seconds |\n|---|---:|")
    for name, value in seconds.items():
        print(f"| {name} | {value:.1f} |")
    print(f"| together | {sum(seconds.values()):.1f} |")


def _fill(folder: Path) -> None:
    """Write a full-size store of made-up numbers, with the variables of a tiny sweep."""
    full = full_template(n_seeds=6)
    with open_store(folder, full, {}) as store:
        _fill_tiles(store, full, np.random.default_rng(0))


def full_template(n_seeds: int) -> xr.Dataset:
    """Return a diagram of full size before any tile is trained."""
    random = np.random.default_rng(0)
    x, x_test = random.normal(size=(2, 256, 1))
    y, y_test = np.sin(3 * x[:, 0]), np.sin(3 * x_test[:, 0])
    template = phase_diagram(
        x, y, X_test=x_test, y_test=y_test, rhos=[0.5], gammas=[0.5], n_seeds=1, hidden=(4,), max_steps=20, name="sine"
    )
    axes = {"rho": NETWORK_GRID, "gamma": NETWORK_GRID, "seed": np.arange(n_seeds)}
    full = template.reindex(axes, fill_value=dict.fromkeys(CODES, ""))
    for name in CODES:
        full[name] = (full[name].dims, np.zeros(full[name].shape, np.int8))
    return full


def _fill_tiles(store: DiagramStore, full, random: np.random.Generator) -> None:
    """Write every tile of the store."""
    per_cell = [name for name, variable in full.data_vars.items() if variable.dims[:3] == ("rho", "gamma", "seed")]
    for row in range(full.sizes["rho"]):
        for seed in range(full.sizes["seed"]):
            tile = {name: random.lognormal(size=full[name][row, :, seed].shape) for name in per_cell}
            tile["phase"] = np.clip((np.arange(22) + row) // 9, 0, 4).astype(np.int8)
            tile["status"] = np.zeros(22, np.int8)
            store.add((row, seed), tile)


if __name__ == "__main__":
    main()

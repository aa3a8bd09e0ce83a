"""Draw the pictures of the documentation: `python docs/make_images.py [NAME ...]`.

Without names all pictures are drawn: about twenty minutes on two cores, and half an hour more for `bayesian-maps`.
"""

import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from make_results import save_in_few_colours
from matplotlib.figure import Figure

from heteroscope import datasets, field, field_diagram, phase_diagram
from heteroscope.datasets import simulated
from heteroscope.diagrams import dressed_diagram, mean_jump, posterior_diagram
from heteroscope.paper import run_demo
from heteroscope.plots import (
    diagonal_figure,
    diagram_array,
    fold_figure,
    penalty_law_figure,
    phase_maps,
    posterior_maps,
    save_figure,
    schematic,
    search_regret_figure,
)

sys.path.insert(0, str(Path(__file__).parent.parent))  # the benchmarks have the records
from benchmarks.dressed_theory import recorded_law, recorded_networks
from benchmarks.penalty_law import PAPER_NETWORK, load_cells, runs
from benchmarks.theory_search import RECORDS, compared
from benchmarks.undressed import solved, trained

IMAGES = Path(__file__).parent / "images"
POINTS = 4096  # of a field-theory diagram
FOLD_POINTS = [256, 512, 1024, 2048, 4096]


def main(chosen: list[str]) -> None:
    """Draw the chosen pictures, or all."""
    pictures = {"demo": demo, "field-sine": field_sine, "field-sets": field_sets, "fold": fold}
    pictures |= {"onsets": onsets, "penalty-law": penalty_law, "dressed": dressed}
    pictures |= {f"undressed-{name}": partial(undressed, name) for name in ("sine", "curve")}
    pictures |= {"theory-search": theory_search, "bayesian-maps": bayesian_maps}
    pictures |= {"map-sine": partial(map_sine, "he"), "map-sine-small-start": partial(map_sine, 1e-3)}
    for name in chosen or pictures:
        store(pictures[name](), name)


def demo() -> Figure:
    """Draw the figure of `heteroscope demo`."""
    return diagonal_figure(run_demo().results)


def field_sine() -> Figure:
    """Draw the phases of the field theory of sine."""
    return schematic(diagram("sine"), "Field theory of sine")


def field_sets() -> Figure:
    """Draw the metrics of the field theory of every simulated set."""
    return diagram_array({name: diagram(name) for name in simulated.PROCESSES}, split="train")


def onsets() -> Figure:
    """Draw the closed-form boundaries over the theory of sine, and over networks the jump that the law predicts."""
    x, y, y_test = simulated.field_draws("sine", 512)
    corner = field.flat_onsets(field.chain(x), y)
    _, rows, target, networks = recorded("sine")
    jump = mean_jump(field.chain(rows, "points"), target, recorded_law("mean")).alpha
    shown = {"theory, 512 points": field_diagram(x, y, y_test=y_test, folds=False), "networks": networks}
    lines = {"theory, 512 points": (corner.alpha, corner.beta), "networks": (jump, np.inf)}
    return phase_maps(shown, onsets=lines)


def penalty_law() -> Figure:
    """Draw the law of the penalty from the runs on record."""
    sets: dict[str, dict[str, tuple[np.ndarray, np.ndarray]]] = {}
    for run in runs():
        cells = load_cells(run.name)
        if cells is not None and len(cells.energy):
            network = f"{len(run.hidden)} x {run.hidden[0]} {run.activation.replace('_', ' ')}"
            paper = (run.hidden, run.activation) == PAPER_NETWORK
            if paper:
                sets.setdefault(f"{run.output}, {network}", {})[run.data.replace("_", " ")] = cells[1:]
            if run.data == "sine":
                sets.setdefault(f"{run.output} on sine", {})[network] = cells[1:]
    return penalty_law_figure({title: sets[title] for title in sorted(sets)})


def dressed() -> Figure:
    """Draw networks on record beside the plain and the dressed theory, for two sets that the law was not fitted on."""
    shown = {}
    for name in ("curve", "cubic_homoskedastic"):
        split, x, y, networks = recorded(name)
        grid = {"rhos": networks.rho.values, "gammas": networks.gamma.values}
        test = {"x_test": split.x_test[:, 0], "y_test": split.y_test}
        shown[f"{name.replace('_', ' ')}: networks"] = networks
        shown[f"{name.replace('_', ' ')}: dressed theory"] = dressed_diagram(
            x, y, recorded_law("mean"), recorded_law("precision"), **test, **grid
        )
    return phase_maps(shown)


def undressed(name: str) -> Figure:
    """Draw the plain theory beside networks with its penalty and with that of weights."""
    shown = {f"{name}: plain theory": solved(name)}
    for penalty in ("gradients", "weights"):
        shown[f"networks, penalty of {penalty}"] = trained(name, "leaky_relu", penalty)
    return phase_maps(shown)


def theory_search() -> Figure:
    """Draw the regret and the steps of the search by theory and of that from random points, from the fits on record."""
    found = compared(pd.read_csv(RECORDS))
    titles = {"theory": "from the theory's point", "random": "from a random point"}
    return search_regret_figure(found.replace({"method": titles}), aims=(0.02, 0.25))


def recorded(name: str) -> tuple[datasets.Split, np.ndarray, np.ndarray, xr.Dataset]:
    """Return the split of a set, its training rows in order, and the networks on record."""
    split = datasets.load(name)
    order = np.argsort(split.x_train[:, 0])
    return split, split.x_train[order, 0], split.y_train[order], recorded_networks(name)


def map_sine(start: str | float) -> Figure:
    """Draw the phases of networks on the sine set.

    This takes about five minutes on two cores, twice as long from a small start; the diagram is kept in the system's
    temporary folder.
    """
    split = datasets.load("sine")
    found = phase_diagram(
        split.x_train,
        split.y_train,
        X_test=split.x_test,
        y_test=split.y_test,
        name="sine",
        start=start,
        n_jobs=2,
        store=Path(tempfile.gettempdir()) / f"heteroscope-map-sine-{start}",
        identity=split.identity,
    )
    return schematic(found, "Networks on the sine set" if start == "he" else f"Networks, start of {start}")


def fold() -> Figure:
    """Draw the fold over the number of points: it moves for a noisy draw, and stays for the draw's mean alone."""
    noisy = [field.fold(*simulated.field_draw("sine", n), gamma=0.01).logit_rho for n in FOLD_POINTS]
    smooth = []
    for n in FOLD_POINTS:
        x, _ = simulated.field_draw("sine", n)
        mean = simulated.field_truth("sine", n).mean(x)
        smooth.append(field.fold(x, (mean - mean.mean()) / mean.std(), gamma=0.01).logit_rho)
    return fold_figure(FOLD_POINTS, {"one noisy draw": noisy, "its mean alone, standardised": smooth})


def bayesian_maps() -> Figure:
    """Draw the diagram of the minimum beside those of the posterior mean; sampling takes half an hour on one core."""
    x, y, y_test = simulated.field_draws("sine", 128)
    grid = [1e-6, 1e-4, 1e-2, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1 - 1e-5, 1 - 1e-6]
    return posterior_maps(
        {
            "minimum": field_diagram(x, y, y_test=y_test),
            "posterior mean, variational": posterior_diagram(x, y, y_test=y_test),
            "posterior mean, hmc": posterior_diagram(x, y, y_test=y_test, rhos=grid, gammas=grid, method="hmc"),
        }
    )


def diagram(name: str) -> xr.Dataset:
    """Return the diagram that `heteroscope field` makes."""
    x, y, y_test = simulated.field_draws(name, POINTS)
    return field_diagram(x, y, y_test=y_test, n_jobs=2)


def store(figure: Figure, name: str) -> None:
    """Save a picture with few colours in docs/images."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder) / "figure.png"
        save_figure(figure, drawn)
        save_in_few_colours(drawn, IMAGES / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])

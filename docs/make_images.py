"""Draw the pictures of the documentation: `python docs/make_images.py [NAME ...]`.

Without names all pictures are drawn, which takes about twenty minutes on two cores.
"""

import sys
import tempfile
from functools import partial
from pathlib import Path

import xarray as xr
from make_results import save_in_few_colours
from matplotlib.figure import Figure

from heteroscope import datasets, field, field_diagram, phase_diagram
from heteroscope.datasets import simulated
from heteroscope.diagrams import posterior_diagram
from heteroscope.paper import run_demo
from heteroscope.plots import diagonal_figure, diagram_array, fold_figure, posterior_maps, save_figure, schematic

IMAGES = Path(__file__).parent / "images"
POINTS = 4096  # of a field-theory diagram
FOLD_POINTS = [256, 512, 1024, 2048, 4096]


def main(chosen: list[str]) -> None:
    """Draw the chosen pictures, or all."""
    pictures = {"demo": demo, "field-sine": field_sine, "field-sets": field_sets, "fold": fold}
    pictures["bayesian-maps"] = bayesian_maps
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

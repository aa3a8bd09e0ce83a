"""Draw metrics of diagrams as heat maps over (rho, gamma): one row per metric, one column per diagram."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import AsinhNorm, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogFormatterMathtext, LogLocator, MaxNLocator, NullLocator

from heteroscope.core import InputError
from heteroscope.plots.cells import Cells, Diagrams, GridValues, by_name, read_cells, shown_split, summarised
from heteroscope.plots.panels import (
    BOUNDARY,
    HALO,
    Margins,
    cover_beyond_fold,
    diagram_axes,
    draw_boundaries,
    draw_diagonal,
    draw_fold,
    hatch_cells,
    legend_below,
    legend_height,
    marks,
    panel_grid,
    up_to_fold,
)
from heteroscope.plots.regions import Regions, smooth_regions
from heteroscope.plots.style import house_style, literal, metric_name, tick_text

MAIN_METRICS = ("mean_mse", "std_mse", "mean_energy", "precision_energy")
QUANTILES = (0.02, 0.98)  # a colour scale runs between these quantiles of its cells; values beyond have its end colours
SMALLEST = 1e-24  # lowest end of a logarithmic scale, as a share of its upper end: smaller values are rounding errors
COLOURS = "viridis"

PANEL = 1.25  # width and height in inches
GAP = 0.13  # inches between panels
TICK_LABELS = 0.33  # inches for the numbers beside an axis or a colour bar
TITLE_WIDTH = 17  # letters per line of a panel's title
TITLE_LINE = 0.16  # inches per line of a title


class _Column(NamedTuple):
    """One diagram of the figure."""

    title: str
    diagram: xr.Dataset
    cells: Cells
    regions: Regions


def diagram_array(
    diagrams: Diagrams,
    metrics: Sequence[str] = MAIN_METRICS,
    split: str = "test",
    statistic: str = "mean",
    shared_scale: bool = True,
) -> Figure:
    """Draw metrics of diagrams as heat maps with logarithmic colours, one row per metric and one column per diagram.

    Lines separate the phases that most seeds are in. Runaways are hatched; cells without a finished model are white.

    Parameters
    ----------
    diagrams : xarray.Dataset or mapping of names to Datasets
        What `phase_diagram` or `field_diagram` returned.
    metrics : sequence of str, default=("mean_mse", "std_mse", "mean_energy", "precision_energy")
        Variables of the diagrams.
    split : {"test", "train"}, default="test"
        Rows on which the metrics were measured; a diagram without test rows shows its training rows and says so.
    statistic : {"mean", "std"}, default="mean"
        Mean or standard deviation over seeds.
    shared_scale : bool, default=True
        Whether all diagrams share one colour scale per metric. A scale runs from the 2 % to the 98 % quantile.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not metrics:
        raise InputError("there is no metric to draw: give at least one name, such as 'mean_mse'")
    columns = [_column(name, diagram, split, statistic) for name, diagram in by_name(diagrams).items()]
    values = [[summarised(column.diagram, metric, split, statistic) for column in columns] for metric in metrics]
    legend = _legend(columns)
    with house_style():
        figure, axes = _panels(columns, len(metrics), shared_scale, legend)
        for row, metric, found in zip(axes, metrics, values, strict=True):
            scales = [_scale(found)] * len(row) if shared_scale else [_scale([one]) for one in found]
            for ax, column, one, scale in zip(row, columns, found, scales, strict=True):
                image = _draw(ax, column, one, scale)
                if ax is row[-1] or not shared_scale:
                    _colour_bar(ax, image, scale)
            what = literal(metric_name(metric))
            row[0].set_ylabel(f"{what}\n$\\gamma$" if statistic == "mean" else f"{what},\nstd over seeds\n$\\gamma$")
        _label(axes, columns)
        legend_below(figure, legend)
    return figure


def _column(name: str, diagram: xr.Dataset, split: str, statistic: str) -> _Column:
    if statistic == "std" and diagram.sizes["seed"] < 2:
        raise InputError(f"{name!r} holds one seed, so it has no std: leave it out, or train more seeds")
    cells = read_cells(diagram)
    title = literal(name, TITLE_WIDTH)
    if shown_split(diagram, split) != split:
        title += "\n(training rows)"
    return _Column(title, diagram, cells, smooth_regions(cells))


def _panels(
    columns: list[_Column], n_rows: int, shared_scale: bool, legend: dict[str, Artist]
) -> tuple[Figure, np.ndarray]:
    bar = 0.2 + TICK_LABELS
    gaps = [
        GAP + (0.0 if _same_gamma(*pair) else TICK_LABELS) + (0.0 if shared_scale else bar)
        for pair in pairwise(columns)
    ]
    left, right = 0.95, bar + 0.1
    width = left + len(columns) * PANEL + sum(gaps) + right
    lines = max(column.title.count("\n") + 1 for column in columns)
    margins = Margins(left, right, 0.4 + legend_height(width, legend), 0.12 + lines * TITLE_LINE)
    return panel_grid(n_rows, len(columns), (PANEL, PANEL), (gaps, GAP), margins)


def _same_gamma(left: _Column, right: _Column) -> bool:
    """Return whether two neighbouring diagrams can share the tick labels of the vertical axis."""
    return np.array_equal(left.cells.gamma_edges[[0, -1]], right.cells.gamma_edges[[0, -1]])


def _label(axes: np.ndarray, columns: list[_Column]) -> None:
    shows_numbers = [True] + [not _same_gamma(*pair) for pair in pairwise(columns)]
    for (i, j), ax in np.ndenumerate(axes):
        ax.tick_params(labelbottom=i == len(axes) - 1, labelleft=shows_numbers[j], length=2.5, pad=2)
    for ax, column in zip(axes[0], columns, strict=True):
        ax.set_title(column.title, fontsize=9)
    for ax in axes[-1]:
        ax.set_xlabel(r"$\rho$", labelpad=1)


class _ColourScale(NamedTuple):
    """A colour scale: logarithmic, or if there are negative values linear near zero and logarithmic beyond."""

    low: float
    high: float
    logarithmic: bool
    extend: Literal["neither", "min", "max", "both"]

    def norm(self) -> Normalize:
        """Return matplotlib's map from values to colours."""
        return LogNorm(self.low, self.high) if self.logarithmic else AsinhNorm(1.0, self.low, self.high)


def _scale(values: Sequence[Float[np.ndarray, "_ _"]]) -> _ColourScale:
    """Return the scale between two quantiles of the values; its colour bar has an arrow where values lie beyond."""
    known = np.concatenate([one[np.isfinite(one)] for one in values])
    positive = known[known > 0]
    logarithmic = not (known < 0).any()
    if not logarithmic:
        low, high = np.quantile(known, QUANTILES)
        high = max(high, low + 1e-6)
    elif len(positive):
        low, high = 10.0 ** np.quantile(np.log10(positive), QUANTILES)
        low, high = max(low, high * SMALLEST), max(high, low * 1.01)
    else:
        low, high = 0.1, 10.0
    beyond = (bool((known < low).any()), bool((known > high).any()))
    ends: dict[tuple[bool, bool], Literal["neither", "min", "max", "both"]] = {
        (False, False): "neither",
        (True, False): "min",
        (False, True): "max",
        (True, True): "both",
    }
    return _ColourScale(float(low), float(high), logarithmic, ends[beyond])


def _draw(ax: Axes, column: _Column, values: GridValues, scale: _ColourScale) -> QuadMesh:
    cells = column.cells
    diagram_axes(ax, cells, n_ticks=4)
    if scale.logarithmic:
        values = np.maximum(values, np.finfo(float).tiny)  # zeros get the lowest colour instead of none
    shown = up_to_fold(values, cells)
    image = ax.pcolormesh(cells.rho_edges, cells.gamma_edges, shown.T, cmap=COLOURS, norm=scale.norm(), rasterized=True)
    if cells.fold.size:
        cover_beyond_fold(ax, cells, "white")
    else:
        hatch_cells(ax, cells, cells.lost)
    draw_boundaries(ax, column.regions, path_effects=HALO, **BOUNDARY)
    draw_diagonal(ax, cells)
    draw_fold(ax, cells)
    return image


def _colour_bar(ax: Axes, image: QuadMesh, scale: _ColourScale) -> None:
    bar = ax.figure.colorbar(image, cax=ax.inset_axes((1.06, 0.0, 0.07, 1.0)), extend=scale.extend, extendfrac=0.07)
    bar.ax.tick_params(length=2, pad=2, labelsize=7)
    bar.outline.set_linewidth(0.5)
    if scale.logarithmic:
        decades = np.log10(scale.high / scale.low)
        locator = LogLocator(subs=(1.0,) if decades > 2 else (1.0, 2.0, 5.0), numticks=6)
        bar.ax.yaxis.set_major_locator(locator if decades > 0.7 else MaxNLocator(3))
        numbers = FuncFormatter(lambda value, _: tick_text(value) if decades > 0.3 else f"{value:.3g}")
        bar.ax.yaxis.set_major_formatter(numbers if decades <= 4 else LogFormatterMathtext())
    bar.ax.yaxis.set_minor_locator(NullLocator())


def _legend(columns: list[_Column]) -> dict[str, Artist]:
    return {"boundary of phases": Line2D([], [], **BOUNDARY)} | marks(column.cells for column in columns)

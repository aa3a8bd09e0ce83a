"""Place panels of equal size, and draw what all panels of diagrams share: axes, lines, hatches and legends."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Shaped
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from matplotlib.patheffects import Normal, Stroke
from scipy.special import expit, logit

from heteroscope.plots.cells import Cells
from heteroscope.plots.regions import Regions
from heteroscope.plots.style import GREY, INK, logit_axis, new_figure

HATCHES = {"theory": "/////", "networks": "....."}  # of runaways
HALO = [Stroke(linewidth=1.8, foreground="white", alpha=0.7), Normal()]
LEGEND_LINE, LEGEND_LETTER, LEGEND_GAP = 0.175, 0.058, 0.1  # inches: a line, a letter, space above a group

BOUNDARY: dict[str, Any] = {"color": INK, "linewidth": 0.8}
FOLD: dict[str, Any] = {"color": INK, "linewidth": 1.6}
DIAGONAL: dict[str, Any] = {"color": INK, "linewidth": 0.7, "linestyle": (0, (4, 3))}


class Margins(NamedTuple):
    """Space around the panels in inches."""

    left: float
    right: float
    bottom: float
    top: float


def panel_grid(
    n_rows: int, n_columns: int, size: tuple[float, float], gap: tuple[Sequence[float], float], margins: Margins
) -> tuple[Figure, np.ndarray]:
    """Return a figure and its panels of shape (n_rows, n_columns), each of `size` inches.

    `gap` holds the space to the left of each column but the first, and the space between rows. No layout engine moves
    the panels, so that they stay equal and drawing is quick.
    """
    width, height = size
    before, between = gap
    left = margins.left + np.concatenate([[0.0], np.cumsum(width + np.asarray(before, float))])
    total_width = float(left[-1]) + width + margins.right
    total_height = margins.bottom + n_rows * height + (n_rows - 1) * between + margins.top
    figure = new_figure(total_width, total_height, layout=None)
    axes = np.empty((n_rows, n_columns), dtype=object)
    for i in range(n_rows):
        bottom = total_height - margins.top - height - i * (height + between)
        for j in range(n_columns):
            place = (left[j] / total_width, bottom / total_height, width / total_width, height / total_height)
            axes[i, j] = figure.add_axes(place)
    return figure, axes


def diagram_axes(ax: Axes, cells: Cells, n_ticks: int | None = None) -> None:
    """Scale both axes by the logit, from border to border of the grid."""
    rho, gamma = cells.rho_edges, cells.gamma_edges
    logit_axis(ax, "x", float(rho[0]), float(rho[-1]), n_ticks)
    logit_axis(ax, "y", float(gamma[0]), float(gamma[-1]), n_ticks)


def draw_diagonal(ax: Axes, cells: Cells) -> None:
    """Draw the part of rho = 1 - gamma that lies within the grid."""
    rho, gamma = logit(cells.rho_edges), logit(cells.gamma_edges)
    low, high = max(rho[0], -gamma[-1]), min(rho[-1], -gamma[0])
    if low < high:
        ends = np.array([low, high])
        ax.plot(expit(ends), expit(-ends), zorder=3, path_effects=HALO, **DIAGONAL)


def draw_fold(ax: Axes, cells: Cells) -> None:
    """Draw the curve beyond which descent from the flat field runs away; a diagram of networks has no such curve."""
    if cells.fold.size:
        ax.plot(*cells.fold, zorder=4, **FOLD)


def draw_boundaries(ax: Axes, regions: Regions, **style: Any) -> None:
    """Draw the lines between phases."""
    ax.add_collection(LineCollection(regions.boundaries, zorder=2.5, **style), autolim=False)


def hatch_cells(ax: Axes, cells: Cells, which: Bool[np.ndarray, "rho gamma"]) -> None:
    """Hatch the cells in `which`, those of networks unlike those of the theory."""
    rho, gamma = cells.rho_edges, cells.gamma_edges
    corners = ((0, 0), (1, 0), (1, 1), (0, 1))
    squares = [[(rho[i + a], gamma[j + b]) for a, b in corners] for i, j in np.argwhere(which)]
    _hatch(ax, squares, HATCHES[_source(cells)])


def cover_beyond_fold(ax: Axes, cells: Cells, colour: Any) -> None:
    """Cover and hatch the whole area beyond the fold, where descent from the flat field runs away."""
    end = cells.rho_edges[-1]
    area = [(end, cells.fold[1, 0]), *cells.fold.T, (end, cells.fold[1, -1])]
    ax.add_artist(PathPatch(Path(area), facecolor=colour, linewidth=0, zorder=1.9))
    _hatch(ax, [area], HATCHES["theory"])


def up_to_fold(values: Shaped[np.ndarray, "rho gamma *_"], cells: Cells) -> Shaped[np.ndarray, "rho gamma *_"]:
    """Replace what lost cells hold by the nearest other cell of the same gamma: the fold cuts through cells."""
    if not cells.fold.size:
        return values
    filled = values.copy()
    for column, lost in enumerate(cells.lost.T):
        if (kept := np.flatnonzero(~lost)).size:
            nearest = kept[np.abs(np.arange(len(lost))[:, None] - kept).argmin(axis=1)]
            filled[:, column] = values[nearest, column]
    return filled


def _source(cells: Cells) -> str:
    return "theory" if cells.is_theory else "networks"


def _hatch(ax: Axes, polygons: Sequence[Sequence[Any]], hatch: str) -> None:
    """Hatch all polygons as one shape, which is quicker to draw than many."""
    if polygons:
        shape = Path.make_compound_path_from_polys(np.array(polygons))
        ax.add_artist(PathPatch(shape, facecolor="none", edgecolor=GREY, hatch=hatch, linewidth=0, zorder=2))


def tinted(colour: str, strength: float) -> tuple[float, float, float]:
    """Mix a colour with white; strength 1 leaves it as it is."""
    red, green, blue = (strength * part + 1.0 - strength for part in to_rgb(colour))
    return red, green, blue


def marks(cells: Iterable[Cells]) -> dict[str, Artist]:
    """Return the legend entries of the lines and hatches that occur in these diagrams."""
    all_cells = list(cells)
    entries: dict[str, Artist] = {
        r"$\rho = 1 - \gamma$": Line2D([], [], **DIAGONAL),
    }
    if any(one.fold.size for one in all_cells):
        entries["fold: beyond it descent runs away"] = Line2D([], [], **FOLD)
    words = {"theory": "runaway from the flat field", "networks": "runaway: precision at its ceiling"}
    for source, what in words.items():
        if any(one.lost.any() and _source(one) == source for one in all_cells):
            entries[what] = Patch(facecolor="white", edgecolor=GREY, hatch=HATCHES[source], linewidth=0.5)
    return entries


Entries = Mapping[str, Artist]


def legend_height(width: float, *groups: Entries) -> float:
    """Return the inches that `legend_below` needs for these groups of entries in a figure of that width."""
    return sum((_n_lines(group, width) * LEGEND_LINE + LEGEND_GAP for group in groups), start=0.0)


def legend_below(figure: Figure, *groups: Entries) -> None:
    """Draw legends along the lower edge, the first group on top, each on as many lines as it needs."""
    width, height = figure.get_size_inches()
    for k, group in enumerate(groups):
        place = (0.5, legend_height(width, *groups[k + 1 :]) / height)
        columns = math.ceil(len(group) / _n_lines(group, width))
        figure.legend(
            group.values(), group.keys(), loc="lower center", bbox_to_anchor=place, ncols=columns, borderaxespad=0.2
        )


def _n_lines(group: Entries, width: float) -> int:
    widest = max(len(re.sub(r"\\[a-z]+|[${}_]", "", label)) for label in group) * LEGEND_LETTER + 0.6
    return math.ceil(len(group) / max(1, int(width / widest)))

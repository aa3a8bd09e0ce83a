"""Draw the regions of a diagram's phases and a typical model of each, like the paper's first figure."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from heteroscope.diagrams import KINDS
from heteroscope.phases import Phase
from heteroscope.plots.cells import Cells, edges, read_cells
from heteroscope.plots.fits import PlottedFit, draw_fit, draw_residuals, fit_at, fit_legend, residual_limits
from heteroscope.plots.panels import (
    cover_beyond_fold,
    diagram_axes,
    draw_boundaries,
    draw_diagonal,
    draw_fold,
    hatch_cells,
    marks,
    tinted,
)
from heteroscope.plots.regions import smooth_regions, typical_cells
from heteroscope.plots.style import GAMMA_LABEL, PHASE_COLOURS, PHASE_NAMES, RHO_LABEL, house_style, literal, new_figure

# Sizes and places in inches; places are left, bottom, width and height.
SIZE = (10.2, 4.75)
MAIN = (0.68, 0.48, 3.9, 3.95)
# Models fill these places in order; the last one holds the legend.
PLACES = [(left, bottom, 2.1, 0.84) for bottom in (3.59, 2.035, 0.48) for left in (5.3, 7.8)]
TINT = 0.5  # share of a phase's colour in its region; the rest is white


def schematic(diagram: xr.Dataset, title: str = "") -> Figure:
    """Draw the regions of the phases that most seeds are in, and one model from the middle of each region.

    With one input a model is drawn as mean, std and training rows; with several inputs as |residual| against std.

    Parameters
    ----------
    diagram : xarray.Dataset
        What `phase_diagram` or `field_diagram` returned.
    title : str, default=""
        Title of the map of regions.

    Returns
    -------
    matplotlib.figure.Figure
    """
    cells = read_cells(diagram)
    fits = [fit_at(diagram, kind, cell) for kind, cell in typical_cells(diagram, cells).items()]
    several_inputs = diagram.sizes["feature"] > 1
    limits = residual_limits(fits)
    with house_style():
        figure = new_figure(*SIZE, layout=None)
        main = _panel(figure, *MAIN)
        _draw_regions(main, cells)
        panels = [_panel(figure, *place) for place in PLACES[: len(fits)]]
        for ax, fit in zip(panels, fits, strict=True):
            _name(main, fit)
            if several_inputs:
                draw_residuals(ax, fit, limits)
            else:
                draw_fit(ax, fit)
        _label(panels, diagram, several_inputs)
        entries = (fit_legend(several_inputs) if fits else {}) | marks([cells])
        corner = _panel(figure, *PLACES[-1])
        corner.set_axis_off()
        corner.legend(entries.values(), entries.keys(), loc="center")
        main.set_title(literal(title))
    return figure


def _panel(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    return figure.add_axes((left / SIZE[0], bottom / SIZE[1], width / SIZE[0], height / SIZE[1]))


def _draw_regions(ax: Axes, cells: Cells) -> None:
    diagram_axes(ax, cells)
    regions = smooth_regions(cells)
    colours = ListedColormap([tinted(PHASE_COLOURS[kind], TINT) for kind in KINDS])
    ax.pcolormesh(
        edges(regions.rho),
        edges(regions.gamma),
        np.ma.masked_less(regions.code.T, 0),
        cmap=colours,
        vmin=-0.5,
        vmax=len(KINDS) - 0.5,
        rasterized=True,
    )
    if cells.fold.size:
        cover_beyond_fold(ax, cells, tinted(PHASE_COLOURS[Phase.O_I], TINT))
    else:
        hatch_cells(ax, cells, cells.lost)
    draw_boundaries(ax, regions, color="white", linewidth=1.6)
    draw_diagonal(ax, cells)
    draw_fold(ax, cells)
    ax.set_xlabel(RHO_LABEL)
    ax.set_ylabel(GAMMA_LABEL)


def _name(ax: Axes, fit: PlottedFit) -> None:
    """Write the name of the phase at the drawn model's cell."""
    colour = PHASE_COLOURS[fit.kind]
    ax.plot(
        fit.rho,
        fit.gamma,
        "o",
        markersize=17,
        markerfacecolor="white",
        markeredgecolor=colour,
        markeredgewidth=1.6,
        clip_on=False,
        zorder=5,
    )
    ax.text(fit.rho, fit.gamma, PHASE_NAMES[fit.kind], ha="center", va="center", fontsize=8, zorder=6)


def _label(panels: list[Axes], diagram: xr.Dataset, several_inputs: bool) -> None:
    """Label the axes of the outer panels."""
    horizontal = "std" if several_inputs else literal(str(diagram["feature"].values[0]))
    vertical = "|residual|" if several_inputs else literal(str(diagram.attrs.get("target", "y")))
    for ax in panels[-2:]:
        ax.set_xlabel(horizontal, labelpad=1)
    for ax in panels[::2]:
        ax.set_ylabel(vertical, labelpad=2)

"""Draw the phase of each cell of diagrams side by side, with the theory's boundaries over those of networks."""

from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import Normal, Stroke
from scipy.special import expit, logit

from heteroscope.core import InputError
from heteroscope.diagrams import KINDS
from heteroscope.phases import Phase
from heteroscope.plots.cells import Cells, Diagrams, by_name, read_cells
from heteroscope.plots.panels import (
    FOLD,
    Margins,
    cover_beyond_fold,
    diagram_axes,
    draw_diagonal,
    draw_fold,
    hatch_cells,
    legend_below,
    legend_height,
    marks,
    panel_grid,
    tinted,
    up_to_fold,
)
from heteroscope.plots.regions import smooth_regions
from heteroscope.plots.style import GAMMA_LABEL, INK, LEGEND_NAMES, PHASE_COLOURS, RHO_LABEL, house_style, literal

PANEL = 2.0  # width and height in inches
GAP = 0.55  # inches between panels, with room for tick labels
TITLE_WIDTH = 26  # letters per line of a panel's title
THEORY_FOLD: dict[str, Any] = FOLD | {"linestyle": (0, (3, 1)), "linewidth": 2.2}
THEORY_BOUNDARY: dict[str, Any] = {"color": "white", "linewidth": 1.2}
THEORY_BOUNDARY |= {"path_effects": [Stroke(linewidth=2.6, foreground=INK), Normal()]}
FULL, FAINT = 0.65, 0.2  # strength of a cell's colour if all seeds agree, and if hardly any do

Curve = Float[np.ndarray, "2 _"]  # rho and gamma along a curve


def phase_maps(diagrams: Diagrams, theory: xr.Dataset | None = None, shift: tuple[float, float] = (0.0, 0.0)) -> Figure:
    """Draw each cell in the colour of the phase that most of its seeds are in, paler if fewer seeds agree.

    S with a std that adapts is darker than S with a constant std.

    Parameters
    ----------
    diagrams : xarray.Dataset or mapping of names to Datasets
        What `phase_diagram` or `field_diagram` returned.
    theory : xarray.Dataset, optional
        A field theory's diagram, whose fold and phase boundaries are drawn over the diagrams of networks.
    shift : tuple of two floats, default=(0.0, 0.0)
        Difference of units, as in `Agreement`: (log alpha, log beta) of a network plus `shift` is that of the theory.

    Returns
    -------
    matplotlib.figure.Figure
    """
    named = by_name(diagrams)
    cells = [read_cells(diagram) for diagram in named.values()]
    fold, boundaries = _lines(theory, shift) if theory is not None else (np.empty((2, 0)), [])
    titles = [literal(name, TITLE_WIDTH) for name in named]
    legends = [legend for legend in (_phase_legend(cells), _mark_legend(cells, fold, shift)) if legend]
    with house_style():
        figure, axes = _panels(titles, legends)
        for ax, one, title in zip(axes[0], cells, titles, strict=True):
            diagram_axes(ax, one, n_ticks=6)
            ax.pcolormesh(
                one.rho_edges, one.gamma_edges, up_to_fold(_colours(one), one).swapaxes(0, 1), rasterized=True
            )
            if one.fold.size:
                cover_beyond_fold(ax, one, tinted(PHASE_COLOURS[Phase.O_I], FULL))
            else:
                hatch_cells(ax, one, one.lost)
            draw_diagonal(ax, one)
            draw_fold(ax, one)
            if not one.fold.size:
                ax.plot(*fold, **THEORY_FOLD)
                for boundary in boundaries:
                    ax.plot(*boundary, **THEORY_BOUNDARY)
            ax.set_title(title, fontsize=9)
            ax.set_xlabel(RHO_LABEL, labelpad=1)
            ax.tick_params(length=2.5, pad=2)
        axes[0, 0].set_ylabel(GAMMA_LABEL)
        legend_below(figure, *legends)
    return figure


def _lines(theory: xr.Dataset, shift: tuple[float, float]) -> tuple[Curve, list[Curve]]:
    """Return the theory's fold and its other phase boundaries in the networks' units."""
    cells = read_cells(theory)
    if not cells.fold.size:
        raise InputError("theory must be the diagram of a field theory, and this one has no fold: use field_diagram")
    return _moved(cells.fold, shift), [_moved(line.T, shift) for line in smooth_regions(cells).boundaries]


def _moved(curve: Curve, shift: tuple[float, float]) -> Curve:
    """Subtract `shift` from (log alpha, log beta): logit rho = -log(alpha + beta), logit gamma = log(alpha / beta)."""
    rho, gamma = curve
    log_alpha = np.log(gamma) - logit(rho) - shift[0]
    log_beta = np.log1p(-gamma) - logit(rho) - shift[1]
    return expit(np.array([-np.logaddexp(log_alpha, log_beta), log_alpha - log_beta]))


def _colours(cells: Cells) -> Float[np.ndarray, "rho gamma 3"]:
    """Return the colour of each cell; white where no seed has finished."""
    colours = np.ones((*cells.kind.shape, 3))
    for kind in KINDS:
        for i, j in np.argwhere(cells.kind == kind):
            colours[i, j] = tinted(PHASE_COLOURS[kind], FAINT + (FULL - FAINT) * cells.agreement[i, j])
    return colours


def _panels(titles: list[str], legends: list[dict[str, Artist]]) -> tuple[Figure, np.ndarray]:
    left, right = 0.68, 0.2
    width = left + len(titles) * (PANEL + GAP) - GAP + right
    lines = max(title.count("\n") + 1 for title in titles)
    margins = Margins(left, right, 0.42 + legend_height(width, *legends), 0.12 + 0.16 * lines)
    return panel_grid(1, len(titles), (PANEL, PANEL), ([GAP] * (len(titles) - 1), 0.0), margins)


def _phase_legend(cells: list[Cells]) -> dict[str, Artist]:
    present = [kind for kind in KINDS if any((one.kind == kind).any() for one in cells)]
    return {LEGEND_NAMES[kind]: Patch(color=tinted(PHASE_COLOURS[kind], FULL), linewidth=0) for kind in present}


def _mark_legend(cells: list[Cells], fold: Curve, shift: tuple[float, float]) -> dict[str, Artist]:
    entries = marks(cells)
    if fold.size:
        a, b = (f"{part:+.3g}".replace("-", "\N{MINUS SIGN}") for part in shift)
        moved = rf" at $\log\,\alpha$ {a}, $\log\,\beta$ {b}" if any(shift) else ""
        entries[f"fold of the theory{moved}"] = Line2D([], [], **THEORY_FOLD)
        entries["other boundaries of the theory, there too"] = Line2D([], [], **THEORY_BOUNDARY)
    return entries

"""Draw posteriors of the field theory: bands of both fields, the evidence, diagrams, and epistemic stds beside it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, PowerNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

from heteroscope.core import InputError
from heteroscope.diagrams import KINDS
from heteroscope.field import EvidenceSurface, Posterior
from heteroscope.plots.cells import Cells, read_cells, summarised
from heteroscope.plots.panels import Margins, diagram_axes, draw_diagonal, hatch_cells, legend_below, panel_grid, tinted
from heteroscope.plots.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    LEGEND_NAMES,
    ORANGE,
    PHASE_COLOURS,
    PURPLE,
    STAR,
    VERMILION,
    house_style,
    literal,
    new_figure,
    plain_log_axis,
)

_QUANTILES = (0.05, 0.5, 0.95)  # of the noise's std over the draws
_SHOWN_POINTS = 400  # most data points that are drawn
_DEPTH = 40.0  # nats below the highest evidence at which colours end
_NLL_ROOM = 1.0  # nats above the lowest held-out NLL at which colours end
_PHASE_TINT = 0.65
_CIRCLE: dict[str, Any] = {
    "marker": "o",
    "markerfacecolor": "none",
    "markeredgecolor": "white",
    "markersize": 8,
    "linestyle": "",
}


def posterior_figure(
    found: Posterior, true_mean: ArrayLike | None = None, true_std: ArrayLike | None = None, title: str = ""
) -> Figure:
    """Draw the bands of both fields on a line: the mean above, the std of the noise below.

    Parameters
    ----------
    found : Posterior
        What `field.posterior` returned.
    true_mean, true_std : array_like of shape (n_points,) or None, default=None
        The truth of a simulated set, drawn as a dashed line.
    title : str, default=""
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if found.x is None:
        raise InputError("a posterior on a graph has no line to draw it over; use that of `field.posterior`")
    x, seen = found.x, found.predictive
    low, middle, high = np.quantile(found.samples.precision**-0.5, _QUANTILES[::-1], axis=(0, 1))[::-1]
    with house_style():
        figure = new_figure(5.6, 4.4)
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(1.6, 1.0))
        shown = slice(None, None, max(1, len(x) // _SHOWN_POINTS))
        upper.plot(x[shown], found.problem.y[shown], "o", color=GREY, markersize=2.0, markeredgewidth=0, label="data")
        for width, alpha, label in ((seen.std, 0.15, "new $y$"), (seen.epistemic, 0.45, "mean field")):
            upper.fill_between(
                x,
                seen.mean - 2 * width,
                seen.mean + 2 * width,
                color=BLUE,
                alpha=alpha,
                lw=0,
                label=rf"{label}, $\pm$2 std",
            )
        upper.plot(x, seen.mean, color=BLUE)
        lower.fill_between(x, low, high, color=VERMILION, alpha=0.3, lw=0, label="5 % to 95 % of the draws")
        lower.plot(x, middle, color=VERMILION, label="median")
        for ax, truth in ((upper, true_mean), (lower, true_std)):
            if truth is not None:
                ax.plot(x, np.asarray(truth, float), color=INK, linestyle="--", linewidth=1.0, label="truth")
        upper.set(ylabel="$y$", title=literal(title), xlim=(x[0], x[-1]))
        lower.set(ylabel="std of the noise", xlabel="$x$", ylim=(0.0, None))
        for ax in (upper, lower):
            ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def evidence_figure(surface: EvidenceSurface) -> Figure:
    """Draw the log evidence over (alpha, beta) beside the held-out NLL; a star marks the best of each.

    Parameters
    ----------
    surface : EvidenceSurface
        What `field.evidence_surface` returned for a `y_test`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if np.isnan(surface.held_out_nll).all():
        raise InputError("the surface has no held-out NLL: give y_test to field.evidence_surface")
    evidence = surface.log_evidence - np.nanmax(surface.log_evidence)
    nll = surface.held_out_nll
    lowest = np.unravel_index(np.nanargmin(nll), nll.shape)
    places = (surface.best, (float(surface.alphas[lowest[0]]), float(surface.betas[lowest[1]])))
    with house_style():
        figure = new_figure(7.0, 2.9)
        axes = figure.subplots(1, 2, sharex=True, sharey=True)
        low = float(np.nanmin(nll))
        panels = (
            (evidence, "log evidence, less its maximum", Normalize(-_DEPTH, 0.0), "viridis", "min"),
            (nll, "NLL of a second draw", Normalize(low, low + _NLL_ROOM), "viridis_r", "max"),
        )
        for ax, (values, title, norm, colours, extend) in zip(axes, panels, strict=True):
            ax.set_facecolor("#EEEEEE")
            image = ax.pcolormesh(
                surface.alphas, surface.betas, values.T, norm=norm, cmap=colours, shading="nearest", rasterized=True
            )
            bar = figure.colorbar(image, ax=ax, extend=extend)
            bar.outline.set_linewidth(0.5)
            ax.set(xscale="log", yscale="log", xlabel=r"$\alpha$, penalty of the mean", title=title)
            ax.plot(*places[0], markersize=13, **STAR)
            ax.plot(*places[1], **_CIRCLE, markeredgewidth=1.8)
        axes[0].set_ylabel(r"$\beta$, penalty of the precision")
        handles = [
            Line2D([], [], markersize=11, **STAR),
            Line2D([], [], **(_CIRCLE | {"markeredgecolor": INK})),
            Patch(facecolor="#EEEEEE", edgecolor=GREY, linewidth=0.5),
        ]
        labels = ["highest evidence", "lowest held-out NLL", "evidence not known"]
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def posterior_maps(diagrams: Mapping[str, xr.Dataset]) -> Figure:
    """Draw the phases of diagrams side by side, and below them the NLL of a second draw on one colour scale.

    Parameters
    ----------
    diagrams : mapping of names to Datasets
        What `field_diagram` and `posterior_diagram` returned for a `y_test`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    cells = [read_cells(diagram) for diagram in diagrams.values()]
    scores = [summarised(diagram, "nll", "test") for diagram in diagrams.values()]
    low = float(np.nanmin([np.nanmin(one) for one in scores]))
    norm = PowerNorm(0.4, low, low + 5.0)
    present = [phase for phase in KINDS if any((one.kind == phase).any() for one in cells)]
    legend = {LEGEND_NAMES[phase]: Patch(color=tinted(PHASE_COLOURS[phase], _PHASE_TINT), lw=0) for phase in present}
    legend["runaway from the flat field"] = Patch(facecolor="white", edgecolor=GREY, hatch="/////", linewidth=0.5)
    with house_style():
        figure, axes = panel_grid(
            2, len(cells), (1.9, 1.9), ([0.2] * (len(cells) - 1), 0.2), Margins(0.75, 0.6, 0.85, 0.3)
        )
        for column, (name, one, values) in enumerate(zip(diagrams, cells, scores, strict=True)):
            upper, lower = axes[0, column], axes[1, column]
            _draw_phases(upper, one)
            image = lower.pcolormesh(
                one.rho_edges, one.gamma_edges, values.T, norm=norm, cmap="viridis_r", rasterized=True
            )
            upper.set_title(literal(name), fontsize=9)
            lower.set_xlabel(r"$\rho$", labelpad=1)
            for ax in (upper, lower):
                diagram_axes(ax, one, n_ticks=5)
                hatch_cells(ax, one, one.lost)
                draw_diagonal(ax, one)
                ax.tick_params(length=2.5, pad=2, labelleft=column == 0, labelbottom=ax is lower)
        for ax, name in zip(axes[:, 0], ("phase", "NLL of a second draw"), strict=True):
            ax.set_ylabel(f"{name}\n$\\gamma$")
        bar = figure.colorbar(image, cax=axes[1, -1].inset_axes((1.06, 0.0, 0.06, 1.0)), extend="max")
        ticks = low + np.array([0.0, 0.2, 0.5, 1.0, 2.0, 5.0])
        bar.set_ticks(ticks.tolist(), labels=[f"{tick:.1f}" for tick in ticks])
        bar.outline.set_linewidth(0.5)
        legend_below(figure, legend)
    return figure


def _draw_phases(ax: Axes, cells: Cells) -> None:
    colours = np.ones((*cells.kind.shape, 3))
    for phase in KINDS:
        colours[cells.kind == phase] = tinted(PHASE_COLOURS[phase], _PHASE_TINT)
    ax.pcolormesh(cells.rho_edges, cells.gamma_edges, colours.swapaxes(0, 1), rasterized=True)


def epistemic_figure(
    x: ArrayLike, stds: Mapping[str, ArrayLike], data: ArrayLike, inside: tuple[float, float]
) -> Figure:
    """Draw the epistemic std of several methods over x, inside and outside of the data.

    Parameters
    ----------
    x : array_like of shape (n_new,)
        Positions.
    stds : mapping of names to array_like of shape (n_new,)
        The epistemic std of at most five methods at these positions.
    data : array_like of shape (n_rows,)
        Positions of the training rows, drawn as ticks.
    inside : (float, float)
        Ends of the data; what lies beyond is shaded.

    Returns
    -------
    matplotlib.figure.Figure
    """
    positions = np.asarray(x, float)
    values: dict[str, Float[np.ndarray, _]] = {name: np.asarray(one, float) for name, one in stds.items()}
    lowest = min(float(one.min()) for one in values.values())
    highest = max(float(one.max()) for one in values.values())
    with house_style():
        figure = new_figure(5.4, 3.0)
        ax = figure.subplots()
        for (name, one), colour in zip(values.items(), (INK, BLUE, VERMILION, GREEN, ORANGE, PURPLE), strict=False):
            ax.plot(positions, one, color=colour, label=literal(name), linewidth=2.0 if colour == INK else 1.3)
        plain_log_axis(ax, lowest / 1.6, highest * 1.3)
        for left, right in ((positions[0], inside[0]), (inside[1], positions[-1])):
            ax.axvspan(left, right, color=GREY, alpha=0.12, linewidth=0)
        rows = np.asarray(data, float)
        ax.plot(rows, np.full(len(rows), lowest / 1.45), "|", color=INK, markersize=5, markeredgewidth=0.6)
        ax.set(xlabel="$x$; outside of the data shaded", ylabel="epistemic std", xlim=(positions[0], positions[-1]))
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure

"""The field theory in figures: one phase diagram with its fold and typical fits, or many diagrams' observables."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import ListedColormap, LogNorm, Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from numpy.typing import ArrayLike
from scipy.ndimage import distance_transform_edt
from scipy.special import expit, logit

from heteroscope.phases import Phase
from heteroscope.plots.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PHASE_COLOURS,
    PHASE_NAMES,
    VERMILION,
    house_style,
    logit_axis,
    new_figure,
)
from heteroscope.status import Status

ORDER = (Phase.U_I, Phase.U_II, Phase.S, Phase.O_II, Phase.O_I)
HATCH = "/////"
TINT = 0.5  # how much of a phase's colour its cells show; the rest is white
SHOWN = 400  # data points drawn, at most
WINDOW = 60  # data points of the close-up that shows what an overfit field follows

# What each row of the figure of observables shows, and on which scale.
OBSERVABLES = {
    "mean_mse": ("mean MSE", "linear"),
    "std_mse": ("std MSE", "linear"),
    "mean_energy": ("energy of mean", "log"),
    "precision_energy": ("energy of precision", "log"),
}

Grid = Shaped[np.ndarray, "rho gamma"]


def field_figure(results: Mapping[str, Any], title: str = "") -> Figure:
    """The figure of one diagram, from a dictionary or Dataset of arrays.

    rho, gamma, phase and status (rho x gamma), mean and std (rho x gamma x point), x and y (point), and the fold curve:
    fold_gamma and fold_rho (may be empty).
    """
    names = ("rho", "gamma", "phase", "status", "mean", "std", "x", "y", "fold_rho", "fold_gamma")
    data = {name: np.asarray(results[name]) for name in names}
    found = {phase: _typical(data["phase"], data["status"], phase) for phase in ORDER}
    examples = {phase: cell for phase, cell in found.items() if cell is not None}
    with house_style():
        figure = new_figure(10.0, 4.8)
        panels = figure.subplot_mosaic("Dab;Dcd;Def", width_ratios=[1.7, 1.0, 1.0])
        _draw_diagram(panels["D"], data, examples)
        for slot, (phase, cell) in zip("abcde", examples.items(), strict=False):
            _draw_fit(panels[slot], data, phase, cell)
        for slot in "abcdef"[len(examples) :]:
            panels[slot].set_axis_off()
        _draw_legend(panels["f"])
        figure.suptitle(title)
    return figure


def observables_figure(diagrams: Mapping[str, Mapping[str, Any]]) -> Figure:
    """One column a data set, one row an observable, on colour scales that a row shares; runaways are hatched.

    Each diagram holds rho, gamma, status and the observables (rho x gamma), fold_rho and fold_gamma.
    """
    with house_style():
        figure = new_figure(1.0 + 1.75 * len(diagrams), 6.4)
        axes = figure.subplots(len(OBSERVABLES), len(diagrams), sharex=True, sharey=True, squeeze=False)
        for row, (name, (label, scale)) in zip(axes, OBSERVABLES.items(), strict=True):
            values = np.concatenate([np.ravel(diagram[name]) for diagram in diagrams.values()])
            values = values[np.isfinite(values) & (values > 0)]
            norm = LogNorm(*np.quantile(values, [0.02, 0.98])) if scale == "log" else Normalize(0.0, values.max())
            for ax, diagram in zip(row, diagrams.values(), strict=True):
                image = _draw_values(ax, diagram, np.asarray(diagram[name]), norm)
            figure.colorbar(image, ax=list(row), label=label, pad=0.01, extend="both" if scale == "log" else "neither")
            row[0].set_ylabel(r"$\gamma$")
        for ax, title in zip(axes[0], diagrams, strict=True):
            ax.set_title(title)
        for ax in axes[-1]:
            ax.set_xlabel(r"$\rho$")
    return figure


def fold_figure(n_points: ArrayLike, folds: Mapping[str, ArrayLike]) -> Figure:
    """logit rho of the fold against the number of points, a line for each named target; log n^2 as a guide."""
    sizes = np.asarray(n_points, dtype=float)
    with house_style():
        figure = new_figure(4.6, 3.2)
        ax = figure.subplots()
        for (name, values), colour, marker in zip(
            folds.items(), (BLUE, VERMILION, GREEN, ORANGE), "osD^", strict=False
        ):
            ax.plot(sizes, np.asarray(values, dtype=float), color=colour, marker=marker, markersize=4, label=name)
        highest = max(float(np.asarray(values)[0]) for values in folds.values())
        guide = highest - 1.5 + 2 * np.log(sizes / sizes[0])
        ax.plot(sizes, guide, color=GREY, linestyle="--", linewidth=1.0, label=r"slope of $n^2$")
        ax.set_xscale("log", base=2)
        ax.set(xlabel="number of points $n$", ylabel=r"logit $\rho$ of the fold")
        ax.legend()
    return figure


def _draw_values(ax: Axes, diagram: Mapping[str, Any], values: np.ndarray, norm: Normalize) -> QuadMesh:
    rho, gamma = np.asarray(diagram["rho"]), np.asarray(diagram["gamma"])
    logit_axis(ax, "x", *_edges(rho)[[0, -1]])
    logit_axis(ax, "y", *_edges(gamma)[[0, -1]])
    image = ax.pcolormesh(_edges(rho), _edges(gamma), values.T, cmap="cividis", norm=norm, rasterized=True)
    hatch_runaway(ax, rho, gamma, np.asarray(diagram["status"]))
    ax.plot(np.asarray(diagram["fold_rho"]), np.asarray(diagram["fold_gamma"]), color=VERMILION, linewidth=1.4)
    ax.set_xticks([1e-4, 0.5, 1 - 1e-4])
    ax.set_yticks([1e-4, 0.5, 1 - 1e-4])
    return image


def _typical(phase: Grid, status: Grid, which: Phase) -> tuple[int, int] | None:
    """The cell furthest inside a phase, the nearest to its middle in case of a tie; a finite one if there is any."""
    inside = phase == which
    finite = inside & (status == Status.CONVERGED)
    region = finite if finite.any() else inside
    if not region.any():
        return None
    depth = distance_transform_edt(np.pad(region, 1))[1:-1, 1:-1]
    cells = np.argwhere(depth == depth.max())
    row, column = cells[np.argmin(np.sum((cells - np.argwhere(region).mean(axis=0)) ** 2, axis=1))]
    return int(row), int(column)


def _draw_diagram(ax: Axes, data: dict[str, np.ndarray], examples: dict[Phase, tuple[int, int]]) -> None:
    rho_edges, gamma_edges = _edges(data["rho"]), _edges(data["gamma"])
    logit_axis(ax, "x", rho_edges[0], rho_edges[-1])
    logit_axis(ax, "y", gamma_edges[0], gamma_edges[-1])
    colours = ListedColormap([_tinted(PHASE_COLOURS[phase]) for phase in ORDER])
    codes = np.array([[ORDER.index(Phase(str(label))) for label in row] for row in data["phase"]])
    ax.pcolormesh(rho_edges, gamma_edges, codes.T, cmap=colours, vmin=-0.5, vmax=len(ORDER) - 0.5, rasterized=True)
    hatch_runaway(ax, data["rho"], data["gamma"], data["status"], _tinted(PHASE_COLOURS[Phase.O_I]))
    ax.plot(data["fold_rho"], data["fold_gamma"], color=INK, linewidth=1.8)
    for phase, (i, j) in examples.items():
        where = data["rho"][i], data["gamma"][j]
        ax.plot(
            *where,
            "o",
            markersize=17,
            markerfacecolor="white",
            markeredgecolor=PHASE_COLOURS[phase],
            markeredgewidth=1.6,
        )
        ax.text(*where, PHASE_NAMES[phase], ha="center", va="center", fontsize=8)
    ax.set_xlabel(r"$\rho$")
    ax.set_ylabel(r"$\gamma$")


def hatch_runaway(ax: Axes, rho: np.ndarray, gamma: np.ndarray, status: Grid, colour: Any = "white") -> None:
    """Hatched cells where there is no finite solution, so that none is read as a value."""
    rho_edges, gamma_edges = _edges(rho), _edges(gamma)
    for i, j in zip(*np.nonzero(status == Status.RUNAWAY), strict=True):
        corner = rho_edges[i], gamma_edges[j]
        size = rho_edges[i + 1] - corner[0], gamma_edges[j + 1] - corner[1]
        ax.add_patch(Rectangle(corner, *size, facecolor=colour, edgecolor=GREY, hatch=HATCH, linewidth=0))


def _draw_fit(ax: Axes, data: dict[str, np.ndarray], phase: Phase, cell: tuple[int, int]) -> None:
    """Data, mean and twice the std; of an overfit field a close-up, since it follows every single point."""
    colour = PHASE_COLOURS[phase]
    close_up = phase in (Phase.O_I, Phase.O_II) and len(data["x"]) > 2 * WINDOW
    centre = len(data["x"]) // 4
    part = slice(centre - WINDOW // 2, centre + WINDOW // 2) if close_up else slice(None)
    x, y, mean, std = data["x"][part], data["y"][part], data["mean"][cell][part], data["std"][cell][part]
    step = max(1, len(x) // SHOWN)
    ax.plot(x[::step], y[::step], "o", color=INK, markersize=2.6 if close_up else 1.5, markeredgewidth=0, zorder=4)
    ax.fill_between(x, mean - 2 * std, mean + 2 * std, color=colour, alpha=0.3, linewidth=0, zorder=2)
    ax.plot(x, mean, color=colour, zorder=3)
    margin = 0.15 * np.ptp(y)
    ax.set(xlim=(x[0], x[-1]), ylim=(y.min() - margin, y.max() + margin), yticks=[])
    ax.set_xticks([x[0], x[-1]], [f"{x[0]:.2g}", f"{x[-1]:.2g}"])
    where = rf"$\rho = {_math(data['rho'][cell[0]])}$, $\gamma = {_math(data['gamma'][cell[1]])}$"
    ax.set_title(f"{PHASE_NAMES[phase]}:  {where}{', close-up' if close_up else ''}", fontsize=9)


def _draw_legend(ax: Axes) -> None:
    entries: dict[str, Any] = {
        "one draw $y(x)$": Line2D([], [], linestyle="", marker="o", color=INK, markersize=2.6, markeredgewidth=0),
        "mean": Line2D([], [], color=INK),
        r"mean $\pm$ 2 std": Patch(color=INK, alpha=0.3, linewidth=0),
        "fold: the finite solution ends": Line2D([], [], color=INK, linewidth=1.8),
        "runaway: the precision diverges": Patch(facecolor="white", edgecolor=GREY, hatch=HATCH, linewidth=0.5),
    }
    ax.legend(entries.values(), entries.keys(), loc="center")


def _edges(values: Float[np.ndarray, " value"]) -> Float[np.ndarray, " edge"]:
    """Borders half way between neighbours in the logit, and as far outside the first and the last."""
    z = logit(values)
    middle = (z[1:] + z[:-1]) / 2
    return expit(np.concatenate(([2 * z[0] - middle[0]], middle, [2 * z[-1] - middle[-1]])))


def _tinted(colour: str) -> tuple[float, ...]:
    return tuple(TINT * part + 1.0 - TINT for part in to_rgb(colour))


def _math(value: float) -> str:
    """0.3 as it is, 0.0001 as 10^-4 and 0.9999 as 1 - 10^-4."""
    if value < 0.1:
        return rf"10^{{{np.log10(value):.3g}}}"
    return rf"1 - 10^{{{np.log10(1 - value):.3g}}}" if value > 0.91 else f"{value:g}"

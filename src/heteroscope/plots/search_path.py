"""Draw a search: some of its models above; the chosen std, and scores and phases along the diagonal below."""

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import xarray as xr
from jaxtyping import Float
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

from heteroscope.plots.stripes import find_stripes, shade
from heteroscope.plots.style import (
    BLUE,
    GREY,
    INK,
    PHASE_COLOURS,
    PHASE_NAMES,
    STAR,
    house_style,
    logit_axis,
    new_figure,
    number_text,
    plain_log_axis,
)

Arrays: TypeAlias = dict[str, np.ndarray]
SCORES = {"nll": "NLL", "mean_mse": "mean MSE"}
MANY = 200  # rows beyond which they are drawn smaller
HEADROOM = 0.15  # space above and below the data, as a share of their range; bands may be cut off


def diagonal_figure(results: xr.Dataset | Mapping[str, ArrayLike]) -> Figure:
    """Draw a search: models as mean and bands of std, the chosen model's std, and scores of all points against rho.

    Parameters
    ----------
    results : xarray.Dataset or mapping of names to arrays
        Drawn models: `x` of shape (x,), `mean` and `std` of shape (model, x), and the names `model`, `model_rho` and
        `model_phase` of shape (model,). One of the models is called "chosen". Training rows: `x_train` and `y_train`,
        and `trained_on` of shape (model, row), which says who was trained on which; all, if it is missing. If known,
        `true_mean` and `true_std` of shape (x,).

        Points of the search: `rho` and `phase` of shape (point,), and the scores `nll` and `mean_mse` of shape
        (point, 2) on training rows and held-out rows. `chosen` is the index of the chosen point, an attribute if
        `results` is a Dataset. `on_diagonal` of shape (point,) says which points the lines join; all, if it is missing.

    Returns
    -------
    matplotlib.figure.Figure
    """
    data = _plain(results)
    with house_style():
        figure = new_figure(10.0, 6.4)
        n_columns = math.lcm(len(data["mean"]), 1 + len(SCORES))
        grid = figure.add_gridspec(2, n_columns)
        _draw_models(_row_of_panels(figure, grid, 0, len(data["mean"])), data)
        std_panel, *score_panels = _row_of_panels(figure, grid, 1, 1 + len(SCORES))
        _draw_chosen_std(std_panel, data)
        _draw_path(score_panels, data)
        _legend_of_models(figure, "true_mean" in data)
        _legend_of_path(figure)
    return figure


def _plain(results: xr.Dataset | Mapping[str, ArrayLike]) -> Arrays:
    """Return all variables, coordinates and `chosen` as arrays."""
    data = {str(name): np.asarray(values) for name, values in results.items()}
    if isinstance(results, xr.Dataset):
        data |= {str(name): np.asarray(values) for name, values in results.coords.items()}
        data["chosen"] = np.asarray(results.attrs["chosen"])
    data.setdefault("on_diagonal", np.ones(len(data["rho"]), bool))
    data.setdefault("trained_on", np.ones((len(data["model"]), len(data["y_train"])), bool))
    return data


def _row_of_panels(figure: Figure, grid: GridSpec, row: int, n: int) -> list[Axes]:
    width = grid.ncols // n
    return [figure.add_subplot(grid[row, k * width : (k + 1) * width]) for k in range(n)]


def _draw_models(panels: list[Axes], data: Arrays) -> None:
    low, high = data["y_train"].min(), data["y_train"].max()
    margin = HEADROOM * ((high - low) or 1.0)
    for k, ax in enumerate(panels):
        colour = PHASE_COLOURS[str(data["model_phase"][k])]
        _draw_bands(ax, data["x"], data["mean"][k], data["std"][k], colour)
        if "true_mean" in data:
            _draw_truth(ax, data["x"], data["true_mean"], data["true_std"])
        rows = data["trained_on"][k]
        size = 2.6 if rows.sum() <= MANY else 1.4
        ax.plot(
            data["x_train"][rows], data["y_train"][rows], "o", color=INK, markersize=size, markeredgewidth=0, zorder=4
        )
        phase = PHASE_NAMES[str(data["model_phase"][k])]
        ax.set_title(f"{data['model'][k]}: {phase} at {_rho_text(float(data['model_rho'][k]))}")
        ax.set_xlabel("$x$")
        ax.set_xlim(data["x"].min(), data["x"].max())
        ax.set_ylim(low - margin, high + margin)
    panels[0].set_ylabel("$y$")


def _rho_text(rho: float) -> str:
    return rf"$1 - \rho = {number_text(1 - rho)}$" if rho > 0.95 else rf"$\rho = {number_text(rho)}$"


def _draw_bands(
    ax: Axes, x: Float[np.ndarray, " x"], mean: Float[np.ndarray, " x"], std: Float[np.ndarray, " x"], colour: str
) -> None:
    for width, alpha in ((2, 0.18), (1, 0.28)):
        ax.fill_between(x, mean - width * std, mean + width * std, color=colour, alpha=alpha, linewidth=0, zorder=1)
    ax.plot(x, mean, color=colour, zorder=3)


def _draw_truth(
    ax: Axes, x: Float[np.ndarray, " x"], mean: Float[np.ndarray, " x"], std: Float[np.ndarray, " x"]
) -> None:
    ax.plot(x, mean, color=GREY, linewidth=0.9, linestyle=(0, (5, 2)), zorder=2)
    for sign in (-1, 1):
        ax.plot(x, mean + sign * std, color=GREY, linewidth=0.8, linestyle=(0, (1, 1.5)), zorder=2)


def _draw_chosen_std(ax: Axes, data: Arrays) -> None:
    """Draw the std of the chosen model, the middle one, beside the truth."""
    middle = list(data["model"]).index("chosen")
    ax.plot(data["x"], data["std"][middle], color=PHASE_COLOURS[str(data["model_phase"][middle])], linewidth=1.8)
    top = data["std"][middle].max()
    if "true_std" in data:
        ax.plot(data["x"], data["true_std"], color=GREY, linewidth=1.2, linestyle=(0, (1, 1.5)))
        top = max(top, data["true_std"].max())
    ax.set_xlim(data["x"].min(), data["x"].max())
    ax.set_ylim(0, 1.15 * top)
    ax.set_xlabel("$x$")
    ax.set_ylabel("std, chosen and true" if "true_std" in data else "std, chosen")


def _legend_of_models(figure: Figure, with_truth: bool) -> None:
    entries: dict[str, Artist] = {
        "training rows": Line2D([], [], linestyle="", marker="o", color=INK, markersize=3),
        "mean": Line2D([], [], color=GREY),
        r"$\pm 1$ std": Patch(color=GREY, alpha=0.46, linewidth=0),
        r"$\pm 2$ std": Patch(color=GREY, alpha=0.18, linewidth=0),
    }
    if with_truth:
        entries["true mean"] = Line2D([], [], color=GREY, linewidth=0.9, linestyle=(0, (5, 2)))
        entries[r"true mean $\pm 1$ std"] = Line2D([], [], color=GREY, linewidth=0.8, linestyle=(0, (1, 1.5)))
    figure.legend(entries.values(), entries.keys(), loc="outside upper center", ncols=len(entries))


def _draw_path(panels: list[Axes], data: Arrays) -> None:
    line = data["on_diagonal"]
    rho, chosen = data["rho"][line], int(data["chosen"])
    stripes = find_stripes(rho, [str(phase) for phase in data["phase"][line]])
    for ax, (name, title) in zip(panels, SCORES.items(), strict=True):
        train, held_out = data[name][line].T
        logit_axis(ax, "x", stripes[0].low, stripes[-1].high)
        shade(ax, stripes)
        limits = _limits(train, held_out, log=name != "nll")
        if name != "nll":
            plain_log_axis(ax, *limits)
        ax.set_ylim(*limits)
        ax.plot(rho, _drawable(train), color=GREY, linestyle="--", linewidth=1.2, marker="o", markersize=2.5)
        ax.plot(rho, _drawable(held_out), color=BLUE, marker="o", markersize=3.5)
        _mark_outside(ax, rho, train, limits, GREY)
        _mark_outside(ax, rho, held_out, limits, BLUE)
        star = np.clip(data[name][chosen, 1], *limits)
        ax.plot(data["rho"][chosen], star, markersize=13, clip_on=False, zorder=5, **STAR)
        ax.set_ylabel(title)
        ax.set_xlabel(r"$\rho = 1 - \gamma$")


def _limits(
    train: Float[np.ndarray, " point"], held_out: Float[np.ndarray, " point"], log: bool
) -> tuple[float, float]:
    """Return the limits of a score's axis.

    Logarithmic: from the lowest value, but at most six decades below the highest. NLL: from below its minimum to
    above its value at the strongest regularisation.
    """
    values = np.concatenate([train, held_out])
    values = values[np.isfinite(values)]
    if log:
        top = float(values[values > 0].max(initial=1e-12))
        low = max(float(values[values > 0].min(initial=top)), 1e-6 * top)
        return low / 2, top * 2
    held_out = held_out[np.isfinite(held_out)]
    low, shoulder = (float(held_out.min()), float(held_out[0])) if len(held_out) else (0.0, 1.0)
    height = max(shoulder - low, 0.25)
    return low - 1.2 * height, low + 3 * height


def _drawable(values: Float[np.ndarray, " point"]) -> Float[np.ndarray, " point"]:
    """Replace infinities by large numbers, so that the line towards them is drawn."""
    return np.nan_to_num(values, nan=np.nan, posinf=1e30, neginf=-1e30)


def _mark_outside(
    ax: Axes,
    rho: Float[np.ndarray, " point"],
    values: Float[np.ndarray, " point"],
    limits: tuple[float, float],
    colour: str,
) -> None:
    """Mark values beyond the limits by triangles at the edge."""
    style: dict[str, Any] = {"linestyle": "", "color": colour, "markersize": 4.5, "clip_on": False}
    for edge, outside, marker in ((limits[1], values > limits[1], "^"), (limits[0], values < limits[0], "v")):
        if outside.any():  # even an empty line takes space in the layout
            ax.plot(rho[outside], np.full(outside.sum(), edge), marker=marker, **style)


def _legend_of_path(figure: Figure) -> None:
    entries = {
        "held-out rows": Line2D([], [], color=BLUE, marker="o", markersize=3.5),
        "training rows": Line2D([], [], color=GREY, linestyle="--", linewidth=1.2, marker="o", markersize=2.5),
        "off the scale": Line2D([], [], color=BLUE, linestyle="", marker="^", markersize=4.5),
        "chosen": Line2D([], [], markersize=10, **STAR),
    }
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=len(entries))

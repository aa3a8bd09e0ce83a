"""Plots that only exhibits need: the simulated data, sweeps up and down, metrics over a penalty, the regret."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullLocator

from heteroscope.datasets import simulated
from heteroscope.plots import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PALE,
    PURPLE,
    SKY,
    VERMILION,
    edges,
    house_style,
    logit_axis,
    new_figure,
    plain_log_axis,
)

CURVE_POINTS = 400  # at which a smooth curve is evaluated


def data_figure(names: Sequence[str], titles: Mapping[str, str]) -> Figure:
    """Draw training and test rows of simulated sets over the true mean and bands of one and two true std."""
    with house_style():
        figure = new_figure(9.0, 4.6)
        axes = figure.subplots(2, (len(names) + 1) // 2).ravel()
        for ax, name in zip(axes, names, strict=True):
            split, truth = simulated.draw(name)
            low, high = (truth.x_scale.apply(np.array([end]))[0] for end in simulated.PROCESSES[name].domain)
            x = np.linspace(low, high, CURVE_POINTS)
            mean, std = truth.mean(x), truth.std(x)
            for width, alpha in ((2, 0.15), (1, 0.25)):
                ax.fill_between(x, mean - width * std, mean + width * std, color=BLUE, alpha=alpha, linewidth=0)
            (line,) = ax.plot(x, mean, color=BLUE)
            (train,) = ax.plot(split.x_train[:, 0], split.y_train, "o", color=INK, markersize=2.8, markeredgewidth=0)
            test_style: dict[str, Any] = {"color": VERMILION, "markerfacecolor": "none", "markeredgewidth": 0.7}
            (test,) = ax.plot(split.x_test[:, 0], split.y_test, "o", markersize=2.8, **test_style)
            rows = np.concatenate([split.y_train, split.y_test])
            margin = 0.08 * np.ptp(rows)
            ax.set(title=titles[name], xlim=(low, high), ylim=(rows.min() - margin, rows.max() + margin))
        for ax in axes[len(names) // 2 :]:
            ax.set_xlabel("$x$ (standardised)")
        for ax in axes[:: len(names) // 2]:
            ax.set_ylabel("$y$ (standardised)")
        bands = [Patch(color=BLUE, alpha=alpha, linewidth=0) for alpha in (0.36, 0.15)]
        entries = {"training rows": train, "test rows": test, "true mean": line}
        entries |= {r"$\pm$ 1 std": bands[0], r"$\pm$ 2 std": bands[1]}
        figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=len(entries))
    return figure


#: The ceiling is `field.hysteresis`'s default.
SWEEP_NOTE = "a line ends where it runs away; the way down begins\nat 1000 times the precision of the flat field"
#: Outcomes of the two sweeps in a cell, and their colours.
OUTCOMES = {
    "the same solution": PALE,
    "two finite solutions": PURPLE,
    "finite up, runaway down": ORANGE,
    "runaway up, finite down": SKY,
    "runaway both ways": VERMILION,
}


def hysteresis_figure(found: xr.Dataset, gamma: float) -> Figure:
    """Draw where the two sweeps end in different solutions, and both sweeps along one gamma."""
    one = found.sel(gamma=gamma, method="nearest")
    chosen = float(one["gamma"])
    with house_style():
        figure = new_figure(8.6, 3.3)
        left, right = figure.subplots(1, 2)
        there = _draw_outcomes(left, found)
        left.axhline(chosen, color=INK, linewidth=0.7, linestyle=(0, (4, 3)))
        patches = {name: Patch(color=colour, linewidth=0) for name, colour in OUTCOMES.items() if name in there}
        figure.legend(patches.values(), patches.keys(), loc="outside lower center", ncols=len(OUTCOMES))
        for way, colour, marker in (("up", BLUE, "^"), ("down", VERMILION, "v")):
            values = one["mean_mse"].sel(way=way).values
            right.plot(one["rho"], values, color=colour, marker=marker, markersize=3.5, label=rf"$\rho$ swept {way}")
        right.set_ylim(-0.05, 1.08)
        logit_axis(right, "x", *_outer_edges(found["rho"].values), 6)
        right.set(xlabel=r"$\rho$", ylabel="mean MSE (training draw)", title=rf"along $\gamma = {chosen:.2g}$")
        right.legend(title=SWEEP_NOTE, title_fontsize=8)
    return figure


def _draw_outcomes(ax: Axes, found: xr.Dataset) -> set[str]:
    """Draw each cell in the colour of its outcome; return the outcomes that occur."""
    rho, gamma = found["rho"].values, found["gamma"].values
    up, down = (np.isfinite(found["mean_mse"].sel(way=way).values) for way in ("up", "down"))
    differ = found["differ"].values == 1
    kind = np.select([up & down & differ, up & ~down, ~up & down, ~up & ~down], [1, 2, 3, 4], 0)
    colours = ListedColormap(list(OUTCOMES.values()))
    ax.pcolormesh(edges(rho), edges(gamma), kind.T, cmap=colours, vmin=-0.5, vmax=len(OUTCOMES) - 0.5)
    logit_axis(ax, "x", *_outer_edges(rho), 6)
    logit_axis(ax, "y", *_outer_edges(gamma), 6)
    ax.set(xlabel=r"$\rho$", ylabel=r"$\gamma$", title="What the direction of the sweep decides")
    return {name for k, name in enumerate(OUTCOMES) if (kind == k).any()}


def _outer_edges(values: Float[np.ndarray, " value"]) -> tuple[float, float]:
    """Return the outer borders of the cells around these values."""
    borders = edges(values)
    return float(borders[0]), float(borders[-1])


def penalty_figure(panels: Mapping[str, Mapping[str, xr.DataArray]]) -> Figure:
    """Draw scores over the mean's penalty alpha, weaker to the right: thin lines are seeds, thick ones their mean."""
    styles = {"3 hidden layers": "-", "1 hidden layer": (0, (3, 1.5))}
    with house_style():
        figure = new_figure(9.0, 3.3)
        axes: Any = figure.subplots(1, len(panels))
        for ax, (title, lines) in zip(axes, panels.items(), strict=True):
            for name, line in lines.items():
                depth, _, kind = name.partition(", ")
                look: dict[str, Any] = {
                    "linestyle": styles[depth],
                    "color": BLUE if kind == "homoskedastic" else VERMILION,
                }
                ax.plot(line["alpha"], line, linewidth=0.6, alpha=0.5, **look)
                ax.plot(line["alpha"], line.mean("seed"), label=name, **look)
            ax.set(xscale="log", xlabel=r"penalty of the mean, $\alpha$", title=title)
            ax.invert_xaxis()
            _positive_scale(ax, np.concatenate([line.values.ravel() for line in lines.values()]))
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def _positive_scale(ax: Axes, values: Float[np.ndarray, "_"]) -> None:
    """Make the y axis logarithmic around the positive values, and mark 1, the score of a constant mean."""
    known = values[np.isfinite(values) & (values > 0)]
    if len(known):
        high = float(known.max())
        plain_log_axis(ax, max(float(known.min()), 1e-6 * high) / 1.5, high * 1.5)
    ax.axhline(1.0, color=GREY, linewidth=0.6, zorder=0)


def regret_figure(table: pd.DataFrame) -> Figure:
    """Draw one dot per set: the regret of searching the diagonal alone, with its 95 % interval by Student's t.

    The axis is linear up to a tenth of a nat and logarithmic beyond: a single outlying row can cost tens of nats.
    """
    with house_style():
        figure = new_figure(5.4, 0.8 + 0.3 * len(table))
        ax = figure.subplots()
        place = np.arange(len(table))[::-1]
        ax.axvline(0.0, color=GREY, linewidth=0.8)
        ax.errorbar(table["regret"], place, xerr=table["95 %, ±"], fmt="o", color=BLUE, markersize=4.5)
        ax.set_yticks(place, table["set"])
        ax.tick_params(axis="y", length=0)
        ax.set(ylim=(-0.6, len(table) - 0.4), title="What searching the diagonal alone costs")
        ax.set_xscale("symlog", linthresh=0.1)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xlabel(r"test NLL, diagonal $-$ whole square (nats, 95 % by Student's $t$)")
    return figure

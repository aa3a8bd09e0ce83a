"""Draw the explanation of a fit or of anyone's forecasts: the pictures of its page, as matplotlib figures."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.special import expit

from heteroscope.explanation import EffectCurve
from heteroscope.plots.style import (
    BLUE,
    GREY,
    INK,
    LEGEND_NAMES,
    PALE,
    PHASE_COLOURS,
    VERMILION,
    house_style,
    literal,
    logit_axis,
    new_figure,
)

MOST_INTERVALS = 48  # rows whose intervals are drawn
MOST_CATEGORIES = 24  # of an input that are drawn: half of them with the highest mean
MOST_BARS = 12  # inputs that are drawn
NAME_WIDTH = 18  # letters per line of an input's name
DOTS = {"linestyle": "", "marker": "o", "color": INK, "markersize": 2.2, "markeredgewidth": 0, "alpha": 0.55}


def calibration_figure(calibration: xr.Dataset) -> Figure:
    """Draw calibration curve and PIT histogram, of all rows and of each quarter by predicted std.

    Parameters
    ----------
    calibration : xarray.Dataset
        What `explanation.calibration` has returned.

    Returns
    -------
    matplotlib.figure.Figure
        One column per part of the rows. Grey: where right forecasts of as many rows lie nine times in ten.
    """
    with house_style():
        n = calibration.sizes["part"]
        figure = new_figure(max(2.1 * n, 4.0), 4.2)
        panels = figure.subplots(2, n, sharey="row", squeeze=False)
        for k, name in enumerate(calibration["part"].values):
            part = calibration.isel(part=k)
            _draw_curve(panels[0, k], part)
            _draw_pit(panels[1, k], part)
            share = f"{100 * float(part['coverage']):.0f} %"
            panels[0, k].set_title(f"{name}\n90 % hold {share}, n = {int(part['n_rows'])}", fontsize=8.5)
        panels[0, 0].set_ylabel("observed share of rows")
        panels[1, 0].set_ylabel("density of rows")
    return figure


def _draw_curve(ax: Axes, part: xr.Dataset) -> None:
    level = np.concatenate([[0.0], part["level"].values, [1.0]])
    low, high, observed = (
        np.concatenate([[0.0], part[name].values, [1.0]]) for name in ("observed_low", "observed_high", "observed")
    )
    ax.fill_between(level, low, high, color=PALE, linewidth=0)
    ax.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=0.9)
    ax.plot(level, observed, color=BLUE)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="predicted probability", xticks=[0, 0.5, 1])


def _draw_pit(ax: Axes, part: xr.Dataset) -> None:
    middle, density = part["bin"].values, part["density"].values
    ax.axhspan(float(part["density_low"]), float(part["density_high"]), color=PALE, linewidth=0)
    ax.bar(middle, density, width=0.92 / len(middle), color=BLUE, alpha=0.6)
    ax.axhline(1.0, color=GREY, linestyle="--", linewidth=0.9)
    ax.set(xlim=(0, 1), xlabel="PIT", xticks=[0, 0.5, 1])


def residual_figure(rows: xr.Dataset, target: str = "y") -> Figure:
    """Draw residuals of held-out rows against the predicted mean and against the predicted std.

    Parameters
    ----------
    rows : xarray.Dataset
        What `explanation.held_out_forecasts` has returned.
    target : str, default="y"
        The name of the target, with its unit if it has one.

    Returns
    -------
    matplotlib.figure.Figure
        Wedges are one and two predicted std wide. Lognormal forecasts are shown in logarithms.
    """
    with house_style():
        figure = new_figure(7.4, 3.2)
        by_mean, by_std = figure.subplots(1, 2, sharey=True)
        logged = "log_std" in rows
        unit = f"log {literal(target)}" if logged else literal(target)
        residual, std = (rows["y"] - rows["mean"]).values, rows["std"].values
        if logged:
            residual, std = np.log(rows["y"].values) - rows["log_mean"].values, rows["log_std"].values
            by_mean.set_xscale("log")
        by_mean.axhline(0.0, color=GREY, linewidth=0.9)
        by_mean.plot(rows["mean"].values, residual, **DOTS)
        by_mean.set(xlabel=f"predicted mean of {literal(target)}", ylabel=f"residual of {unit}")
        wide = std.max() / std.min() > 20
        along = np.geomspace(std.min() / 1.15, 1.15 * std.max(), 100) if wide else np.linspace(0, 1.06 * std.max(), 2)
        for width, alpha in ((2, 0.15), (1, 0.2)):
            by_std.fill_between(along, -width * along, width * along, color=BLUE, alpha=alpha, linewidth=0)
        by_std.axhline(0.0, color=GREY, linewidth=0.9)
        by_std.plot(std, residual, **DOTS)
        by_std.set_xscale("log" if wide else "linear")
        reach = 1.06 * float(np.abs(residual).max()) or 1.0
        by_std.set(xlabel=f"predicted std of {unit}", xlim=(along[0], along[-1]), ylim=(-reach, reach))
    return figure


def interval_figure(rows: xr.Dataset, target: str = "y") -> Figure:
    """Draw 90 % intervals of some held-out rows, and what happened: a dot inside, a cross outside.

    Parameters
    ----------
    rows : xarray.Dataset
        What `explanation.held_out_forecasts` has returned.
    target : str, default="y"
        The name of the target, with its unit if it has one.

    Returns
    -------
    matplotlib.figure.Figure
        At most 48 rows, evenly from the first to the last, ordered by predicted mean.
    """
    with house_style():
        figure = new_figure(7.4, 3.0)
        ax = figure.subplots()
        n = rows.sizes["row"]
        some = rows.isel(row=np.unique(np.linspace(0, n - 1, min(n, MOST_INTERVALS)).round().astype(int)))
        some = some.sortby("mean")
        place, y = np.arange(some.sizes["row"]), some["y"].values
        lower, upper = some["lower"].values, some["upper"].values
        inside = (lower <= y) & (y <= upper)
        ax.vlines(place, lower, upper, color=BLUE, alpha=0.45, linewidth=3)
        ax.plot(place, some["mean"].values, "_", color=BLUE, markersize=6)
        ax.plot(place[inside], y[inside], "o", color=INK, markersize=3)
        ax.plot(place[~inside], y[~inside], "x", color=VERMILION, markersize=5)
        ax.set(xlabel=f"{len(place)} of {n} held-out rows, ordered by predicted mean", xticks=[])
        ax.set_ylabel(literal(target))
        ax.set_yscale("log" if "log_std" in rows else "linear")
    return figure


def search_figure(path: xr.Dataset) -> Figure:
    """Draw the points of a search on the plane of (rho, gamma), each in the colour of its networks' phase.

    Parameters
    ----------
    path : xarray.Dataset
        What `explanation.search_path` has returned.

    Returns
    -------
    matplotlib.figure.Figure
        Circles are shorter trainings and squares longer ones; pale points lost on the first fold; a ring is around the
        chosen point, and the line is the diagonal rho = 1 - gamma.
    """
    with house_style():
        figure = new_figure(5.6, 4.2)
        ax = figure.subplots()
        rho, gamma, phase = (path[name].values for name in ("logit_rho", "logit_gamma", "phase"))
        room = [0.08 * max(np.ptp(values), 1.0) for values in (rho, gamma)]
        ends = [(values.min() - more, values.max() + more) for values, more in zip((rho, gamma), room, strict=True)]
        logit_axis(ax, "x", float(expit(ends[0][0])), float(expit(ends[0][1])), 6)
        logit_axis(ax, "y", float(expit(ends[1][0])), float(expit(ends[1][1])), 6)
        line = np.linspace(*ends[0], 200)
        ax.plot(expit(line), expit(-line), color=GREY, linestyle=":", linewidth=0.9, zorder=1)
        longest = path["max_steps"].values.max()
        for k in range(path.sizes["point"]):
            marker = "s" if path["max_steps"].values[k] == longest else "o"
            far = path["n_folds"].values[k] > 1
            ax.plot(
                expit(rho[k]),
                expit(gamma[k]),
                marker,
                color=PHASE_COLOURS[str(phase[k])],
                alpha=0.9 if far else 0.5,
                markersize=7 if far else 5.5,
                markeredgewidth=0,
            )
        k = path.attrs["chosen"]
        ax.scatter(expit(rho[k]), expit(gamma[k]), s=144, facecolors="none", edgecolors=INK, linewidths=1.4)
        ax.set(xlabel=r"$\rho$, weight of the likelihood", ylabel=r"$\gamma$, share of the mean's penalty")
        seen = [name for name in PHASE_COLOURS if name in set(phase.tolist())]
        entries = [Line2D([], [], linestyle="", marker="o", color=PHASE_COLOURS[name]) for name in seen]
        figure.legend(entries, [LEGEND_NAMES[name] for name in seen], loc="outside lower center", ncols=len(seen))
    return figure


def driver_figure(importance: xr.Dataset, slopes: xr.Dataset | None = None, score: str = "crps") -> Figure:
    """Draw what drives the mean and what drives the std: importance by shuffling and, below, slopes.

    Parameters
    ----------
    importance : xarray.Dataset
        What `explanation.permutation_importance` has returned.
    slopes : xarray.Dataset, default=None
        What `explanation.slope_sizes` has returned; None draws importance alone.
    score : {"crps", "nll"}, default="crps"
        The score whose increase is the importance.

    Returns
    -------
    matplotlib.figure.Figure
        Bars with a line from the lowest to the highest shuffle, or member; at most twelve inputs.
    """
    with house_style():
        n = min(importance.sizes["input"], MOST_BARS)
        n_rows = 1 if slopes is None else 2
        figure = new_figure(7.4, n_rows * (1.0 + 0.24 * n))
        panels = figure.subplots(n_rows, 2, squeeze=False)
        for ax, driven in zip(panels[0], ("mean", "std"), strict=True):
            _draw_bars(ax, importance[score].sel(driven=driven), "repeat")
            ax.set_title(f"what drives the {driven}")
            ax.set_xlabel(f"increase of the {score.upper()} by shuffling")
        if slopes is not None:
            of_what = "log target" if slopes.attrs["logged"] else "mean"
            changes = {"mean": f"change of the {of_what}", "log_std": "change of log std"}
            for ax, (name, change) in zip(panels[1], changes.items(), strict=True):
                _draw_bars(ax, slopes[name], "member")
                ax.set_xlabel(f"{change} per std of the input")
    return figure


def _draw_bars(ax: Axes, values: xr.DataArray, over: str) -> None:
    average = values.mean(over)
    order = np.argsort(-average.values, kind="stable")[:MOST_BARS][::-1]
    low, high = values.min(over).values[order], values.max(over).values[order]
    place = np.arange(len(order))
    ax.barh(place, average.values[order], color=BLUE, alpha=0.6, height=0.7)
    ax.hlines(place, low, high, color=INK, linewidth=1.2)
    ax.set_yticks(place, [literal(str(name), NAME_WIDTH) for name in values["input"].values[order]])
    ax.axvline(0.0, color=GREY, linewidth=0.7)


def effect_figure(effects: Sequence[EffectCurve], target: str = "y") -> Figure:
    """Draw the effects of inputs on the mean and on the std.

    Parameters
    ----------
    effects : sequence of EffectCurve
        What `explanation.effect_curves` has returned.
    target : str, default="y"
        The name of the target, with its unit if it has one.

    Returns
    -------
    matplotlib.figure.Figure
        One column per input: the average mean above and the typical std below; bands from the lowest to the highest
        member. Categories are ordered by their mean; of many, the 12 highest and the 12 lowest are drawn.
    """
    with house_style():
        figure = new_figure(max(2.3 * len(effects), 2.8), 4.0)
        panels = figure.subplots(2, len(effects), sharey="row", squeeze=False)
        for column, curve in zip(panels.T, effects, strict=True):
            for ax, name in zip(column, ("mean", "std"), strict=True):
                _draw_effect(ax, curve, name)
            column[0].set_title(literal(curve.input, NAME_WIDTH))
            column[1].set_xlabel(literal(curve.input, NAME_WIDTH))
        panels[0, 0].set_ylabel(f"average mean of {literal(target, NAME_WIDTH)}")
        panels[1, 0].set_ylabel("typical std")
        panels[1, 0].set_ylim(bottom=0)
    return figure


def _draw_effect(ax: Axes, curve: EffectCurve, name: str) -> None:
    middle, low, high = (getattr(curve, f"{name}{end}") for end in ("", "_low", "_high"))
    if curve.values.dtype.kind == "f" and len(middle) > 2:
        ax.fill_between(curve.values, low, high, color=BLUE, alpha=0.25, linewidth=0)
        ax.plot(curve.values, middle, color=BLUE)
        return
    numeric = curve.values.dtype.kind == "f"
    shown = np.arange(len(middle)) if numeric else _shown_categories(curve)
    place = np.arange(len(shown))
    ax.vlines(place, low[shown], high[shown], color=BLUE, alpha=0.45, linewidth=3)
    ax.plot(place, middle[shown], "o", color=BLUE, markersize=4)
    names = [f"{value:.3g}" if numeric else literal(str(value), 10) for value in curve.values[shown]]
    ax.set_xticks(place, names, rotation=90 if len(names) > 8 else 45 if len(names) > 4 else 0)
    if len(names) > 8:
        ax.tick_params(axis="x", labelsize=6)


def _shown_categories(curve: EffectCurve) -> Int[np.ndarray, " _"]:
    """Return the places of the categories by their mean, the highest first; of many, those at both ends."""
    order = np.argsort(-curve.mean, kind="stable")
    half = MOST_CATEGORIES // 2
    return order if len(order) <= MOST_CATEGORIES else np.concatenate([order[:half], order[-half:]])

"""Draw the mean ranks of methods with their critical difference, and scores against the time of a fit."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from heteroscope.comparison import Ranking
from heteroscope.core import InputError
from heteroscope.plots.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE,
    PURPLE,
    SKY,
    VERMILION,
    house_style,
    literal,
    new_figure,
    tick_text,
)

_ROW = 0.26  # inches of height for one name or bar
_TICK = 0.01  # seconds: what takes less has a processor time of 0, which a logarithmic axis cannot show


def critical_difference_figure(rankings: Mapping[str, Ranking]) -> Figure:
    """Draw one line of mean ranks for each score, the best on the left, as in Demsar (2006).

    A bar joins methods that Nemenyi's test does not tell apart; the rule above the line is one critical difference.

    Parameters
    ----------
    rankings : mapping of titles to Ranking
        One panel per title.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not rankings:
        raise InputError("there is no ranking to draw: two methods need scores on the same two sets")
    heights = [3.5 + (len(one.ranks) + 1) // 2 + 0.8 * len(one.groups) for one in rankings.values()]
    with house_style():
        figure = new_figure(6.4, _ROW * sum(heights) + 0.3)
        axes = figure.subplots(len(rankings), 1, squeeze=False, height_ratios=heights)[:, 0]
        for ax, height, (title, ranking) in zip(axes, heights, rankings.items(), strict=True):
            _draw_ranks(ax, title, ranking, height)
    return figure


def _draw_ranks(ax: Axes, title: str, ranking: Ranking, height: float) -> None:
    """Draw one panel, in units of rows below the line of ranks."""
    k = len(ranking.ranks)
    ax.set_xlim(0.9, k + 0.1)
    ax.set_ylim(height - 2.8, -2.8)
    ax.set_axis_off()
    ax.plot([1, k], [0, 0], color=INK, linewidth=0.9)
    for rank in range(1, k + 1):
        ax.plot([rank, rank], [-0.25, 0], color=INK, linewidth=0.9)
        ax.text(rank, -0.35, str(rank), ha="center", va="bottom", fontsize=8)
    shown = min(ranking.critical_difference, k - 1.0)
    ax.plot([1, 1 + shown], [-1.35, -1.35], color=GREY, linewidth=2.5, solid_capstyle="butt")
    label = f"critical difference {ranking.critical_difference:.2f}"
    ax.text(1 + shown + 0.03, -1.35, label, ha="left", va="center", color=GREY, fontsize=8)
    ax.text(1, -2.3, literal(f"{title}, {ranking.n_sets} sets"), ha="left", va="center", fontsize=9)
    for place, group in enumerate(ranking.groups):
        ends = [ranking.ranks[group[0]], ranking.ranks[group[-1]]]
        level = 0.45 + 0.5 * place
        ax.plot([ends[0] - 0.02, ends[1] + 0.02], [level, level], color=ORANGE, linewidth=3, solid_capstyle="butt")
    first = 1.0 + 0.5 * len(ranking.groups)
    half = (k + 1) // 2
    for place, (name, rank) in enumerate(ranking.ranks.items()):
        on_left = place < half
        level = first + (place if on_left else k - 1 - place)
        end = 0.97 if on_left else k + 0.03
        ax.plot([rank, rank, end], [0, level, level], color=INK, linewidth=0.8)
        text = literal(f"{name} {rank:.2f}")
        ax.text(end, level, f" {text} ", ha="right" if on_left else "left", va="center", fontsize=8, clip_on=False)


def score_time_figure(behind_best: pd.DataFrame, seconds: pd.DataFrame, score: str) -> Figure:
    """Draw how far each method is behind the best one against the processor seconds of a fit.

    Small points are sets; the large one is the median over them.

    Parameters
    ----------
    behind_best : DataFrame
        One row per set, one column per method: the score minus the lowest score of the set.
    seconds : DataFrame
        The same, processor seconds of a fit.
    score : str
        The name of the score beside the axis.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with house_style():
        figure = new_figure(6.4, 3.8)
        ax = figure.subplots()
        styles = zip(cycle((BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, GREY)), cycle("osD^vPX*"), strict=False)
        for name, (colour, marker) in zip(behind_best.columns, styles, strict=False):
            both = pd.DataFrame({"time": seconds[name].clip(lower=_TICK), "gap": behind_best[name]})
            both = both[both["time"].notna() & both["gap"].lt(float("inf"))]
            ax.plot(both["time"], both["gap"], marker, color=colour, markersize=3, alpha=0.4, markeredgewidth=0)
            middle = both.median()
            if len(both):
                edge: dict[str, Any] = {"markeredgecolor": INK, "markeredgewidth": 0.8}
                ax.plot(middle["time"], middle["gap"], marker, color=colour, markersize=9, label=literal(name), **edge)
        ax.set_xscale("log")
        ax.set_yscale("symlog", linthresh=0.1, linscale=0.6)
        ax.set_ylim(-0.01, None)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))
        ax.grid(color=PALE, linewidth=0.5)
        ax.set(xlabel="processor seconds of a fit", ylabel=literal(f"{score} minus the best of the set"))
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), title="median over sets")
    return figure

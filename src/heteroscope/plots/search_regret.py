"""Draw how far searches with few models stay behind another search, set by set, and the steps they take."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter

from heteroscope.core import InputError
from heteroscope.plots.style import BLUE, GREY, PALE, VERMILION, house_style, literal, new_figure, tick_text

_STYLES = ((BLUE, "o"), (VERMILION, "D"))
_TICKS = (-1.0, -0.3, -0.1, -0.05, 0.0, 0.05, 0.1, 0.3, 1.0)  # the axis is linear up to 0.1


def search_regret_figure(found: pd.DataFrame, aims: tuple[float, float]) -> Figure:
    """Draw one line per set: the regret in NLL, and the share of the other search's steps.

    Parameters
    ----------
    found : DataFrame
        One row per set and search, with the columns `set`, `method`, `regret`, `error` (its standard error, NaN for a
        single split) and `search_steps` (the share). At most two searches.
    aims : tuple of float
        The regret and the share of steps up to which a search is as good as was aimed at: the shaded parts.

    Returns
    -------
    matplotlib.figure.Figure
    """
    methods, sets = list(found["method"].unique()), list(found["set"].unique())
    if not methods or len(methods) > len(_STYLES):
        raise InputError(f"one or two searches can be drawn, got {len(methods)}")
    with house_style():
        figure = new_figure(7.4, 1.2 + 0.21 * len(sets))
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        for method, (colour, marker), shift in zip(methods, _STYLES, (-0.12, 0.12), strict=False):
            own = found[found["method"] == method].set_index("set").reindex(sets)
            places = np.arange(len(sets)) + shift
            error = own["error"].fillna(0.0)
            left.errorbar(
                own["regret"], places, xerr=error, fmt=marker, color=colour, markersize=4, label=literal(method)
            )
            right.plot(own["search_steps"], places, marker, color=colour, markersize=4)
        left.axvspan(-1e3, aims[0], color=PALE, zorder=0)
        right.axvspan(0.0, aims[1], color=PALE, zorder=0)
        left.axvline(0.0, color=GREY, linewidth=0.8)
        left.set_xscale("symlog", linthresh=0.1)
        widest = 1.3 * float(np.nanmax(found["regret"].abs() + found["error"].fillna(0.0)))
        left.set_xlim(-widest, widest)
        left.minorticks_off()
        left.set_xticks([tick for tick in _TICKS if abs(tick) <= widest])
        left.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))
        right.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        right.set_xlim(0.0, None)
        left.set_yticks(range(len(sets)), [literal(name.replace("_", " ")) for name in sets])
        left.set_ylim(len(sets) - 0.4, -0.6)
        left.set(xlabel="NLL minus that of the default search, nats")
        right.set(xlabel="steps of the search, of the default's")
        figure.legend(loc="outside upper center", ncols=2)
    return figure

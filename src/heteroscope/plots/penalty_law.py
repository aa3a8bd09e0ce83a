"""Draw how the squared weights of networks follow the Dirichlet energy of their function."""

from collections.abc import Mapping
from itertools import cycle

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from heteroscope.plots.style import BLUE, GREEN, GREY, INK, ORANGE, VERMILION, house_style, literal, new_figure

Points = Float[np.ndarray, " cell"]


def penalty_law_figure(panels: Mapping[str, Mapping[str, tuple[Points, Points]]]) -> Figure:
    """Draw W against E on logarithmic axes, with a line of least squares through each set of three cells or more.

    Parameters
    ----------
    panels : mapping of titles to mappings of names to (energy, weights)
        One panel per title, and in it one set of cells per name.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with house_style():
        figure = new_figure(4.2 * len(panels), 3.9)
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for ax, (title, sets) in zip(axes, panels.items(), strict=True):
            styles = zip(cycle((BLUE, VERMILION, GREEN, ORANGE, GREY, INK)), cycle("osD^vP"), strict=False)
            for (name, (energy, weights)), (colour, marker) in zip(sets.items(), styles, strict=False):
                ax.plot(energy, weights, marker, color=colour, markersize=4.5, label=literal(name))
                if len(energy) > 2:
                    power, intercept = np.polyfit(np.log(energy), np.log(weights), 1)
                    ends = np.array([energy.min(), energy.max()])
                    ax.plot(ends, np.exp(intercept) * ends**power, color=colour, linewidth=0.9)
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_title(literal(title))
            ax.set(xlabel="Dirichlet energy $E$", ylabel="squared weights $W$")
            ax.legend(fontsize=7)
    return figure

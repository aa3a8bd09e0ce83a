"""Draw how the field theory's fold moves with the number of points."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from heteroscope.plots.style import BLUE, GREEN, GREY, ORANGE, VERMILION, house_style, literal, new_figure


def fold_figure(n_points: ArrayLike, folds: Mapping[str, ArrayLike]) -> Figure:
    """Draw logit rho of the fold against the number of points, one line per target, and the slope of log n^2.

    Parameters
    ----------
    n_points : array of shape (size,)
        Numbers of points n.
    folds : mapping of names to arrays of shape (size,)
        For each of at most four targets, logit rho of the fold at each n.

    Returns
    -------
    matplotlib.figure.Figure
    """
    sizes = np.asarray(n_points, dtype=float)
    with house_style():
        figure = new_figure(4.6, 3.2)
        ax = figure.subplots()
        for (name, values), colour, marker in zip(
            folds.items(), (BLUE, VERMILION, GREEN, ORANGE), "osD^", strict=False
        ):
            ax.plot(
                sizes, np.asarray(values, dtype=float), color=colour, marker=marker, markersize=4, label=literal(name)
            )
        highest = max(float(np.asarray(values)[0]) for values in folds.values())
        guide = highest - 1.5 + 2 * np.log(sizes / sizes[0])
        ax.plot(sizes, guide, color=GREY, linestyle="--", linewidth=1.0, label=r"slope of $n^2$")
        ax.set_xscale("log", base=2)
        ax.set(xlabel="number of points $n$", ylabel=r"logit $\rho$ of the fold")
        ax.legend()
    return figure

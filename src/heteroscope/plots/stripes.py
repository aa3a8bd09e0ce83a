"""Colour the background of scores along a line of models by the models' phases."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from scipy.special import expit, logit

from heteroscope.plots.style import PHASE_COLOURS, PHASE_NAMES

MARGIN = 0.03  # width of the outer stripes beyond the last points, as a share of the line's length in the logit
STRENGTH = 0.17  # share of a phase's colour in its stripe
NARROW = 0.06  # share of the axis below which a stripe is too narrow for its phase's name


class Stripe(NamedTuple):
    """An interval of rho in which all points are in one phase, or of one kind of S; "" if they have not finished."""

    low: float
    high: float
    phase: str


def find_stripes(rho: Float[np.ndarray, " point"], phases: Sequence[str]) -> list[Stripe]:
    """Return the intervals of equal phase; borders are half way between points in the logit, "" is not finished."""
    z = logit(rho)
    beyond = MARGIN * np.ptp(z) or 1.0
    edges = expit(np.concatenate([[z[0] - beyond], (z[1:] + z[:-1]) / 2, [z[-1] + beyond]]))
    stripes = []
    for phase, run in groupby(range(len(phases)), key=lambda k: phases[k]):
        members = list(run)
        stripes.append(Stripe(float(edges[members[0]]), float(edges[members[-1] + 1]), phase))
    return stripes


def shade(ax: Axes, stripes: Sequence[Stripe], narrow: float = NARROW) -> None:
    """Draw each stripe in its phase's colour, with the name above unless it is narrower than `narrow` of the axis.

    An S is named if it is 0.4 times as wide.
    """
    place = ax.get_xaxis_transform()
    first, last = ax.get_xlim()
    whole = logit(last) - logit(first)
    for low, high, phase in ((max(low, first), high, phase) for low, high, phase in stripes):
        if not phase:
            continue
        ax.axvspan(low, high, color=PHASE_COLOURS[phase], alpha=STRENGTH, linewidth=0, zorder=0)
        if logit(high) - logit(low) >= narrow * whole * (0.4 if phase.startswith("S") else 1.0):
            middle = expit((logit(low) + logit(high)) / 2)
            ax.text(middle, 1.02, PHASE_NAMES[phase], transform=place, ha="center", va="bottom")

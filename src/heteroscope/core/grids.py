"""Which (rho, gamma) points to visit: the paper's grids, and the diagonal rho = 1 - gamma, even in the logit."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float
from scipy.special import logit

# Decimals as they are written: a power or a logarithm has other last bits on another processor.
_DECADES = (1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
_MIDDLE = tuple(k / 10 for k in range(1, 10))

#: rho and gamma of the paper's network diagrams: 22 values.
NETWORK_GRID: Float[np.ndarray, "22"] = np.array([*_DECADES, *_MIDDLE, 0.99, 0.999, 0.9999])
#: rho and gamma of the paper's field theory: 19 different values (its text lists one twice).
FIELD_GRID: Float[np.ndarray, "19"] = np.array([*_DECADES[5:], *_MIDDLE, 0.99, 0.999, 0.9999, 0.99999, 0.999999])
#: rho along the paper's diagonal, its two ends left out: they have no solution.
PAPER_DIAGONAL: Float[np.ndarray, "94"] = np.array([*_DECADES, *(k / 100 for k in range(10, 91)), 0.99, 0.999, 0.9999])
#: The logits of rho between which the diagonal search looks: rho from one half to 1 - 1e-6.
#: Below one half every network measured was flat; at the upper end every one had memorised its data.
DIAGONAL_LOGITS = (0.0, float(-logit(1e-6)))


def diagonal_logits(
    n_points: int, low: float = DIAGONAL_LOGITS[0], high: float = DIAGONAL_LOGITS[1]
) -> Float[np.ndarray, " t"]:
    """logit rho = -logit gamma for `n_points` points of the diagonal, evenly spaced in the logit."""
    return np.linspace(low, high, n_points)


def bisect_transition(
    visited: Float[np.ndarray, " t"], underfit: Sequence[bool], overfit: Sequence[bool], n_points: int
) -> Float[np.ndarray, " u"]:
    """At most `n_points` new logits where a sorted line passes from underfit to overfit: the good phase lies there.

    The midpoints of the intervals between the last underfit point before the first overfit one and that one, widest
    intervals first. A line without an underfit or an overfit point is open to that end.
    """
    first_over = overfit.index(True) if True in overfit else len(visited) - 1
    last_under = max((k for k in range(first_over) if underfit[k]), default=0)
    intervals = list(pairwise(visited[last_under : first_over + 1]))
    widest = sorted(intervals, key=lambda pair: pair[0] - pair[1])[:n_points]
    return np.sort(np.array([(low + high) / 2 for low, high in widest]))


def refine_around(visited: Float[np.ndarray, " t"], best: int, n_points: int) -> Float[np.ndarray, " u"]:
    """`n_points` new logits in the two intervals around the best of the sorted visited points, evenly in each.

    An odd one goes to the left, more regularised, interval; at an end of the line the one interval there takes them
    all. A line of one point has no interval, and nothing is added.
    """
    around = visited[max(best - 1, 0) : best + 2]
    n_intervals = len(around) - 1
    shares = [len(part) for part in np.array_split(np.arange(n_points), max(n_intervals, 1))]
    parts = [
        np.linspace(low, high, share + 2)[1:-1] for (low, high), share in zip(pairwise(around), shares, strict=False)
    ]
    return np.concatenate([np.empty(0), *parts])

"""Where to look next along a line of visited points: bisect the transition, refine around the best point."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float


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

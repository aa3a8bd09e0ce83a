"""One factor for the std, told by held-out rows, and what of it an ensemble of all rows needs.

std scale = sqrt(a b) over held-out rows: a is the factor under which they are likeliest, the root of
mean[w ((y - mean) / std)^2], and b the one under which 90 % intervals hold 90 % of them. Heavy tails make a the larger.
Models that know all rows need less of it: scale^2 - 1 falls as 1 / rows^2.
"""

import numpy as np
from scipy import stats

from heteroscope.distributions import metrics
from heteroscope.search.cross_validation import Folds, Point, held_rows

COVERAGE = 0.9
COVERING_STDS = float(stats.norm.ppf((1 + COVERAGE) / 2))  # half the width of such an interval
HOPELESS_SCALE = 5.0  # a std that is so many times too small says nothing that scaling could save


def squared_score(point: Point, folds: Folds) -> float:
    """`squared_score` of the held-out rows that a point has seen."""
    held = held_rows(folds[: len(point.results)])
    return metrics.squared_score(held.y, *point.held_out, sample_weight=held.weight)


def std_scale(point: Point, folds: Folds) -> float:
    """The factor for a point's std that the held-out rows it has seen ask for."""
    likeliest = np.sqrt(squared_score(point, folds))
    if not np.isfinite(likeliest):
        return float(likeliest)
    held = held_rows(folds[: len(point.results)])
    mean, std = point.held_out
    size = np.abs(held.y - mean) / std
    share = np.quantile(size, COVERAGE, weights=held.weight, method="inverted_cdf")
    covering = max(share / COVERING_STDS, likeliest / HOPELESS_SCALE)
    return float(np.sqrt(likeliest * covering))


def share_of_more_members(point: Point, folds: Folds, n_members: int) -> float:
    """What an ensemble of `n_members` needs of the factor that the m members of the folds ask for.

    share^2 = S(n_members) / S(m),    S(M) = (b + v / M) / (1 + (1 - 1/M) v)

    In units of the members' own variance, v is the variance of their means, which two of them can tell, and b the
    squared error that no number of them mends; b + v / m is that of the m. One member tells nothing of v.
    """
    m = point.results[0].means.shape[0]
    weight = held_rows(folds[: len(point.results)]).weight
    errors, between = [], []
    for fold, result in zip(folds, point.results, strict=False):
        own = (result.stds**2).mean(axis=0)
        errors.append((fold.held.y - result.means.mean(axis=0)) ** 2 / own)
        between.append(result.means.var(axis=0, ddof=min(1, m - 1)) / own)
    error, v = (float(np.average(np.concatenate(parts), weights=weight)) for parts in (errors, between))
    if m == 1 or not error > 0:
        return 1.0
    mended = max(error - (1 / m - 1 / n_members) * v, m / n_members * error)  # at best, b is zero
    return float(np.sqrt(mended / error * (1 + (1 - 1 / m) * v) / (1 + (1 - 1 / n_members) * v)))


def scale_for_all_rows(scale: float, share: float) -> float:
    """The factor for models of all rows, where those that asked for `scale` knew a `share` of them.

    What a std lacks beside 1 is what the model does not know yet; a std that is too large is left as it is.
    """
    return float(np.sqrt(1.0 + (scale**2 - 1.0) * share**2)) if scale > 1.0 else scale

"""Calibrate the std: one factor, computed from held-out rows, by which every predicted std is multiplied.

std scale = sqrt(a b), where
    a = sqrt(mean of w ((y - mean) / std)^2), the factor of highest likelihood for the held-out rows;
    b = the factor for which 90 % intervals contain 90 % of the held-out rows.
Heavy tails increase a more than b. The final fit uses all rows and more members than a fold, and then needs a smaller
factor: `share_of_more_members` and `scale_for_all_rows` correct for the two.
"""

import numpy as np
from scipy import stats

from heteroscope.distributions import metrics
from heteroscope.search.cross_validation import Point
from heteroscope.search.folds import Folds, held_rows

COVERAGE = 0.9  # of the intervals that define the factor b
COVERING_STDS = float(stats.norm.ppf((1 + COVERAGE) / 2))  # half-width of that interval for a Gaussian, in stds
TRUSTED = 30  # held-out rows from which the corrections for the final fit are trusted by half
HOPELESS_SCALE = 5.0  # largest factor for which scaling is trusted: such a std carries little information about a row


def squared_score(point: Point, folds: Folds) -> float:
    """Return the average of ((y - mean) / std)^2 over the held-out rows that the point was evaluated on."""
    held = held_rows(folds[: len(point.results)])
    return metrics.squared_score(held.y, *point.held_out, sample_weight=held.weight)


def std_scale(point: Point, folds: Folds) -> float:
    """Return the std scale sqrt(a b) of the held-out rows that the point was evaluated on."""
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
    """Return the factor that corrects the std scale of m members per fold for an ensemble of `n_members`.

    share^2 = S(n_members) / S(m),    S(M) = (b + v / M) / (1 + (1 - 1/M) v)

    Both b and v are in units of the members' average variance: v is the variance of the members' means, and b the
    squared error that remains for infinitely many members, so that m members have the squared error b + v / m.
    With m = 1, v cannot be estimated and the share is 1.
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
    remaining = max(error - (1 / m - 1 / n_members) * v, m / n_members * error)  # the estimate of b must not be below 0
    return float(np.sqrt(remaining / error * (1 + (1 - 1 / m) * v) / (1 + (1 - 1 / n_members) * v)))


def final_std_scale(scale: float, more: float, share: float, n_held: int) -> float:
    """Return the std scale of the final models: that of the folds, corrected as far as held-out rows can be trusted.

    corrected^w scale^(1 - w),    corrected = scale_for_all_rows(more scale, share),    w = n_held / (n_held + 30)

    The corrections are estimates that lower the scale. On tables of 12 to 20 rows they cost 7 points of coverage.
    """
    w = n_held / (n_held + TRUSTED)
    return float(scale_for_all_rows(more * scale, share) ** w * scale ** (1.0 - w))


def scale_for_all_rows(scale: float, share: float) -> float:
    """Return the std scale for models trained on all rows, given that of models trained on a `share` of them.

    sqrt(1 + (scale^2 - 1) share^2) if scale > 1: the excess is due to missing rows and falls as 1 / rows^2.
    A scale of at most 1 is returned unchanged.
    """
    return float(np.sqrt(1.0 + (scale**2 - 1.0) * share**2)) if scale > 1.0 else scale

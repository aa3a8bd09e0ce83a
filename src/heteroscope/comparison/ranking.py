"""Rank methods over many data sets: mean ranks, their tests, and the critical difference of Nemenyi.

On each of N sets the k methods have the ranks 1 (lowest score) to k; equal scores share the mean of their ranks. With
the mean ranks R_j (Demsar 2006, "Statistical comparisons of classifiers over multiple data sets"):

Friedman:            chi^2 = 12 N / (k (k + 1)) (sum_j R_j^2 - k (k + 1)^2 / 4), corrected for ties
Nemenyi:             two methods differ if their mean ranks do by CD = q sqrt(k (k + 1) / (6 N))
Wilcoxon and Holm:   signed ranks of the differences from one method, p-values corrected for their number

q is the Studentised range quantile for k methods, divided by sqrt(2).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from heteroscope.core import InputError

#: Level of all tests.
LEVEL = 0.05


class Ranking(NamedTuple):
    """Mean ranks of methods over sets, and which of them are told apart.

    Attributes
    ----------
    n_sets : int
        The number of sets on which all methods have a score.
    ranks : Series
        The mean rank of each method, the best first.
    chi_squared, p_value : float
        Friedman's test of the hypothesis that all methods are the same.
    critical_difference : float
        The smallest difference of two mean ranks that Nemenyi's test finds significant.
    groups : tuple of tuple of str
        The largest groups of methods with neighbouring ranks that the test does not tell apart.
    """

    n_sets: int
    ranks: pd.Series
    chi_squared: float
    p_value: float
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]


def rank_methods(scores: pd.DataFrame, level: float = LEVEL) -> Ranking:
    """Rank methods by a score of which lower values are better.

    Parameters
    ----------
    scores : DataFrame
        One row per set and one column per method. Sets on which a method has no score are left out.
    level : float, default=0.05
        Level of Nemenyi's test.

    Returns
    -------
    Ranking
    """
    whole = scores.dropna()
    n, k = whole.shape
    if n < 2 or k < 2:
        raise InputError(f"a ranking needs two methods with scores on the same two sets, and there are {n} such sets")
    table = stats.rankdata(whole.to_numpy(dtype=float), axis=1)
    ranks = pd.Series(table.mean(axis=0), index=whole.columns).sort_values(kind="stable")
    tied = sum(float(np.sum(counts**3 - counts)) for counts in (np.unique(row, return_counts=True)[1] for row in table))
    share = 1.0 - tied / (n * k * (k * k - 1))  # of the chi^2 that there is left with ties
    spread = 12.0 * n / (k * (k + 1)) * float(np.sum((ranks - (k + 1) / 2) ** 2))
    chi_squared = spread / share if share > 0 else 0.0
    difference = critical_difference(k, n, level)
    return Ranking(
        n, ranks, chi_squared, float(stats.chi2.sf(chi_squared, k - 1)), difference, groups_within(ranks, difference)
    )


def critical_difference(n_methods: int, n_sets: int, level: float = LEVEL) -> float:
    """Return Nemenyi's critical difference of mean ranks.

    Parameters
    ----------
    n_methods, n_sets : int
        The number of methods, at least two, and of sets.
    level : float, default=0.05
        Level of the test.

    Returns
    -------
    float
    """
    quantile = float(stats.studentized_range.isf(level, n_methods, np.inf)) / math.sqrt(2.0)
    return quantile * math.sqrt(n_methods * (n_methods + 1) / (6.0 * n_sets))


def groups_within(ranks: pd.Series, difference: float) -> tuple[tuple[str, ...], ...]:
    """Return the largest runs of methods whose first and last mean rank are closer than `difference`, if longer than 1.

    Parameters
    ----------
    ranks : Series
        The mean ranks, sorted.
    difference : float
        The critical difference.

    Returns
    -------
    tuple of tuple of str
    """
    values, names = ranks.to_numpy(), [str(name) for name in ranks.index]
    ends = [int(np.searchsorted(values, value + difference, side="left")) for value in values]
    starts = [k for k, end in enumerate(ends) if end - k > 1 and (k == 0 or ends[k - 1] < end)]
    return tuple(tuple(names[k : ends[k]]) for k in starts)


def compare_with_first(scores: pd.DataFrame, ties: float = 0.0) -> pd.DataFrame:
    """Compare every method with the first one over the sets that both have.

    Parameters
    ----------
    scores : DataFrame
        One row per set and one column per method, lower values are better, in units that can be compared between sets:
        NLL, or the logarithm of a score in the target's units.
    ties : float, default=0
        Differences of at most this size count as ties in `wins` and `losses`, but not in the test.

    Returns
    -------
    DataFrame
        One row per other method: `sets`, `wins`, `ties` and `losses` of the first method, the mean and median
        `difference` (method minus first: positive if the first is better), `p_value` of Wilcoxon's signed-rank test,
        and `p_holm`, corrected by Holm for the number of methods.
    """
    first, *others = scores.columns
    rows = {}
    for name in others:
        pair = scores[[first, name]].dropna().to_numpy(dtype=float)
        with np.errstate(invalid="ignore"):
            gap = np.where(pair[:, 0] == pair[:, 1], 0.0, pair[:, 1] - pair[:, 0])  # inf - inf is no difference
        rows[name] = {
            "sets": len(gap),
            "wins": int(np.sum(gap > ties)),
            "ties": int(np.sum(np.abs(gap) <= ties)),
            "losses": int(np.sum(gap < -ties)),
            "difference": float(np.mean(gap)) if len(gap) else math.nan,
            "median_difference": float(np.median(gap)) if len(gap) else math.nan,
            "p_value": float(stats.wilcoxon(gap).pvalue) if np.any(gap != 0) else 1.0,
        }
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")
    return table.assign(p_holm=holm(table["p_value"].to_list()) if len(table) else [])


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number: the i-th smallest of m times m - i + 1, made to rise, at most 1.

    Parameters
    ----------
    p_values : sequence of float
        The p-values of all tests.

    Returns
    -------
    list of float
        In the same order.
    """
    order = np.argsort(p_values, kind="stable")
    m = len(p_values)
    rising = np.maximum.accumulate([(m - place) * p_values[k] for place, k in enumerate(order)])
    corrected = np.empty(m)
    corrected[order] = np.minimum(1.0, rising)
    return corrected.tolist()

"""Differences between two methods on the same splits: their standard error, test, and what could have been seen.

Let d_1, ..., d_J be the differences on J splits of one table, with mean d and variance s^2 (divided by J - 1), and let
q be the share of the rows in each test set. The splits share rows, so that the d_k are correlated by about q, and
s^2 / J is too small a variance of d. Nadeau and Bengio (2003) use

standard error^2 = (1 / J + q / (1 - q)) s^2,    t = d / standard error with J - 1 degrees of freedom.

q / (1 - q) is the number of test rows per training row; it is 0 for splits that are fresh draws.
"""

import functools
import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import special, stats
from scipy.optimize import brentq

from heteroscope.core import InputError

LEVEL, POWER = 0.05, 0.8  # of the two-sided test: wrong alarms, and true differences that are found
_NODES = 4000  # quantiles over which a power is averaged


class PairedDifference(NamedTuple):
    """The mean difference of two methods over splits, and how well it is known.

    Attributes
    ----------
    n_splits : int
        The number of splits.
    mean : float
        The mean difference; negative if the method has the lower score.
    standard_error : float
        The corrected standard error; NaN for fewer than two splits.
    p_value : float
        Of the two-sided t test.
    detectable : float
        The smallest true difference that this test would have found with a probability of 80 %.
    """

    n_splits: int
    mean: float
    standard_error: float
    p_value: float
    detectable: float


def paired_difference(differences: Float[np.ndarray, " split"], test_share: float) -> PairedDifference:
    """Return the mean of paired differences with its corrected standard error, test and detectable size.

    Parameters
    ----------
    differences : array of shape (split,)
        Score of a method minus that of another one on the same split; NaN where one of them has none.
    test_share : float
        The share of a table's rows in each test set, in [0, 1); 0 for splits that are fresh draws.

    Returns
    -------
    PairedDifference
    """
    if not 0.0 <= test_share < 1.0:
        raise InputError(f"test_share={test_share:g}: give the share of test rows, at least 0 and below 1")
    known = differences[~np.isnan(differences)]
    n = len(known)
    mean = float(np.mean(known)) if n else math.nan
    if n < 2 or not np.isfinite(known).all():
        return PairedDifference(n, mean, math.nan, math.nan, math.nan)
    error = float(np.std(known, ddof=1)) * math.sqrt(1.0 / n + test_share / (1.0 - test_share))
    if error == 0.0:  # such as a method and itself
        return PairedDifference(n, mean, 0.0, 1.0 if mean == 0.0 else 0.0, 0.0)
    p_value = float(2.0 * stats.t.sf(abs(mean) / error, n - 1))
    return PairedDifference(n, mean, error, p_value, error * detectable_ratio(float(n - 1)))


@functools.cache
def detectable_ratio(degrees_of_freedom: float, level: float = LEVEL, power: float = POWER) -> float:
    """Return the smallest true mean, in standard errors, that a two-sided t test finds with this power.

    It is the noncentrality c of a t distribution with P(|T| > t_crit) = power. With many splits c is 1.96 + 0.84 = 2.8.

    Parameters
    ----------
    degrees_of_freedom : float
        The number of splits minus one, or infinity.
    level : float, default=0.05
        Probability of a wrong alarm.
    power : float, default=0.8
        Probability of finding the difference.

    Returns
    -------
    float
    """
    critical = float(stats.t.isf(level / 2, degrees_of_freedom))
    # T = (c + z) / w with w^2 = chi^2 / df: the mean over w of a normal probability. scipy's nct is NaN for large c.
    w = np.ones(1)
    if not math.isinf(degrees_of_freedom):
        w = np.sqrt(stats.chi2.ppf((np.arange(_NODES) + 0.5) / _NODES, degrees_of_freedom) / degrees_of_freedom)

    def lacking(shift: float) -> float:
        return float(np.mean(special.ndtr(shift - critical * w) + special.ndtr(-shift - critical * w))) - power

    return float(brentq(lacking, 0.0, 3.0 * critical + 10.0))

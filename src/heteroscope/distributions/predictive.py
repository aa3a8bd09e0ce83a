"""The predictive distribution of a row: a Gaussian, or a Student-t with the same mean and standard deviation.

y = mean + scale z,    z ~ t_df,    scale = std sqrt((df - 2) / df);    df = infinity is the Gaussian, scale = std

SciPy is imported where it is used, so that a process that only wants means and stds does not import it.
"""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from heteroscope.core import InputError, Parameter

if TYPE_CHECKING:
    from scipy.stats.distributions import rv_frozen


def frozen(mean: Float[np.ndarray, " row"], std: Float[np.ndarray, " row"], df: float) -> "rv_frozen":
    """Return the distribution as a frozen one of SciPy.

    Parameters
    ----------
    mean : ndarray of shape (n_rows,)
        Means.
    std : ndarray of shape (n_rows,)
        Standard deviations.
    df : float
        Degrees of freedom, above 2; infinite for a Gaussian.

    Returns
    -------
    scipy.stats.rv_frozen
        A `scipy.stats.norm`, or a `scipy.stats.t` for a finite df, with one entry per row.
    """
    from scipy import stats

    return stats.norm(loc=mean, scale=std) if np.isinf(df) else stats.t(df=df, loc=mean, scale=scale_of(std, df))


def quantiles(
    mean: Float[np.ndarray, " row"],
    std: Float[np.ndarray, " row"],
    df: float,
    levels: Float[np.ndarray, " level"],
) -> Float[np.ndarray, "row level"]:
    """Compute the quantiles of each row: mean + scale z(level).

    Parameters
    ----------
    mean : ndarray of shape (n_rows,)
        Means.
    std : ndarray of shape (n_rows,)
        Standard deviations.
    df : float
        Degrees of freedom, above 2; infinite for a Gaussian.
    levels : ndarray of shape (n_levels,)
        Probabilities, strictly between 0 and 1.

    Returns
    -------
    ndarray of shape (n_rows, n_levels)
        One column per level.
    """
    from scipy.special import ndtri, stdtrit

    z = ndtri(levels) if np.isinf(df) else stdtrit(df, levels)
    return mean[:, np.newaxis] + scale_of(std, df)[:, np.newaxis] * z


def scale_of(std: Float[np.ndarray, " row"], df: float) -> Float[np.ndarray, " row"]:
    """Return the scale of a Student-t with this std: std sqrt((df - 2) / df)."""
    return std if np.isinf(df) else std * np.sqrt((df - 2.0) / df)


def check_levels(levels: ArrayLike) -> Float[np.ndarray, " level"]:
    """Return the levels of quantiles as an array; raise an `InputError` unless all lie strictly between 0 and 1.

    Parameters
    ----------
    levels : float or array-like of float
        Probabilities.

    Returns
    -------
    ndarray of shape (n_levels,)
        The same as floats.
    """
    wanted = np.atleast_1d(np.asarray(levels, float))
    if not wanted.size or not np.all((wanted > 0) & (wanted < 1)):
        raise InputError(f"quantiles must lie strictly between 0 and 1, got {levels!r}")
    return wanted


def interval_levels(coverage: float) -> list[float]:
    """Return the levels of the two ends of a central interval.

    Parameters
    ----------
    coverage : float
        Probability of the interval, strictly between 0 and 1.

    Returns
    -------
    list of float
        (1 - coverage) / 2 and (1 + coverage) / 2.
    """
    if not 0.0 < coverage < 1.0:
        raise InputError(Parameter("coverage"), f" must lie strictly between 0 and 1, got {coverage!r}")
    return [(1 - coverage) / 2, (1 + coverage) / 2]

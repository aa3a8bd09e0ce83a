"""The Student-t distribution with a scale: a Gaussian whose precision is uncertain and integrated out.

y = mean + scale z,    z ~ t_df,    std = scale sqrt(df / (df - 2)) for df > 2, else infinite

precision ~ Gamma(shape, rate) gives df = 2 shape and scale = sqrt(rate / shape). All functions broadcast their
arguments; z = (y - mean) / scale.
"""

from typing import TypeAlias

import numpy as np
from jaxtyping import Float64
from scipy import stats
from scipy.special import betaln, stdtr, stdtrit

Values: TypeAlias = Float64[np.ndarray, "..."]


def std(df: Values, scale: Values) -> Values:
    """Compute the standard deviation: scale sqrt(df / (df - 2)).

    Parameters
    ----------
    df : ndarray
        Degrees of freedom; infinite for a Gaussian.
    scale : ndarray
        Scales.

    Returns
    -------
    ndarray
        Standard deviations; infinite for df <= 2, and the scale for a Gaussian.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(np.isinf(df), 1.0, df / (df - 2.0))
    return np.where(df > 2.0, scale * np.sqrt(np.abs(ratio)), np.inf)


def scale(df: Values, std: Values) -> Values:
    """Compute the scale from the standard deviation: std sqrt((df - 2) / df), the inverse of `std`.

    Parameters
    ----------
    df : ndarray
        Degrees of freedom, > 2.
    std : ndarray
        Standard deviations.

    Returns
    -------
    ndarray
        Scales.
    """
    return std * np.sqrt((df - 2.0) / df)


def cdf(z: Values, df: Values) -> Values:
    """Compute the cumulative distribution F(z).

    Parameters
    ----------
    z : ndarray
        Standardised values.
    df : ndarray
        Degrees of freedom.

    Returns
    -------
    ndarray
        Probabilities.
    """
    return np.asarray(stdtr(df, z))


def quantile(level: float, df: Values) -> Values:
    """Compute the quantile z with F(z) = level.

    Parameters
    ----------
    level : float
        Probability, strictly between 0 and 1.
    df : ndarray
        Degrees of freedom.

    Returns
    -------
    ndarray
        Standardised quantiles.
    """
    return np.asarray(stdtrit(df, level))


def nll(z: Values, df: Values, scale: Values) -> Values:
    """Compute the negative log likelihood: log scale - log f(z), with f the density of t_df.

    Parameters
    ----------
    z : ndarray
        Standardised values.
    df : ndarray
        Degrees of freedom.
    scale : ndarray
        Scales.

    Returns
    -------
    ndarray
        Negative log likelihoods.
    """
    return np.asarray(np.log(scale) - stats.t.logpdf(z, df))


def crps(z: Values, df: Values, scale: Values) -> Values:
    """Compute the continuous ranked probability score in closed form (Jordan, Krueger & Lerch 2019).

    scale [z (2 F(z) - 1) + 2 f(z) (df + z^2) / (df - 1) - 2 sqrt(df) B(1/2, df - 1/2) / ((df - 1) B(1/2, df/2)^2)]

    F and f are the cumulative distribution and the density of t_df, and B is the beta function.

    Parameters
    ----------
    z : ndarray
        Standardised values.
    df : ndarray
        Degrees of freedom.
    scale : ndarray
        Scales.

    Returns
    -------
    ndarray
        Scores, in the units of the scale; infinite for df <= 1.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = 2.0 * np.sqrt(df) * np.exp(betaln(0.5, df - 0.5) - 2.0 * betaln(0.5, 0.5 * df))
        value = z * (2.0 * cdf(z, df) - 1.0) + (2.0 * stats.t.pdf(z, df) * (df + z**2) - spread) / (df - 1.0)
    return np.where(df > 1.0, scale * value, np.inf)

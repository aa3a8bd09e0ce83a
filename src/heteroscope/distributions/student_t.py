"""The Student-t with a scale: what a Gaussian becomes when its precision is uncertain and integrated out.

y = mean + scale z,    z ~ t_df,    std = scale sqrt(df / (df - 2)) for df > 2, infinite below

precision ~ Gamma(shape, rate) gives df = 2 shape and scale = sqrt(rate / shape). Functions of z = (y - mean) / scale.
"""

from typing import TypeAlias

import numpy as np
from jaxtyping import Float64
from scipy import stats
from scipy.special import betaln, stdtr, stdtrit

Values: TypeAlias = Float64[np.ndarray, "..."]


def std(df: Values, scale: Values) -> Values:
    """scale sqrt(df / (df - 2)), infinite for df of at most two; of a Gaussian, whose df are infinite, the scale."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(np.isinf(df), 1.0, df / (df - 2.0))
    return np.where(df > 2.0, scale * np.sqrt(np.abs(ratio)), np.inf)


def scale(df: Values, std: Values) -> Values:
    """std sqrt((df - 2) / df), for df > 2: the inverse of `std`."""
    return std * np.sqrt((df - 2.0) / df)


def cdf(z: Values, df: Values) -> Values:
    """The probability of less than z."""
    return np.asarray(stdtr(df, z))


def quantile(level: float, df: Values) -> Values:
    """The z below which a share `level` lies."""
    return np.asarray(stdtrit(df, level))


def nll(z: Values, df: Values, scale: Values) -> Values:
    """log scale - log density of t_df at z."""
    return np.asarray(np.log(scale) - stats.t.logpdf(z, df))


def crps(z: Values, df: Values, scale: Values) -> Values:
    """scale [z (2 F(z) - 1) + 2 f(z) (df + z^2) / (df - 1) - 2 sqrt(df) B(1/2, df - 1/2) / ((df - 1) B(1/2, df/2)^2)].

    F and f are distribution and density of t_df (Jordan, Krueger & Lerch 2019); infinite for df of at most one.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = 2.0 * np.sqrt(df) * np.exp(betaln(0.5, df - 0.5) - 2.0 * betaln(0.5, 0.5 * df))
        value = z * (2.0 * cdf(z, df) - 1.0) + (2.0 * stats.t.pdf(z, df) * (df + z**2) - spread) / (df - 1.0)
    return np.where(df > 1.0, scale * value, np.inf)

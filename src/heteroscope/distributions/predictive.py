"""The predictive distribution of a row: a Gaussian, a Student-t or a lognormal of a mean and a standard deviation.

y = mean + scale z,    z ~ t_df,    scale = std sqrt((df - 2) / df);    df = infinity is the Gaussian, scale = std
log y = m + s z,    z ~ N(0, 1),    mean = exp(m + s^2 / 2),    std = mean sqrt(exp(s^2) - 1)

A lognormal is fixed by its mean and its std, as a Gaussian is. The exponential of a Student-t has no finite mean, so
the logarithm of a target is a Gaussian.

SciPy is imported where it is used, so that a process that only wants means and stds does not import it.
"""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from heteroscope.core import InputError, Parameter
from heteroscope.networks import Prediction

if TYPE_CHECKING:
    from scipy.stats.distributions import rv_frozen

LARGEST_LOG_STD = 1.5  # of log y, unless the logarithms of the targets vary more; the mean is then 3 medians


def frozen(
    mean: Float[np.ndarray, " row"], std: Float[np.ndarray, " row"], df: float, lognormal: bool = False
) -> "rv_frozen":
    """Return the distribution as a frozen one of SciPy.

    Parameters
    ----------
    mean : ndarray of shape (n_rows,)
        Means.
    std : ndarray of shape (n_rows,)
        Standard deviations.
    df : float
        Degrees of freedom, above 2; infinite for a Gaussian.
    lognormal : bool, default=False
        Whether the distribution is the lognormal with this mean and std; df is not used then.

    Returns
    -------
    scipy.stats.rv_frozen
        A `scipy.stats.norm`, a `scipy.stats.t` for a finite df, or a `scipy.stats.lognorm`, with one entry per row.
    """
    from scipy import stats

    if lognormal:
        log_mean, log_std = log_moments(mean, std)
        return stats.lognorm(s=log_std, scale=np.exp(log_mean))
    return stats.norm(loc=mean, scale=std) if np.isinf(df) else stats.t(df=df, loc=mean, scale=scale_of(std, df))


def quantiles(
    mean: Float[np.ndarray, " row"],
    std: Float[np.ndarray, " row"],
    df: float,
    levels: Float[np.ndarray, " level"],
    lognormal: bool = False,
) -> Float[np.ndarray, "row level"]:
    """Compute the quantiles of each row: mean + scale z(level), for a lognormal exp(m + s z(level)).

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
    lognormal : bool, default=False
        Whether the distribution is the lognormal with this mean and std; df is not used then.

    Returns
    -------
    ndarray of shape (n_rows, n_levels)
        One column per level.
    """
    if lognormal:
        log_mean, log_std = log_moments(mean, std)
        # two factors, as SciPy's lognormal has them: a loaded model then has the fitted one's quantiles to the last bit
        return np.exp(log_mean)[:, np.newaxis] * np.exp(log_std[:, np.newaxis] * _standard_quantiles(levels, np.inf))
    z = _standard_quantiles(levels, df)
    return mean[:, np.newaxis] + scale_of(std, df)[:, np.newaxis] * z


def _standard_quantiles(levels: Float[np.ndarray, " level"], df: float) -> Float[np.ndarray, " level"]:
    """Return quantiles of the standard Gaussian, without importing SciPy, or of the Student-t of scale 1."""
    if np.isinf(df):
        from statistics import NormalDist

        return np.array([NormalDist().inv_cdf(float(level)) for level in levels])
    from scipy.special import stdtrit

    return np.asarray(stdtrit(df, levels))


def exponentiated(prediction: Prediction, spread: float) -> Prediction:
    """Return predictions of log y as lognormal predictions of y: their mean and std, and both parts of the std.

    The std of log y is bounded by `spread` or LARGEST_LOG_STD, whichever is larger: without a bound the mean
    exp(m + s^2 / 2) of a row about which little is known would be arbitrarily large. The parts keep their shares of the
    variance.

    Parameters
    ----------
    prediction : Prediction
        Predictions of the logarithm of the target.
    spread : float
        The std of the logarithms of the targets of the fit.

    Returns
    -------
    Prediction
        Predictions of the target.
    """
    mean, std = lognormal_moments(prediction.mean, np.minimum(prediction.std, max(LARGEST_LOG_STD, spread)))
    share = std / prediction.std
    return Prediction(mean, std, share * prediction.aleatoric, share * prediction.epistemic)


def lognormal_moments(
    log_mean: Float[np.ndarray, " row"], log_std: Float[np.ndarray, " row"]
) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"]]:
    """Compute mean and std of exp(t) for a Gaussian t: exp(m + s^2 / 2) and mean sqrt(exp(s^2) - 1).

    Parameters
    ----------
    log_mean, log_std : ndarray of shape (n_rows,)
        Mean m and std s of t.

    Returns
    -------
    mean, std : ndarray of shape (n_rows,)
        Of exp(t).
    """
    mean = np.exp(log_mean + 0.5 * log_std**2)
    return mean, mean * np.sqrt(np.expm1(log_std**2))


def log_moments(
    mean: Float[np.ndarray, " row"], std: Float[np.ndarray, " row"]
) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"]]:
    """Compute mean and std of the logarithm of a lognormal, the inverse of `lognormal_moments`.

    s^2 = log(1 + (std / mean)^2),    m = log(mean) - s^2 / 2

    Parameters
    ----------
    mean, std : ndarray of shape (n_rows,)
        Of the lognormal.

    Returns
    -------
    log_mean, log_std : ndarray of shape (n_rows,)
        Of its logarithm.
    """
    variance = np.log1p((std / mean) ** 2)
    return np.log(mean) - 0.5 * variance, np.sqrt(variance)


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

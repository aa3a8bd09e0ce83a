"""Choose the predictive distribution by held-out rows: a Gaussian, or a Student-t with heavier tails.

z = (y - mean) / std of the held-out rows ~ scale t_df,    df = 4, 5, ..., or infinite: the Gaussian

For each df the scale is sqrt(a b): a has the highest likelihood, and b makes 90 % intervals hold 90 % of the rows. A
Student-t is chosen if its likelihood exceeds the Gaussian's by more than log(n) / 2, the price of one more parameter by
the Bayesian information criterion: Gaussian errors stay Gaussian. Its std is scale sqrt(df / (df - 2)), which exists
with a margin for df of at least 4.

Few held-out rows do not tell the scale itself: a Gaussian whose variance is estimated from n errors predicts a
Student-t with n degrees of freedom. The rows have also chosen the point of the search, so that n count as n / 3.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats
from scipy.special import gammaln

from heteroscope.core import InputError, Parameter
from heteroscope.search.cross_validation import Point
from heteroscope.search.folds import Folds, held_rows
from heteroscope.search.std_calibration import COVERAGE, HOPELESS_SCALE

FAMILIES = ("auto", "gaussian", "student-t")
DEGREES = np.array([4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 50.0])  # candidates; beyond, a t is a Gaussian
FEW = 100  # held-out rows below which the uncertainty of the scale widens the tails
WORTH = 1.0 / 3.0  # of a held-out row that was used to choose the point, as evidence of the scale
NEWTON_STEPS = 60  # of the likeliest scale, each by a factor of at most e; about six are taken
TOLERANCE = 1e-10  # of the logarithm of the scale
TINY = 1e-12  # smallest |z| counted, so that rows that are met exactly leave a scale


class Tails(NamedTuple):
    """The factor of every std, and the degrees of freedom of the distribution with that std."""

    std_scale: float
    df: float


def check_family(family: object, calibrate: bool) -> None:
    """Raise an `InputError` unless the family is known and possible."""
    if family not in FAMILIES:
        raise InputError(Parameter("family"), f" must be one of {', '.join(FAMILIES)}, got {family!r}")
    if family == "student-t" and not calibrate:
        raise InputError(
            Parameter("family", "student-t"), " takes its tails from held-out rows: leave out calibrate=False"
        )


def choose_tails(point: Point, folds: Folds, family: str) -> Tails:
    """Return the distribution that fits the held-out rows, for the models of the folds."""
    held = held_rows(folds[: len(point.results)])
    mean, std = point.held_out
    size, share = np.abs(held.y - mean) / std, held.weight / held.weight.sum()
    if not np.isfinite(size).all():
        return Tails(float("inf"), float("inf"))
    n = 1.0 / float(np.sum(share**2))  # rows of equal weight that would tell as much
    df = _degrees(size, share, n, family)
    scale = _scale(size, share, n, df)
    return Tails(float(scale if np.isinf(df) else scale * np.sqrt(df / (df - 2.0))), df)


def _degrees(size: Float[np.ndarray, " held"], share: Float[np.ndarray, " held"], n: float, family: str) -> float:
    """Return the degrees of freedom by likelihood and, from few rows, by how little they tell."""
    if family == "gaussian":
        return np.inf
    heavy = [_log_likelihood(size, share, df) for df in DEGREES]
    gain = n * (max(heavy) - _log_likelihood(size, share, np.inf))
    chosen = family == "student-t" or gain > 0.5 * np.log(n)
    inverse = 1.0 / DEGREES[int(np.argmax(heavy))] if chosen else 0.0
    if n < FEW:
        inverse += 1.0 / (WORTH * n)
    return float(max(DEGREES[0], 1.0 / inverse)) if inverse else np.inf


def _scale(size: Float[np.ndarray, " held"], share: Float[np.ndarray, " held"], n: float, df: float) -> float:
    """Return sqrt(a b); the share that 90 % intervals must hold counts the new row, as conformal intervals do."""
    likeliest = likeliest_scale(size, share, df)
    width = stats.norm.ppf((1 + COVERAGE) / 2) if np.isinf(df) else stats.t.ppf((1 + COVERAGE) / 2, df)
    level = min(1.0, COVERAGE * (n + 1.0) / n)
    covering = np.quantile(size, level, weights=share, method="inverted_cdf") / width
    return float(np.sqrt(likeliest * max(covering, likeliest / HOPELESS_SCALE)))


def likeliest_scale(size: Float[np.ndarray, " held"], share: Float[np.ndarray, " held"], df: float) -> float:
    """Return the scale of highest likelihood: mean of w (df + 1) u^2 / (df + u^2) = 1 with u = |z| / scale.

    For the Gaussian this is mean w u^2 = 1, and its scale is never below that of a Student-t (Jensen's inequality):
    Newton's method in log scale begins there, on a function that falls.
    """
    squared = np.maximum(size, TINY) ** 2
    log_scale = 0.5 * np.log(share @ squared)
    if np.isinf(df):
        return float(np.exp(log_scale))
    for _ in range(NEWTON_STEPS):
        u = squared * np.exp(-2.0 * log_scale)
        excess = share @ ((df + 1.0) * u / (df + u)) - 1.0
        slope = -2.0 * (share @ ((df + 1.0) * df * u / (df + u) ** 2))
        step = np.clip(excess / min(slope, -TINY), -1.0, 1.0)
        log_scale -= step
        if abs(step) < TOLERANCE:
            break
    return float(np.exp(log_scale))


def _log_likelihood(size: Float[np.ndarray, " held"], share: Float[np.ndarray, " held"], df: float) -> float:
    """Return the average log likelihood of z at the likeliest scale."""
    scale = likeliest_scale(size, share, df)
    u = (np.maximum(size, TINY) / scale) ** 2
    if np.isinf(df):
        return float(-0.5 * np.log(2.0 * np.pi) - np.log(scale) - 0.5 * (share @ u))
    constant = gammaln(0.5 * (df + 1.0)) - gammaln(0.5 * df) - 0.5 * np.log(np.pi * df)
    return float(constant - np.log(scale) - 0.5 * (df + 1.0) * (share @ np.log1p(u / df)))

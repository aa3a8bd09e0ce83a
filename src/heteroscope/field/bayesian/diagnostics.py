"""Diagnose Markov chains by the conventions of ArviZ (Vehtari, Gelman, Simpson, Carpenter and Buerkner 2021).

R-hat is the larger of two: of the rank-normalised draws, and of their folded absolute values; chains are split in half.
The effective sample size is n_draws / (1 + 2 sum of autocorrelations), summed by Geyer's initial monotone sequence: in
the bulk for rank-normalised draws, in the tail the smaller one of the indicators of the 5 % and the 95 % quantile.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.fft import next_fast_len
from scipy.special import ndtri
from scipy.stats import rankdata

Draws = Float[np.ndarray, "_chain _draw *quantity"]
Quantities = Float[np.ndarray, "*quantity"]


class Diagnostics(NamedTuple):
    """How well chains have mixed.

    Attributes
    ----------
    acceptance : float
        Average chance of acceptance.
    divergences : int
        Trajectories whose energy error exceeded 1000.
    leapfrogs : float
        Average number of leapfrog steps per draw.
    r_hat : ndarray of shape (2, n_points)
        Rank-normalised split R-hat of the mean and of the precision.
    ess_bulk, ess_tail : ndarray of shape (2, n_points)
        Effective sample sizes of the mean and of the precision.
    """

    acceptance: float
    divergences: int
    leapfrogs: float
    r_hat: Float[np.ndarray, "2 point"]
    ess_bulk: Float[np.ndarray, "2 point"]
    ess_tail: Float[np.ndarray, "2 point"]


def r_hat(draws: Draws) -> Quantities:
    """Return the rank-normalised split R-hat of each quantity."""
    split = _split(draws)
    folded = np.abs(split - np.median(split, axis=(0, 1)))
    return np.maximum(_plain_r_hat(_rank_normal(split)), _plain_r_hat(_rank_normal(folded)))


def ess_bulk(draws: Draws) -> Quantities:
    """Return the effective sample size of rank-normalised draws."""
    return _ess(_rank_normal(_split(draws)))


def ess_tail(draws: Draws) -> Quantities:
    """Return the smaller effective sample size of the 5 % and the 95 % quantile."""
    low, high = np.quantile(draws, [0.05, 0.95], axis=(0, 1))
    return np.minimum(*(_ess(_split((draws <= bound).astype(float))) for bound in (low, high)))


def _split(draws: Draws) -> Draws:
    """Cut each chain in half; the middle draw of an odd number is left out."""
    half = draws.shape[1] // 2
    return np.concatenate((draws[:, :half], draws[:, -half:]))


def _rank_normal(draws: Draws) -> Draws:
    """Replace draws by the normal quantiles of their ranks over all chains."""
    n = draws.shape[0] * draws.shape[1]
    ranks = rankdata(draws.reshape(n, *draws.shape[2:]), axis=0)
    return ndtri((ranks - 0.375) / (n + 0.25)).reshape(draws.shape)


def _plain_r_hat(draws: Draws) -> Quantities:
    n = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = n * draws.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # a quantity that never changes has no R-hat
        return np.sqrt((between / within + n - 1) / n)


def _ess(draws: Draws) -> Quantities:
    """Return the effective sample size by Geyer's initial monotone sequence, for all quantities at once."""
    n_chains, n = draws.shape[:2]
    total = n_chains * n
    covariance = _autocovariance(draws).mean(axis=0)
    within = covariance[0] * n / (n - 1.0)
    variance = covariance[0] + draws.mean(axis=1).var(axis=0, ddof=1)
    constant = np.ptp(draws, axis=(0, 1)) < np.finfo(float).resolution
    correlation = 1.0 - (within - covariance) / np.where(constant, 1.0, variance)
    correlation[0] = 1.0
    n_pairs = max(1, (n - 3) // 2)
    sums = correlation[: 2 * n_pairs].reshape(n_pairs, 2, *draws.shape[2:]).sum(axis=1)
    positive = np.logical_and.accumulate(sums > 0.0, axis=0)
    monotone = np.minimum.accumulate(np.where(positive, sums, 0.0), axis=0)
    next_even = np.take_along_axis(correlation, 2 * positive.sum(axis=0)[None], axis=0)[0]
    time = -1.0 + 2.0 * monotone.sum(axis=0) + np.maximum(next_even, 0.0)
    return np.where(constant, total, total / np.maximum(time, 1.0 / np.log10(total)))


def _autocovariance(draws: Draws) -> Float[np.ndarray, "_chain _lag *quantity"]:
    """Return the autocovariance of each chain at all lags, by FFT."""
    n = draws.shape[1]
    centred = draws - draws.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=next_fast_len(2 * n), axis=1)
    return np.fft.irfft(np.abs(spectrum) ** 2, n=next_fast_len(2 * n), axis=1)[:, :n] / n

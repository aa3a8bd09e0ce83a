"""Conformal intervals: a coverage that holds for finitely many rows, whatever the model and the noise.

Rows i = 1..n were held out, row i by fold k(i); m_k(x) and s_k(x) are mean and std of the models of fold k.

score_i = |y_i - m_k(i)(x_i)| / s_k(i)(x_i)
lower(x) = the (n + 1 - r)-th smallest of m_k(i)(x) - score_i s_k(i)(x)
upper(x) = the r-th smallest of           m_k(i)(x) + score_i s_k(i)(x),    r = ceil(coverage (n + 1))

With one fold this is split conformal prediction: m(x) -+ s(x) times the r-th smallest score. If rows are exchangeable
and nothing about the models depends on the held-out rows, P(y in interval) >= coverage. With K folds of equal size that
hold out each row once it is CV+ (Barber, Candès, Ramdas and Tibshirani, 2021, Annals of Statistics 49, theorem 4; for
scores like these: Gupta, Kuchibhotla and Ramdas, 2022), with alpha = 1 - coverage:

P(y in interval) >= 1 - 2 alpha - min(2 (1 - 1/K) / (n/K + 1), (1 - K/n) / (K + 1))

A search that has chosen its point by the held-out rows breaks the condition, however slightly; rows that were set aside
from the search meet it.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from heteroscope.core import InputError, Parameter
from heteroscope.distributions.predictive import interval_levels
from heteroscope.networks import FittedEnsemble, Prediction, widen_far_rows

BLOCK = 2**22  # candidates for an end of an interval that are in memory at once
ROUNDING = 1e-9  # of a rank: 0.9 * 10 is 9, although not in floats


class Conformal(NamedTuple):
    """The scores of held-out rows, and the models that have not seen them.

    Attributes
    ----------
    ensembles : tuple of FittedEnsemble
        One for each fold; empty if the rows were set aside from the final model itself.
    score : ndarray of shape (n_held,)
        |y - mean| / std of the held-out rows, for a lognormal model of their logarithms.
    fold : ndarray of shape (n_held,)
        The fold that held the row out.
    """

    ensembles: tuple[FittedEnsemble, ...]
    score: Float[np.ndarray, " held"]
    fold: Int[np.ndarray, " held"]

    @property
    def kind(self) -> str:
        """`split`, or `CV+` with more than one fold."""
        return "CV+" if len(self.ensembles) > 1 else "split"

    def guaranteed(self, coverage: float) -> float:
        """Return the coverage that the theorem grants to intervals of this nominal coverage.

        Parameters
        ----------
        coverage : float
            The nominal coverage.

        Returns
        -------
        float
            The same for split; for CV+ 1 - 2 alpha less a term that vanishes with many rows, at least 0.
        """
        n, k = len(self.score), len(self.ensembles)
        if k <= 1:
            return coverage
        less = min(2.0 * (1.0 - 1.0 / k) / (n / k + 1.0), (1.0 - k / n) / (k + 1.0))
        return max(0.0, 1.0 - 2.0 * (1.0 - coverage) - less)

    def text(self, coverage: float = 0.9) -> str:
        """Return what these intervals promise, as one sentence without a full stop.

        Parameters
        ----------
        coverage : float, default=0.9
            The nominal coverage to speak of.

        Returns
        -------
        str
            The sentence.
        """
        share, least, n = f"{100 * coverage:g} %", f"{100 * self.guaranteed(coverage):.0f} %", len(self.score)
        if not self.ensembles:
            return (
                f"intervals are conformal, by {n} rows set aside: {share} intervals hold at least {share} of new rows"
            )
        return (
            f"intervals are conformal ({self.kind}, {n} held-out rows): {share} intervals hold about {share} of new "
            f"rows, and at least {least} had the search not looked at the held-out rows"
        )

    def interval(
        self, own: FittedEnsemble, x: Float[np.ndarray, "point feature"], coverage: float
    ) -> tuple[Float[np.ndarray, " point"], Float[np.ndarray, " point"]]:
        """Return the ends of the intervals, in the units of the target.

        Parameters
        ----------
        own : FittedEnsemble
            The final model, which predicts if the rows were set aside from it.
        x : ndarray of shape (n_rows, n_features)
            The rows.
        coverage : float
            The probability that an interval contains a new target.

        Returns
        -------
        lower, upper : ndarray of shape (n_rows,)
            The ends.
        """
        interval_levels(coverage)
        rank = interval_rank(len(self.score), coverage)
        ensembles = self.ensembles or (own,)
        if len(ensembles) == 1:
            (mean, std) = predict_fold(ensembles[0], x)
            reach = np.partition(self.score, rank - 1)[rank - 1] * std
            lower, upper = mean - reach, mean + reach
        else:
            lower, upper = np.empty(len(x)), np.empty(len(x))
            step = max(1, BLOCK // len(self.score))
            for first in range(0, len(x), step):
                rows = slice(first, first + step)
                lower[rows], upper[rows] = self._ends(ensembles, x[rows], rank)
        return (np.exp(lower), np.exp(upper)) if own.lognormal else (lower, upper)

    def _ends(
        self, ensembles: tuple[FittedEnsemble, ...], x: Float[np.ndarray, "point feature"], rank: int
    ) -> tuple[Float[np.ndarray, " point"], Float[np.ndarray, " point"]]:
        """Return both ends by the order statistics of all held-out rows."""
        parts = [(*predict_fold(ensemble, x), self.score[self.fold == k]) for k, ensemble in enumerate(ensembles)]
        low = np.concatenate([mean - score[:, np.newaxis] * std for mean, std, score in parts])
        high = np.concatenate([mean + score[:, np.newaxis] * std for mean, std, score in parts])
        lowest = len(self.score) - rank  # of zero-based order: the (n + 1 - rank)-th smallest
        return np.partition(low, lowest, axis=0)[lowest], np.partition(high, rank - 1, axis=0)[rank - 1]


def interval_rank(n: int, coverage: float) -> int:
    """Return ceil(coverage (n + 1)); raise an `InputError` if that exceeds n, so that only an infinite interval holds.

    Parameters
    ----------
    n : int
        Number of held-out rows.
    coverage : float
        The nominal coverage.

    Returns
    -------
    int
        The rank, from 1 to n.
    """
    rank = max(1, math.ceil(coverage * (n + 1) - ROUNDING))
    if rank > n:
        raise InputError(
            Parameter("coverage"),
            f" {coverage:g} cannot be guaranteed by {n} held-out rows: ask for at most {n / (n + 1):.3g}, or fit more "
            "rows",
        )
    return rank


def predict_fold(
    ensemble: FittedEnsemble, x: Float[np.ndarray, "point feature"]
) -> tuple[Float[np.ndarray, " point"], Float[np.ndarray, " point"]]:
    """Predict mean and std as the networks do: of the logarithm for a lognormal model, without a warning of far rows.

    Parameters
    ----------
    ensemble : FittedEnsemble
        The models of a fold.
    x : ndarray of shape (n_rows, n_features)
        The rows.

    Returns
    -------
    mean, std : ndarray of shape (n_rows,)
        The std of far rows is widened.
    """
    found: Prediction = ensemble.predict(x)
    found = widen_far_rows(found, ensemble.scaling.outside(x), ensemble.scaling.y_scale)
    return found.mean, found.std


def scores(
    ensemble: FittedEnsemble,
    x: Float[np.ndarray, "held feature"],
    y: Float[np.ndarray, " held"],
    count: Int[np.ndarray, " held"],
) -> Float[np.ndarray, " row"]:
    """Return |y - mean| / std of held-out rows, each as often as it occurs; a score that is no number is infinite.

    Parameters
    ----------
    ensemble : FittedEnsemble
        Models that have not seen the rows.
    x, y : ndarray
        The rows; for a lognormal model y is the logarithm of the target.
    count : ndarray of int
        How often each row occurs.

    Returns
    -------
    ndarray of shape (n,)
        The scores, n = sum of the counts.
    """
    mean, std = predict_fold(ensemble, x)
    with np.errstate(all="ignore"):
        found = np.abs(y - mean) / std
    return np.repeat(np.where(np.isnan(found), np.inf, found), count)

"""A forecast by samples: draws from the predicted distribution of each row.

Mean, std and CRPS are those of the empirical distribution of the n draws. Quantiles and probabilities come from ranks:
if y is one more draw, its rank among n + 1 is uniform, so the k-th smallest draw is the quantile k / (n + 1), with
linear steps between draws. The density is a Gaussian kernel estimate.
"""

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from heteroscope.distributions.predictive import check_levels
from heteroscope.distributions.row_forecast import RowForecast, Targets, check_table

_Row = Float64[np.ndarray, " row"]


class SampleForecast(RowForecast):
    """Draws of each row as a distribution.

    Levels below 1 / (n + 1) or above n / (n + 1) have the smallest and the largest draw: take more draws for wider
    intervals. `logpdf` is a kernel density estimate with Gaussian kernels of Silverman's width, as in R's `bw.nrd`,

    h = 1.06 min(SD, IQR / 1.34) n^(-1/5)

    It flattens peaks and has Gaussian tails of width h beyond the outermost draws; CRPS needs no such choice.

    Parameters
    ----------
    draws : array-like of shape (n_rows, n_draws)
        At least two draws per row. A row with a NaN has NaN everywhere.

    Attributes
    ----------
    draws : ndarray of shape (n_rows, n_draws)
        The draws of each row in rising order.

    Examples
    --------
    >>> from heteroscope.distributions import SampleForecast
    >>> SampleForecast([[3.0, 1.0, 2.0]]).ppf(0.5).tolist()
    [2.0]
    """

    def __init__(self, draws: ArrayLike) -> None:
        self.draws = np.sort(check_table("draws", "draws", draws), axis=1)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.draws)

    @property
    def n_draws(self) -> int:
        """The number of draws per row."""
        return self.draws.shape[1]

    def rows(self, which: ArrayLike) -> "SampleForecast":
        """Return the forecast of some rows, given by their numbers or by a mask."""
        return type(self)(self.draws[np.asarray(which)])

    def mean(self) -> _Row:
        """Return the average draw of each row."""
        return self.draws.mean(axis=1)

    def std(self) -> _Row:
        """Return the standard deviation of the draws of each row."""
        return self.draws.std(axis=1)

    def ppf(self, level: float) -> _Row:
        """Return the quantile of each row: the k-th smallest of n draws at the level k / (n + 1), linear between."""
        (tau,) = check_levels([level])
        place = np.clip(tau * (self.n_draws + 1) - 1, 0, self.n_draws - 1)
        before = int(place)
        after = min(before + 1, self.n_draws - 1)
        share = place - before
        return (1 - share) * self.draws[:, before] + share * self.draws[:, after]

    def cdf(self, y: Targets) -> _Row:
        """Return F(y), for one y per row or one for all: k / (n + 1) at the k-th smallest draw."""
        target = self._one_per_row(y)
        k = np.sum(self.draws <= target[:, np.newaxis], axis=1)
        before, after = (np.clip(at, 0, self.n_draws - 1)[:, np.newaxis] for at in (k - 1, k))
        low, high = (np.take_along_axis(self.draws, at, axis=1)[:, 0] for at in (before, after))
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(high > low, (target - low) / (high - low), 0.0)
        found = np.where(k == 0, 0.0, np.where(k == self.n_draws, 1.0, (k + step) / (self.n_draws + 1)))
        return np.where(np.isnan(target) | np.isnan(self.draws[:, 0]), np.nan, found)

    def pit(self, y: Targets) -> _Row:
        """Return the probability integral transform of one y per row: F(y), at draws equal to y their average rank."""
        target = self._one_per_row(y)
        below = np.sum(self.draws < target[:, np.newaxis], axis=1)
        up_to = np.sum(self.draws <= target[:, np.newaxis], axis=1)
        return np.where(up_to > below, (below + 1 + up_to) / (2 * (self.n_draws + 1)), self.cdf(target))

    def logpdf(self, y: Targets) -> _Row:
        """Return the logarithm of the kernel density estimate; infinite where all draws of a row are equal to y."""
        target, width = self._one_per_row(y), self.bandwidth()[:, np.newaxis]
        gap = target[:, np.newaxis] - self.draws
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            exponent = -0.5 * np.where(gap == 0, 0.0, gap / width) ** 2
            highest = np.maximum(exponent.max(axis=1, keepdims=True), np.finfo(float).min)
            heights = np.log(np.exp(exponent - highest).mean(axis=1)) + highest[:, 0]
            found = heights - np.log(width[:, 0]) - 0.5 * np.log(2 * np.pi)
            impossible = (width[:, 0] == 0) & ~np.any(gap == 0, axis=1)
        found = np.where(impossible, -np.inf, found)
        return np.where(np.isnan(target) | np.isnan(width[:, 0]), np.nan, found)

    def bandwidth(self) -> _Row:
        """Return the width of the kernels: 1.06 min(SD, IQR / 1.34) n^(-1/5); the SD alone if the IQR is zero."""
        spread = self.draws.std(axis=1, ddof=1)
        low, high = np.quantile(self.draws, [0.25, 0.75], axis=1)
        middle = (high - low) / 1.34
        return 1.06 * np.where(middle > 0, np.minimum(spread, middle), spread) * self.n_draws ** (-0.2)

    def crps(self, y: Targets) -> _Row:
        """Return the CRPS of the empirical distribution: average |x_i - y| - average |x_i - x_j| / 2."""
        target = self._one_per_row(y)
        weight = (2 * np.arange(1, self.n_draws + 1) - self.n_draws - 1) / self.n_draws**2
        return np.abs(self.draws - target[:, np.newaxis]).mean(axis=1) - self.draws @ weight

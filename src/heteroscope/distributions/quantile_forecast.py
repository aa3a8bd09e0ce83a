"""A forecast by quantiles: a continuous distribution through the given quantiles of each row.

Quantiles that cross are sorted (monotone rearrangement, Chernozhukov, Fernandez-Val & Galichon 2010), which brings them
nearer to the true ones. Between levels the quantile function is linear. Beyond the outermost levels the tails are
exponential:

F(y) = tau_1 exp((y - q_1) / s),    s = (q_in - q_1) / log(tau_in / tau_1),    tau_in = min(tau_2, 1/2),    y < q_1

and likewise above, so that the tail goes through the outermost quantile and its inner neighbour, or the median where
that is nearer. For a Laplace distribution this is exact; a Gaussian's tails are slightly lighter.
"""

import numpy as np
from jaxtyping import Float64, Int64
from numpy.typing import ArrayLike

from heteroscope.core import InputError
from heteroscope.distributions.predictive import check_levels
from heteroscope.distributions.row_forecast import RowForecast, Targets, check_table

_Table = Float64[np.ndarray, "row level"]
_Row = Float64[np.ndarray, " row"]


class QuantileForecast(RowForecast):
    """Quantiles of each row as a distribution: linear between the levels, exponential beyond them.

    `logpdf` is the logarithm of the slope of F. Quantiles of a row that are equal make a jump of F, which has no slope;
    for `logpdf` alone they count as one quantile at the middle of their levels (Parzen's mid-distribution). It is NaN
    where that leaves a row without two different quantiles on which to build, or one outermost value beyond the median.

    Parameters
    ----------
    levels : array-like of shape (n_levels,)
        Different probabilities strictly between 0 and 1, in any order, at least one below and one above 0.5.
    values : array-like of shape (n_rows, n_levels)
        The quantiles, one column per level. A row with a NaN has NaN everywhere.

    Attributes
    ----------
    levels : ndarray of shape (n_levels,)
        The levels in rising order.
    values : ndarray of shape (n_rows, n_levels)
        The quantiles in rising order.

    Examples
    --------
    >>> from heteroscope.distributions import QuantileForecast
    >>> forecast = QuantileForecast([0.05, 0.5, 0.95], [[1.0, 2.0, 5.0], [0.0, 3.0, 2.0]])
    >>> forecast.ppf(0.5).tolist()
    [2.0, 2.0]
    """

    def __init__(self, levels: ArrayLike, values: ArrayLike) -> None:
        given = check_levels(levels)
        table = check_table("values", "quantiles", values)
        if given.ndim != 1 or len(given) != table.shape[1]:
            raise InputError(f"values has {table.shape[1]} columns for {given.size} levels: pass one column per level")
        order = np.argsort(given)
        self.levels = given[order]
        self.values = np.sort(table[:, order], axis=1)
        if np.any(np.diff(self.levels) == 0):
            raise InputError("a level is given twice: pass each level once")
        if not self.levels[0] < 0.5 < self.levels[-1]:
            raise InputError(f"levels from {self.levels[0]:g} to {self.levels[-1]:g} are on one side of the median: "
                             "pass at least one below and one above 0.5")  # fmt: skip

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.values)

    def rows(self, which: ArrayLike) -> "QuantileForecast":
        """Return the forecast of some rows, given by their numbers or by a mask."""
        return type(self)(self.levels, self.values[np.asarray(which)])

    def mean(self) -> _Row:
        """Return the mean of each row: the integral of the quantile function over all levels."""
        low, high = self._tails()
        first, last = self.levels[0], 1 - self.levels[-1]
        inside = (0.5 * (self.values[:, 1:] + self.values[:, :-1])) @ np.diff(self.levels)
        return inside + first * (self.values[:, 0] - low) + last * (self.values[:, -1] + high)

    def std(self) -> _Row:
        """Return the standard deviation of each row: square root of integral (quantile - mean)^2 over all levels."""
        low, high = self._tails()
        first, last = self.levels[0], 1 - self.levels[-1]
        shifted = self.values - self.mean()[:, np.newaxis]
        a, b = shifted[:, :-1], shifted[:, 1:]
        inside = ((a**2 + a * b + b**2) / 3) @ np.diff(self.levels)
        below = first * ((shifted[:, 0] - low) ** 2 + low**2)
        above = last * ((shifted[:, -1] + high) ** 2 + high**2)
        return np.sqrt(inside + below + above)

    def ppf(self, level: float) -> _Row:
        """Return the quantile of each row at one level; at a given level, the given value."""
        (tau,) = check_levels([level])
        low, high = self._tails()
        if tau < self.levels[0]:
            return self.values[:, 0] + low * np.log(tau / self.levels[0])
        if tau > self.levels[-1]:
            return self.values[:, -1] - high * np.log((1 - tau) / (1 - self.levels[-1]))
        k = int(np.searchsorted(self.levels, tau))
        if self.levels[k] == tau:
            return self.values[:, k].copy()
        share = (tau - self.levels[k - 1]) / (self.levels[k] - self.levels[k - 1])
        return (1 - share) * self.values[:, k - 1] + share * self.values[:, k]

    def cdf(self, y: Targets) -> _Row:
        """Return F(y), for one y per row or one for all."""
        return self._probability(self._one_per_row(y), including=True)

    def pit(self, y: Targets) -> _Row:
        """Return the probability integral transform of one y per row: F(y), in the middle of a jump of F."""
        target = self._one_per_row(y)
        return 0.5 * (self._probability(target, including=False) + self._probability(target, including=True))

    def logpdf(self, y: Targets) -> _Row:
        """Return the logarithm of the slope of F at one y per row; equal quantiles count as one."""
        target, q, m = self._one_per_row(y), self.values, self._middle_levels()
        inner = (q > q[:, :1]).argmax(axis=1)  # the first quantile above the lowest, the last below the highest
        outer = q.shape[1] - 1 - (q < q[:, -1:])[:, ::-1].argmax(axis=1)
        k = self._count(target, including=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            low = _tail_scale(m[:, 0], q[:, 0], _at(m, inner), _at(q, inner))
            high = _tail_scale(1 - m[:, -1], -q[:, -1], 1 - _at(m, outer), -_at(q, outer))
            before, after = np.clip(k - 1, 0, None), np.clip(k, None, q.shape[1] - 1)
            between = np.log((_at(m, after) - _at(m, before)) / (_at(q, after) - _at(q, before)))
            below = np.log(m[:, 0] / low) + (target - q[:, 0]) / low
            above = np.log((1 - m[:, -1]) / high) - (target - q[:, -1]) / high
        found = np.where(k == 0, below, np.where(target >= q[:, -1], above, between))
        buildable = (q[:, -1] > q[:, 0]) & (m[:, 0] < 0.5) & (m[:, -1] > 0.5)
        return np.where(buildable & ~np.isnan(target), found, np.nan)

    def crps(self, y: Targets) -> _Row:
        """Return the integral of (F(t) - [t >= y])^2, twice the pinball loss integrated over all levels."""
        target = self._one_per_row(y)
        low, high = self._tails()
        a, b = self.values[:, :-1], self.values[:, 1:]
        at = np.clip(target[:, np.newaxis], a, b)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(b > a, (at - a) / (b - a), 0.0)
        split = self.levels[:-1] + share * np.diff(self.levels)
        under = (at - a) * _mean_square(self.levels[:-1], split) + (b - at) * _mean_square(
            1 - split, 1 - self.levels[1:]
        )
        lower = _tail_crps(self.levels[0], low, target - self.values[:, 0])
        upper = _tail_crps(1 - self.levels[-1], high, self.values[:, -1] - target)
        return np.where(np.isnan(target), np.nan, under.sum(axis=1) + lower + upper)

    def _tails(self) -> tuple[_Row, _Row]:
        """Return the scales s of the exponential tails below and above; zero where the quantiles there are equal."""
        q, tau = self.values, self.levels
        return (
            _tail_scale(tau[0], q[:, 0], tau[1], q[:, 1]),
            _tail_scale(1 - tau[-1], -q[:, -1], 1 - tau[-2], -q[:, -2]),
        )

    def _probability(self, y: _Row, including: bool) -> _Row:
        """Return F(y), or its limit from the left."""
        k = self._count(y, including)
        low, high = self._tails()
        q, tau = self.values, self.levels
        before, after = np.clip(k - 1, 0, None), np.clip(k, None, len(tau) - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (y - _at(q, before)) / (_at(q, after) - _at(q, before))
            below = np.where(low > 0, tau[0] * np.exp(np.minimum(y - q[:, 0], 0) / low), 0.0)
            above = np.where(high > 0, 1 - (1 - tau[-1]) * np.exp(np.minimum(q[:, -1] - y, 0) / high), 1.0)
            inside = tau[before] + share * (tau[after] - tau[before])
        found = np.where(k == 0, below, np.where(k == len(tau), above, inside))
        return np.where(np.isnan(y) | np.isnan(q[:, 0]), np.nan, found)

    def _count(self, y: _Row, including: bool) -> Int64[np.ndarray, " row"]:
        """Return how many quantiles of each row are below y, or at most y."""
        column = y[:, np.newaxis]
        return np.sum(self.values <= column if including else self.values < column, axis=1)

    def _middle_levels(self) -> _Table:
        """Return the level of each quantile; equal quantiles share the middle of their levels."""
        numbers = np.broadcast_to(np.arange(len(self.levels)), self.values.shape)
        rises = np.diff(self.values, axis=1) > 0
        starts = np.pad(rises, ((0, 0), (1, 0)), constant_values=True)
        ends = np.pad(rises, ((0, 0), (0, 1)), constant_values=True)
        first = np.maximum.accumulate(np.where(starts, numbers, 0), axis=1)
        last = np.where(ends, numbers, len(self.levels) - 1)
        last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
        return 0.5 * (self.levels[first] + self.levels[last])


def _at(table: _Table, columns: Int64[np.ndarray, " row"]) -> _Row:
    """Return one entry of each row."""
    return np.take_along_axis(table, columns[:, np.newaxis], axis=1)[:, 0]


def _tail_scale(level: float | _Row, value: _Row, next_level: float | _Row, next_value: _Row) -> _Row:
    """Return the scale of the lower tail through the lowest quantile and the next one, or the median if it is nearer.

    The upper tail is the lower tail of -y, with 1 - level.
    """
    inner = np.minimum(next_level, 0.5)
    return (next_value - value) * (inner - level) / (next_level - level) / np.log(inner / level)


def _mean_square(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the average square of what goes linearly from `start` to `end`."""
    return (start**2 + start * end + end**2) / 3


def _tail_crps(mass: float, scale: _Row, distance: _Row) -> _Row:
    """Return the CRPS's part of the lower tail; `distance` from the lowest quantile to y is negative in the tail.

    integral of F^2 below y, and of (1 - F)^2 from y to the quantile:
    u^2 s / 2 + |d| - 2 s (mass - u) + s (mass^2 - u^2) / 2,    u = F(y) = mass exp(d / s)
    """
    inside = np.minimum(distance, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = mass * np.where(inside == 0, 1.0, np.exp(inside / scale))
    return 0.5 * mass**2 * scale - inside - 2 * scale * (mass - u)

"""The rows that a metric averages over, with what it needs of each: one class per form of forecast.

`scored_rows` checks what a metric was given, drops rows of weight zero, and returns one of the three classes: `TRows`
for Gaussians and Student-ts, `LogRows` for lognormals, `ForecastRows` for quantiles and samples.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike
from scipy.special import erf, ndtr, ndtri
from scipy.stats.distributions import rv_frozen

from heteroscope.core import InputError
from heteroscope.distributions import student_t as student
from heteroscope.distributions.predictive import interval_levels, lognormal_moments
from heteroscope.distributions.row_forecast import RowForecast

#: Means per row, or a distribution with its own std.
Forecast: TypeAlias = ArrayLike | rv_frozen | RowForecast
_Row: TypeAlias = Float64[np.ndarray, " row"]


@dataclass(frozen=True)
class ScoredRows(ABC):
    """Rows of positive weight: residual = y - mean, the std, and weights with sum one."""

    residual: _Row
    std: _Row
    weight: _Row

    def average(self, values: _Row) -> float:
        """Return the weighted average over rows."""
        return float(np.sum(self.weight * values))

    @abstractmethod
    def pit(self) -> _Row:
        """Return F(y) of each row."""

    @abstractmethod
    def nll(self) -> _Row:
        """Return the negative log likelihood of each row."""

    @abstractmethod
    def crps(self) -> _Row:
        """Return the CRPS of each row."""

    @abstractmethod
    def inside(self, coverage: float) -> _Row:
        """Return 1 for each row whose central interval contains y, else 0."""

    @abstractmethod
    def width(self, coverage: float) -> _Row:
        """Return the width of each row's central interval."""

    @abstractmethod
    def outside(self, coverage: float) -> _Row:
        """Return the distance of y from each row's central interval, 0 within it."""


@dataclass(frozen=True)
class TRows(ScoredRows):
    """Rows with Student-ts; z = residual / scale (0 / 0 is 0). For a Gaussian, scale = std and df = inf."""

    scale: _Row
    df: _Row
    z: _Row

    def pit(self) -> _Row:
        """Return F(y) of each row."""
        return self._either(ndtr(self.z), lambda heavy: student.cdf(self.z[heavy], self.df[heavy]))

    def nll(self) -> _Row:
        """Return the negative log likelihood of each row."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            gaussian = np.log(self.scale) + 0.5 * self.z**2 + 0.5 * np.log(2 * np.pi)
        gaussian = np.where(np.isinf(self.z), np.inf, gaussian)
        return self._either(gaussian, lambda heavy: student.nll(self.z[heavy], self.df[heavy], self.scale[heavy]))

    def crps(self) -> _Row:
        """Return the CRPS of each row."""
        with np.errstate(over="ignore"):
            density = np.exp(-0.5 * self.z**2) / np.sqrt(2 * np.pi)
        gaussian = self.residual * erf(self.z / np.sqrt(2)) + self.scale * (2 * density - 1 / np.sqrt(np.pi))
        return self._either(gaussian, lambda heavy: student.crps(self.z[heavy], self.df[heavy], self.scale[heavy]))

    def inside(self, coverage: float) -> _Row:
        """Return 1 for each row whose central interval contains y, else 0."""
        return np.where(np.isnan(self.z), np.nan, np.abs(self.z) <= self._half_width(coverage))

    def width(self, coverage: float) -> _Row:
        """Return the width of each row's central interval."""
        return 2 * self._half_width(coverage) * self.scale

    def outside(self, coverage: float) -> _Row:
        """Return the distance of y from each row's central interval, 0 within it."""
        return np.maximum(np.abs(self.residual) - self._half_width(coverage) * self.scale, 0.0)

    def _half_width(self, coverage: float) -> _Row:
        """Return half the width of each row's central interval, in units of its scale."""
        _, level = interval_levels(coverage)
        gaussian = np.full(len(self.df), _gaussian_half_width(coverage))
        return self._either(gaussian, lambda heavy: student.quantile(level, self.df[heavy]))

    def _either(self, gaussian: np.ndarray, of_heavy: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the Gaussian's values, replaced by those of a Student-t in rows of finite df."""
        heavy = np.isfinite(self.df)
        if heavy.any():
            gaussian[heavy] = of_heavy(heavy)
        return gaussian


@dataclass(frozen=True)
class LogRows(ScoredRows):
    """Rows with lognormals, log y ~ N(m, s^2); z = (log y - m) / s, -infinity for targets that are not positive."""

    y: _Row
    centre: _Row  # m
    scale: _Row  # s
    z: _Row

    def pit(self) -> _Row:
        """Return F(y) of each row."""
        return ndtr(self.z)

    def nll(self) -> _Row:
        """Return log y + log s + z^2 / 2 + log(2 pi) / 2 of each row; infinity for targets that are not positive."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            found = np.log(self.y) + np.log(self.scale) + 0.5 * self.z**2 + 0.5 * np.log(2 * np.pi)
        return np.where(np.isinf(self.z), np.inf, found)

    def crps(self) -> _Row:
        """Return the CRPS of each row (Baran & Lerch 2015)."""
        spread = ndtr(self.z - self.scale) + ndtr(self.scale / np.sqrt(2)) - 1.0
        return self.y * (2 * ndtr(self.z) - 1.0) - 2 * (self.y - self.residual) * spread

    def inside(self, coverage: float) -> _Row:
        """Return 1 for each row whose central interval contains y, else 0."""
        return np.where(np.isnan(self.z), np.nan, np.abs(self.z) <= _gaussian_half_width(coverage))

    def width(self, coverage: float) -> _Row:
        """Return the width of each row's central interval."""
        low, high = self._ends(coverage)
        return high - low

    def outside(self, coverage: float) -> _Row:
        """Return the distance of y from each row's central interval, 0 within it."""
        low, high = self._ends(coverage)
        return np.maximum(np.maximum(low - self.y, self.y - high), 0.0)

    def _ends(self, coverage: float) -> tuple[_Row, _Row]:
        """Return both ends of each row's central interval."""
        half = _gaussian_half_width(coverage) * self.scale
        return np.exp(self.centre - half), np.exp(self.centre + half)


@dataclass(frozen=True)
class ForecastRows(ScoredRows):
    """Rows with a `QuantileForecast` or a `SampleForecast`."""

    y: _Row
    forecast: RowForecast

    def pit(self) -> _Row:
        """Return F(y) of each row."""
        return self.forecast.pit(self.y)

    def nll(self) -> _Row:
        """Return the negative log likelihood of each row; NaN where there is no density."""
        return -self.forecast.logpdf(self.y)

    def crps(self) -> _Row:
        """Return the CRPS of each row."""
        return self.forecast.crps(self.y)

    def inside(self, coverage: float) -> _Row:
        """Return 1 for each row whose central interval contains y, else 0."""
        low, high = self.forecast.interval(coverage)
        return np.where(np.isnan(self.y) | np.isnan(low), np.nan, (low <= self.y) & (self.y <= high))

    def width(self, coverage: float) -> _Row:
        """Return the width of each row's central interval."""
        low, high = self.forecast.interval(coverage)
        return high - low

    def outside(self, coverage: float) -> _Row:
        """Return the distance of y from each row's central interval, 0 within it."""
        low, high = self.forecast.interval(coverage)
        return np.maximum(np.maximum(low - self.y, self.y - high), 0.0)


def scored_rows(
    y: ArrayLike, mean: Forecast, std: ArrayLike | None, sample_weight: ArrayLike | None
) -> TRows | LogRows | ForecastRows:
    """Check what a metric was given, and return the rows of positive weight."""
    target = vector("y", y)
    if isinstance(mean, rv_frozen | RowForecast) and std is not None:
        raise InputError("a distribution has its own std: leave std out")
    if isinstance(mean, RowForecast):
        if mean.n_rows != len(target):
            raise InputError(f"y has {len(target)} rows and the forecast {mean.n_rows}: pass one forecast per row")
        weight = normalised(sample_weight, len(target))
        counted = weight > 0
        y_counted, forecast = target[counted], mean if counted.all() else mean.rows(counted)
        return ForecastRows(y_counted - forecast.mean(), forecast.std(), weight[counted], y_counted, forecast)
    weight = normalised(sample_weight, len(target))
    if isinstance(mean, rv_frozen) and getattr(mean.dist, "name", None) == "lognorm":
        return _log_rows(target, *_lognormal_parameters(mean, len(target)), weight)
    if isinstance(mean, rv_frozen):
        df, centre, scale = _parameters(mean, len(target))
        spread = student.std(df, scale)
    elif std is None:
        raise InputError("std is missing: pass a mean and a std per row, or a distribution such as scipy.stats.norm")
    else:
        centre, scale = vector("mean", mean), vector("std", std)
        df, spread = np.full(len(scale), np.inf), scale
    sizes = len(target), len(centre), len(spread)
    if len(set(sizes)) > 1:
        raise InputError("y, mean and std have {}, {} and {} rows: pass equally many of each".format(*sizes))
    if np.any(spread < 0):
        raise InputError(f"std is negative in {np.sum(spread < 0)} rows: pass standard deviations, not their logs")
    counted = weight > 0
    residual = target - centre
    if not counted.all():
        residual, spread, scale, df, weight = (part[counted] for part in (residual, spread, scale, df, weight))
    return TRows(residual, spread, weight, scale, df, _in_scales(residual, scale))


def _log_rows(y: _Row, centre: _Row, scale: _Row, weight: _Row) -> LogRows:
    """Return the rows of positive weight of lognormals with these parameters."""
    y, centre, scale, weight = (part[weight > 0] for part in (y, centre, scale, weight))
    with np.errstate(divide="ignore"):
        residual = np.where(np.isnan(y), np.nan, np.log(np.maximum(y, 0.0)) - centre)
    mean, std = lognormal_moments(centre, scale)
    return LogRows(y - mean, std, weight, y, centre, scale, _in_scales(residual, scale))


def _in_scales(residual: _Row, scale: _Row) -> _Row:
    """Return residual / scale, where 0 / 0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where((scale == 0) & (residual == 0), 0.0, residual / scale)


def _gaussian_half_width(coverage: float) -> float:
    """Return half the width of the central interval of a standard Gaussian."""
    _, level = interval_levels(coverage)
    return float(ndtri(level))


def _lognormal_parameters(forecast: rv_frozen, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and std of the logarithm of a frozen lognormal, one of each per row."""
    found = {"loc": 0.0, "scale": 1.0} | dict(zip(("s", "loc", "scale"), forecast.args, strict=False)) | forecast.kwds
    if np.any(np.asarray(found["loc"]) != 0):
        raise InputError("a shifted lognormal has no metrics here: pass a scipy.stats.lognorm with loc=0")
    log_std, scale = (_per_row(np.asarray(found[name], np.float64), n_rows) for name in ("s", "scale"))
    return np.log(scale), log_std


def _parameters(forecast: rv_frozen, n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return df, mean and scale of a frozen Gaussian or Student-t, one of each per row."""
    kind: str = getattr(forecast.dist, "name", "unnamed")
    names = {"norm": ("loc", "scale"), "t": ("df", "loc", "scale")}.get(kind)
    if names is None:
        raise InputError(f"the distribution {kind!r} has no metrics here: pass a scipy.stats.norm, t or lognorm")
    found = {"df": np.inf, "loc": 0.0, "scale": 1.0} | dict(zip(names, forecast.args, strict=False)) | forecast.kwds
    df, mean, scale = (_per_row(np.asarray(found[name], np.float64), n_rows) for name in ("df", "loc", "scale"))
    return df, mean, scale


def _per_row(array: np.ndarray, n_rows: int) -> np.ndarray:
    """Return a parameter of a distribution as one float per row."""
    if array.ndim == 0:
        return np.broadcast_to(array, (n_rows,))
    if array.shape != (n_rows,):
        raise InputError(f"y has {n_rows} rows and the forecast has other shapes: pass one distribution per row")
    return array


def vector(name: str, values: ArrayLike) -> _Row:
    """Return the values as a non-empty vector of float64."""
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or found.size == 0:
        raise InputError(f"{name} has shape {found.shape}: pass a non-empty one-dimensional array, one value per row")
    return found


def normalised(sample_weight: ArrayLike | None, n_rows: int) -> _Row:
    """Return weights with sum one."""
    if sample_weight is None:
        return np.full(n_rows, 1 / n_rows)
    weight = vector("sample_weight", sample_weight)
    if len(weight) != n_rows:
        raise InputError(f"sample_weight has {len(weight)} values for {n_rows} rows: pass one weight per row")
    if not (np.all(weight >= 0) and 0 < weight.sum() < np.inf):
        raise InputError("sample_weight is negative, not finite or zero everywhere: pass weights >= 0, some above 0")
    return weight / weight.sum()

"""What forecasts that are no frozen distribution of SciPy have in common: one distribution per row, and its scores.

`QuantileForecast` and `SampleForecast` have the methods of a frozen distribution that metrics and intervals need
(`mean`, `std`, `ppf`, `cdf`, `logpdf`, `interval`), beside `pit` and `crps`, which no frozen distribution has.
"""

from abc import ABC, abstractmethod
from typing import TypeAlias

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from heteroscope.core import InputError
from heteroscope.distributions.predictive import check_levels, interval_levels

#: One target per row, or one for all rows.
Targets: TypeAlias = ArrayLike | float | int


class RowForecast(ABC):
    """A predicted distribution for each row; a row with NaN has NaN everywhere."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """The number of rows."""

    @abstractmethod
    def rows(self, which: ArrayLike) -> "RowForecast":
        """Return the forecast of some rows, given by their numbers or by a mask."""

    @abstractmethod
    def mean(self) -> Float64[np.ndarray, " row"]:
        """Return the mean of each row."""

    @abstractmethod
    def std(self) -> Float64[np.ndarray, " row"]:
        """Return the standard deviation of each row."""

    @abstractmethod
    def ppf(self, level: float) -> Float64[np.ndarray, " row"]:
        """Return the quantile of each row at one level, strictly between 0 and 1."""

    @abstractmethod
    def cdf(self, y: Targets) -> Float64[np.ndarray, " row"]:
        """Return F(y), the probability of a value of at most y, for one y per row or one for all."""

    @abstractmethod
    def pit(self, y: Targets) -> Float64[np.ndarray, " row"]:
        """Return the probability integral transform of one y per row: F(y), in the middle of a jump of F."""

    @abstractmethod
    def logpdf(self, y: Targets) -> Float64[np.ndarray, " row"]:
        """Return the logarithm of the density estimate at one y per row; NaN where there is no density."""

    @abstractmethod
    def crps(self, y: Targets) -> Float64[np.ndarray, " row"]:
        """Return the continuous ranked probability score of one y per row."""

    def median(self) -> Float64[np.ndarray, " row"]:
        """Return the median of each row."""
        return self.ppf(0.5)

    def quantiles(self, levels: ArrayLike) -> Float64[np.ndarray, "row level"]:
        """Return the quantiles of each row at several levels, one column per level."""
        return np.stack([self.ppf(float(level)) for level in check_levels(levels)], axis=1)

    def interval(self, coverage: float) -> tuple[Float64[np.ndarray, " row"], Float64[np.ndarray, " row"]]:
        """Return both ends of the central interval of this probability."""
        low, high = interval_levels(coverage)
        return self.ppf(low), self.ppf(high)

    def _one_per_row(self, y: Targets) -> Float64[np.ndarray, " row"]:
        """Return one value per row; a single number stands for all rows."""
        values = np.asarray(y, np.float64)
        if values.shape not in ((), (self.n_rows,)):
            raise InputError(f"the forecast has {self.n_rows} rows and y has shape {values.shape}: pass one y per row")
        return np.broadcast_to(values, (self.n_rows,))


def check_table(name: str, columns: str, values: ArrayLike) -> Float64[np.ndarray, "row column"]:
    """Return a table with one line per row of the forecast; rows with a NaN become NaN, infinite values are refused."""
    table = np.array(values, np.float64, ndmin=1)
    if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] < 2:
        raise InputError(f"{name} has shape {table.shape}: pass one line per row and at least two {columns}")
    if np.isinf(table).any():
        raise InputError(f"{name} is infinite in {np.isinf(table).any(axis=1).sum()} rows: pass finite numbers")
    table[np.isnan(table).any(axis=1)] = np.nan
    return table

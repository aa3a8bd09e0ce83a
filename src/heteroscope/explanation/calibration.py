"""Calibration of held-out forecasts: are events of probability p seen with frequency p, for sure and for unsure rows.

u = F(y), the probability integral transform (PIT): uniform on [0, 1] if the forecasts are right. The share of rows with
u <= p is the calibration curve at p, the shares of rows with u in ten equal bins are the PIT histogram.
"""

from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float, Int
from scipy import stats

from heteroscope.distributions import log_moments, metrics
from heteroscope.phases import COVERAGE, is_lognormal, quarters_by_std

LEVELS = np.arange(1, 40) / 40  # probabilities of the calibration curve
BINS = 10  # of the PIT histogram
BAND = 0.9  # probability of the band in which right forecasts of as many rows lie, at each level alone
PARTS = ("all rows", "smallest std", "second smallest", "second largest", "largest std")


def held_out_forecasts(
    y: Float[np.ndarray, " row"],
    forecast: Any,
    weight: Float[np.ndarray, " row"] | None = None,
    number: Int[np.ndarray, " row"] | None = None,
) -> xr.Dataset:
    """Put held-out targets and their forecasts side by side, row by row.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Targets.
    forecast : rv_frozen or RowForecast
        Predicted distributions, one per row.
    weight : ndarray of shape (n_rows,) or None, default=None
        Weights of the rows; None counts them equally.
    number : ndarray of shape (n_rows,) or None, default=None
        Numbers by which rows are named; None leaves them without.

    Returns
    -------
    xarray.Dataset
        Along `row`: `y`, `mean`, `std`, `score` = (y - mean) / std, `pit` = F(y), `lower` and `upper` (the ends of the
        90 % interval), `weight` and, if known, `number`. For lognormal forecasts also `log_mean` and `log_std`, the
        moments of log y.
    """
    lower, upper = forecast.interval(COVERAGE)
    mean, std = forecast.mean(), forecast.std()
    columns = {
        "y": y,
        "mean": mean,
        "std": std,
        "score": (y - mean) / std,
        "pit": metrics.pit(y, forecast),
        "lower": lower,
        "upper": upper,
        "weight": np.ones(len(y)) if weight is None else weight,
    }
    if number is not None:
        columns["number"] = number
    if is_lognormal(forecast):
        columns["log_mean"], columns["log_std"] = log_moments(mean, std)
    return xr.Dataset({name: ("row", values) for name, values in columns.items()}, attrs={"coverage": COVERAGE})


def calibration(rows: xr.Dataset) -> xr.Dataset:
    """Compute calibration curves and PIT histograms, overall and by quarter of the predicted std.

    Parameters
    ----------
    rows : xarray.Dataset
        What `held_out_forecasts` has returned.

    Returns
    -------
    xarray.Dataset
        Along `part` (all rows, then four quarters from the smallest to the largest std; no quarters if the std varies
        little or the rows are few): `observed` along `level`, the weighted share of rows with PIT <= level, between
        `observed_low` and `observed_high` with probability 0.9 if the forecasts are right; `density` along `bin`, the
        share of rows per bin over that of a uniform histogram, with `density_low` and `density_high` likewise;
        `coverage` of the 90 % intervals with `coverage_error`, its standard error if the forecasts are right;
        `squared_score`; `n_rows`; `std_low` and `std_high`, the extremes of the std.
    """
    std = rows["std"].values
    numbers = [np.arange(len(std)), *quarters_by_std(std)]
    parts = [_part(rows.isel(row=part)) for part in numbers]
    return xr.concat(parts, xr.DataArray(list(PARTS[: len(parts)]), dims="part", name="part"))


def _part(rows: xr.Dataset) -> xr.Dataset:
    """Return the calibration of some rows."""
    weight = rows["weight"].values / rows["weight"].values.sum()
    pit, n = rows["pit"].values, 1.0 / float(np.sum(weight**2))  # rows of equal weight that would tell as much
    observed = np.array([weight[pit <= level].sum() for level in LEVELS])
    shares = np.histogram(pit, BINS, (0.0, 1.0), weights=weight)[0]
    low, high = _band(LEVELS, n)
    share_low, share_high = _band(np.full(1, 1.0 / BINS), n)
    inside = (rows["lower"] <= rows["y"]) & (rows["y"] <= rows["upper"])
    edges = np.linspace(0.0, 1.0, BINS + 1)
    return xr.Dataset(
        {
            "observed": ("level", observed),
            "observed_low": ("level", low),
            "observed_high": ("level", high),
            "density": ("bin", shares * BINS),
            "density_low": float(share_low[0]) * BINS,
            "density_high": float(share_high[0]) * BINS,
            "coverage": float(weight @ inside.values),
            "coverage_error": float(np.sqrt(COVERAGE * (1 - COVERAGE) / n)),
            "squared_score": float(weight @ rows["score"].values ** 2),
            "n_rows": rows.sizes["row"],
            "std_low": float(rows["std"].min()),
            "std_high": float(rows["std"].max()),
        },
        {"level": LEVELS, "bin": (edges[:-1] + edges[1:]) / 2},
    )


def _band(
    probability: Float[np.ndarray, " level"], n: float
) -> tuple[Float[np.ndarray, " level"], Float[np.ndarray, " level"]]:
    """Return the interval of the share of n rows that an event of this probability has with probability BAND."""
    counts = stats.binom(max(1, round(n)), probability)
    low, high = (np.asarray(counts.ppf(end)) / max(1, round(n)) for end in ((1 - BAND) / 2, (1 + BAND) / 2))
    return low, high

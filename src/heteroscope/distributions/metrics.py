"""How good a mean and a standard deviation are: pure functions of arrays, one number each.

Every metric has one signature, `metric(y, mean, std, *, sample_weight=None)`, or `metric(y, forecast)` with a frozen
`scipy.stats.norm` or `scipy.stats.t` in place of both. With weights, averages over rows become weighted averages and a
row of weight zero plays no part. A NaN in what a metric reads gives NaN. A zero std is the limit std -> 0: the forecast
is a single point.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike
from scipy.special import erf, ndtr, ndtri
from scipy.stats.distributions import rv_frozen
from sklearn.pipeline import Pipeline

from heteroscope.core import InputError, error_text
from heteroscope.distributions import student_t as student
from heteroscope.distributions.sklearn_internals import AcceptsSampleWeight

N_ECE_LEVELS = 100


def mean_mse(y: ArrayLike, mean: Any, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None) -> float:
    """average (y - mean)^2: the squared error of the mean; it ignores std."""
    rows = _Rows.of(y, mean, std, sample_weight)
    return rows.average(rows.residual**2)


def rmse(y: ArrayLike, mean: Any, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None) -> float:
    """sqrt(average (y - mean)^2): the error of the mean in the target's own units; it ignores std."""
    return float(np.sqrt(mean_mse(y, mean, std, sample_weight=sample_weight)))


def std_mse(y: ArrayLike, mean: Any, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None) -> float:
    """average (std - |y - mean|)^2: how far each std is from the residual that it should foresee.

    Not a proper score: it tends to `mean_mse` as std -> 0, so a model that has memorised its rows looks good.
    """
    rows = _Rows.of(y, mean, std, sample_weight)
    return rows.average((rows.std - np.abs(rows.residual)) ** 2)


def ece(y: ArrayLike, mean: Any, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None) -> float:
    """average over tau of |fraction of y below the tau-quantile - tau|: the expected calibration error.

    The levels tau = 0.005, 0.015, ..., 0.995 are the midpoint rule of the integral over [0, 1]. An unbiased mean
    with std -> 0 scores 1/4, and a constant forecast of the overall mean and std can score 0.
    """
    rows = _Rows.of(y, mean, std, sample_weight)
    forecast = rows.probability()
    if np.isnan(forecast).any():
        return float("nan")
    levels = (np.arange(N_ECE_LEVELS) + 0.5) / N_ECE_LEVELS
    order = np.argsort(forecast)
    fraction_before = np.concatenate([[0.0], np.cumsum(rows.weight[order])])
    observed = fraction_before[np.searchsorted(forecast[order], levels, side="right")]
    return float(np.mean(np.abs(observed - levels)))


def squared_score(
    y: ArrayLike, mean: Any, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float:
    """average ((y - mean) / std)^2: 1 if the std is honest, more where it is too small. No score to choose by."""
    rows = _Rows.of(y, mean, std, sample_weight)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return rows.average((rows.residual / rows.std) ** 2)


def nll(y: ArrayLike, mean: Any, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None) -> float:
    """average of log std + (y - mean)^2 / (2 std^2) + log(2 pi) / 2: the Gaussian negative log likelihood. Proper.

    Of a Student-t it is minus its log density.
    """
    rows = _Rows.of(y, mean, std, sample_weight)
    values = rows.surprise()
    if np.isposinf(values).any() and not np.isnan(values).any():
        return float("inf")  # one row that is impossible outweighs any number of certain ones
    return rows.average(values)


def nll_by_row(y: ArrayLike, mean: Any, std: ArrayLike | None = None) -> Float64[np.ndarray, " row"]:
    """log std + (y - mean)^2 / (2 std^2) + log(2 pi) / 2, one value a row."""
    return _Rows.of(y, mean, std, None).surprise()


def crps(y: ArrayLike, mean: Any, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None) -> float:
    """average of the integral of (F(t) - [t >= y])^2 over t, F the forecast's distribution. Proper.

    In closed form, for a Gaussian with r = y - mean and z = r / std: r (2 Phi(z) - 1) + std (2 phi(z) - 1 / sqrt(pi)).
    It is in the target's units and tends to the absolute error |r| as std -> 0.
    """
    rows = _Rows.of(y, mean, std, sample_weight)
    return rows.average(rows.distance())


def crps_by_row(y: ArrayLike, mean: Any, std: ArrayLike | None = None) -> Float64[np.ndarray, " row"]:
    """The CRPS of each row's forecast, in the target's units."""
    return _Rows.of(y, mean, std, None).distance()


def interval_coverage(
    y: ArrayLike,
    mean: Any,
    std: ArrayLike | None = None,
    *,
    coverage: float = 0.9,
    sample_weight: ArrayLike | None = None,
) -> float:
    """fraction of rows with |y - mean| <= q std, q the (1 + coverage) / 2 quantile of N(0, 1); ideally `coverage`."""
    rows = _Rows.of(y, mean, std, sample_weight)
    inside = np.abs(rows.z) <= rows.half_width(coverage)
    return rows.average(np.where(np.isnan(rows.z), np.nan, inside))


def interval_width(
    y: ArrayLike,
    mean: Any,
    std: ArrayLike | None = None,
    *,
    coverage: float = 0.9,
    sample_weight: ArrayLike | None = None,
) -> float:
    """average 2 q std: the width of the central interval; of two forecasts that both cover, the narrower is better."""
    rows = _Rows.of(y, mean, std, sample_weight)
    return rows.average(2 * rows.half_width(coverage) * rows.scale)


def sharpness(
    y: ArrayLike, mean: Any, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float:
    """sqrt(average std^2): the error that the forecast promises; equal to `rmse` if the promise is kept on average."""
    rows = _Rows.of(y, mean, std, sample_weight)
    return float(np.sqrt(rows.average(rows.std**2)))


METRICS: dict[str, Callable[..., float]] = {
    metric.__name__: metric
    for metric in (mean_mse, rmse, std_mse, ece, nll, crps, interval_coverage, interval_width, sharpness)
}


def evaluate(
    y: ArrayLike, mean: Any, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> dict[str, float]:
    """Every metric of `METRICS` by name, intervals at 90 %."""
    return {name: metric(y, mean, std, sample_weight=sample_weight) for name, metric in METRICS.items()}


def pit(y: ArrayLike, mean: Any, std: ArrayLike | None = None) -> Float64[np.ndarray, " row"]:
    """F(y), for a Gaussian Phi((y - mean) / std), one value a row: uniform on [0, 1] if calibrated."""
    return _Rows.of(y, mean, std, None).probability()


def geometric_complexity(gradients: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """average |grad f(x_i)|^2 over points, from exact input gradients of shape (point, feature)."""
    slopes = np.asarray(gradients, dtype=np.float64)
    if slopes.ndim != 2 or slopes.size == 0:
        raise InputError(f"gradients have shape {slopes.shape}: pass a non-empty array of shape (point, feature)")
    weight = _normalised(sample_weight, len(slopes))
    return float(weight @ np.sum(slopes**2, axis=1))


def dirichlet_energy(x: ArrayLike, values: ArrayLike, *, density: ArrayLike | None = None) -> float:
    """integral of p(x) f'(x)^2 for a field on a grid; p is uniform between the grid's ends unless `density` is given.

    The slope is the difference between neighbours, constant in a cell, and p follows the trapezoid rule: exact for a
    field and a density that are linear between the grid points.
    """
    x, values = _vector("x", x), _vector("values", values)
    width = np.diff(x)
    if len(x) < 2 or not np.all(width > 0):
        raise InputError("x is not a grid of two or more increasing points: sort it and remove repeated points")
    density = np.full_like(x, 1 / (x[-1] - x[0])) if density is None else _vector("density", density)
    if not len(x) == len(values) == len(density):
        raise InputError(f"x, values and density have {len(x)}, {len(values)} and {len(density)} points: pass as many")
    return float(np.sum(0.5 * (density[1:] + density[:-1]) * np.diff(values) ** 2 / width))


def forecast_of(estimator: Any, X: Any) -> tuple[Any, ...]:
    """What a fitted estimator says of rows X, as a metric takes it: its frozen `pred_dist`, or else mean and std.

    Of a pipeline its last step is asked, of a search the estimator that was found.
    """
    if isinstance(estimator, Pipeline):
        for _, step in estimator.steps[:-1]:
            X = X if step is None or isinstance(step, str) else step.transform(X)
        return forecast_of(estimator.steps[-1][1], X)
    if hasattr(estimator, "best_estimator_"):
        return forecast_of(estimator.best_estimator_, X)
    forecast = estimator.pred_dist(X) if hasattr(estimator, "pred_dist") else None
    if isinstance(forecast, rv_frozen):
        return (forecast,)
    try:
        mean, std = estimator.predict(X, return_std=True)
    except (TypeError, AttributeError) as error:
        raise InputError(
            f"{type(estimator).__name__} gives no std ({error_text(error)}): metrics need pred_dist(X) or "
            "predict(X, return_std=True)"
        ) from error
    return mean, std


@dataclass(frozen=True)
class StdScorer(AcceptsSampleWeight):
    """-metric(y, forecast), higher is better, of any estimator with `pred_dist(X)` or `predict(X, return_std=True)`."""

    metric: Callable[..., float]

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The score of a fitted estimator on rows X with targets y."""
        return -self.metric(y, *forecast_of(estimator, X), sample_weight=sample_weight)


neg_nll_scorer = StdScorer(nll)
neg_crps_scorer = StdScorer(crps)
neg_ece_scorer = StdScorer(ece)
neg_std_mse_scorer = StdScorer(std_mse)


class _Rows(NamedTuple):
    """Validated inputs: residual = y - mean, z = residual / scale (0 / 0 counts as 0), positive weights of sum one.

    A Gaussian's scale is its std and its degrees of freedom `df` are infinite.
    """

    residual: Float64[np.ndarray, " row"]
    std: Float64[np.ndarray, " row"]
    scale: Float64[np.ndarray, " row"]
    df: Float64[np.ndarray, " row"]
    z: Float64[np.ndarray, " row"]
    weight: Float64[np.ndarray, " row"]

    @classmethod
    def of(cls, y: ArrayLike, mean: Any, std: ArrayLike | None, sample_weight: ArrayLike | None) -> "_Rows":
        y = _vector("y", y)
        if isinstance(mean, rv_frozen):
            if std is not None:
                raise InputError("a frozen distribution has its own std: leave std out")
            df, mean, scale = _parameters(mean, len(y))
            std = student.std(df, scale)
        elif std is None:
            raise InputError("std is missing: pass a mean and a std a row, or a frozen scipy.stats.norm or t")
        else:
            mean, scale = _vector("mean", mean), _vector("std", std)
            df, std = np.full(len(scale), np.inf), scale
        if not len(y) == len(mean) == len(std):
            raise InputError(f"y, mean and std have {len(y)}, {len(mean)} and {len(std)} rows: pass as many of each")
        if np.any(std < 0):
            raise InputError(f"std is negative in {np.sum(std < 0)} rows: pass standard deviations, not their logs")
        weight = _normalised(sample_weight, len(y))
        residual, std, scale, df, weight = (part[weight > 0] for part in (np.subtract(y, mean), std, scale, df, weight))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            z = np.where((scale == 0) & (residual == 0), 0.0, residual / scale)
        return cls(residual, std, scale, df, z, weight)

    def average(self, values: Float64[np.ndarray, " row"]) -> float:
        return float(np.sum(self.weight * values))

    def probability(self) -> Float64[np.ndarray, " row"]:
        return self._either(ndtr(self.z), lambda heavy: student.cdf(self.z[heavy], self.df[heavy]))

    def half_width(self, coverage: float) -> Float64[np.ndarray, " row"]:
        if not 0 < coverage < 1:
            raise InputError(f"coverage is {coverage}: pass a probability between 0 and 1, such as 0.9")
        level = (1 + coverage) / 2
        gaussian = np.full(len(self.df), ndtri(level))
        return self._either(gaussian, lambda heavy: student.quantile(level, self.df[heavy]))

    def surprise(self) -> Float64[np.ndarray, " row"]:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            gaussian = np.log(self.scale) + 0.5 * self.z**2 + 0.5 * np.log(2 * np.pi)
        gaussian = np.where(np.isinf(self.z), np.inf, gaussian)
        return self._either(gaussian, lambda heavy: student.nll(self.z[heavy], self.df[heavy], self.scale[heavy]))

    def distance(self) -> Float64[np.ndarray, " row"]:
        with np.errstate(over="ignore"):
            density = np.exp(-0.5 * self.z**2) / np.sqrt(2 * np.pi)
        gaussian = self.residual * erf(self.z / np.sqrt(2)) + self.scale * (2 * density - 1 / np.sqrt(np.pi))
        return self._either(gaussian, lambda heavy: student.crps(self.z[heavy], self.df[heavy], self.scale[heavy]))

    def _either(self, gaussian: np.ndarray, of_heavy: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """The Gaussian's values, replaced where a row's forecast has heavier tails."""
        heavy = np.isfinite(self.df)
        if heavy.any():
            gaussian[heavy] = of_heavy(heavy)
        return gaussian


def _parameters(forecast: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """df, mean and scale of a frozen Gaussian or Student-t, one a row."""
    names = {"norm": ("loc", "scale"), "t": ("df", "loc", "scale")}.get(forecast.dist.name)
    if names is None:
        raise InputError(
            f"a forecast that is a {forecast.dist.name} is not known here: pass a scipy.stats.norm or scipy.stats.t"
        )
    found = {"df": np.inf, "loc": 0.0, "scale": 1.0} | dict(zip(names, forecast.args, strict=False)) | forecast.kwds
    df, mean, scale = (
        np.broadcast_to(value, (n_rows,)) if np.ndim(value) == 0 else value
        for value in (np.asarray(found[name], np.float64) for name in ("df", "loc", "scale"))
    )
    if not df.shape == mean.shape == scale.shape == (n_rows,):
        raise InputError(f"y has {n_rows} rows and the forecast has other shapes: pass a distribution a row")
    return df, mean, scale


def _vector(name: str, values: ArrayLike) -> Float64[np.ndarray, " row"]:
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1 or vector.size == 0:
        raise InputError(f"{name} has shape {vector.shape}: pass a non-empty one-dimensional array, one value a row")
    return vector


def _normalised(sample_weight: ArrayLike | None, n_rows: int) -> Float64[np.ndarray, " row"]:
    if sample_weight is None:
        return np.full(n_rows, 1 / n_rows)
    weight = _vector("sample_weight", sample_weight)
    if len(weight) != n_rows:
        raise InputError(f"sample_weight has {len(weight)} values for {n_rows} rows: pass one weight a row")
    if not (np.all(weight >= 0) and 0 < weight.sum() < np.inf):
        raise InputError("sample_weight is negative, not finite or zero everywhere: pass weights >= 0, some above 0")
    return weight / weight.sum()

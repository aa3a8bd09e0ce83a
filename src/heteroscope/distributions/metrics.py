"""Score a predicted mean and standard deviation: functions of arrays that return one number each.

All metrics have the signature `metric(y, mean, std, *, sample_weight=None)`; `metric(y, forecast)` takes a frozen
`scipy.stats.norm` or `scipy.stats.t` instead of mean and std. With weights, averages over rows are weighted averages,
and rows of weight zero are ignored. NaN in an input that a metric uses gives NaN. A std of zero is the limit std -> 0:
the forecast is a single value.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike
from scipy.special import erf, ndtr, ndtri
from scipy.stats.distributions import rv_frozen
from sklearn.pipeline import Pipeline

from heteroscope.core import InputError, error_text
from heteroscope.distributions import student_t as student
from heteroscope.distributions.sklearn_internals import AcceptsSampleWeight

N_ECE_LEVELS = 100  # quantiles that `ece` averages over: as fine as coverage in per cent

Forecast: TypeAlias = ArrayLike | rv_frozen  # means per row, or a distribution with its own std


def mean_mse(
    y: ArrayLike, mean: Forecast, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the squared error of the mean: average (y - mean)^2.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Targets.
    mean : array-like of shape (n_rows,) or frozen scipy distribution
        Predicted means; or a `scipy.stats.norm` or `scipy.stats.t`, which has its own std.
    std : array-like of shape (n_rows,), default=None
        Predicted standard deviations; None if `mean` is a distribution.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights >= 0 of the rows; None counts them equally.

    Returns
    -------
    float
        The error, in squared units of the target; std has no effect.
    """
    rows = _Rows.of(y, mean, std, sample_weight)
    return rows.average(rows.residual**2)


def rmse(
    y: ArrayLike, mean: Forecast, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the error of the mean: sqrt(average (y - mean)^2).

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Targets.
    mean : array-like of shape (n_rows,) or frozen scipy distribution
        Predicted means; or a `scipy.stats.norm` or `scipy.stats.t`, which has its own std.
    std : array-like of shape (n_rows,), default=None
        Predicted standard deviations; None if `mean` is a distribution.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights >= 0 of the rows; None counts them equally.

    Returns
    -------
    float
        The error, in the units of the target; std has no effect.
    """
    return float(np.sqrt(mean_mse(y, mean, std, sample_weight=sample_weight)))


def std_mse(
    y: ArrayLike, mean: Forecast, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the squared distance of each std from its absolute residual: average (std - |y - mean|)^2.

    Not a proper score: it tends to `mean_mse` as std -> 0, so a model that has memorised its rows looks good.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Targets.
    mean : array-like of shape (n_rows,) or frozen scipy distribution
        Predicted means; or a `scipy.stats.norm` or `scipy.stats.t`, which has its own std.
    std : array-like of shape (n_rows,), default=None
        Predicted standard deviations; None if `mean` is a distribution.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights >= 0 of the rows; None counts them equally.

    Returns
    -------
    float
        The error, in squared units of the target; 0 is best.
    """
    rows = _Rows.of(y, mean, std, sample_weight)
    return rows.average((rows.std - np.abs(rows.residual)) ** 2)


def ece(y: ArrayLike, mean: Forecast, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the expected calibration error: average over tau of |share of y below the tau-quantile - tau|.

    The levels tau = 0.005, 0.015, ..., 0.995 are the midpoint rule of the integral over [0, 1]. An unbiased mean with
    std -> 0 scores 1/4, and a constant forecast of the overall mean and std can score 0.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Targets.
    mean : array-like of shape (n_rows,) or frozen scipy distribution
        Predicted means; or a `scipy.stats.norm` or `scipy.stats.t`, which has its own std.
    std : array-like of shape (n_rows,), default=None
        Predicted standard deviations; None if `mean` is a distribution.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights >= 0 of the rows; None counts them equally.

    Returns
    -------
    float
        Between 0 (calibrated) and 1/2.
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
    y: ArrayLike, mean: Forecast, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the average of ((y - mean) / std)^2.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Targets.
    mean : array-like of shape (n_rows,) or frozen scipy distribution
        Predicted means; or a `scipy.stats.norm` or `scipy.stats.t`, which has its own std.
    std : array-like of shape (n_rows,), default=None
        Predicted standard deviations; None if `mean` is a distribution.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights >= 0 of the rows; None counts them equally.

    Returns
    -------
    float
        1 if the std is honest, more if it is too small. Do not choose models by it: a large std always lowers it.
    """
    rows = _Rows.of(y, mean, std, sample_weight)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return rows.average((rows.residual / rows.std) ** 2)


def nll(y: ArrayLike, mean: Forecast, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the average negative log likelihood, a proper score.

    For a Gaussian: average of log std + (y - mean)^2 / (2 std^2) + log(2 pi) / 2.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Targets.
    mean : array-like of shape (n_rows,) or frozen scipy distribution
        Predicted means; or a `scipy.stats.norm` or `scipy.stats.t`, which has its own std.
    std : array-like of shape (n_rows,), default=None
        Predicted standard deviations; None if `mean` is a distribution.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights >= 0 of the rows; None counts them equally.

    Returns
    -------
    float
        Lower is better; infinite if a row is impossible under the forecast.
    """
    rows = _Rows.of(y, mean, std, sample_weight)
    values = rows.surprise()
    if np.isposinf(values).any() and not np.isnan(values).any():
        return float("inf")  # an impossible row counts more than rows of std zero (-inf), whose sum would be NaN
    return rows.average(values)


def nll_by_row(y: ArrayLike, mean: Forecast, std: ArrayLike | None = None) -> Float64[np.ndarray, " row"]:
    """Compute the negative log likelihood of each row.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Targets.
    mean : array-like of shape (n_rows,) or frozen scipy distribution
        Predicted means; or a `scipy.stats.norm` or `scipy.stats.t`, which has its own std.
    std : array-like of shape (n_rows,), default=None
        Predicted standard deviations; None if `mean` is a distribution.

    Returns
    -------
    ndarray of shape (n_rows,)
        For a Gaussian, log std + (y - mean)^2 / (2 std^2) + log(2 pi) / 2.
    """
    return _Rows.of(y, mean, std, None).surprise()


def crps(
    y: ArrayLike, mean: Forecast, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the average continuous ranked probability score, a proper score.

    CRPS = integral over t of (F(t) - [t >= y])^2, where F is the forecast's cumulative distribution. For a Gaussian
    with r = y - mean and z = r / std it is r (2 Phi(z) - 1) + std (2 phi(z) - 1 / sqrt(pi)); it tends to |r| as
    std -> 0.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Targets.
    mean : array-like of shape (n_rows,) or frozen scipy distribution
        Predicted means; or a `scipy.stats.norm` or `scipy.stats.t`, which has its own std.
    std : array-like of shape (n_rows,), default=None
        Predicted standard deviations; None if `mean` is a distribution.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights >= 0 of the rows; None counts them equally.

    Returns
    -------
    float
        Lower is better; in the units of the target.
    """
    rows = _Rows.of(y, mean, std, sample_weight)
    return rows.average(rows.distance())


def crps_by_row(y: ArrayLike, mean: Forecast, std: ArrayLike | None = None) -> Float64[np.ndarray, " row"]:
    """Compute the continuous ranked probability score of each row; see `crps`.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Targets.
    mean : array-like of shape (n_rows,) or frozen scipy distribution
        Predicted means; or a `scipy.stats.norm` or `scipy.stats.t`, which has its own std.
    std : array-like of shape (n_rows,), default=None
        Predicted standard deviations; None if `mean` is a distribution.

    Returns
    -------
    ndarray of shape (n_rows,)
        In the units of the target.
    """
    return _Rows.of(y, mean, std, None).distance()


def interval_coverage(
    y: ArrayLike,
    mean: Forecast,
    std: ArrayLike | None = None,
    *,
    coverage: float = 0.9,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the share of rows whose target lies in the central interval of probability `coverage`.

    For a Gaussian the interval is |y - mean| <= q std, where q is the (1 + coverage) / 2 quantile of N(0, 1).

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Targets.
    mean : array-like of shape (n_rows,) or frozen scipy distribution
        Predicted means; or a `scipy.stats.norm` or `scipy.stats.t`, which has its own std.
    std : array-like of shape (n_rows,), default=None
        Predicted standard deviations; None if `mean` is a distribution.
    coverage : float, default=0.9
        Probability of the interval, strictly between 0 and 1.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights >= 0 of the rows; None counts them equally.

    Returns
    -------
    float
        The share; ideally `coverage`.
    """
    rows = _Rows.of(y, mean, std, sample_weight)
    inside = np.abs(rows.z) <= rows.half_width(coverage)
    return rows.average(np.where(np.isnan(rows.z), np.nan, inside))


def interval_width(
    y: ArrayLike,
    mean: Forecast,
    std: ArrayLike | None = None,
    *,
    coverage: float = 0.9,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the average width of the central interval of probability `coverage`: 2 q std for a Gaussian.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Targets.
    mean : array-like of shape (n_rows,) or frozen scipy distribution
        Predicted means; or a `scipy.stats.norm` or `scipy.stats.t`, which has its own std.
    std : array-like of shape (n_rows,), default=None
        Predicted standard deviations; None if `mean` is a distribution.
    coverage : float, default=0.9
        Probability of the interval, strictly between 0 and 1.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights >= 0 of the rows; None counts them equally.

    Returns
    -------
    float
        The width, in the units of the target; of two forecasts with the right coverage, the narrower is better.
    """
    rows = _Rows.of(y, mean, std, sample_weight)
    return rows.average(2 * rows.half_width(coverage) * rows.scale)


def sharpness(
    y: ArrayLike, mean: Forecast, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute sqrt(average std^2), the root mean squared error that the forecast predicts for itself.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Targets.
    mean : array-like of shape (n_rows,) or frozen scipy distribution
        Predicted means; or a `scipy.stats.norm` or `scipy.stats.t`, which has its own std.
    std : array-like of shape (n_rows,), default=None
        Predicted standard deviations; None if `mean` is a distribution.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights >= 0 of the rows; None counts them equally.

    Returns
    -------
    float
        In the units of the target; equal to `rmse` if the std is right on average.
    """
    rows = _Rows.of(y, mean, std, sample_weight)
    return float(np.sqrt(rows.average(rows.std**2)))


#: The metrics of `evaluate`, by name.
METRICS: dict[str, Callable[..., float]] = {
    metric.__name__: metric
    for metric in (mean_mse, rmse, std_mse, ece, nll, crps, interval_coverage, interval_width, sharpness)
}


def evaluate(
    y: ArrayLike, mean: Forecast, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> dict[str, float]:
    """Compute every metric of `METRICS`, with intervals of probability 0.9.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Targets.
    mean : array-like of shape (n_rows,) or frozen scipy distribution
        Predicted means; or a `scipy.stats.norm` or `scipy.stats.t`, which has its own std.
    std : array-like of shape (n_rows,), default=None
        Predicted standard deviations; None if `mean` is a distribution.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights >= 0 of the rows; None counts them equally.

    Returns
    -------
    dict of str to float
        The value of each metric, by its name.
    """
    return {name: metric(y, mean, std, sample_weight=sample_weight) for name, metric in METRICS.items()}


def pit(y: ArrayLike, mean: Forecast, std: ArrayLike | None = None) -> Float64[np.ndarray, " row"]:
    """Compute the probability integral transform of each row: F(y), for a Gaussian Phi((y - mean) / std).

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Targets.
    mean : array-like of shape (n_rows,) or frozen scipy distribution
        Predicted means; or a `scipy.stats.norm` or `scipy.stats.t`, which has its own std.
    std : array-like of shape (n_rows,), default=None
        Predicted standard deviations; None if `mean` is a distribution.

    Returns
    -------
    ndarray of shape (n_rows,)
        Values in [0, 1]; uniform if the forecast is calibrated.
    """
    return _Rows.of(y, mean, std, None).probability()


def geometric_complexity(gradients: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the average squared gradient of a function: average |grad f(x_i)|^2.

    Parameters
    ----------
    gradients : array-like of shape (n_points, n_features)
        Exact gradients of the function with respect to its inputs.
    sample_weight : array-like of shape (n_points,), default=None
        Weights >= 0 of the points; None counts them equally.

    Returns
    -------
    float
        0 for a constant function.
    """
    slopes = np.asarray(gradients, dtype=np.float64)
    if slopes.ndim != 2 or slopes.size == 0:
        raise InputError(f"gradients have shape {slopes.shape}: pass a non-empty array of shape (point, feature)")
    weight = _normalised(sample_weight, len(slopes))
    return float(weight @ np.sum(slopes**2, axis=1))


def dirichlet_energy(x: ArrayLike, values: ArrayLike, *, density: ArrayLike | None = None) -> float:
    """Compute the Dirichlet energy of a field on a grid: integral of p(x) f'(x)^2.

    The slope is constant between grid points and p is integrated by the trapezoid rule, so the result is exact if field
    and density are linear between grid points.

    Parameters
    ----------
    x : array-like of shape (n_points,)
        Increasing grid points.
    values : array-like of shape (n_points,)
        The field f at the grid points.
    density : array-like of shape (n_points,), default=None
        The density p at the grid points; None is uniform between the ends of the grid.

    Returns
    -------
    float
        0 for a constant field.
    """
    x, values = _vector("x", x), _vector("values", values)
    width = np.diff(x)
    if len(x) < 2 or not np.all(width > 0):
        raise InputError("x is not a grid of two or more increasing points: sort it and remove repeated points")
    density = np.full_like(x, 1 / (x[-1] - x[0])) if density is None else _vector("density", density)
    if not len(x) == len(values) == len(density):
        raise InputError(
            f"x, values and density have {len(x)}, {len(values)} and {len(density)} points: pass equally many of each"
        )
    return float(np.sum(0.5 * (density[1:] + density[:-1]) * np.diff(values) ** 2 / width))


def forecast_of(estimator: Any, X: Any) -> tuple[rv_frozen] | tuple[np.ndarray, np.ndarray]:
    """Predict rows with any fitted estimator, in the form that metrics take.

    A pipeline is predicted by its last step, a search by its `best_estimator_`.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator with `pred_dist(X)` or `predict(X, return_std=True)`; or a pipeline or search of one.
    X : array-like of shape (n_rows, n_features)
        The rows.

    Returns
    -------
    tuple
        (distribution,) if the estimator has `pred_dist`, else (mean, std): `metric(y, *forecast_of(estimator, X))`.
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
    """A scikit-learn scorer: -metric(y, forecast), so that higher is better.

    It takes any estimator with `pred_dist(X)` or `predict(X, return_std=True)`, see `forecast_of`.

    Parameters
    ----------
    metric : callable
        A metric of this module, lower is better.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from heteroscope import HeteroskedasticRegressor, metrics
    >>> scores = cross_val_score(
    ...     HeteroskedasticRegressor(), X, y, scoring=metrics.neg_crps_scorer
    ... )  # doctest: +SKIP
    """

    metric: Callable[..., float]

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Score a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator.
        X : array-like of shape (n_rows, n_features)
            The rows.
        y : array-like of shape (n_rows,)
            Targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights >= 0 of the rows; None counts them equally.

        Returns
        -------
        float
            Minus the metric.
        """
        return -self.metric(y, *forecast_of(estimator, X), sample_weight=sample_weight)


#: Scorers for scikit-learn: minus the metric of the same name.
neg_nll_scorer = StdScorer(nll)
neg_crps_scorer = StdScorer(crps)
neg_ece_scorer = StdScorer(ece)
neg_std_mse_scorer = StdScorer(std_mse)


class _Rows(NamedTuple):
    """Validated inputs: residual = y - mean, z = residual / scale (0 / 0 is 0), positive weights with sum one.

    For a Gaussian, scale = std and df = inf.
    """

    residual: Float64[np.ndarray, " row"]
    std: Float64[np.ndarray, " row"]
    scale: Float64[np.ndarray, " row"]
    df: Float64[np.ndarray, " row"]
    z: Float64[np.ndarray, " row"]
    weight: Float64[np.ndarray, " row"]

    @classmethod
    def of(cls, y: ArrayLike, mean: Forecast, std: ArrayLike | None, sample_weight: ArrayLike | None) -> "_Rows":
        """Validate what a metric was given."""
        target = _vector("y", y)
        if isinstance(mean, rv_frozen):
            if std is not None:
                raise InputError("a frozen distribution has its own std: leave std out")
            df, centre, scale = _parameters(mean, len(target))
            spread = student.std(df, scale)
        elif std is None:
            raise InputError("std is missing: pass a mean and a std per row, or a frozen scipy.stats.norm or t")
        else:
            centre, scale = _vector("mean", mean), _vector("std", std)
            df, spread = np.full(len(scale), np.inf), scale
        sizes = len(target), len(centre), len(spread)
        if len(set(sizes)) > 1:
            raise InputError("y, mean and std have {}, {} and {} rows: pass equally many of each".format(*sizes))
        if np.any(spread < 0):
            raise InputError(f"std is negative in {np.sum(spread < 0)} rows: pass standard deviations, not their logs")
        weight = _normalised(sample_weight, len(target))
        residual = target - centre
        counted = weight > 0
        if not counted.all():
            residual, spread, scale, df, weight = (part[counted] for part in (residual, spread, scale, df, weight))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            z = np.where((scale == 0) & (residual == 0), 0.0, residual / scale)
        return cls(residual, spread, scale, df, z, weight)

    def average(self, values: Float64[np.ndarray, " row"]) -> float:
        """Return the weighted average over rows."""
        return float(np.sum(self.weight * values))

    def probability(self) -> Float64[np.ndarray, " row"]:
        """Return F(y) of each row."""
        return self._either(ndtr(self.z), lambda heavy: student.cdf(self.z[heavy], self.df[heavy]))

    def half_width(self, coverage: float) -> Float64[np.ndarray, " row"]:
        """Return half the width of each row's central interval, in units of its scale."""
        if not 0 < coverage < 1:
            raise InputError(f"coverage is {coverage}: pass a probability between 0 and 1, such as 0.9")
        level = (1 + coverage) / 2
        gaussian = np.full(len(self.df), ndtri(level))
        return self._either(gaussian, lambda heavy: student.quantile(level, self.df[heavy]))

    def surprise(self) -> Float64[np.ndarray, " row"]:
        """Return the negative log likelihood of each row."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            gaussian = np.log(self.scale) + 0.5 * self.z**2 + 0.5 * np.log(2 * np.pi)
        gaussian = np.where(np.isinf(self.z), np.inf, gaussian)
        return self._either(gaussian, lambda heavy: student.nll(self.z[heavy], self.df[heavy], self.scale[heavy]))

    def distance(self) -> Float64[np.ndarray, " row"]:
        """Return the CRPS of each row."""
        with np.errstate(over="ignore"):
            density = np.exp(-0.5 * self.z**2) / np.sqrt(2 * np.pi)
        gaussian = self.residual * erf(self.z / np.sqrt(2)) + self.scale * (2 * density - 1 / np.sqrt(np.pi))
        return self._either(gaussian, lambda heavy: student.crps(self.z[heavy], self.df[heavy], self.scale[heavy]))

    def _either(self, gaussian: np.ndarray, of_heavy: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the Gaussian's values, replaced by those of a Student-t in rows of finite df."""
        heavy = np.isfinite(self.df)
        if heavy.any():
            gaussian[heavy] = of_heavy(heavy)
        return gaussian


def _parameters(forecast: rv_frozen, n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return df, mean and scale of a frozen Gaussian or Student-t, one of each per row."""
    kind: str = getattr(forecast.dist, "name", "unnamed")
    names = {"norm": ("loc", "scale"), "t": ("df", "loc", "scale")}.get(kind)
    if names is None:
        raise InputError(f"the distribution {kind!r} has no metrics here: pass a scipy.stats.norm or scipy.stats.t")
    found = {"df": np.inf, "loc": 0.0, "scale": 1.0} | dict(zip(names, forecast.args, strict=False)) | forecast.kwds
    df, mean, scale = (
        np.broadcast_to(value, (n_rows,)) if np.ndim(value) == 0 else value
        for value in (np.asarray(found[name], np.float64) for name in ("df", "loc", "scale"))
    )
    if not df.shape == mean.shape == scale.shape == (n_rows,):
        raise InputError(f"y has {n_rows} rows and the forecast has other shapes: pass one distribution per row")
    return df, mean, scale


def _vector(name: str, values: ArrayLike) -> Float64[np.ndarray, " row"]:
    """Return the values as a non-empty vector of float64."""
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1 or vector.size == 0:
        raise InputError(f"{name} has shape {vector.shape}: pass a non-empty one-dimensional array, one value per row")
    return vector


def _normalised(sample_weight: ArrayLike | None, n_rows: int) -> Float64[np.ndarray, " row"]:
    """Return weights with sum one."""
    if sample_weight is None:
        return np.full(n_rows, 1 / n_rows)
    weight = _vector("sample_weight", sample_weight)
    if len(weight) != n_rows:
        raise InputError(f"sample_weight has {len(weight)} values for {n_rows} rows: pass one weight per row")
    if not (np.all(weight >= 0) and 0 < weight.sum() < np.inf):
        raise InputError("sample_weight is negative, not finite or zero everywhere: pass weights >= 0, some above 0")
    return weight / weight.sum()

"""Predictive distributions, and the metrics and scorers for them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from heteroscope.distributions.predictive import (
    LARGEST_LOG_STD,
    check_levels,
    exponentiated,
    frozen,
    interval_levels,
    log_moments,
    lognormal_moments,
    quantiles,
)
from heteroscope.distributions.quantile_forecast import QuantileForecast
from heteroscope.distributions.row_forecast import RowForecast
from heteroscope.distributions.sample_forecast import SampleForecast

if TYPE_CHECKING:
    from heteroscope.distributions import metrics, student_t
    from heteroscope.distributions.metrics import (
        dirichlet_energy,
        evaluate,
        geometric_complexity,
        mean_mse,
        neg_nll_scorer,
        squared_score,
        std_mse,
    )

__all__ = [
    "LARGEST_LOG_STD",
    "QuantileForecast",
    "RowForecast",
    "SampleForecast",
    "check_levels",
    "dirichlet_energy",
    "evaluate",
    "exponentiated",
    "frozen",
    "geometric_complexity",
    "interval_levels",
    "log_moments",
    "lognormal_moments",
    "mean_mse",
    "metrics",
    "neg_nll_scorer",
    "quantiles",
    "squared_score",
    "std_mse",
    "student_t",
]

# Import what needs SciPy and scikit-learn at its first use: a process that only predicts does not.
_MODULES = ("metrics", "student_t")
_METRICS = (
    "dirichlet_energy",
    "evaluate",
    "geometric_complexity",
    "mean_mse",
    "neg_nll_scorer",
    "squared_score",
    "std_mse",
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"heteroscope.distributions.{name}")
    if name not in _METRICS:
        raise AttributeError(f"module 'heteroscope.distributions' has no attribute {name!r}")
    return getattr(import_module("heteroscope.distributions.metrics"), name)

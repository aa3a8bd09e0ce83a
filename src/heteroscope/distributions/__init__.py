"""Predictive distributions, and the metrics and scorers for them."""

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
    "dirichlet_energy",
    "evaluate",
    "geometric_complexity",
    "mean_mse",
    "metrics",
    "neg_nll_scorer",
    "squared_score",
    "std_mse",
    "student_t",
]

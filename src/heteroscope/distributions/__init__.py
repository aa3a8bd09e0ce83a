"""What is predicted, and the scores that judge it."""

from heteroscope.distributions import metrics, student_t
from heteroscope.distributions.metrics import evaluate, mean_mse, squared_score, std_mse

__all__ = [
    "evaluate",
    "mean_mse",
    "metrics",
    "squared_score",
    "std_mse",
    "student_t",
]

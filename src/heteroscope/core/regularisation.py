"""The strength of the regularisation, as (rho, gamma) or as (alpha, beta), and the limits excluded by Proposition 1.

alpha = gamma (1 - rho) / rho,    beta = (1 - gamma)(1 - rho) / rho
"""

import math
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from heteroscope.core.errors import InputError, Parameter

Float64: TypeAlias = np.ndarray | np.floating | float

# Proposition 1: a minimum exists only inside the open square (0, 1)^2. One sentence for each edge says why.
_EDGES = {
    ("rho", 1.0): "rho = 1 is maximum likelihood without any penalty: the mean interpolates, the precision grows "
    "without bound and no minimum exists; choose rho < 1, for example 0.99",
    ("rho", 0.0): "rho = 0 ignores the data: every pair of constant functions is a minimum, so none is unique; "
    "choose rho > 0, for example 0.5",
    ("gamma", 1.0): "gamma = 1 leaves the precision without a penalty: it diverges wherever the mean meets a data "
    "point, so no minimum exists; choose gamma < 1, for example 0.9",
    ("gamma", 0.0): "gamma = 0 leaves the mean without a penalty: it interpolates, and a constant precision then "
    "grows at no cost, so no minimum exists; choose gamma > 0, for example 0.1",
}


class Strengths(NamedTuple):
    """The three coefficients of the objective: rho, (1 - rho) gamma and (1 - rho)(1 - gamma).

    Each is a float64 number or array, or a JAX array inside a training program.
    """

    likelihood: Any
    mean_penalty: Any
    precision_penalty: Any


def check_rho_gamma(rho: object, gamma: object) -> tuple[float, float]:
    """Return both as floats; raise an `InputError` unless they lie strictly between 0 and 1.

    At 0 and 1 the message says which limit this is and why it has no solution.
    """
    return _check_open_unit("rho", rho), _check_open_unit("gamma", gamma)


def _check_open_unit(name: str, value: object) -> float:
    """Return `value` as a float; raise an `InputError` that names it unless it lies strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name} must be a number between 0 and 1, got {value!r}; write {name}=0.5, without quotes")
    number = float(value)
    if (name, number) in _EDGES:
        raise InputError(_EDGES[name, number])
    if not 0.0 < number < 1.0:
        raise InputError(Parameter(name), f" must lie strictly between 0 and 1, got {number:g}")
    return number


def strengths(logit_rho: Float64, logit_gamma: Float64) -> Strengths:
    """Return rho, (1 - rho) gamma and (1 - rho)(1 - gamma) in float64, computed from logits.

    With logits, 1 - gamma stays exact even where gamma itself rounds to one.
    """
    rest = _log_expit(-np.asarray(logit_rho, np.float64))
    return Strengths(
        likelihood=np.exp(_log_expit(np.asarray(logit_rho, np.float64))),
        mean_penalty=np.exp(rest + _log_expit(np.asarray(logit_gamma, np.float64))),
        precision_penalty=np.exp(rest + _log_expit(-np.asarray(logit_gamma, np.float64))),
    )


def alpha_beta(logit_rho: Float64, logit_gamma: Float64) -> tuple[Float64, Float64]:
    """Return the penalties of mean and precision relative to a likelihood of weight one, computed from logits.

    alpha = gamma (1 - rho) / rho,    beta = (1 - gamma)(1 - rho) / rho
    """
    log_ratio, logit_gamma = -np.asarray(logit_rho, np.float64), np.asarray(logit_gamma, np.float64)
    return np.exp(log_ratio + _log_expit(logit_gamma)), np.exp(log_ratio + _log_expit(-logit_gamma))


def logits_from_alpha_beta(alpha: Float64, beta: Float64) -> tuple[Float64, Float64]:
    """Return logit rho = -log(alpha + beta) and logit gamma = log(alpha / beta), the inverse of `alpha_beta`."""
    if not (np.all(np.asarray(alpha) > 0) and np.all(np.asarray(beta) > 0)):
        raise InputError("alpha and beta must both be positive: without either penalty the objective has no minimum")
    log_alpha, log_beta = np.log(np.asarray(alpha, np.float64)), np.log(np.asarray(beta, np.float64))
    return -np.logaddexp(log_alpha, log_beta), log_alpha - log_beta


def logits(rho: object, gamma: object) -> tuple[float, float]:
    """Return (logit rho, logit gamma); raise an `InputError` unless both lie strictly between 0 and 1."""
    checked_rho, checked_gamma = check_rho_gamma(rho, gamma)
    return _logit(checked_rho), _logit(checked_gamma)


def _logit(value: float) -> float:
    """Return log(value / (1 - value))."""
    return math.log(value) - math.log1p(-value)


def _log_expit(value: Float64) -> Float64:
    """Return log 1 / (1 + exp(-value)). Importing scipy for it would take a fifth of a worker's start."""
    return -np.logaddexp(0.0, -value)

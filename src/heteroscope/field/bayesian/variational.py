"""The variational approximation: independent Gaussians for the mean field and for the precision field.

For a known precision l the posterior of the mean is exactly q(mean) = N(m, S) with S = (diag(w l) + 2 alpha K)^-1. The
precision then sees r^2 + S_ii instead of r^2: the free energy averaged over a target of variance S_ii, which is what
the solver's `variance` is for. Its Gaussian q(precision) = N(l, G) is taken to second order, E[1/l_i] = (1 + G_ii /
l_i^2) / l_i, so the two are iterated until nothing changes:

    A_i = a_i (1 + G_ii / l_i^2),    l = arg min sum_i (B_i l_i - A_i log l_i) + beta l'K l,
    B_i = b_i + w_i/2 (r_i^2 + S_ii),    G = (diag(A / l^2) + 2 beta K)^-1

a and b are the coefficients of log precision and of precision. Both limits are exact: without a penalty l is the mean
(a + 1) / B of a Gamma distribution, and for a stiff precision that of the Gamma distribution of the level. The rounds
are accelerated in log precision by squared extrapolation (Varadhan and Roland 2008): two rounds, then a leap along
their difference.
"""

from typing import NamedTuple

import numpy as np

from heteroscope.core import Status
from heteroscope.field.bayesian.laplace import log_joint
from heteroscope.field.bayesian.level_prior import Target, log_prior_constant
from heteroscope.field.descent import minimise
from heteroscope.field.lattices import Field
from heteroscope.field.problem import Fields, Problem
from heteroscope.field.solver import flat

_TOLERANCE = 1e-9  # largest relative change of a precision in the last round
_MAX_ROUNDS = 1000
_ROUND_TOLERANCE = 1e-11  # of the solver within a round


class VariationalPosterior(NamedTuple):
    """Both Gaussians: their means and pointwise variances, the coefficients A, and how the rounds ended."""

    mean: Field
    mean_variance: Field
    precision: Field
    precision_variance: Field
    logs: Field
    log_evidence: float
    log_evidence_error: float
    status: Status


def smooth_mean(target: Target, precision: Field) -> tuple[Field, Field, float]:
    """Return mean, pointwise variance and log det of the Gaussian of the mean for a known precision."""
    pull = (target.weights * precision)[None]
    mean, variance, log_det = target.algebra.smooth(pull, 2.0 * target.problem.alpha, pull * target.problem.y)
    return mean[0], variance[0], float(log_det[0])


def approximate_variationally(target: Target) -> VariationalPosterior:
    """Iterate both Gaussians from the flat fields.

    log evidence = log p(y, l) with the mean integrated out + n/2 log(2 pi) + 1/2 log det G
    """
    n, status = len(target.weights), Status.OUT_OF_STEPS
    start = flat(target.problem).precision
    now = np.log(start)
    logs = _effective_logs(target, target.logs, start)
    for _ in range(_MAX_ROUNDS):
        first, logs = _round(target, now, logs)
        second, logs = _round(target, first, logs)
        change, bend = first - now, second - 2.0 * first + now
        if np.max(np.abs(change)) <= _TOLERANCE:
            status = Status.CONVERGED
            break
        reach = max(1.0, float(np.sqrt(np.sum(change**2) / max(np.sum(bend**2), np.finfo(float).tiny))))
        now = now + 2.0 * reach * change + reach**2 * bend
    precision = np.exp(second)
    mean, variance, log_det = smooth_mean(target, precision)
    spread, log_det_precision = _precision_spread(target, logs, precision)
    constant, error = log_prior_constant(target)
    joint = log_joint(target, Fields(mean, precision)) + 0.5 * n * np.log(2.0 * np.pi) - 0.5 * log_det
    evidence = constant + joint + 0.5 * n * np.log(2.0 * np.pi) - 0.5 * log_det_precision
    return VariationalPosterior(mean, variance, precision, spread, logs, float(evidence), error, status)


def _round(target: Target, log_precision: Field, logs: Field) -> tuple[Field, Field]:
    """Update the Gaussian of the mean, then that of the precision; return log precision and A."""
    problem, precision = target.problem, np.exp(log_precision)
    mean, variance, _ = smooth_mean(target, precision)
    pulls = target.pulls + 0.5 * target.weights * ((mean - problem.y) ** 2 + variance)
    updated = _best_precision(problem, logs, pulls, precision)
    return np.log(updated), _effective_logs(target, logs, updated)


def _effective_logs(target: Target, logs: Field, precision: Field) -> Field:
    """Return A = a (1 + G_ii / l_i^2)."""
    return target.logs * (1.0 + _precision_spread(target, logs, precision)[0] / precision**2)


def _best_precision(problem: Problem, logs: Field, pulls: Field, start: Field) -> Field:
    """Minimise sum (pulls l - logs log l) + beta l'K l: the solver with the mean as target and pulls as variance."""
    known = Problem(problem.lattice.reweighted(2.0 * logs), np.zeros_like(start), 0.0, problem.beta, pulls / logs)
    return minimise(known, Fields(np.zeros_like(start), start), _ROUND_TOLERANCE).precision


def _precision_spread(target: Target, logs: Field, precision: Field) -> tuple[Field, float]:
    """Return the diagonal of G and the log det of its inverse."""
    pull = (logs / precision**2)[None]
    _, variance, log_det = target.algebra.smooth(pull, 2.0 * target.problem.beta, np.zeros_like(pull))
    return variance[0], float(log_det[0])

"""Laplace's approximation: a Gaussian around the mode of the posterior, with the inverse Hessian as covariance.

The factor G^(shape - 1) of the prior multiplies every coefficient of log precision by c = 1 + 2 (shape - 1) / n. With
precision = c l, the free energy is c times that of the plain problem with alpha / c, beta c and a larger variance:

    F = c [sum_i w_i/2 (l_i (r_i^2 + v_i + 2 rate / n) - log l_i) + (alpha / c) m'K m + beta c l'K l] + constant

so the mode is found by the solver of the plain theory.
"""

from typing import NamedTuple

import numpy as np

from heteroscope.core import InputError, Status
from heteroscope.field.bayesian.algebra import PairFactor
from heteroscope.field.bayesian.level_prior import Target, log_prior_constant
from heteroscope.field.descent import minimise
from heteroscope.field.lattices import Field, inner
from heteroscope.field.problem import Fields, Hessian, energy, hessian
from heteroscope.field.solver import Start, start_fields


class LaplacePosterior(NamedTuple):
    """The mode, the factorised Hessian there, and pointwise variances of both fields."""

    mode: Fields
    factor: PairFactor
    mean_variance: Field
    precision_variance: Field
    log_evidence: float
    log_evidence_error: float


def mode_of(target: Target, start: Start) -> Fields:
    """Descend to a maximum of the posterior density of (mean, precision)."""
    problem, (shape, rate), n = target.problem, target.prior, len(target.weights)
    c = 1.0 + 2.0 * (shape - 1.0) / n
    reduced = problem._replace(
        alpha=problem.alpha / c, beta=problem.beta * c, variance=problem.variance + 2.0 * rate / n
    )
    found = minimise(reduced, start_fields(reduced, start))
    if found.status is not Status.CONVERGED:
        raise InputError(
            f"the posterior density has no maximum that this descent reaches ({found.status}); "
            "use method='variational' or 'hmc', or a level_prior with a positive rate"
        )
    return Fields(found.mean, c * found.precision)


def approximate_by_laplace(target: Target, start: Start) -> LaplacePosterior:
    """Return the Gaussian at the mode.

    log evidence = log of the joint density at the mode + n log(2 pi) - 1/2 log det H
    """
    mode = mode_of(target, start)
    plain = hessian(target.problem, mode)
    curvature = Hessian((plain.diagonals[0], target.logs / mode.precision**2), plain.coupling, plain.scales)
    factor = target.algebra.pair(curvature)
    if factor is None:
        raise ArithmeticError("the Hessian at the mode is not positive definite")
    mean_variance, precision_variance, _ = factor.variances()
    constant, error = log_prior_constant(target)
    n = len(target.weights)
    evidence = constant + log_joint(target, mode) + n * np.log(2.0 * np.pi) - 0.5 * factor.log_det
    return LaplacePosterior(mode, factor, mean_variance, precision_variance, float(evidence), error)


def log_joint(target: Target, fields: Fields) -> float:
    """Return the log of likelihood times prior without the prior's constant; the likelihood is normalised."""
    weights, (shape, rate) = target.weights, target.prior
    level = inner(weights, (shape - 1.0) * np.log(fields.precision) - rate * fields.precision) / len(weights)
    return level - energy(target.problem, fields) - 0.5 * float(np.log(2.0 * np.pi)) * weights.sum()

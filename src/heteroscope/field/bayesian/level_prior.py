"""Define the prior of both fields, draw from it, and normalise it.

The penalties are Gaussian priors of differences between neighbours, and a precision is positive:

    p(mean)      ~ exp(-alpha m'K m)                                                  flat in the level of the mean
    p(precision) ~ exp(-beta l'K l) G(l)^(shape - 1) exp(-rate A(l)),  l > 0

A and G are the arithmetic and the geometric mean of the precision, weighted by the points. On a flat precision the last
two factors are a Gamma distribution of its level; without them (shape = 1, rate = 0) the prior and the posterior have
no finite integral. Both factors are local: they only change the coefficients of log l and of l at each point.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import gammaln

from heteroscope.core import InputError
from heteroscope.field.bayesian.algebra import Algebra, Rows
from heteroscope.field.lattices import Chain, Field
from heteroscope.field.problem import Problem

_DRAWN = 2**17  # numbers drawn to estimate the share of proposals that are accepted
_FEWEST_DRAWS = 64
_SEED = 0  # of these proposals: the same ones for every beta, so that a surface of evidences is smooth
_REACH = 30.0  # of the grid of precisions, in units of a typical one
_MOST_CELLS = 2000  # of that grid; only a stiff penalty needs more, and of its proposals enough are accepted
_FEWEST_ACCEPTED = 20.0  # proposals that must effectively be accepted for an estimate


class LevelPrior(NamedTuple):
    """The Gamma distribution of the level of the precision.

    Attributes
    ----------
    shape : float
        Shape, at least 1.
    rate : float
        Rate, in units of y squared.
    """

    shape: float
    rate: float

    @property
    def is_proper(self) -> bool:
        """Whether the prior has a finite integral."""
        return self.rate > 0.0


FLAT_LEVEL = LevelPrior(1.0, 0.0)


def check_level_prior(level_prior: tuple[float, float] | None, variance: float) -> LevelPrior:
    """Return the prior, by default Gamma(2, var y), under which the variance of the noise is var y on average."""
    if level_prior is None:
        return LevelPrior(2.0, variance)
    shape, rate = (float(part) for part in level_prior)
    if not (shape >= 1.0 and 0.0 <= rate < np.inf and shape < np.inf) or (rate == 0.0 and shape != 1.0):
        raise InputError(
            f"level_prior must be a pair (shape >= 1, rate > 0), or (1, 0) for a flat prior; got ({shape:g}, {rate:g})"
        )
    return LevelPrior(shape, rate)


class Target(NamedTuple):
    """A problem, the prior of its level, and its algebra: all that defines a posterior."""

    algebra: Algebra
    problem: Problem
    prior: LevelPrior

    @property
    def weights(self) -> Field:
        """Weights of the points."""
        return self.problem.lattice.weights

    @property
    def logs(self) -> Field:
        """Coefficient of log precision at each point: w/2 + (shape - 1) w/n."""
        return self.weights * (0.5 + (self.prior.shape - 1.0) / len(self.weights))

    @property
    def pulls(self) -> Field:
        """Coefficient of minus the precision that does not depend on the mean: w v/2 + rate w/n."""
        return self.weights * (0.5 * self.problem.variance + self.prior.rate / len(self.weights))


def draw_precisions(target: Target, n_draws: int, rng: np.random.Generator) -> Rows:
    """Draw precisions from their prior by rejection, which is exact.

    The proposal is a level from the Gamma distribution plus a rough field of mean zero. It is accepted with probability
    (G / A)^(shape - 1), which is at most one, and never where it is not positive.
    """
    accepted: list[Float[np.ndarray, " point"]] = []
    while len(accepted) < n_draws:
        proposed, log_chance = _propose(target, n_draws, rng)
        accepted += list(proposed[np.log(rng.random(n_draws)) < log_chance])
    return np.array(accepted[:n_draws])


def draw_prior(target: Target, n_draws: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Draw (mean, precision) from the prior; the level of the mean, whose prior is flat, is zero."""
    return target.algebra.rough(2.0 * target.problem.alpha, n_draws, rng), draw_precisions(target, n_draws, rng)


def log_prior_constant(target: Target) -> tuple[float, float]:
    """Return the log of what normalises the prior, and the standard error of its estimated part.

    Per unit of the level of the mean, and for a flat prior of the precision also per unit of its level:

        (n - 1)/2 log(alpha beta / pi^2) + log det'K / n + log(rate^shape / Gamma(shape)) - log P

    P is the share of proposals of `draw_precisions` that are accepted: the part of the Gaussian prior that is positive.
    """
    n = len(target.weights)
    problem, (shape, rate) = target.problem, target.prior
    gaussian = 0.5 * (n - 1) * np.log(problem.alpha * problem.beta / np.pi**2) + target.algebra.log_det_laplacian
    if not target.prior.is_proper:
        return float(gaussian), 0.0
    _, log_chance = _propose(target, max(_FEWEST_DRAWS, _DRAWN // n), np.random.default_rng(_SEED))
    chance = np.exp(log_chance)
    if chance.sum() ** 2 > _FEWEST_ACCEPTED * np.sum(chance**2):
        log_share, error = np.log(chance.mean()), chance.std() / chance.mean() / np.sqrt(len(chance))
    else:
        log_share, error = _integrate_along_chain(target)
    return float(gaussian + shape * np.log(rate) - gammaln(shape) - log_share), float(error)


def _integrate_along_chain(target: Target) -> tuple[float, float]:
    """Return log P by quadrature from point to point; NaN on a graph, and where the grid would be too large.

    f_1 = g_1,  f_{i+1}(l) = g_{i+1}(l) integral N(l - l'; 0, s_i^2) f_i(l') dl',  g_i(l) = l^((shape - 1) w_i/n)
    exp(-rate w_i l/n),  s_i^2 = 1 / (2 beta k_i),  P = rate^shape / Gamma(shape) integral f_n
    """
    lattice, (shape, rate), n = target.problem.lattice, target.prior, len(target.weights)
    if not isinstance(lattice, Chain):
        return float("nan"), float("inf")
    steps = (2.0 * target.problem.beta * lattice.stiffness) ** -0.5
    size = min(max(1.0, (rate**2 * np.sum(steps**2)) ** (1.0 / 3.0)), n) / rate  # how far a typical precision reaches
    spacing = min(float(steps.min()) / 2.0, size / 40.0)
    n_cells = int(_REACH * size / spacing)
    if n_cells > _MOST_CELLS:
        return float("nan"), float("inf")
    grid = spacing * (np.arange(n_cells) + 0.5)
    exponents = target.weights / n
    log_total, f = shape * np.log(rate) - gammaln(shape) + np.log(spacing), np.ones(n_cells)
    for i, exponent in enumerate(exponents):
        if i > 0:
            if i == 1 or not np.isclose(steps[i - 1], steps[i - 2], rtol=1e-9):
                kernel = np.exp(-0.5 * ((grid[:, None] - grid) / steps[i - 1]) ** 2)
            f = kernel @ f * (spacing / steps[i - 1] / np.sqrt(2.0 * np.pi))
        f = f * np.exp(exponent * ((shape - 1.0) * np.log(grid) - rate * grid))
        log_total, f = log_total + np.log(f.sum()), f / f.sum()
    return float(log_total), 0.0


def _propose(target: Target, n_draws: int, rng: np.random.Generator) -> tuple[Rows, Float[np.ndarray, " row"]]:
    """Return proposals and the logs of their chances to be accepted."""
    if not target.prior.is_proper:
        raise InputError("a flat prior of the level cannot be drawn from; give level_prior=(shape, rate) with rate > 0")
    shape, rate = target.prior
    level = rng.gamma(shape, 1.0 / rate, n_draws)
    proposed = level[:, None] + target.algebra.rough(2.0 * target.problem.beta, n_draws, rng)
    positive = proposed.min(axis=1) > 0.0
    logs = np.log(np.where(positive[:, None], proposed, 1.0)) @ target.weights / len(target.weights)
    return proposed, np.where(positive, (shape - 1.0) * (logs - np.log(level)), -np.inf)

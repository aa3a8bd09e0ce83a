"""The prior: exact draws against the Gamma distribution and quadrature, and what normalises it."""

import numpy as np
import pytest
from scipy.stats import gamma, kstest

from heteroscope import field
from heteroscope.field.bayesian import level_prior
from heteroscope.field.bayesian.algebra import algebra
from heteroscope.field.bayesian.level_prior import LevelPrior, Target, draw_precisions, draw_prior, log_prior_constant

PRIOR = LevelPrior(2.5, 1.3)


def target(n, beta, prior=PRIOR):
    x = np.linspace(-1, 1, n)
    problem = field.state(field.chain(x), np.sin(x), 0.5, 0.5)
    return Target(algebra(problem.lattice), problem._replace(beta=beta), prior)


def test_a_stiff_prior_is_the_gamma_distribution_of_the_level():
    draws = draw_precisions(target(6, 1e6), 800, np.random.default_rng(0))
    assert np.ptp(draws, axis=1).max() < 0.1
    assert kstest(draws.mean(axis=1), gamma(2.5, scale=1 / 1.3).cdf).pvalue > 1e-4


def test_draws_are_positive_and_the_mean_has_level_zero():
    mean, precision = draw_prior(target(6, 0.01), 50, np.random.default_rng(0))
    assert precision.min() > 0
    np.testing.assert_allclose(mean.mean(axis=1), 0, atol=1e-12)


@pytest.mark.parametrize("beta", [0.003, 0.05])
def test_the_constant_normalises_the_prior(beta):
    """Quadrature over three precisions, and over two differences of the mean in closed form."""
    found = target(3, beta)
    grid = (np.arange(120) + 0.5) * 0.12
    first, second, third = np.meshgrid(grid, grid, grid, indexing="ij", sparse=True)
    (k1, k2), (w1, w2, w3) = found.problem.lattice.stiffness, found.weights / 3
    shape, rate = found.prior
    log_density = (
        -beta * (k1 * (second - first) ** 2 + k2 * (third - second) ** 2)
        + (shape - 1) * (w1 * np.log(first) + w2 * np.log(second) + w3 * np.log(third))
        - rate * (w1 * first + w2 * second + w3 * third)
    )
    total = np.exp(log_density).sum() * 0.12**3
    by_mean = 0.5 * np.sum(np.log(found.problem.alpha * np.array([k1, k2]) / np.pi))
    constant, error = log_prior_constant(found)
    assert error < 0.1
    assert constant == pytest.approx(by_mean - np.log(total), abs=max(4 * error, 0.01))


def test_both_estimates_of_the_constant_agree(monkeypatch):
    found = target(40, 0.005)
    by_draws, error = log_prior_constant(found)
    monkeypatch.setattr(level_prior, "_FEWEST_ACCEPTED", np.inf)
    by_quadrature, none = log_prior_constant(found)
    assert none == 0
    assert by_draws == pytest.approx(by_quadrature, abs=4 * error)
    assert error < 0.05


def test_a_flat_prior_has_the_constant_of_its_differences_alone():
    found = target(5, 0.2, LevelPrior(1.0, 0.0))
    stiffness, problem = found.problem.lattice.stiffness, found.problem
    known = 0.5 * np.sum(np.log(problem.alpha * stiffness / np.pi) + np.log(problem.beta * stiffness / np.pi))
    assert log_prior_constant(found) == (pytest.approx(known), 0.0)

"""Every derivative against finite differences of the energy, which is itself checked term by term."""

import numpy as np
import pytest

from heteroscope.field.lattices import chain
from heteroscope.field.problem import Fields, Problem, energy, equations, gradient, hessian_product, runaway_bound

N = 24


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    lattice = chain(np.sort(rng.uniform(-1, 1, N)), 1.0 + rng.random(N))
    problem = Problem(lattice, rng.normal(size=N), 0.03, 0.002, 0.1 * rng.random(N))
    fields = Fields(rng.normal(size=N), rng.uniform(0.5, 3.0, N))
    direction = Fields(rng.normal(size=N), rng.normal(size=N))
    return problem, fields, direction


def test_energy_is_the_papers_sum_on_an_even_grid():
    rng = np.random.default_rng(1)
    x, y, mean, precision = np.linspace(-1, 1, N), rng.normal(size=N), rng.normal(size=N), rng.uniform(0.5, 2, N)
    rho, gamma, h = 0.7, 0.2, 2 / (N - 1)
    likelihood = np.sum(0.5 * precision * (y - mean) ** 2 - 0.5 * np.log(precision))
    penalty = gamma * np.sum((np.diff(mean) / h) ** 2) + (1 - gamma) * np.sum((np.diff(precision) / h) ** 2)
    problem = Problem(chain(x), y, gamma * (1 - rho) / rho, (1 - gamma) * (1 - rho) / rho, np.zeros(N))
    expected = rho * likelihood + (1 - rho) * penalty
    assert rho * energy(problem, Fields(mean, precision)) == pytest.approx(expected, rel=1e-12)


def test_gradient_matches_finite_differences(case):
    problem, fields, direction = case
    step = 1e-6
    slope = (energy(problem, fields.plus(step, direction)) - energy(problem, fields.plus(-step, direction))) / (
        2 * step
    )
    assert gradient(problem, equations(problem, fields)).dot(direction) == pytest.approx(slope, rel=1e-7)


def test_hessian_product_matches_finite_differences(case):
    problem, fields, direction = case
    step = 1e-6
    ahead, behind = (gradient(problem, equations(problem, fields.plus(s, direction))) for s in (step, -step))
    product = hessian_product(problem, fields, direction)
    for exact, high, low in zip(product, ahead, behind, strict=True):
        np.testing.assert_allclose(exact, (high - low) / (2 * step), rtol=1e-6, atol=1e-6)


def test_tail_carries_digits_beyond_float64(case):
    """Fields of one plus a wave of 1e-17, which one float64 cannot hold: the stiff terms come from the tail alone."""
    problem = case[0]._replace(alpha=1e20, beta=1e20)
    weights, wave = problem.lattice.weights, 1e-17 * np.sin(np.arange(N))
    assert np.all(1.0 + wave == 1.0)
    found = equations(problem, Fields(np.ones(N), np.ones(N)), Fields(wave, wave))
    curvature = problem.lattice.laplacian(wave) / weights
    np.testing.assert_allclose(found.mean, 1.0 - problem.y + 2e20 * curvature)
    np.testing.assert_allclose(found.precision, (1.0 - problem.y) ** 2 + problem.variance - 1.0 + 4e20 * curvature)


def test_equations_tend_to_the_papers_pdes():
    """On smooth fields the discrete conditions approach l r = 2 alpha m'' and r^2 = 1/l + 4 beta l''."""
    alpha, beta, errors = 0.3, 0.2, []
    for n in (200, 400):
        x = np.linspace(-1, 1, n)
        mean, precision, y = np.sin(3 * x), 2 + np.cos(2 * x), np.exp(x)
        problem = Problem(chain(x), y, alpha, beta, np.zeros(n))
        found = equations(problem, Fields(mean, precision))
        first = precision * (mean - y) - 2 * alpha * (-9 * np.sin(3 * x))
        second = (mean - y) ** 2 - 1 / precision - 4 * beta * (-4 * np.cos(2 * x))
        errors.append(max(np.abs(found.mean - first)[1:-1].max(), np.abs(found.precision - second)[1:-1].max()))
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_relative_residual_does_not_depend_on_the_target_s_unit(case):
    problem, fields, _ = case
    unit = 1000.0
    scaled = problem._replace(y=unit * problem.y, variance=unit**2 * problem.variance, beta=unit**4 * problem.beta)
    same = equations(problem, fields).relative
    assert equations(
        scaled._replace(alpha=problem.alpha / unit**2), Fields(unit * fields.mean, fields.precision / unit**2)
    ).relative == pytest.approx(same)


def test_runaway_bound_vanishes_with_the_mean_s_penalty_and_is_infinite_for_a_known_variance(case):
    problem, _, _ = case
    assert runaway_bound(problem) == np.inf
    draw = problem._replace(variance=np.zeros(N))
    assert runaway_bound(draw._replace(alpha=0.0)) == 0.0
    assert runaway_bound(draw._replace(alpha=2 * draw.alpha)) == pytest.approx(4 * runaway_bound(draw))

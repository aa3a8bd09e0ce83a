"""Closed-form boundaries against the numerical solution, eigenvalues, and random vectors."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from heteroscope import field
from heteroscope.core import FIELD_GRID, InputError, Status
from heteroscope.datasets.simulated import field_draw
from heteroscope.field import boundaries

RATIO = 0.1


@pytest.fixture(scope="module")
def solved():
    """The paper's grid on the sine set at 512 points, with what decides flatness."""
    x, y = field_draw("sine", 512)
    lattice = field.chain(x)
    gammas = rhos = FIELD_GRID
    grid = field.solve_grid(x, y, rhos, gammas)
    weight = lattice.weights

    def spread(values):
        return np.sqrt(np.average((values - np.average(values, weights=weight)) ** 2, weights=weight))

    shape = grid.status.shape
    left, ratio, log_spread = np.zeros(shape), np.full(shape, np.inf), np.full(shape, np.inf)
    for cell in np.argwhere(grid.status != Status.RUNAWAY):
        mean, precision = grid.mean[tuple(cell)], grid.precision[tuple(cell)]
        left[tuple(cell)] = np.average((mean - y) ** 2, weights=weight) / spread(y) ** 2
        ratio[tuple(cell)], log_spread[tuple(cell)] = spread(mean) / spread(y), spread(np.log(precision))
    return lattice, y, rhos, gammas, left, ratio, log_spread


def test_the_wedge_of_the_flat_phase_is_that_of_the_solution(solved):
    lattice, y, rhos, gammas, left, _, log_spread = solved
    by_mean, by_precision = boundaries.flat_onsets(lattice, y).boundary(gammas)
    predicted = rhos[:, None] < np.minimum(by_mean, by_precision)
    np.testing.assert_array_equal(predicted, (left > 0.95) & (log_spread < 0.05))  # all 361 cells


def test_the_onset_by_the_std_of_the_mean_is_that_of_the_solution(solved):
    lattice, y, rhos, gammas, _, ratio, log_spread = solved
    onset = boundaries.Onsets(boundaries.mean_onset(lattice, y, ratio=RATIO), 1.0).boundary(gammas)[0]
    flat_precision = log_spread < 0.05  # the formula holds beside a constant precision
    np.testing.assert_array_equal((rhos[:, None] < onset)[flat_precision], (ratio < RATIO)[flat_precision])


def test_a_graph_has_the_onsets_of_its_chain():
    x, y = field_draw("sine", 40)
    chain = field.chain(x)
    graph = field.Graph.of(chain.weights, np.column_stack((np.arange(39), np.arange(1, 40))), chain.stiffness)
    np.testing.assert_allclose(boundaries.flat_onsets(graph, y), boundaries.flat_onsets(chain, y), rtol=1e-4)


def test_modes_diagonalise_and_give_the_residuals():
    lattice = field.chain(np.sort(np.random.default_rng(0).uniform(-1, 1, 30)))
    y = np.random.default_rng(1).normal(size=30)
    found, q = boundaries.modes(lattice), 3.0
    np.testing.assert_allclose(found.vectors.T @ np.diag(lattice.weights) @ found.vectors, 30 * np.eye(30), atol=1e-8)
    coefficients = found.coefficients(y)
    left = np.sum((found.values / (q + found.values)) ** 2 * coefficients**2) / np.sum(coefficients[1:] ** 2)
    assert boundaries.residual_share(lattice, y, q) == pytest.approx(left, rel=1e-8)


def test_random_vectors_estimate_the_share_of_white_noise():
    lattice = field.chain(np.linspace(-1, 1, 500))
    h, a = 2 / 499, 2.9
    exact = np.mean((boundaries.modes(lattice).values / (a / h**2 + boundaries.modes(lattice).values)) ** 2)
    assert boundaries.white_noise_share(lattice, a / h**2) == pytest.approx(exact, rel=0.03)
    assert boundaries.chain_noise_share(a) == pytest.approx(exact, rel=0.02)


def test_the_fold_of_white_noise_is_the_numerical_one():
    n = 1024
    y = np.random.default_rng(0).standard_normal(n)
    fold = field.fold(np.linspace(-1, 1, n), (y - y.mean()) / y.std(), 1e-6)
    assert 1e-6 * np.exp(-fold.logit_rho) == pytest.approx(boundaries.white_noise_fold(2 / (n - 1)), rel=0.1)


def test_stability_agrees_with_the_full_hessian():
    x, y = field_draw("sine", 24)
    lattice = field.chain(x)
    for alpha, beta in ((1.0, 1.0), (1e-5, 1e-5)):
        problem = field.state(lattice, y, 0.5, 0.5)._replace(alpha=alpha, beta=beta)
        mean = np.full(24, np.average(y, weights=lattice.weights))
        columns = []
        for unit in np.eye(48):
            product = field.hessian_product(
                problem, field.Fields(mean, np.ones(24)), field.Fields(unit[:24], unit[24:])
            )
            columns.append(np.concatenate(product))
        least = np.linalg.eigvalsh(np.array(columns))[0]
        assert np.sign(boundaries.flat_stability(lattice, mean, 1.0, y, alpha, beta)) == np.sign(least)


def test_thresholds_that_cannot_be_are_refused():
    x, y = field_draw("sine", 16)
    lattice = field.chain(x)
    for settings in ({}, {"share": 0.9, "ratio": 0.1}, {"share": 1.5}):
        with pytest.raises(InputError, match=r"share|threshold"):
            boundaries.mean_onset(lattice, y, **settings)


def test_the_constant_of_the_fold_is_the_maximum_of_the_formula_and_of_the_sum_over_waves():
    best = minimize_scalar(lambda a: -a * boundaries.chain_noise_share(a), bounds=(1.0, 6.0), method="bounded")
    assert best.x == pytest.approx(2.9154, abs=1e-3)
    assert boundaries.white_noise_fold(1.0) == pytest.approx(0.5 / -best.fun, rel=1e-6)
    waves = 4.0 * np.sin(np.pi * (np.arange(4000) + 0.5) / 8000) ** 2  # eigenvalues of an infinite chain, h = 1
    assert boundaries.chain_noise_share(2.9154) == pytest.approx(np.mean((waves / (2.9154 + waves)) ** 2), rel=1e-6)

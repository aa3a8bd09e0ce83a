"""Banded and dense algebra against numpy: an uneven chain, and the same chain as a graph."""

import numpy as np
import pytest

from heteroscope import field
from heteroscope.core.errors import InputError
from heteroscope.field.bayesian.algebra import DenseAlgebra, algebra
from heteroscope.field.graphs import Graph
from heteroscope.field.problem import Hessian
from tests.field.bayesian.oracles import laplacian

N = 12


@pytest.fixture(params=["chain", "graph"])
def found(request):
    rng = np.random.default_rng(0)
    chain = field.chain(np.sort(rng.uniform(-1, 1, N)), density=rng.uniform(0.5, 2, N))
    if request.param == "chain":
        return algebra(chain)
    edges = np.column_stack((np.arange(N - 1), np.arange(1, N)))
    return algebra(Graph.of(chain.weights, edges, chain.stiffness))


@pytest.fixture
def matrix():
    rng = np.random.default_rng(0)
    return laplacian(field.chain(np.sort(rng.uniform(-1, 1, N)), density=rng.uniform(0.5, 2, N)).stiffness)


def test_one_field(found, matrix):
    rng = np.random.default_rng(1)
    pull, right = rng.uniform(0.1, 3, (2, 3, N))
    smooth = found.smooth(pull, 0.03, right)
    for k in range(3):
        dense = np.diag(pull[k]) + 0.03 * matrix
        np.testing.assert_allclose(smooth.mean[k], np.linalg.solve(dense, right[k]), rtol=1e-9)
        np.testing.assert_allclose(smooth.variance[k], np.diag(np.linalg.inv(dense)), rtol=1e-9)
        assert smooth.log_det[k] == pytest.approx(np.linalg.slogdet(dense)[1], abs=1e-9)
    draws = found.draw(np.tile(pull[:1], (4000, 1)), 0.03, rng)
    covariance = np.linalg.inv(np.diag(pull[0]) + 0.03 * matrix)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.abs((draws.T @ draws / 4000 - covariance) / scale).max() < 0.12, "7 standard errors"


def test_both_fields(found, matrix):
    rng = np.random.default_rng(2)
    first, second, coupling = rng.uniform(1, 3, N), rng.uniform(1, 3, N), rng.uniform(-0.9, 0.9, N)
    dense = np.block(
        [[np.diag(first) + 0.2 * matrix, np.diag(coupling)], [np.diag(coupling), np.diag(second) + 0.01 * matrix]]
    )
    factor = found.pair(Hessian((first, second), coupling, (0.2, 0.01)))
    inverse = np.linalg.inv(dense)
    by_first, by_second, shared = factor.variances()
    np.testing.assert_allclose(by_first, np.diag(inverse)[:N], rtol=1e-10)
    np.testing.assert_allclose(by_second, np.diag(inverse)[N:], rtol=1e-10)
    np.testing.assert_allclose(shared, np.diag(inverse[:N, N:]), rtol=1e-9, atol=1e-12)
    assert factor.log_det == pytest.approx(np.linalg.slogdet(dense)[1], abs=1e-9)
    unit = np.concatenate([np.column_stack(factor.draw(row)).T.reshape(1, -1) for row in np.eye(2 * N)[:, None]])
    np.testing.assert_allclose(unit.T @ unit, inverse, atol=1e-9)
    assert found.pair(Hessian((first, second), coupling + 9, (0.2, 0.01))) is None, "indefinite"


def test_mass_and_prior(found, matrix):
    rng = np.random.default_rng(3)
    diagonal, factor = rng.uniform(0.5, 2, (2, N))
    dense = np.diag(diagonal) + 0.1 * factor[:, None] * matrix * factor
    mass = found.mass(diagonal, factor, 0.1)
    np.testing.assert_allclose(mass.velocities(np.eye(N)), np.linalg.inv(dense), atol=1e-9)
    roots = mass.momenta(np.eye(N))
    np.testing.assert_allclose(roots.T @ roots, dense, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mass.squared_lengths(np.eye(N)), np.diag(dense), rtol=1e-9)
    assert mass.log_det == pytest.approx(np.linalg.slogdet(dense)[1], abs=1e-9)
    np.testing.assert_allclose(found.laplacian(np.eye(N)), matrix, atol=1e-9)
    eigenvalues = np.linalg.eigvalsh(matrix)[1:]
    assert found.log_det_laplacian == pytest.approx(np.sum(np.log(eigenvalues)) - np.log(N), abs=1e-8)
    rough = found.rough(2.0, 4000, rng)
    np.testing.assert_allclose(rough @ found.lattice.weights, 0, atol=1e-9)
    energy = np.einsum("ki,ij,kj->k", rough, matrix, rough)
    assert energy.mean() == pytest.approx((N - 1) / 2, rel=0.06), "equipartition"


def test_stiff_variances_keep_their_digits():
    """For a stiff chain the fields are constants, and 1 / variance is the sum of the diagonal."""
    n = 300
    factor = algebra(field.chain(np.linspace(-1, 1, n))).pair(
        Hessian((np.full(n, 2.0), np.ones(n)), np.zeros(n), (1e8, 1e8))
    )
    np.testing.assert_allclose(factor.variances()[0], 1 / (2.0 * n), rtol=1e-6)


def test_large_graphs_are_refused():
    n = 2001
    edges = np.column_stack((np.arange(n - 1), np.arange(1, n)))
    with pytest.raises(InputError, match="2001 distinct rows"):
        algebra(Graph.of(np.ones(n), edges, np.ones(n - 1)))
    assert isinstance(algebra(Graph.of(np.ones(3), edges[:2], np.ones(2))), DenseAlgebra)

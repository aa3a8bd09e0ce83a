"""Powers of the Laplacian against dense matrices and eigenvalues, and a spike that they make costly."""

import numpy as np
import pytest

from heteroscope import field
from heteroscope.core.errors import InputError
from heteroscope.field import Fields, Status, stiffened, table


@pytest.fixture(scope="module")
def cloud():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    return X, np.sin(X[:, 0]) + 0.3 * rng.normal(size=40)


def dense(lattice):
    return np.array([lattice.laplacian(unit) for unit in np.eye(len(lattice.weights))])


@pytest.mark.parametrize("power", [2, 3])
def test_the_matrix_has_the_eigenvalues_of_the_formula(power):
    chain = field.chain(np.linspace(-1, 1, 12))
    values = np.linalg.eigvalsh(dense(chain))
    expected = np.sort(values * (1 + values / 4.0) ** (power - 1))
    found = np.linalg.eigvalsh(stiffened(chain, power, length=0.5).matrix)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-6)


def test_laplacian_dirichlet_and_solves_match_the_matrix(cloud):
    rng = np.random.default_rng(1)
    lattice = stiffened(table(*cloud).lattice, 2)
    matrix, f, right = lattice.matrix, rng.normal(size=40), (rng.normal(size=40), rng.normal(size=40))
    np.testing.assert_allclose(lattice.laplacian(f), matrix @ f, rtol=1e-8)
    assert lattice.dirichlet(f) == pytest.approx(f @ matrix @ f)
    np.testing.assert_array_equal(lattice.laplacian(np.full(40, 3.0)), 0.0)
    diagonals, coupling = (rng.uniform(1, 2, 40), rng.uniform(1, 2, 40)), rng.uniform(-0.9, 0.9, 40)
    expected = np.linalg.solve(np.diag(diagonals[0]) + 0.1 * matrix, right[0])
    np.testing.assert_allclose(lattice.solve(diagonals[0], 0.1, right[0]), expected, atol=1e-9)
    whole = np.block(
        [
            [np.diag(diagonals[0]) + 0.1 * matrix, np.diag(coupling)],
            [np.diag(coupling), np.diag(diagonals[1]) + 0.2 * matrix],
        ]
    )
    found = lattice.solve_pair(diagonals, coupling, (0.1, 0.2), right)
    np.testing.assert_allclose(np.concatenate(found), np.linalg.solve(whole, np.concatenate(right)), atol=1e-8)
    assert lattice.solve_pair(diagonals, np.full(40, 3.0), (0.1, 0.2), right) is None


def test_the_solver_finds_a_minimum_with_a_power(cloud):
    rows = table(*cloud)
    problem = field.state(stiffened(rows.lattice, 2), rows.y, 0.3, 0.5)
    found = field.minimise(problem, Fields(np.zeros(40), np.ones(40)), tol=1e-8)
    assert found.status is Status.CONVERGED
    assert field.equations(problem, found.fields).relative <= 1e-8


def test_a_spike_in_two_dimensions_gets_dearer_with_more_points_only_with_a_power():
    rng = np.random.default_rng(2)
    costs = {1: [], 2: []}
    for n in (100, 900):
        X = rng.uniform(-1.7, 1.7, size=(n, 2))
        lattice = table(X, X[:, 0]).lattice
        spike = np.zeros(n)
        spike[np.argmin((np.unique(X, axis=0) ** 2).sum(axis=1))] = 1.0
        for power, cost in costs.items():
            cost.append(stiffened(lattice, power).dirichlet(spike) / n)
    assert costs[1][1] / costs[1][0] < 3.0  # the same as n grows, up to the local density
    assert costs[2][1] / costs[2][0] > 5.0  # grows like n


def test_a_small_lattice_is_solved_as_its_chain_is(sine):
    x, y = sine(100)
    for rho, gamma in ((0.9, 0.3), (1e-6, 0.5), (0.999, 0.1)):
        by_chain = field.solve(x, y, rho, gamma, tol=1e-8)
        problem = field.state(stiffened(field.chain(x), 1), y, rho, gamma)
        dense = field.minimise(problem, Fields(np.full(100, y.mean()), np.full(100, 1 / y.var())), tol=1e-8)
        assert dense.status == by_chain.status
        if dense.status is Status.CONVERGED:
            np.testing.assert_allclose(dense.mean, by_chain.mean, atol=1e-6)
            np.testing.assert_allclose(dense.precision, by_chain.precision, rtol=1e-6)


def test_powers_that_cannot_be_are_refused(cloud):
    chain = field.chain(np.linspace(-1, 1, 4))
    with pytest.raises(InputError, match="power"):
        stiffened(chain, 0)
    with pytest.raises(InputError, match="at most"):
        stiffened(field.chain(np.linspace(-1, 1, 3001)), 2)

"""Graphs against dense matrices, against the chain as their special case, and merged rows against the full sum."""

import numpy as np
import pytest

from heteroscope import field
from heteroscope.core.errors import InputError
from heteroscope.field import Fields, Graph, Status, table


@pytest.fixture(scope="module")
def cloud():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    X[60:64] = X[50:54] + 1e-4 * rng.normal(size=(4, 3))  # nearly equal rows make stiff edges
    return X, np.sin(X[:, 0]) + 0.3 * rng.normal(size=120)


def dense_laplacian(graph):
    incidence = np.zeros((len(graph.edges), len(graph.weights)))
    incidence[np.arange(len(graph.edges)), graph.edges[:, 0]] = 1.0
    incidence[np.arange(len(graph.edges)), graph.edges[:, 1]] = -1.0
    return incidence.T @ np.diag(graph.stiffness) @ incidence


def test_laplacian_and_dirichlet_match_the_dense_matrix(cloud):
    graph, f = table(*cloud).lattice, np.random.default_rng(1).normal(size=120)
    np.testing.assert_allclose(graph.laplacian(f), dense_laplacian(graph) @ f, rtol=1e-9, atol=1e-6)
    assert graph.dirichlet(f) == pytest.approx(f @ dense_laplacian(graph) @ f)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
def test_solve_matches_a_dense_solve(cloud, scale):
    rng, graph = np.random.default_rng(2), table(*cloud).lattice
    diagonal, right = rng.uniform(0.1, 2, 120), rng.normal(size=120)
    expected = np.linalg.solve(np.diag(diagonal) + scale * dense_laplacian(graph), right)
    np.testing.assert_allclose(graph.solve(diagonal, scale, right), expected, atol=1e-5 * np.abs(expected).max())


def test_solve_pair_matches_a_dense_solve_and_refuses_an_indefinite_matrix(cloud):
    rng, graph = np.random.default_rng(3), table(*cloud).lattice
    diagonals, coupling = (rng.uniform(1, 2, 120), rng.uniform(1, 2, 120)), rng.uniform(-0.9, 0.9, 120)
    right = rng.normal(size=120), rng.normal(size=120)
    blocks = [np.diag(d) + s * dense_laplacian(graph) for d, s in zip(diagonals, (0.3, 0.01), strict=True)]
    dense = np.block([[blocks[0], np.diag(coupling)], [np.diag(coupling), blocks[1]]])
    expected = np.linalg.solve(dense, np.concatenate(right))
    np.testing.assert_allclose(
        np.concatenate(graph.solve_pair(diagonals, coupling, (0.3, 0.01), right)), expected, atol=1e-5
    )
    assert graph.solve_pair(diagonals, np.full(120, 3.0), (0.3, 0.01), right) is None


@pytest.mark.parametrize(("rho", "gamma"), [(0.5, 0.5), (0.99, 0.1), (0.9, 0.99), (0.999, 0.1)])
def test_the_chain_is_a_special_case(sine, rho, gamma):
    x, y = sine(200)
    chain = field.chain(x)
    edges = np.column_stack((np.arange(199), np.arange(1, 200)))
    problem = field.state(Graph.of(chain.weights, edges, chain.stiffness), y, rho, gamma)
    by_graph = field.minimise(problem, Fields(np.zeros(200), np.ones(200)))
    by_chain = field.solve(x, y, rho, gamma)
    assert by_graph.status == by_chain.status
    if by_chain.status is Status.CONVERGED:
        np.testing.assert_allclose(by_graph.mean, by_chain.mean, atol=1e-8)
        np.testing.assert_allclose(by_graph.precision, by_chain.precision, rtol=1e-8)


def test_even_points_on_a_line_get_the_chains_stiffness():
    x = np.linspace(-1, 1, 50)
    graph = table(x[:, None] + 1e-9 * np.arange(50)[:, None] ** 2, np.sin(x), n_neighbors=1).lattice
    assert len(graph.edges) == 49
    np.testing.assert_allclose(graph.stiffness, field.chain(x).stiffness[0], rtol=1e-5)


def test_slope_of_a_linear_function_is_its_dirichlet_energy():
    X = np.random.default_rng(4).uniform(size=(4000, 2))
    graph = table(X, X[:, 0], n_neighbors=8).lattice
    values = np.unique(X, axis=0) @ np.array([3.0, 4.0])
    assert graph.dirichlet(values) / 3999 == pytest.approx(25.0, rel=0.05)


def test_merging_equal_rows_leaves_the_free_energy_as_it_was():
    rng = np.random.default_rng(5)
    X = np.repeat(rng.normal(size=(30, 2)), 2, axis=0)
    y = rng.normal(size=60)
    rows = table(X, y, n_neighbors=4)
    assert len(rows.y) == 30
    fields = Fields(rng.normal(size=30), rng.uniform(0.5, 2, 30))
    merged = field.energy(field.state(rows.lattice, rows.y, 0.5, 0.5, rows.variance), fields)
    mean, precision = fields.mean[rows.point_of_row], fields.precision[rows.point_of_row]
    likelihood = 0.5 * np.sum(precision * (mean - y) ** 2 - np.log(precision)) / 2  # weights sum to 30 points
    penalty = 0.5 * sum(rows.lattice.dirichlet(part) for part in fields)
    assert merged == pytest.approx(likelihood + penalty)


def test_islands_are_tied_together():
    rng = np.random.default_rng(6)
    X = np.concatenate([rng.normal(size=(20, 2)) + centre for centre in ([0, 0], [50, 0], [0, 80])])
    graph = table(X, rng.normal(size=60), n_neighbors=3).lattice
    assert np.linalg.matrix_rank(dense_laplacian(graph)) == 59


def test_a_table_is_solved_to_the_tolerance(cloud):
    X, y = cloud
    found = field.solve_graph(X, y, 0.5, 0.5)
    assert found.status is Status.CONVERGED
    assert found.residual <= 1e-8
    assert found.mean.shape == found.precision.shape == (120,)
    assert 0.0 < np.mean((found.mean - y) ** 2) < np.var(y)


def test_equal_rows_with_different_targets_keep_the_precision_finite(cloud):
    X, y = cloud
    assert field.solve_graph(X, y, 1 - 1e-9, 0.1).status is Status.RUNAWAY
    twice = np.concatenate((X, X)), np.concatenate((y, y + 0.1))
    found = field.solve_graph(*twice, 1 - 1e-9, 0.1)
    assert found.status is Status.CONVERGED
    assert found.precision.mean() < 1 / 0.05**2 * 1.01


def test_new_rows_take_the_value_of_least_energy(cloud):
    X, y = cloud
    rows, values = table(X, y, n_neighbors=4), np.random.default_rng(7).normal(size=120)
    new = np.array([[0.1, -0.2, 0.3]])
    distance = np.linalg.norm(rows.points - new, axis=1)
    nearest = np.argsort(distance)[:4]
    trial = np.linspace(-3, 3, 60_001)
    energy = ((trial[:, None] - values[nearest]) ** 2 / distance[nearest] ** 2).sum(axis=1)
    assert (rows.extension(new) @ values)[0] == pytest.approx(trial[energy.argmin()], abs=1e-3)


def test_extension_reproduces_points_and_constants(cloud):
    X, y = cloud
    rows = table(X, y)
    values = np.random.default_rng(8).normal(size=120)
    np.testing.assert_allclose(rows.extension(X) @ values, values[rows.point_of_row])
    np.testing.assert_allclose(rows.extension(X + 0.1) @ np.full(120, 2.5), 2.5)
    with pytest.raises(InputError, match="features"):
        rows.extension(X[:, :2])


@pytest.mark.parametrize(
    ("X", "y", "n_neighbors", "message"),
    [
        (np.zeros(5), np.zeros(5), 2, "rows, features"),
        (np.zeros((5, 2)), np.zeros(4), 2, "rows, features"),
        (np.full((5, 2), np.nan), np.zeros(5), 2, "NaN"),
        (np.eye(5), np.arange(5.0), 5, "n_neighbors"),
        (np.eye(5), np.arange(5.0), 0, "n_neighbors"),
        (np.ones((5, 2)), np.arange(5.0), 2, "all rows"),
    ],
)
def test_bad_tables_get_one_line(X, y, n_neighbors, message):
    with pytest.raises(InputError, match=message) as caught:
        field.solve_graph(X, y, 0.5, 0.5, n_neighbors=n_neighbors)
    assert "\n" not in str(caught.value)

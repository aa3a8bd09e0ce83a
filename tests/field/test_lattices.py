import numpy as np
import pytest

from heteroscope.core.errors import InputError
from heteroscope.field.lattices import chain, interleave

N = 40


@pytest.fixture
def uneven():
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(-1, 1, N))
    return chain(x, density=1.0 + rng.random(N))


def dense_laplacian(lattice):
    incidence = np.diff(np.eye(len(lattice.weights)), axis=0)
    return incidence.T @ np.diag(lattice.stiffness) @ incidence


def pair_matrix(lattice, diagonals, coupling, scales):
    laplacian = dense_laplacian(lattice)
    blocks = [np.diag(d) + s * laplacian for d, s in zip(diagonals, scales, strict=True)]
    return np.block([[blocks[0], np.diag(coupling)], [np.diag(coupling), blocks[1]]])


def test_even_uniform_chain_has_the_papers_normalisation():
    lattice = chain(np.linspace(-1, 1, N))
    np.testing.assert_allclose(lattice.weights, 1.0)
    np.testing.assert_allclose(lattice.stiffness, ((N - 1) / 2) ** 2)


def test_weights_follow_the_density_and_sum_to_the_number_of_points():
    x = np.linspace(-1, 1, N) ** 3
    density = np.exp(x)
    lattice = chain(x, density)
    assert lattice.weights.sum() == pytest.approx(N)
    inner = lattice.weights[1:-1] / density[1:-1] / ((x[2:] - x[:-2]) / 2)
    np.testing.assert_allclose(inner, inner[0])
    np.testing.assert_allclose(chain(x, 7.0 * density).stiffness, lattice.stiffness)


def test_density_of_the_points_weighs_every_point_and_every_gradient_once():
    x = np.sort(np.random.default_rng(0).normal(size=N))
    lattice, f = chain(x, "points"), np.sin(x)
    np.testing.assert_array_equal(lattice.weights, 1.0)
    assert lattice.dirichlet(f) == pytest.approx(np.sum((np.diff(f) / np.diff(x)) ** 2))


def test_laplacian_and_dirichlet_match_the_dense_matrix(uneven):
    f = np.random.default_rng(2).normal(size=N)
    np.testing.assert_allclose(uneven.laplacian(f), dense_laplacian(uneven) @ f, rtol=1e-12, atol=1e-9)
    assert uneven.dirichlet(f) == pytest.approx(f @ dense_laplacian(uneven) @ f)
    np.testing.assert_array_equal(uneven.laplacian(np.full(N, 0.1)), 0.0)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_solve_matches_a_dense_solve(uneven, scale):
    rng = np.random.default_rng(3)
    diagonal, right = rng.uniform(0.1, 2, N), rng.normal(size=N)
    expected = np.linalg.solve(np.diag(diagonal) + scale * dense_laplacian(uneven), right)
    np.testing.assert_allclose(uneven.solve(diagonal, scale, right), expected, rtol=1e-5)


def test_solve_keeps_the_constant_that_rounding_would_lose():
    """scale * K is 1e19 times the diagonal here: all that is left is the balance of the sums."""
    lattice = chain(np.linspace(-1, 1, 20_000))
    right = np.random.default_rng(0).uniform(1, 2, 20_000)
    solution = lattice.solve(np.full(20_000, 1e-3), 1e8, right)
    np.testing.assert_allclose(solution, right.sum() / 20.0, rtol=1e-7)


def test_solve_pair_matches_a_dense_solve(uneven):
    rng = np.random.default_rng(4)
    diagonals = rng.uniform(1, 2, N), rng.uniform(1, 2, N)
    coupling, right = rng.uniform(-0.9, 0.9, N), (rng.normal(size=N), rng.normal(size=N))
    expected = np.linalg.solve(pair_matrix(uneven, diagonals, coupling, (0.3, 1e-4)), np.concatenate(right))
    solution = uneven.solve_pair(diagonals, coupling, (0.3, 1e-4), right)
    np.testing.assert_allclose(np.concatenate(solution), expected, rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-6, 1e12])
def test_solve_pair_refuses_an_indefinite_matrix(uneven, scale):
    diagonals, coupling = (np.ones(N), np.ones(N)), np.full(N, 1.1)
    assert np.linalg.eigvalsh(pair_matrix(uneven, diagonals, coupling, (scale, scale)))[0] < 0
    assert uneven.solve_pair(diagonals, coupling, (scale, scale), (np.ones(N), np.ones(N))) is None


def test_indefinite_pair_matches_a_dense_solve(uneven):
    rng = np.random.default_rng(5)
    diagonals, coupling = (rng.uniform(1, 2, N), rng.uniform(1, 2, N)), rng.uniform(-3, 3, N)
    right = rng.normal(size=(2 * N, 3))
    dense = pair_matrix(uneven, diagonals, coupling, (1e-4, 1e-3))
    expected = np.linalg.solve(dense, np.concatenate((right[0::2], right[1::2])))
    solution = uneven.solve_indefinite_pair(diagonals, coupling, (1e-4, 1e-3), right)
    np.testing.assert_allclose(np.concatenate((solution[0::2], solution[1::2])), expected, rtol=1e-8)


def test_interleave_alternates():
    np.testing.assert_array_equal(interleave(np.array([1.0, 3.0]), np.array([2.0, 4.0])), [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("x", "density", "message"),
    [
        ([0.0, 2.0, 1.0], None, "sorted"),
        ([0.0, 1.0, 1.0], None, "twice"),
        ([0.0, np.nan, 1.0], None, "NaN"),
        ([0.0, 1.0], None, "at least 3"),
        ([[0.0, 1.0, 2.0]], None, "at least 3"),
        ([0.0, 1.0, 2.0], "kernel", "not known"),
        ([0.0, 1.0, 2.0], np.array([1.0, 0.0, 1.0]), "positive"),
        ([0.0, 1.0, 2.0], np.ones(2), "each x"),
    ],
)
def test_bad_points_get_one_line(x, density, message):
    with pytest.raises(InputError, match=message) as caught:
        chain(np.asarray(x), density)
    assert "\n" not in str(caught.value)


def test_other_weights_leave_the_edges_as_they_are(uneven):
    heavier = uneven.reweighted(3.0 * uneven.weights)
    np.testing.assert_array_equal(heavier.weights, 3.0 * uneven.weights)
    assert heavier.dirichlet(np.arange(N) ** 2.0) == uneven.dirichlet(np.arange(N) ** 2.0)

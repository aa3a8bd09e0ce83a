"""The fold against bisection, across numbers of points, and against the closed form of a constant precision."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from heteroscope import field
from heteroscope.core.errors import InputError
from heteroscope.core.grids import NETWORK_GRID, cell_borders
from heteroscope.datasets.simulated import row_draws
from heteroscope.field import Status, folding
from heteroscope.field.folding import stiff_fold


@pytest.mark.parametrize("gamma", [1e-4, 0.1, 0.9])
def test_beyond_the_fold_nothing_finite_is_left(sine, gamma):
    x, y = sine(256)
    found = field.fold(x, y, gamma)
    start = (found.mean, found.precision)
    below, above = (1 / (1 + np.exp(-found.logit_rho - step)) for step in (-1e-2, 1e-2))
    assert field.solve(x, y, below, gamma, start=start).status is Status.CONVERGED
    assert field.solve(x, y, above, gamma, start=start).status is Status.RUNAWAY
    assert found.rho == pytest.approx(1 / (1 + np.exp(-found.logit_rho)))


def test_jumps_between_finite_minima_are_recorded_and_passed(sine):
    """With a nearly free precision the mean snaps to the data part by part before the finite solution ends."""
    found = field.fold(*sine(512, seed=1), 0.5)
    assert len(found.jumps) >= 1
    assert np.all(found.jumps < found.logit_rho)


def test_fold_of_a_noiseless_target_does_not_move_with_the_number_of_points(sine):
    folds = [field.fold(*sine(n, noise=0.0), 0.01).logit_rho for n in (256, 512, 1024, 2048, 4096)]
    np.testing.assert_allclose(folds, folds[-1], atol=0.05)
    assert np.all(np.abs(np.diff(folds)[1:]) < np.abs(np.diff(folds)[:-1]))


def test_fold_of_white_noise_moves_with_the_square_of_the_number_of_points():
    """Only alpha / h^2 enters once the residuals are white: logit rho of the fold grows by log 4 a doubling."""
    rng = np.random.default_rng(0)
    folds = []
    for n in (1000, 2000, 4000):
        y = rng.standard_normal(n)
        folds.append(field.fold(np.linspace(-1, 1, n), (y - y.mean()) / y.std(), 1e-3).logit_rho)
    np.testing.assert_allclose(np.diff(folds), np.log(4), atol=0.1)


@pytest.mark.parametrize("name", ["sine", "curve"])
def test_folds_of_the_networks_grid_are_found_and_part_the_finite_cells_from_the_others(name):
    """Uneven points, and penalties of the precision so stiff that float64 does not see it bend."""
    x, y, _ = row_draws(name)
    gammas = NETWORK_GRID[::3]
    curve = field.fold_curve(x, y, gammas)
    offsets = np.array([-0.05, 0.05])
    for one in curve:
        rhos = expit(one.logit_rho + offsets)
        status = [field.solve(x, y, rho, one.gamma, start=(one.mean, one.precision)).status for rho in rhos]
        assert status == [Status.CONVERGED, Status.RUNAWAY], one.gamma


def test_fold_curve_is_the_folds_in_order(sine):
    x, y = sine(128)
    seen = []
    curve = field.fold_curve(x, y, [0.01, 0.1], progress=lambda done, total: seen.append((done, total)))
    assert [one.gamma for one in curve] == [0.01, 0.1]
    assert curve[1].logit_rho == field.fold(x, y, 0.1).logit_rho
    assert seen == [(1, 2), (2, 2)]


def test_no_fold_is_said_in_one_line():
    x = np.linspace(-1, 1, 8)
    with pytest.raises(InputError, match="standardise") as caught:
        field.fold(x, 1e10 * np.random.default_rng(0).standard_normal(8), 0.01)
    assert "\n" not in str(caught.value)


def by_modes(lattice, y):
    """log(1 / alpha) of the fold: residuals of a constant precision, mode by mode, and the highest q R(q) of all q."""
    weights = np.diag(lattice.weights)
    stiffness, modes = eigh(np.array([lattice.laplacian(row) for row in np.eye(len(y))]), weights)
    power = (modes.T @ weights @ y) ** 2 / len(y)

    def q_mean_square(log_q):
        return np.exp(log_q) * power @ (stiffness / (np.exp(log_q) + stiffness)) ** 2

    grid = np.linspace(-10, 30, 2000)
    top = grid[np.argmax([q_mean_square(log_q) for log_q in grid])]
    best = minimize_scalar(lambda log_q: -q_mean_square(log_q), bounds=(top - 0.1, top + 0.1), method="bounded")
    return np.log(2 * -best.fun)


def uneven(n_points, seed):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-1, 1, n_points))
    return x, rng.standard_normal(n_points)


@pytest.mark.parametrize("density", [None, "points"])
@pytest.mark.parametrize("seed", range(3))
def test_it_ends_where_the_modes_say(density, seed):
    x, y = uneven(40, seed)
    lattice = field.chain(x, density)
    found = stiff_fold(lattice, y, 1e-7)
    assert found.logit_rho == pytest.approx(np.log(1e-7) + by_modes(lattice, y), abs=1e-9)


@pytest.mark.parametrize("gamma", [1e-4, 1e-3])
def test_it_is_off_by_no_more_than_the_precision_bends(sine, gamma, monkeypatch):
    monkeypatch.setattr(folding, "_NEGLIGIBLE_BEND", 0.0)  # continuation, however stiff
    x, y = sine(256)
    whole, stiff = field.fold(x, y, gamma), stiff_fold(field.chain(x), y, gamma)
    assert 0 < abs(whole.logit_rho - stiff.logit_rho) < stiff.bend
    assert np.ptp(whole.precision) / whole.precision.mean() == pytest.approx(stiff.bend, rel=0.1)
    np.testing.assert_allclose(whole.mean, stiff.fields.mean, atol=10 * stiff.bend)


def test_its_fields_are_stationary(sine):
    x, y = sine(64)
    found = field.fold(x, y, 1e-8)
    assert np.ptp(found.precision) == 0, "the closed form was used"
    residual = found.mean - y
    assert found.precision[0] * np.mean(residual**2) == pytest.approx(1, rel=1e-9)
    alpha = 1e-8 * np.exp(-found.logit_rho)
    pull = 2 * alpha * field.chain(x).laplacian(found.mean)
    np.testing.assert_allclose(found.precision * residual, -pull, rtol=1e-6, atol=1e-9)


def test_at_a_jump_the_solution_changes_at_once_and_nowhere_else_before_the_fold():
    x, y, _ = row_draws("sine")
    found = stiff_fold(field.chain(x), y, 1e-3)
    (jump,) = found.jumps
    at = np.linspace(jump - 0.41, found.logit_rho - 0.01, 50)
    solutions = [field.solve(x, y, expit(logit_rho), 1e-3) for logit_rho in at]
    assert {one.status for one in solutions} == {field.Status.CONVERGED}
    steps = np.diff([np.log(one.precision[0]) for one in solutions])
    largest = int(np.argmax(steps))
    assert at[largest] < jump < at[largest + 1]
    assert steps[largest] > 3 * np.delete(steps, largest).max()


def test_cells_and_folds_together_are_those_found_apart(sine):
    x, y = sine(96)
    rhos, gammas = np.array([0.1, 0.9, 0.99, 0.999]), [0.01, 0.5, 0.999]
    grid, folds = field.solve_with_folds(x, y, rhos, gammas)
    alone = field.solve_grid(x, y, rhos, gammas)
    np.testing.assert_array_equal(grid.status, alone.status)
    np.testing.assert_allclose(grid.mean, alone.mean, atol=1e-7)
    expected = [one.logit_rho for one in field.fold_curve(x, y, gammas)]
    np.testing.assert_allclose([one.logit_rho for one in folds], expected, atol=1e-6)
    assert field.solve_with_folds(x, y, rhos, gammas, folds=False)[1] == []


@pytest.mark.parametrize(
    ("rhos", "expected"),
    [
        ([0.5, 0.9, 0.99], [True, True, True, True, False]),
        ([0.99, 0.999], [False, True, True, True, False]),
        ([0.01, 0.1], [True, True, False, False, False]),
        ([1e-6, 1e-5], [False, False, False, False, False]),
    ],
)
def test_folds_inside_are_those_between_the_borders_of_the_cells_and_their_neighbours(sine, rhos, expected):
    x, y = sine(96)
    gammas = np.array([1e-4, 1e-3, 0.1, 0.9, 0.999])
    low, high = cell_borders(logit(np.array(rhos)))[[0, -1]]
    everywhere = field.solve_with_folds(x, y, rhos, gammas)[1]
    inside = [low < one.logit_rho < high for one in everywhere]
    assert [any(inside[max(0, k - 1) : k + 2]) for k in range(5)] == expected
    found = field.solve_with_folds(x, y, rhos, gammas, folds="inside")[1]
    assert [one.gamma for one in found] == list(gammas[expected])
    wanted = [one.logit_rho for one in everywhere if one.gamma in gammas[expected]]
    np.testing.assert_allclose([one.logit_rho for one in found], wanted, atol=1e-6)

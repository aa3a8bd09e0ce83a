"""The fold of a constant precision against the modes of the Laplacian, and against the whole theory."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar
from scipy.special import expit

from heteroscope import field
from heteroscope.datasets.simulated import row_draws
from heteroscope.field import folding
from heteroscope.field.folding import stiff_fold


def by_modes(lattice, y):
    """log(1 / alpha) of the fold: residuals of a constant precision, mode by mode, and the highest q R(q) of all q."""
    weights = np.diag(lattice.weights)
    stiffness, modes = eigh(np.array([lattice.laplacian(row) for row in np.eye(len(y))]), weights)
    power = (modes.T @ weights @ y) ** 2 / len(y)

    def worth(log_q):
        return np.exp(log_q) * power @ (stiffness / (np.exp(log_q) + stiffness)) ** 2

    grid = np.linspace(-10, 30, 2000)
    top = grid[np.argmax([worth(log_q) for log_q in grid])]
    best = minimize_scalar(lambda log_q: -worth(log_q), bounds=(top - 0.1, top + 0.1), method="bounded")
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
    monkeypatch.setattr(folding, "_STIFF", 0.0)  # continuation, however stiff
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

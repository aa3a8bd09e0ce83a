"""The fold against bisection and across numbers of points; test_stiff.py has it against a closed form."""

import numpy as np
import pytest
from scipy.special import expit

from heteroscope import field
from heteroscope.core.errors import InputError
from heteroscope.core.grids import NETWORK_GRID
from heteroscope.datasets.simulated import row_draws
from heteroscope.field import Fields, Status


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


def test_branch_turns_at_the_fold_and_is_unstable_beyond_it(sine):
    x, y = sine(256)
    branch = field.branch(x, y, 0.9, 0.01, max_points=60)
    turn = int(np.argmax(branch.logit_rho))
    assert 0 < turn < len(branch.logit_rho) - 1
    assert branch.logit_rho[turn] == pytest.approx(field.fold(x, y, 0.01).logit_rho, abs=1e-2)
    assert branch.stable[: turn - 1].all()
    assert not branch.stable[turn + 2 :].any()
    for s, mean, precision in zip(branch.logit_rho, branch.mean, branch.precision, strict=True):
        problem = field.state(field.chain(x), y, 1 / (1 + np.exp(-s)), 0.01)
        assert field.equations(problem, Fields(mean, precision)).relative < 1e-3


def test_a_descent_that_starts_at_a_saddle_leaves_it(sine):
    """The unstable branch is stationary to rounding, and still no answer: descent ends in a minimum or a runaway."""
    x, y = sine(256)
    branch = field.branch(x, y, 0.9, 0.01, max_points=30)
    unstable = int(np.flatnonzero(~branch.stable)[-1])
    saddle = Fields(branch.mean[unstable], branch.precision[unstable])
    found = field.solve(x, y, 1 / (1 + np.exp(-branch.logit_rho[unstable])), 0.01, start=saddle)
    assert found.status is not Status.OUT_OF_STEPS
    assert np.abs(np.log(found.precision / saddle.precision)).mean() > 0.1


def test_branch_needs_a_finite_solution_to_start_from(sine):
    with pytest.raises(InputError, match="smaller rho"):
        field.branch(*sine(64), 0.9999, 0.01)
    with pytest.raises(InputError, match="rho = 1"):
        field.branch(*sine(64), 1.0, 0.01)


def test_no_fold_is_said_in_one_line():
    x = np.linspace(-1, 1, 8)
    with pytest.raises(InputError, match="standardise") as caught:
        field.fold(x, 1e10 * np.random.default_rng(0).standard_normal(8), 0.01)
    assert "\n" not in str(caught.value)

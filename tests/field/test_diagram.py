"""Grids of cells, several minima in a cell, and the two diagrams of an upward and a downward sweep."""

import numpy as np
import pytest
from scipy.special import logit

from heteroscope import field
from heteroscope.core.errors import InputError
from heteroscope.core.grids import FIELD_GRID
from heteroscope.field import Fields, Status


def test_a_grid_is_its_cells(sine):
    x, y = sine(64)
    seen = []
    grid = field.solve_grid(
        x, y, [0.1, 0.9], [0.01, 0.5, 0.99], progress=lambda done, total: seen.append((done, total))
    )
    assert grid.mean.shape == grid.precision.shape == (2, 3, 64)
    assert seen == [(1, 2), (2, 2)]
    for i, rho in enumerate(grid.rhos):
        for j, gamma in enumerate(grid.gammas):
            one = field.solve(x, y, rho, gamma)
            np.testing.assert_array_equal(grid.mean[i, j], one.mean)
            assert (grid.energy[i, j], grid.status[i, j]) == (one.energy, one.status)


def test_processes_change_nothing(sine):
    x, y = sine(64)
    one, two = (field.solve_grid(x, y, [0.1, 0.9], [0.01, 0.5], n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.mean, two.mean)
    np.testing.assert_array_equal(one.status, two.status)


@pytest.mark.parametrize(("n_points", "every"), [(64, 1), (1024, 2)])
def test_every_cell_of_the_papers_grid_ends(sine, n_points, every):
    """Nothing out of steps, and every minimum stationary far beyond the 1e-8 that is asked for."""
    grid = field.solve_grid(*sine(n_points), FIELD_GRID[::every], FIELD_GRID[::every])
    assert set(grid.status.ravel()) == {Status.CONVERGED, Status.RUNAWAY}
    assert grid.residual[grid.status == Status.CONVERGED].max() <= 1e-10


def test_the_fold_separates_runaways_from_finite_solutions(sine):
    x, y = sine(256)
    gammas = FIELD_GRID[::3]
    grid = field.solve_grid(x, y, FIELD_GRID, gammas)
    folds = np.array([one.logit_rho for one in field.fold_curve(x, y, gammas)])
    beyond = logit(FIELD_GRID)[:, None] > folds
    np.testing.assert_array_equal(grid.status == Status.RUNAWAY, beyond)


@pytest.mark.parametrize(("rhos", "gammas"), [([], [0.5]), ([0.5], [])])
def test_an_empty_grid_gets_one_line(sine, rhos, gammas):
    with pytest.raises(InputError, match="at least one value"):
        field.solve_grid(*sine(16), rhos, gammas)


def test_minima_are_distinct_stationary_and_sorted(sine):
    x, y = sine(512)
    rho, gamma = 1 / (1 + np.exp(-11)), 0.9
    found = field.minima(x, y, rho, gamma)
    assert len(found) >= 2
    assert [one.energy for one in found] == sorted(one.energy for one in found)
    problem = field.state(field.chain(x), y, rho, gamma)
    for one in found:
        again = field.minimise(problem, Fields(one.mean, one.precision))
        assert again.energy == pytest.approx(one.energy, abs=1e-8)
    assert found[1].energy - found[0].energy > 1.0


def test_one_minimum_where_regularisation_is_strong_and_none_beyond_the_fold(sine):
    x, y = sine(256)
    assert len(field.minima(x, y, 0.5, 0.5)) == 1
    assert field.minima(x, y, 1 - 1e-9, 0.5) == []


def test_sweeps_agree_away_from_the_fold_and_differ_below_it(sine):
    x, y = sine(256)
    fold = field.fold(x, y, 0.01).logit_rho
    rhos = 1 / (1 + np.exp(-(fold + np.array([-6.0, -0.5, 0.5, 2.0]))))
    both = field.hysteresis(x, y, rhos, [0.01])
    assert both.up.status[:, 0].tolist() == ["converged", "converged", "runaway", "runaway"]
    assert both.down.status[:, 0].tolist() == ["converged", "runaway", "runaway", "runaway"]
    assert both.differ[:, 0].tolist() == [False, True, False, False]


def test_a_higher_ceiling_widens_the_hysteresis(sine):
    x, y = sine(256)
    fold = field.fold(x, y, 0.01).logit_rho
    rhos = 1 / (1 + np.exp(-(fold + np.arange(-8.0, 2.0))))
    widths = [int(field.hysteresis(x, y, rhos, [0.01], ceiling=c).differ.sum()) for c in (1e2, 1e4, 1e6)]
    assert widths[0] < widths[1] < widths[2]


def test_a_ceiling_below_the_flat_precision_gets_one_line(sine):
    with pytest.raises(InputError, match="ceiling"):
        field.hysteresis(*sine(16), [0.5], [0.5], ceiling=0.5)

"""Grids of cells against single cells, with any number of processes."""

import numpy as np
import pytest
from scipy.special import logit

from heteroscope import field
from heteroscope.core.errors import InputError
from heteroscope.core.grids import FIELD_GRID
from heteroscope.field import Status


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

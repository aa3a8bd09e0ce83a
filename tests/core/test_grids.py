"""The paper's grids as its text lists them, and a diagonal that is even in the logit."""

import numpy as np
import pytest
from scipy.special import expit

from heteroscope.core.grids import DIAGONAL_LOGITS, FIELD_GRID, NETWORK_GRID, PAPER_DIAGONAL, diagonal_logits
from heteroscope.search.refinement import bisect_transition, refine_around


def test_the_network_grid_has_the_22_values_of_the_paper():
    listed = [0.9999, 0.999, 0.99, *(k / 10 for k in range(9, 0, -1)), *(10.0**-k for k in range(2, 12))]
    assert len(NETWORK_GRID) == 22
    np.testing.assert_allclose(NETWORK_GRID, np.sort(listed), rtol=1e-15)


def test_the_field_grid_has_the_19_different_values_of_the_paper():
    listed = {1 - 1e-6, 1 - 1e-5, 0.9999, 0.999, 0.99, *(k / 10 for k in range(1, 10)), 0.01, 1e-3, 1e-4, 1e-5, 1e-6}
    assert len(FIELD_GRID) == 19
    np.testing.assert_allclose(FIELD_GRID, sorted(listed), rtol=1e-12)


def test_the_papers_diagonal_leaves_out_its_two_ends():
    assert len(PAPER_DIAGONAL) == 94
    assert PAPER_DIAGONAL.min() == pytest.approx(1e-11)
    assert PAPER_DIAGONAL.max() == 0.9999


@pytest.mark.parametrize("grid", [NETWORK_GRID, FIELD_GRID, PAPER_DIAGONAL])
def test_a_grid_rises_inside_the_open_interval(grid):
    assert np.all(np.diff(grid) > 0)
    assert grid[0] > 0
    assert grid[-1] < 1


def test_the_diagonal_is_even_in_the_logit_from_one_half_to_a_millionth_below_one():
    line = diagonal_logits(12)
    np.testing.assert_allclose(np.diff(line), np.ptp(line) / 11)
    assert (line[0], line[-1]) == DIAGONAL_LOGITS
    assert expit(line[0]) == 0.5
    assert expit(-line[-1]) == pytest.approx(1e-6)


@pytest.mark.parametrize("n_points", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("best", [0, 1, 4, 8])
def test_refinement_gives_as_many_new_points_beside_the_best_one(n_points, best):
    visited = diagonal_logits(9)
    new = refine_around(visited, best, n_points)
    assert len(new) == n_points
    assert np.all(np.diff(new) > 0)
    assert np.abs(new[:, None] - visited[None, :]).min() > 0.05
    assert visited[max(best - 1, 0)] < new.min()
    assert new.max() < visited[min(best + 1, 8)]


def test_refinement_never_returns_to_a_visited_point_between_uneven_neighbours():
    np.testing.assert_allclose(refine_around(np.array([0.0, 1.0, 3.0]), 1, 2), [0.5, 2.0])


@pytest.mark.parametrize(("n_visited", "n_points"), [(1, 4), (5, 0)])
def test_refinement_of_nothing_or_by_nothing_is_empty(n_visited, n_points):
    assert refine_around(diagonal_logits(n_visited), 0, n_points).shape == (0,)


def test_bisection_halves_the_intervals_between_underfit_and_overfit():
    line = np.array([0.0, 2.0, 4.0, 7.0, 9.0])
    under, over = [True, True, False, False, False], [False, False, False, True, True]
    np.testing.assert_allclose(bisect_transition(line, under, over, 5), [3.0, 5.5])
    np.testing.assert_allclose(bisect_transition(line, under, over, 1), [5.5])
    np.testing.assert_allclose(bisect_transition(line, [True] * 5, [False] * 5, 3), [8.0])
    np.testing.assert_allclose(bisect_transition(line, [False] * 5, [False] * 5, 2), [1.0, 5.5])
    assert len(bisect_transition(line, [False] * 5, [True] * 5, 3)) == 0
    assert len(bisect_transition(line[:1], [True], [False], 3)) == 0

"""The paper's grids as its text lists them, and a diagonal that is even in the logit."""

import numpy as np
import pytest
from scipy.special import expit

from heteroscope.core.grids import DIAGONAL_LOGITS, FIELD_GRID, NETWORK_GRID, PAPER_DIAGONAL, diagonal_logits


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

"""The Dataset that every diagram is: scores against the metrics, majorities and moments against NumPy."""

import numpy as np
import pytest
import xarray as xr

from heteroscope.core.errors import InputError
from heteroscope.core.grids import NETWORK_GRID
from heteroscope.core.status import Status
from heteroscope.diagrams.dataset import (
    KEPT_ROWS,
    diagonal_cells,
    grid_values,
    kept_rows,
    kinds,
    majority_kind,
    majority_phase,
    over_seeds,
    score,
)
from heteroscope.distributions import metrics

RANDOM = np.random.default_rng(0)


@pytest.fixture
def diagram():
    phases = np.array([[["S", "S", "O_I"], ["U_I", "S", "O_I"]], [["", "", ""], ["O_II", "O_II", "U_II"]]])
    nll = RANDOM.normal(size=(2, 2, 3, 1))
    return xr.Dataset(
        {"phase": (("rho", "gamma", "seed"), phases), "nll": (("rho", "gamma", "seed", "split"), nll)},
        {"rho": [0.1, 0.9], "gamma": [0.1, 0.9], "seed": [0, 1, 2], "split": ["train"]},
        {"data_set": "made up"},
    )


def test_the_majority_decides_and_a_tie_goes_to_the_more_regularised(diagram):
    assert majority_phase(diagram).values.tolist() == [["S", "U_I"], ["", "O_II"]]


def test_an_s_is_told_apart_by_whether_its_std_adapts(diagram):
    spread = np.array([[[0.0, 0.2, 9.0], [9.0, 9.0, 9.0]], [[9.0] * 3, [9.0] * 3]])
    diagram["log_precision_spread"] = (("rho", "gamma", "seed"), spread)
    assert kinds(diagram).values[0].tolist() == [["S_constant", "S_adapts", "O_I"], ["U_I", "S_adapts", "O_I"]]
    assert majority_kind(diagram).values.tolist() == [["S_constant", "U_I"], ["", "O_II"]]
    diagram["log_precision_spread"][0, 0, 0] = 0.2
    assert majority_kind(diagram).values[0, 0] == "S_adapts"


def test_mean_and_spread_over_seeds_are_numpys(diagram):
    summary = over_seeds(diagram)
    np.testing.assert_allclose(summary.nll.sel(statistic="mean"), diagram.nll.values.mean(axis=2))
    np.testing.assert_allclose(summary.nll.sel(statistic="std"), diagram.nll.values.std(axis=2))
    np.testing.assert_allclose(summary.agreement, [[2 / 3, 1 / 3], [1.0, 2 / 3]])
    assert summary.attrs["data_set"] == "made up"


def test_the_diagonal_is_where_rho_and_gamma_add_up_to_one(diagram):
    assert diagonal_cells(diagram) == [(0, 1), (1, 0)]
    grid = xr.Dataset(coords={"rho": NETWORK_GRID, "gamma": NETWORK_GRID})
    cells = diagonal_cells(grid)
    assert len(cells) == 15  # 0.0001 to 0.9999: further down 1 - rho is not on the grid
    np.testing.assert_allclose([NETWORK_GRID[row] + NETWORK_GRID[column] for row, column in cells], 1.0)
    assert diagonal_cells(xr.Dataset(coords={"rho": [0.3], "gamma": [0.3]})) == []


def test_an_axis_is_sorted_and_its_edges_are_refused():
    np.testing.assert_array_equal(grid_values("rho", [0.9, 0.1, 0.9], NETWORK_GRID), [0.1, 0.9])
    assert grid_values("gamma", None, NETWORK_GRID) is NETWORK_GRID
    with pytest.raises(InputError, match="gamma = 1"):
        grid_values("gamma", [0.5, 1.0], NETWORK_GRID)
    with pytest.raises(InputError, match="rhos is empty"):
        grid_values("rho", [], NETWORK_GRID)


@pytest.mark.parametrize("n_rows", [3, KEPT_ROWS, 10 * KEPT_ROWS])
def test_kept_rows_are_rising_and_few(n_rows):
    rows = kept_rows(n_rows)
    assert len(rows) == min(n_rows, KEPT_ROWS)
    assert (np.diff(rows) > 0).all()
    assert rows[-1] < n_rows


def test_a_cell_is_scored_by_the_metrics_and_judged_by_its_test_rows():
    y = {"train": RANDOM.normal(size=50), "test": RANDOM.normal(size=40)}
    means = {"train": 0.9 * y["train"], "test": np.zeros(40)}
    stds = {"train": np.full(50, 0.1), "test": np.full(40, 0.01)}
    found = score(y, means, stds, Status.CONVERGED)
    for name in ("mean_mse", "std_mse", "ece", "nll", "crps"):
        assert found[name] == [metrics.METRICS[name](y[s], means[s], stds[s]) for s in y]
    assert found["squared_score"] == pytest.approx([np.mean(y["train"] ** 2), 1e4 * np.mean(y["test"] ** 2)])
    assert found["mean_spread"] == pytest.approx(0.9)
    assert found["phase"] == "O_I"
    assert score({"train": y["train"]}, means, stds, Status.CONVERGED)["phase"] == "unknown"
    assert score({"train": y["train"]}, means, stds, Status.RUNAWAY)["phase"] == "O_I"

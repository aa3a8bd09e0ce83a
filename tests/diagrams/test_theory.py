"""The field theory's diagram as a Dataset: five phases where the paper has them, and the same after a file."""

import numpy as np
import pytest
import xarray as xr

from heteroscope import field, field_diagram
from heteroscope.core.status import Status
from heteroscope.datasets import simulated
from heteroscope.distributions import metrics
from heteroscope.phases.labels import Phase

RHOS = np.array([1e-5, 0.1, 0.5, 0.9, 0.999, 0.9999])
GAMMAS = np.array([1e-5, 0.1, 0.9, 0.99999])


@pytest.fixture(scope="module")
def diagram():
    x, y, y_test = simulated.field_draws("sine", n_points=256)
    told = []
    found = field_diagram(x, y, y_test=y_test, rhos=RHOS, gammas=GAMMAS, progress=lambda *now: told.append(now))
    assert told == sorted(told)
    assert told[-1] == (8, 8)
    return found


def test_dimensions_and_variables_are_those_of_every_diagram(diagram):
    cells = {"rho": 6, "gamma": 4, "seed": 1, "split": 2}
    assert dict(diagram.sizes) == cells | {
        "row": 256,
        "feature": 1,
        "fold_gamma": 3,
    }  # the fold at the largest gamma is far outside
    wanted = {"mean_mse", "std_mse", "ece", "nll", "crps", "mean_energy", "precision_energy"}
    for name in wanted:
        assert diagram[name].dims == ("rho", "gamma", "seed", "split")
    assert {"status", "phase"} <= set(diagram.data_vars)


def test_all_five_phases_lie_where_the_paper_has_them(diagram):
    phase = diagram.phase.isel(seed=0)
    assert phase.sel(rho=1e-5, gamma=0.9) == Phase.U_I
    assert phase.sel(rho=0.5, gamma=0.99999) == Phase.U_II
    assert phase.sel(rho=0.9, gamma=0.1) == Phase.S
    assert phase.sel(rho=0.999, gamma=1e-5) == Phase.O_I
    assert phase.sel(rho=0.9, gamma=0.99999) == Phase.O_II


def test_a_cell_agrees_with_the_solver_and_the_metrics(diagram):
    x, y = simulated.field_draw("sine", n_points=256)
    alone = field.solve(x, y, 0.9, 0.9)
    cell = diagram.sel(rho=0.9, gamma=0.9).isel(seed=0, split=0)
    np.testing.assert_allclose(cell["mean"], alone.mean, rtol=1e-6, atol=1e-6)
    weight = field.chain(x, None).weights
    expected = metrics.nll(y, alone.mean, alone.precision**-0.5, sample_weight=weight)
    assert float(cell.nll) == pytest.approx(expected)


def test_runaways_hold_no_number(diagram):
    runaway = diagram.status == Status.RUNAWAY
    assert runaway.any()
    assert np.isnan(diagram.mean_mse.isel(split=0).where(runaway, drop=True)).all()
    assert (diagram.phase.where(runaway, "O_I") == "O_I").all()
    for name in ("mean", "std", "objective"):
        assert (np.isnan(diagram[name]) == runaway).all()
    fold_rho = diagram.fold_rho.rename(fold_gamma="gamma").reindex(gamma=diagram.gamma, fill_value=1.0)
    beyond = diagram.rho > fold_rho
    np.testing.assert_array_equal(beyond.values, runaway.isel(seed=0).values)


def test_another_draw_shows_a_mean_that_follows_the_noise():
    x, y = simulated.field_draw("sine", n_points=256)
    truth = simulated.field_truth("sine", n_points=256)
    y_test = truth.mean(x) + truth.std(x) * np.random.default_rng(1).normal(size=256)
    found = field_diagram(x, y, y_test=y_test, rhos=[0.9, 0.9999], gammas=[0.99])
    assert list(found.phase.values.ravel()) == [Phase.S, Phase.O_I]
    assert list(field_diagram(x, y, rhos=[0.9, 0.9999], gammas=[0.99]).phase.values.ravel()) == [
        Phase.UNKNOWN,
        Phase.UNKNOWN,
    ]
    cell = found.sel(rho=0.9, gamma=0.99).isel(seed=0)
    weight = field.chain(x, None).weights
    mean, std = (cell[name].values.astype(float) for name in ("mean", "std"))
    expected = metrics.nll(y_test, mean, std, sample_weight=weight)
    assert float(cell.nll.sel(split="test")) == pytest.approx(expected, rel=1e-5)


def test_it_survives_a_file(diagram, tmp_path):
    diagram.to_netcdf(tmp_path / "field.nc", engine="scipy")
    with xr.open_dataset(tmp_path / "field.nc", engine="scipy") as again:
        np.testing.assert_array_equal(again.mean_mse, diagram.mean_mse)
        assert again.attrs["source"] == "field theory"


def test_edges_are_refused_in_one_line():
    x, y = simulated.field_draw("sine", n_points=64)
    with pytest.raises(ValueError, match="rho = 1"):
        field_diagram(x, y, rhos=[0.5, 1.0], gammas=[0.5])


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(0)
    X = rng.normal(loc=5.0, scale=[1.0, 100.0], size=(90, 2))
    y = 7.0 + 3.0 * np.sin(X[:, 0]) + 0.5 * rng.normal(size=90)
    return X[:60], y[:60], X[60:], y[60:]


def test_a_table_is_standardised_and_solved_on_its_graph(clouds):
    X, y, X_test, y_test = clouds
    found = field_diagram(X, y, X_test=X_test, y_test=y_test, rhos=[0.01, 0.05], gammas=[0.3, 0.7])
    scaled, target = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    alone = field.solve_graph(scaled, target, 0.05, 0.3)
    assert alone.status is Status.CONVERGED
    cell = found.sel(rho=0.05, gamma=0.3).isel(seed=0)
    trained = (cell.row_split == "train").values
    np.testing.assert_allclose(cell["mean"].values[trained], alone.mean, atol=1e-5)
    expected = metrics.nll(target, alone.mean, alone.precision**-0.5)
    assert float(cell.nll.sel(split="train")) == pytest.approx(expected, rel=1e-5)
    extension = field.table(scaled, target).extension((X_test - X.mean(axis=0)) / X.std(axis=0))
    points = field.table(scaled, target).point_of_row
    on_points = np.empty(60)
    on_points[points] = alone.mean
    np.testing.assert_allclose(cell["mean"].values[~trained], extension @ on_points, atol=1e-5)
    error = np.mean((extension @ on_points - (y_test - y.mean()) / y.std()) ** 2)
    assert float(cell.mean_mse.sel(split="test")) == pytest.approx(error, rel=1e-4)
    assert "fold_rho" not in found
    assert list(found.feature.values) == ["x0", "x1"]


def test_a_table_has_folds_where_they_are_asked_for(clouds):
    X, y, *_ = clouds
    rhos = [0.01, 0.9999999]
    found = field_diagram(X[:25], y[:25], rhos=rhos, gammas=[0.1], folds=True)
    assert (found.status.values.ravel() == ["converged", "runaway"]).all()
    assert rhos[0] < float(found.fold_rho[0]) < rhos[1]


def test_a_line_is_solved_without_folds_where_they_are_not_asked_for():
    x, y = simulated.field_draw("sine", n_points=64)
    found = field_diagram(x, y, rhos=[0.5], gammas=[0.5], folds=False)
    assert "fold_rho" not in found


def test_settings_of_the_other_kind_are_refused(clouds):
    X, y, *_ = clouds
    with pytest.raises(ValueError, match="density"):
        field_diagram(X, y, density="points")
    with pytest.raises(ValueError, match="tables"):
        field_diagram(np.arange(60.0), y, power=2)

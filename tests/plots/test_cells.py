"""What figures read off a diagram, against counts and averages made by hand."""

import numpy as np
import pytest
from scipy.special import logit

from heteroscope.core.errors import InputError
from heteroscope.core.status import Status
from heteroscope.plots.cells import by_name, by_seed, edges, read_cells, shown_split, summarised


def test_the_majority_of_the_finished_seeds_counts(networks):
    diagram = networks(n_seeds=4)
    votes = [["S", "S", "O_I", "U_I"], ["O_I", "S", "S", "O_I"], ["O_I", "O_I", "", ""], ["", "", "", ""]]
    diagram["phase"][0, :4] = votes
    diagram["status"][0, :4] = np.where(np.array(votes) == "", "", "converged")
    diagram["log_precision_spread"][0, :4] = [[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0], [0.0] * 4, [0.0] * 4]
    cells = read_cells(diagram)
    assert cells.kind[0, :4].tolist() == ["S_constant", "S_adapts", "O_I", ""]  # a tie goes to the first of PHASES
    np.testing.assert_allclose(cells.agreement[0, :4], [0.5, 0.5, 1.0, 0.0])


def test_lost_cells_are_those_where_most_finished_seeds_are_runaway_or_not_finite(networks):
    diagram = networks(n_seeds=4)
    diagram["status"][0, :5] = [
        [Status.RUNAWAY] * 2 + [Status.CONVERGED] * 2,
        [Status.RUNAWAY, Status.NOT_FINITE, Status.RUNAWAY, Status.CONVERGED],
        [Status.RUNAWAY, "", "", ""],
        [Status.OUT_OF_STEPS] * 4,
        ["", "", "", ""],
    ]
    assert read_cells(diagram).lost[0, :5].tolist() == [False, True, True, False, False]


def test_dimensions_may_come_in_any_order(networks):
    diagram = networks()
    turned = diagram.transpose("split", "seed", "row", "gamma", "rho", "feature")
    for ours, theirs in zip(read_cells(diagram), read_cells(turned), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(summarised(diagram, "nll", "test"), summarised(turned, "nll", "test"))


def test_mean_and_std_are_over_the_seeds_that_have_a_number(networks):
    diagram = networks(n_seeds=3)
    diagram["mean_mse"][0, 0, :, 1] = [1.0, 3.0, np.nan]
    diagram["mean_mse"][0, 1, :, 1] = [2.0, np.nan, np.nan]
    diagram["mean_mse"][0, 2, :, 1] = np.nan
    np.testing.assert_allclose(summarised(diagram, "mean_mse", "test")[0, :3], [2.0, 2.0, np.nan])
    np.testing.assert_allclose(summarised(diagram, "mean_mse", "test", "std")[0, :3], [1.0, np.nan, np.nan])


def test_infinities_can_be_averaged(networks):
    diagram = networks(n_seeds=2)
    diagram["nll"][0, 0, :, 1] = [np.inf, 1.0]
    assert np.isfinite(summarised(diagram, "nll", "test", "std")[0, 0])


def test_metrics_without_splits_can_be_read(networks):
    diagram = networks()
    np.testing.assert_array_equal(by_seed(diagram, "objective", "test"), diagram.objective)
    np.testing.assert_array_equal(by_seed(diagram, "steps", "test"), diagram.steps)


def test_the_split_falls_back_to_the_training_rows(networks):
    assert shown_split(networks(), "test") == "test"
    assert shown_split(networks(splits=("train",)), "test") == "train"


def test_borders_lie_half_way_in_the_logit():
    values = np.array([0.001, 0.1, 0.5, 0.99])
    borders = logit(edges(values))
    np.testing.assert_allclose(borders[1:-1], (logit(values)[1:] + logit(values)[:-1]) / 2)
    np.testing.assert_allclose(borders[[0, -1]] + borders[[1, -2]], 2 * logit(values)[[0, -1]])
    np.testing.assert_allclose(logit(edges(np.array([0.5]))), [-1.0, 1.0])


def test_the_fold_is_continued_to_the_borders_of_the_grid(theory):
    diagram = theory()
    fold, gamma = read_cells(diagram).fold, edges(diagram.gamma.values)
    np.testing.assert_allclose(fold[:, 1:-1], [diagram.fold_rho, diagram.fold_gamma])
    np.testing.assert_allclose(fold[1, [0, -1]], gamma[[0, -1]])
    np.testing.assert_allclose(logit(fold[0, 0]), 10 + np.log(gamma[0]), rtol=1e-3)  # where gamma << 1 it is straight


@pytest.mark.parametrize("fold", [[], [0.9]])
def test_a_fold_of_few_points(theory, fold):
    diagram = theory(gammas=[0.1]).drop_dims("fold_gamma")
    diagram["fold_rho"] = ("fold_gamma", np.array(fold, float))
    diagram = diagram.assign_coords(fold_gamma=np.full(len(fold), 0.1))
    found = read_cells(diagram).fold
    assert found.shape == (2, 3 if fold else 0)
    np.testing.assert_allclose(found[0], 0.9)


def test_a_fold_beyond_all_numbers_is_left_out(theory):
    diagram = theory()
    diagram["fold_rho"][-1] = 1.0
    assert np.isfinite(logit(read_cells(diagram).fold)).all()


def test_one_diagram_alone_is_called_as_its_data_set(networks):
    assert list(by_name(networks(name="sine"))) == ["sine"]


def test_mistakes_are_named_in_one_line(networks):
    diagram = networks()
    with pytest.raises(InputError, match="no diagram"):
        by_name({})
    with pytest.raises(InputError, match="no metric 'rmse': choose one of mean_mse, "):
        by_seed(diagram, "rmse", "test")
    with pytest.raises(InputError, match="no metric 'phase'"):
        by_seed(diagram, "phase", "test")
    with pytest.raises(InputError, match="split='valid'"):
        by_seed(diagram, "nll", "valid")
    with pytest.raises(InputError, match="statistic='median'"):
        summarised(diagram, "nll", "test", "median")

"""The rules that pick a point of the path, on paths whose best point is known by construction."""

import numpy as np
import pytest

from heteroscope.errors import InputError
from heteroscope.networks import Architecture
from heteroscope.phases import Observables
from heteroscope.rows import Rows
from heteroscope.search import (
    Fold,
    Point,
    choose,
    cross_validate_points,
    paper_midpoint,
    results_table,
    row_loss,
    search_diagonal,
)
from heteroscope.stages import mean_first_recipe
from heteroscope.status import Status

RANDOM = np.random.default_rng(0)
N = 400
Y = RANDOM.normal(size=N)
ROWS = Rows(np.arange(float(N))[:, None], Y, np.ones(N))
HALVES = np.arange(200), np.arange(200, 400)
FOLDS = [Fold(ROWS.take(HALVES[1]), ROWS.take(HALVES[0])), Fold(ROWS.take(HALVES[0]), ROWS.take(HALVES[1]))]
HONEST = Observables(0.5, 0.5, 0.4, 1.0, 1.0)


def point(logit_rho, std, mean_mse=1.0, std_mse=1.0, held_out_score=1.0, mean=None):
    training = ({"mean_mse": mean_mse, "std_mse": std_mse},) * 2
    mean = np.zeros(N) if mean is None else mean
    observables = HONEST._replace(held_out_score=held_out_score)
    return Point(logit_rho, mean, np.full(N, float(std)), training, observables, (Status.CONVERGED,) * 2)


@pytest.mark.parametrize("selection", ["nll", "crps"])
def test_the_lowest_held_out_score_wins(selection):
    points = [point(0, 10), point(1, 4), point(2, 1), point(3, 0.1), point(4, 0.01)]
    assert choose(points, FOLDS, selection) == 2


def test_a_tie_goes_to_the_more_regularised_point():
    noisy = RANDOM.normal(scale=1e-3, size=N)
    points = [point(0, 5), point(1, 1, mean=noisy), point(2, 1), point(3, 1)]
    assert choose(points, FOLDS, "nll") == 1


def test_a_tie_never_leaves_the_phase():
    flat = point(0, 1)._replace(observables=HONEST._replace(residual_share=1.0, log_precision_spread=0.0))
    assert choose([flat, point(1, 1)], FOLDS, "nll") == 0  # equal: the first of two lowest
    slightly_better = point(1, 1, mean=0.01 * Y)
    assert choose([flat, slightly_better], FOLDS, "nll") == 1


def test_overfit_points_are_passed_over_while_there_are_others():
    points = [point(0, 3), point(1, 1, held_out_score=50.0)]
    assert choose(points, FOLDS, "nll") == 0
    everything_overfit = [point(0, 3, held_out_score=50.0), point(1, 1, held_out_score=50.0)]
    assert choose(everything_overfit, FOLDS, "nll") == 1


def test_the_paper_takes_the_midpoint_of_the_two_training_minima():
    points = [point(0, 1, 3, 3), point(1, 1, 2, 0.1), point(2, 1, 1, 1), point(5, 1, 0.1, 2)]
    assert paper_midpoint(points) == pytest.approx(3.0)
    assert choose(points, FOLDS, "paper") == 2


def test_row_losses_agree_with_scipy():
    from scipy import stats

    mean, std = RANDOM.normal(size=N), RANDOM.uniform(0.5, 2, size=N)
    np.testing.assert_allclose(row_loss("nll", Y, mean, std), -stats.norm(mean, std).logpdf(Y))
    with pytest.raises(InputError, match="nll, crps, paper"):
        row_loss("rmse", Y, mean, std)


@pytest.fixture(scope="module")
def sine_search():
    from heteroscope import datasets

    split = datasets.load("sine")
    rows = Rows(split.x_train, split.y_train, np.ones(64))
    index = np.random.default_rng(0).permutation(64)
    folds = [Fold(rows.take(index[21:]), rows.take(index[:21])), Fold(rows.take(index[:40]), rows.take(index[40:]))]
    recipe = mean_first_recipe(Architecture(1, (24, 24)), 600)
    told = []
    coarse = np.array([0.0, 4.0, 8.0])
    found = search_diagonal(folds, coarse, 2, recipe, [1, 2], progress=lambda *now: told.append(now))
    return folds, recipe, found, told


def test_the_fine_pass_lies_between_the_neighbours_of_the_best_coarse_point(sine_search):
    _, _, found, told = sine_search
    logits = [p.logit_rho for p in found.points]
    assert len(logits) == 5
    assert logits == sorted(logits)
    assert told == sorted(told)
    assert told[-1] == (10, 10)


def test_held_out_predictions_come_from_models_that_did_not_see_the_row(sine_search):
    folds, recipe, found, _ = sine_search
    chosen = found.points[found.best]
    spoiled = [fold._replace(held=fold.held._replace(y=fold.held.y + 100.0)) for fold in folds]
    (again,) = cross_validate_points(spoiled, [chosen.logit_rho], recipe, [1, 2])
    np.testing.assert_array_equal(again.mean, chosen.mean)
    np.testing.assert_array_equal(again.std, chosen.std)
    assert again.observables.held_out_score > 100 * chosen.observables.held_out_score


def test_the_table_has_one_row_a_point_and_agrees_with_the_points(sine_search):
    from scipy import stats

    folds, _, found, _ = sine_search
    table = results_table(found, folds, "nll")
    assert {len(column) for column in table.values()} == {5}
    first = found.points[0]
    by_fold, start = [], 0
    for fold in folds:
        part = slice(start, start + len(fold.held.y))
        by_fold.append(-stats.norm(first.mean[part], first.std[part]).logpdf(fold.held.y).mean())
        start += len(fold.held.y)
    assert table["mean_test_nll"][0] == pytest.approx(np.mean(by_fold))
    assert table["split1_test_nll"][0] == pytest.approx(by_fold[1])
    np.testing.assert_allclose(table["rho"] + table["gamma"], 1.0)


def test_a_broken_model_is_never_chosen():
    broken = point(1, 1, held_out_score=float("nan"), mean=np.full(N, np.nan))
    assert choose([point(0, 3), broken], FOLDS, "nll") == 0

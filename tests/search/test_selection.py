"""The rules that pick a point, on points whose best is known by construction."""

import numpy as np
import pytest
from scipy import stats

from heteroscope.core.errors import InputError
from heteroscope.networks import Architecture
from heteroscope.search.selection import choose, choose_finalists, held_out_mean_mse, paper_midpoint, row_loss, within
from heteroscope.training.recipes import mean_first_recipe
from tests.search.made_up_points import FLAT, FOLDS, MEMORISED, RANDOM, N, Y, point


@pytest.mark.parametrize("selection", ["nll", "crps"])
def test_the_lowest_held_out_score_wins(selection):
    points = [point(0, 10), point(1, 4), point(2, 1), point(3, 0.1), point(4, 0.01)]
    assert choose(points, FOLDS, selection) == 2


def test_a_tie_goes_to_the_more_regularised_point():
    noisy = RANDOM.normal(scale=1e-3, size=N)
    points = [point(0, 5), point(1, 1, mean=noisy), point(2, 1), point(3, 1)]
    assert choose(points, FOLDS, "nll") == 1


def test_a_tie_never_leaves_the_phase():
    flat = point(0, 1, observables=FLAT)
    assert choose([flat, point(1, 1)], FOLDS, "nll") == 0  # equal: the first of two lowest
    slightly_better = point(1, 1, mean=0.01 * Y)
    assert choose([flat, slightly_better], FOLDS, "nll") == 1


def test_overfit_points_are_passed_over_while_there_are_others():
    points = [point(0, 3), point(1, 1, observables=MEMORISED)]
    assert choose(points, FOLDS, "nll") == 0
    everything_overfit = [point(0, 3, observables=MEMORISED), point(1, 1, observables=MEMORISED)]
    assert choose(everything_overfit, FOLDS, "nll") == 1


def test_the_paper_takes_the_midpoint_of_the_two_training_minima():
    points = [point(0, 1, 3, 3), point(1, 1, 2, 0.1), point(2, 1, 1, 1), point(5, 1, 0.1, 2)]
    assert paper_midpoint(points) == pytest.approx(3.0)
    assert choose(points, FOLDS, "paper") == 2


def test_a_broken_model_is_never_chosen():
    broken = point(1, 1, observables=MEMORISED, mean=np.full(N, np.nan))
    assert choose([point(0, 3), broken], FOLDS, "nll") == 0


def test_the_error_of_the_mean_is_that_of_the_folds_it_has_seen():
    seen = point(0, 1, mean=np.where(np.arange(N) < N // 2, 0.5 * Y, 0.0))
    assert held_out_mean_mse(seen, FOLDS) == pytest.approx((0.25 * np.sum(Y[:200] ** 2) + np.sum(Y[200:] ** 2)) / N)
    first = seen._replace(results=seen.results[:1])
    assert held_out_mean_mse(first, FOLDS) == pytest.approx(0.25 * np.mean(Y[:200] ** 2))
    assert held_out_mean_mse(point(0, 1, mean=np.full(N, np.nan)), FOLDS) == np.inf


def test_the_best_of_every_length_of_training_is_among_the_finalists():
    longer = mean_first_recipe(Architecture(1, (8,)), 400)
    points = [point(0, 1), point(1, 1.1), point(2, 1.2), point(1, 3, recipe=longer), point(2, 2, recipe=longer)]
    assert choose_finalists(points, FOLDS, "nll", 3) == [0, 1, 4]
    assert choose_finalists(points, FOLDS, "nll", 1) == [0]
    between = [point(0, 1), point(0, 1.1, recipe=longer), point(1, 1.2)]  # ranked short, long, short
    assert choose_finalists(between, FOLDS, "nll", 1) == [0]
    neighbours = [point(0, 1), point(0.3, 1.1), point(0.3, 2, recipe=longer)]
    assert choose_finalists(neighbours, FOLDS, "nll", 2, calibrate=True) == [0, 2]


def test_finalists_are_the_best_scores_and_none_that_overfits():
    points = [point(0, 10), point(1, 1), point(2, 1.2), point(3, 1, observables=MEMORISED), point(4, 0.5)]
    assert choose_finalists(points, FOLDS, "nll", 3) == [1, 2, 4]
    assert choose_finalists(points, FOLDS, "nll", 4) == [0, 1, 2, 4]
    assert choose_finalists(points[3:4] * 2, FOLDS, "nll", 3) == [0, 1]
    broken = point(1, 1, observables=MEMORISED, mean=np.full(N, np.nan))
    assert choose_finalists([broken, broken], FOLDS, "nll", 2) == [0]


def test_with_calibration_finalists_lie_apart_as_long_as_there_are_such_points():
    means = {0: 0.0, 3: 0.5, 8: 0.8, 8.3: 0.79, 8.5: 0.78}  # the more of y they explain, the better
    points = [point(t, 1, mean=share * Y) for t, share in means.items()]
    assert choose_finalists(points, FOLDS, "nll", 2, calibrate=True) == [1, 2], (
        "the best, and the best beyond its neighbours"
    )
    assert choose_finalists(points, FOLDS, "nll", 4, calibrate=True) == [0, 1, 2, 3]


def test_row_losses_agree_with_scipy():
    mean, std = RANDOM.normal(size=N), RANDOM.uniform(0.5, 2, size=N)
    np.testing.assert_allclose(row_loss("nll", Y, mean, std), -stats.norm(mean, std).logpdf(Y))
    with pytest.raises(InputError, match="nll, crps, paper"):
        row_loss("rmse", Y, mean, std)


def test_with_calibration_an_overconfident_point_may_win_by_its_mean():
    points = [point(0, 1), point(1, 0.05, mean=0.9 * Y, observables=MEMORISED)]
    assert choose(points, FOLDS, "nll") == 0
    assert choose(points, FOLDS, "nll", calibrate=True) == 1
    assert choose_finalists(points, FOLDS, "nll", 1, calibrate=True) == [1]
    hopeless = point(2, 0.001, mean=0.99 * Y)
    assert choose([*points, hopeless], FOLDS, "nll", calibrate=True) == 1


def test_a_near_tie_is_one_whose_paired_difference_is_within_so_many_standard_errors():
    noise = np.random.default_rng(2).normal(size=N)
    points = [point(k, 1.0, mean=0.5 * Y + size * noise) for k, size in enumerate((0.0, 0.03, 0.08, 0.5))]
    sizes = [np.abs(Y - one.held_out[0]) for one in points]
    losses = [stats.norm(scale=np.sqrt(np.mean(size**2))).logpdf(size) for size in sizes]  # near the rule's own scale
    best = int(np.argmax(np.mean(losses, axis=1)))
    paired = [
        stats.ttest_1samp(losses[best] - one, 0.0).statistic if one is not losses[best] else 0.0 for one in losses
    ]
    for n_errors in (1.0, 2.0, 4.0):
        found = within(points, FOLDS, "nll", "gaussian", n_errors)
        clear = [k for k, t in enumerate(paired) if abs(t - n_errors) > 0.3]
        assert [k in found for k in clear] == [paired[k] <= n_errors for k in clear]
    assert within(points, FOLDS, "nll", "gaussian", 1.0)[0] == best
    assert 3 not in within(points, FOLDS, "crps", "auto", 2.0)


def test_a_hopeless_std_is_never_near():
    points = [point(0, 0.5), point(1, 0.01)]
    assert within(points, FOLDS, "nll", "auto", 100.0) == [0]

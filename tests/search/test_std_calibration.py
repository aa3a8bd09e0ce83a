"""The factor of the std, on made-up predictions: the likeliest one, the covering one, and that of larger ensembles."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar

from heteroscope.search.selection import held_out_loss
from heteroscope.search.std_calibration import scale_for_all_rows, share_of_more_members, squared_score, std_scale
from tests.search.made_up_points import FOLDS, HALVES, N, Y, point


def test_the_scale_lies_between_the_likeliest_and_the_covering_one():
    crooked = point(1, 0.3, mean=0.2 * Y)

    def loss(log_scale):
        return -stats.norm(0.2 * Y, 0.3 * np.exp(log_scale)).logpdf(Y).mean()

    likeliest = np.exp(minimize_scalar(loss).x)
    covering = np.sort(np.abs(0.8 * Y / 0.3))[int(0.9 * N) - 1] / stats.norm.ppf(0.95)
    assert squared_score(crooked, FOLDS) == pytest.approx(likeliest**2, rel=1e-5)
    assert std_scale(crooked, FOLDS) == pytest.approx(np.sqrt(likeliest * covering), rel=1e-5)
    assert held_out_loss(crooked, FOLDS, "nll", calibrate=True).mean() == pytest.approx(
        minimize_scalar(loss).fun, abs=0.01
    )


def test_models_that_know_all_rows_need_less_scaling():
    assert scale_for_all_rows(2.0, 0.8) == pytest.approx(np.sqrt(1 + 3 * 0.64))
    assert scale_for_all_rows(2.0, 1.0) == pytest.approx(2.0)
    assert scale_for_all_rows(1.0, 0.5) == 1.0
    assert scale_for_all_rows(0.7, 0.5) == 0.7, "too large a std is not made larger"


def test_rows_that_are_met_exactly_leave_a_std():
    assert std_scale(point(1, 1.0, mean=np.where(np.arange(N) % 20, Y, 0.0)), FOLDS) > 0


def ensemble(shared, spread, n_members, std=0.5):
    """Members whose means differ from the target by what they share and by what each of them adds."""
    random = np.random.default_rng(1)
    means = Y + shared * random.normal(size=N) + spread * random.normal(size=(n_members, N))
    whole = point(0, 1)
    return whole._replace(
        results=tuple(
            result._replace(means=means[:, half], stds=np.full((n_members, len(half)), std))
            for half, result in zip(HALVES, whole.results, strict=True)
        )
    )


@pytest.mark.parametrize(("shared", "spread"), [(0.3, 0.1), (0.3, 0.5), (1.0, 0.5)])
@pytest.mark.parametrize("n_members", [3, 5, 10])
def test_two_members_tell_what_more_of_them_will_need(shared, spread, n_members):
    def squared_score_of(n):
        return (shared**2 + spread**2 / n) / (0.5**2 + (1 - 1 / n) * spread**2)

    foretold = share_of_more_members(ensemble(shared, spread, 2), FOLDS, n_members)
    assert foretold == pytest.approx(np.sqrt(squared_score_of(n_members) / squared_score_of(2)), rel=0.07)


def test_as_many_members_as_there_are_need_what_they_ask_for():
    assert share_of_more_members(ensemble(0.3, 0.5, 3), FOLDS, 3) == pytest.approx(1.0)
    assert share_of_more_members(ensemble(0.3, 0.5, 1), FOLDS, 5) == 1.0, "one member cannot tell"
    assert share_of_more_members(ensemble(0.0, 0.0, 2), FOLDS, 5) == 1.0, "nothing is left to mend"


def test_members_that_disagree_by_more_than_they_err_leave_a_factor():
    lucky = ensemble(0.0, 1e-6, 2)
    lucky = lucky._replace(
        results=tuple(
            result._replace(means=fold.held.y + np.array([[1.001], [-0.999]]))  # right on average, by chance
            for fold, result in zip(FOLDS, lucky.results, strict=True)
        )
    )
    v = 2.0 / 0.5**2
    assert share_of_more_members(lucky, FOLDS, 5) == pytest.approx(np.sqrt(2 / 5 * (1 + v / 2) / (1 + 0.8 * v)))

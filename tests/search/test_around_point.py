"""The search near a predicted point: which points it trains, on which folds, and how many steps that takes."""

import numpy as np
import pytest

from heteroscope.core import alpha_beta, logits_from_alpha_beta
from heteroscope.networks import Architecture
from heteroscope.search import CandidateSearch, enough_folds, search_around
from heteroscope.search.around_point import RAY
from heteroscope.training import mean_first_recipe
from tests.search.made_up_points import FOLDS, Y, point

SHORT, LONG = (mean_first_recipe(Architecture(1, (8,)), n_steps) for n_steps in (25, 100))
CENTRE = tuple(map(float, logits_from_alpha_beta(0.02, 0.05)))


def run(monkeypatch, best_log_alpha, centre=CENTRE, width=4.0):
    """Search with models whose mean explains most of the target near `best_log_alpha`."""
    asked = []

    def evaluate(self, points, folds, recipe):
        asked.append((len(points), len(folds), recipe.steps))
        found = []
        for where in points:
            share = 0.8 * np.exp(-(((np.log(alpha_beta(*where)[0]) - best_log_alpha) / width) ** 2))
            whole = point(0.0, np.sqrt(np.mean((Y - share * Y) ** 2)), mean=share * Y, recipe=recipe)
            held = [fold.held for fold in folds]
            kept = tuple(whole.results[k] for k, fold in enumerate(FOLDS) if any(fold.held is one for one in held))
            found.append(whole._replace(logits=where, results=kept))
        return found

    monkeypatch.setattr(CandidateSearch, "evaluate", evaluate)
    found = search_around(CandidateSearch(FOLDS, [SHORT, LONG], calibrate=True), centre)
    return found, asked


def log_alphas(points):
    return [float(np.log(alpha_beta(*one.logits)[0])) for one in points]


def test_the_ray_begins_at_the_point_and_the_best_of_it_is_refined(monkeypatch):
    found, asked = run(monkeypatch, best_log_alpha=np.log(0.02) - 6.0)
    assert asked[:4] == [(3, 1, 25), (2, 1, 25), (1, 1, 25), (1, 1, 100)]
    assert sorted(asked[4:])[-1][:2] == (1, 1), "the chosen point on the other fold"
    start = np.log(0.02)
    np.testing.assert_allclose(log_alphas(found.points[:3]), [start - 2 * u for u in RAY])
    betas = [float(np.log(alpha_beta(*one.logits)[1])) for one in found.points[:3]]
    np.testing.assert_allclose(betas, [np.log(0.05) - u for u in RAY])
    np.testing.assert_allclose(log_alphas(found.points[3:5]), [start - 3.0, start - 11.0])
    np.testing.assert_allclose(log_alphas(found.points[5:6]), start - 6.0)
    assert len(found.chosen.results) == 2


@pytest.mark.parametrize(("where", "beside"), [(0.0, [3.0, -3.0]), (4.0, [3.0, -3.0]), (-30.0, [-9.33, -12.67])])
def test_beside_the_predicted_point_a_stronger_penalty_is_tried_too(monkeypatch, where, beside):
    start = np.log(0.02)
    found, _ = run(monkeypatch, best_log_alpha=start + where, width=8.0)
    np.testing.assert_allclose(log_alphas(found.points[3:5]), np.add(start, beside), atol=0.01)


def test_the_longer_training_takes_the_strongest_penalty_that_is_about_as_good(monkeypatch):
    found, _ = run(monkeypatch, best_log_alpha=np.log(0.02) - 6.0, width=100.0)
    (longer,) = [one for one in found.points if one.recipe == LONG]
    assert longer.logits == pytest.approx(CENTRE)
    found, _ = run(monkeypatch, best_log_alpha=np.log(0.02) - 16.0, width=4.0)
    (longer,) = [one for one in found.points if one.recipe == LONG]
    assert log_alphas([longer])[0] == pytest.approx(np.log(0.02) - 16.0)


def test_from_a_weak_point_the_ray_ends_where_the_diagonal_does(monkeypatch):
    weak = tuple(map(float, logits_from_alpha_beta(np.exp(-24.0), np.exp(-9.0))))
    found, _ = run(monkeypatch, best_log_alpha=-26.0, centre=weak)
    assert min(log_alphas(found.points)) > -28.0
    assert len({one.logits for one in found.points if one.recipe == SHORT}) == 6


@pytest.mark.parametrize(("n_held", "n_folds"), [(13, 5), (30, 4), (34, 3), (200, 3)])
def test_as_many_folds_as_hold_out_a_hundred_rows_but_three_at_least(n_held, n_folds):
    fold = FOLDS[0]._replace(held=FOLDS[0].held.take(np.arange(n_held)))
    assert len(enough_folds([fold] * 5)) == n_folds
    assert len(enough_folds([fold])) == 1


def test_it_takes_less_than_a_quarter_of_the_steps_of_the_diagonal():
    folds = [FOLDS[0]._replace(seeds=(1, 2))] * 3
    search = CandidateSearch(folds, [SHORT, LONG], calibrate=True)
    search.plan([6, 1], 1)
    around = search.n_planned
    search.folds = folds[:1] * 5
    search.plan([18, 9], 3)
    assert around < 0.25 * search.n_planned

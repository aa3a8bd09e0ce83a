"""The search on the sine set: which points it trains, on how many folds, and that held-out rows stay held out."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import r2_score

from heteroscope import datasets
from heteroscope.core.grids import diagonal_logits
from heteroscope.core.regularisation import alpha_beta
from heteroscope.data.rows import Rows
from heteroscope.networks import Architecture
from heteroscope.search import (
    CandidateSearch,
    Fold,
    cross_validate,
    held_out_rows,
    held_out_scores,
    held_rows,
    judge_folds,
    results_table,
    search_diagonal,
    search_grid,
    std_scale,
)
from heteroscope.search.cross_validation import cap_predictions
from heteroscope.search.diagonal_and_grid import (
    add_off_diagonal_points,
    bisect_transition,
    off_diagonal_points,
    refine_around,
    up_to_plateau,
)
from heteroscope.training.recipes import mean_first_recipe
from tests.search.made_up_points import FLAT, FOLDS, HONEST, Y, point

RECIPE = mean_first_recipe(Architecture(1, (24, 24)), 600, "cosine")


@pytest.fixture(scope="module")
def folds():
    split = datasets.load("sine")
    rows = Rows(split.x_train, split.y_train, np.ones(64))
    index = np.random.default_rng(0).permutation(64)
    parts = [index[:21], index[21:40], index[40:]]
    return [Fold(rows.take(np.setdiff1d(index, part)), rows.take(part), (seed,)) for seed, part in enumerate(parts)]


@pytest.fixture(scope="module")
def searched(folds):
    reported = []
    search = CandidateSearch(folds, [RECIPE], progress=lambda *now: reported.append(now))
    found = search_diagonal(search, np.array([0.0, 4.0, 8.0, 12.0]), n_fine=4, n_finalists=2)
    return found, reported


def test_only_finalists_see_all_folds_and_the_chosen_point_is_one(searched):
    found, reported = searched
    assert len(found.points) == 8
    assert sorted(len(point.results) for point in found.points) == [1] * 6 + [3] * 2
    assert len(found.points[found.best].results) == 3
    assert reported == sorted(reported)
    assert reported[-1] == (12 * RECIPE.steps, 12 * RECIPE.steps)


def test_to_calibrate_finalists_that_have_lost_leave_after_each_fold_and_near_ties_stay(monkeypatch):
    explained = {1: 0.0, 2: 0.7, 3: 0.5, 4: 0.9, 5: 0.2}  # of the target, in every fold
    folds = 2 * FOLDS
    made = {t: point(t, 1.0, mean=share * Y, recipe=RECIPE) for t, share in explained.items()}
    made[6] = point(6, 1.0, mean=0.9 * Y + 0.003 * np.random.default_rng(1).normal(size=len(Y)), recipe=RECIPE)
    whole = {t: one._replace(results=2 * one.results) for t, one in made.items()}
    seen = iter([slice(1, 2), slice(2, 3), slice(3, 4)])

    def fit(_, points, folds, __):
        now = next(seen)
        assert len(folds) == now.stop - now.start
        return [whole[t]._replace(results=whole[t].results[now]) for t, _ in points]

    monkeypatch.setattr(CandidateSearch, "evaluate", fit)
    first = [one._replace(results=one.results[:1]) for one in whole.values()]
    found = CandidateSearch(folds, [RECIPE], calibrate=True).select(first, n_finalists=5)
    assert [len(point.results) for point in found.points] == [1, 2, 2, 4, 2, 4]
    assert set(found.near) == {3, 5}
    assert found.near[0] == found.best


def test_a_finalist_that_is_left_alone_sees_all_other_folds_at_once(monkeypatch):
    folds = 2 * FOLDS
    alone = point(1, 1.0)._replace(results=2 * point(1, 1.0).results, recipe=RECIPE)
    requested = []

    def fit(_, points, folds, __):
        requested.append(len(folds))
        return [alone._replace(results=alone.results[1:])]

    monkeypatch.setattr(CandidateSearch, "evaluate", fit)
    found = CandidateSearch(folds, [RECIPE], calibrate=True).select(
        [alone._replace(results=alone.results[:1])], n_finalists=3
    )
    assert requested == [3]
    assert found.chosen == alone


def test_new_points_lie_in_the_transition(searched):
    found, _ = searched
    logits = [point.logits[0] for point in found.points]
    assert logits == sorted(logits)
    new = [t for t in logits if t not in (0.0, 4.0, 8.0, 12.0)]
    phases = {point.logits[0]: point.phase for point in found.points}
    last_flat = max(t for t in (0.0, 4.0, 8.0) if phases[t].startswith("U"))
    first_over = min(t for t in (4.0, 8.0, 12.0) if phases[t].startswith("O"))
    assert any(last_flat < t < first_over for t in new)


def test_held_out_predictions_come_from_models_that_did_not_see_the_row(folds, searched):
    chosen = searched[0].points[searched[0].best]
    spoiled = [fold._replace(held=fold.held._replace(y=fold.held.y + 100.0)) for fold in folds]
    (again,) = cross_validate(spoiled, [chosen.logits], RECIPE)
    np.testing.assert_array_equal(again.held_out, chosen.held_out)
    assert again.observables.held_out.score > 100 * chosen.observables.held_out.score


def test_the_table_has_one_row_a_point_and_agrees_with_the_points(folds, searched):
    found, _ = searched
    table = results_table(found, folds, "nll", calibrate=False)
    assert {len(column) for column in table.values()} == {8}
    best = found.points[found.best]
    by_fold = [
        -stats.norm(result.means[0], result.stds[0]).logpdf(fold.held.y).mean()
        for fold, result in zip(folds, best.results, strict=True)
    ]
    assert table["mean_test_nll"][found.best] == pytest.approx(np.mean(by_fold))
    assert table["split1_test_nll"][found.best] == pytest.approx(by_fold[1])
    assert np.isnan(table["split1_test_nll"][table["n_folds"] == 1]).all()
    assert table["held_out_loss"][found.best] == pytest.approx(np.average(by_fold, weights=[21, 19, 24]))
    assert set(table["rank_test_score"][table["n_folds"] == 3]) == {1, 2}
    np.testing.assert_allclose(table["rho"] + table["gamma"], 1.0)


def test_off_diagonal_points_keep_the_penalty_of_the_mean_and_free_the_precision():
    alphas, betas = np.transpose(
        [alpha_beta(*point) for point in [(4.0, -4.0), *off_diagonal_points([(4.0, -4.0)], 3)]]
    )
    np.testing.assert_allclose(alphas, alphas[0])
    np.testing.assert_allclose(betas, betas[0] / np.sqrt([1, 10, 100, 1000]))
    assert off_diagonal_points([(4.0, -4.0)], 2, stride=2) == off_diagonal_points([(4.0, -4.0)], 4)[1::2]


def test_two_starts_share_the_off_diagonal_points_and_get_as_far_as_one():
    starts = [(4.0, -4.0), (7.0, -7.0)]
    alphas, betas = np.transpose([alpha_beta(*point) for point in off_diagonal_points(starts, 5)])
    (alpha_4, beta_4), (alpha_7, beta_7) = (alpha_beta(*start) for start in starts)
    np.testing.assert_allclose(alphas, [alpha_4, alpha_7, alpha_4, alpha_7, alpha_4])
    np.testing.assert_allclose(betas, [beta_4 / 10, beta_7 / 10, beta_4 / 100, beta_7 / 100, beta_4 / 1000])


def test_off_diagonal_points_start_at_the_best_score_and_at_the_best_mean(monkeypatch):
    means = {2: 0.5 * Y, 4: 0.9 * Y, 6: 0.6 * Y}
    stds = {2: 0.5, 4: 3.0, 6: 0.4}  # at 4 the mean is best, and its std far too large
    path = [
        point(t, stds[t], mean=means[t])._replace(results=point(t, stds[t], mean=means[t]).results[:1]) for t in means
    ]
    requested = []
    monkeypatch.setattr(CandidateSearch, "evaluate", lambda _, points, *__: requested.extend(points) or [])
    search = CandidateSearch(FOLDS, [RECIPE])
    assert [path[k].logits[0] for k in (search.best_by_score(path), int(np.argmin(search.mean_errors(path))))] == [6, 4]
    assert add_off_diagonal_points(search, path, 4) == path
    assert requested == off_diagonal_points([(6.0, -6.0), (4.0, -4.0)], 4)
    requested.clear()
    add_off_diagonal_points(search, path[::2], 4)  # one point is best in both
    assert requested == off_diagonal_points([(6.0, -6.0)], 4)


def test_noise_that_varies_takes_the_search_off_the_diagonal():
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (200, 1))
    y = x[:, 0] + np.where(x[:, 0] > 0, 1.0, 0.05) * random.normal(size=200)
    rows = Rows(x, y, np.ones(200))
    halves = [np.arange(0, 200, 2), np.arange(1, 200, 2)]
    folds = [Fold(rows.take(one), rows.take(other), (0, 1)) for one, other in (halves, halves[::-1])]
    search = CandidateSearch(folds, [RECIPE], calibrate=True)
    straight, bent = (
        search_diagonal(search, np.array([2.0, 3.0, 4.0]), 0, 2, n_off_diagonal) for n_off_diagonal in (0, 4)
    )
    assert sum(straight.chosen.logits) == pytest.approx(0.0)
    assert sum(bent.chosen.logits) > 0.5
    losses = [scaled_scores(found.chosen, folds, std_scale(found.chosen, folds))["nll"] for found in (straight, bent)]
    assert losses[1] < losses[0] - 0.1


def test_no_std_is_believed_beyond_the_range_of_the_targets(folds, searched):
    point = searched[0].chosen
    huge = point._replace(results=tuple(result._replace(stds=result.stds * 1e4) for result in point.results))
    assert all(
        np.all(result.stds == fold.training.y.max() - fold.training.y.min())
        for fold, result in zip(folds, cap_predictions(huge, folds).results, strict=True)
    )
    np.testing.assert_array_equal(cap_predictions(point, folds).held_out, point.held_out)


def scaled_scores(point, folds, scale):
    mean, std = point.held_out
    return held_out_scores(held_rows(folds), stats.norm(mean, scale * std))


def test_held_out_scores_are_of_the_scaled_std_over_all_folds(folds, searched):
    best = searched[0].chosen
    y, (mean, std) = np.concatenate([fold.held.y for fold in folds]), best.held_out
    scores = scaled_scores(best, folds, 1.7)
    assert scores["nll"] == pytest.approx(-stats.norm(mean, 1.7 * std).logpdf(y).mean())
    assert scores["interval_coverage"] == pytest.approx(np.mean(np.abs(y - mean) < 1.7 * std * stats.norm.ppf(0.95)))
    assert scores["r2"] == pytest.approx(r2_score(y, mean))


def test_the_grid_holds_the_diagonal_and_gives_it_the_same_numbers(folds):
    line = np.array([0.0, 4.0, 8.0])
    found = search_grid(CandidateSearch(folds[:2], [RECIPE]), line, 2)
    assert len(found.points) == 9
    assert sorted({point.logits[0] for point in found.points}) == line.tolist()
    assert sorted({point.logits[1] for point in found.points}) == sorted(-line)
    (four,) = cross_validate(folds[:1], [(4.0, -4.0)], RECIPE)
    (same,) = (point for point in found.points if point.logits == (4.0, -4.0))
    np.testing.assert_array_equal(four.results[0].means, same.results[0].means)
    assert sum(len(point.results) for point in found.points) == 9 + 2


def test_a_fold_has_a_member_for_each_of_its_seeds(folds):
    with_seeds = [fold._replace(seeds=(k, 10 + k)) for k, fold in enumerate(folds[:2])]
    reported = []
    search = CandidateSearch(with_seeds, [RECIPE], calibrate=True, progress=lambda *now: reported.append(now))
    found = search_diagonal(search, np.array([2.0, 4.0, 8.0]), n_fine=0, n_finalists=2)
    assert sorted([result.means.shape[0] for result in point.results] for point in found.points) == [
        [2],
        [2, 2],
        [2, 2],
    ]
    for fold, number, seed in ((0, 1, 10), (1, 0, 1)):
        (alone,) = cross_validate([with_seeds[fold]._replace(seeds=(seed,))], [found.chosen.logits], RECIPE)
        np.testing.assert_array_equal(found.chosen.results[fold].means[number], alone.results[0].means[0])
    assert reported[-1] == (10 * RECIPE.steps, 10 * RECIPE.steps)
    mean, std = found.chosen.held_out
    y = np.concatenate([fold.held.y for fold in with_seeds])
    verdict = judge_folds(with_seeds, held_out_rows(with_seeds, mean, std, None))
    assert verdict.squared_score == pytest.approx(np.mean(((y - mean) / std) ** 2))


@pytest.mark.parametrize(("signal", "expected_steps"), [(0.0, 30), (3.0, 600)])
def test_noise_alone_is_better_off_with_few_steps_and_a_clear_signal_with_many(signal, expected_steps):
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (90, 4))
    rows = Rows(x, signal * np.sin(4 * x[:, 0]) + 0.1 * random.normal(size=90), np.ones(90))
    folds = [Fold(rows.take(np.arange(60)), rows.take(np.arange(60, 90)), (0, 1))]
    shorter, longer = (mean_first_recipe(Architecture(4, (24, 24)), n_steps) for n_steps in (30, 600))
    for search_by, more in ((search_diagonal, {"n_fine": 0}), (search_grid, {})):
        reported = []
        search = CandidateSearch(
            folds, [shorter, longer], calibrate=True, progress=lambda *now, reported=reported: reported.append(now)
        )
        found = search_by(search, np.array([8.0, 12.0]), n_finalists=1, **more)
        assert found.chosen.recipe.steps == expected_steps
        assert {point.recipe for point in found.points} == {shorter, longer}
        (again,) = cross_validate(folds, [found.chosen.logits], found.chosen.recipe)
        np.testing.assert_array_equal(again.held_out, found.chosen.held_out)
        done, share = [now for now, _ in reported], [now / total for now, total in reported]
        assert done == sorted(done)
        assert share == sorted(share), "the plan only becomes shorter"
        assert reported[-1][0] == reported[-1][1] >= 2 * len(found.points)


def test_longer_trainings_look_up_to_where_the_short_ones_level_off_and_once_beyond():
    path = [point(t, 1, observables=FLAT if t < 3 else HONEST) for t in (0, 2, 4, 6, 8, 10, 12)]
    scores = np.array([5.0, 4.9, 3.0, 1.1, 1.0, 1.02, 1.05])  # 97 % of the gain is reached at 6
    np.testing.assert_allclose(up_to_plateau(path, scores), [3, 4, 5, 6, 9])
    np.testing.assert_allclose(up_to_plateau(path[:1], scores[:1]), [0])
    never_better = np.array([1.0, 2.0, 3.0, 3.0, 3.0, 3.0, np.inf])
    np.testing.assert_allclose(up_to_plateau(path, never_better), [0, 6])
    np.testing.assert_allclose(up_to_plateau(path, np.array([np.inf, *scores[1:]])), [3.5, 5, 6.5, 8, 10])
    np.testing.assert_allclose(up_to_plateau(path, np.full(7, np.inf)), [0, 6])


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

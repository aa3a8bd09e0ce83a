"""The search by halving: which points it trains for how long, with how many models, and which length it chooses."""

import numpy as np
import pytest

from heteroscope.core import alpha_beta
from heteroscope.networks import Architecture
from heteroscope.search import CandidateSearch
from heteroscope.search.halving import SECOND_POINTS, search_by_halving, strong_penalties
from heteroscope.training import mean_first_recipe
from tests.search.made_up_points import FOLDS, Y, point

SHORT, HALF, FULL = (mean_first_recipe(Architecture(1, (8,)), n_steps) for n_steps in (25, 50, 200))
FOLD = FOLDS[0]._replace(seeds=(1, 2))
LINE = np.array([0.0, 3.0, 6.0, 9.0, 12.0])
BEST = 6.0  # logit of the point whose mean explains most


def run(monkeypatch, gain, member_noise=None):
    """Search with models whose mean explains more the nearer they are to BEST, and `gain[steps]` more of the target."""
    asked, noise = [], np.random.default_rng(0).normal(size=(2, len(Y)))

    def evaluate(self, points, folds, recipe):
        (fold,) = folds
        asked.append((len(points), fold.seeds, recipe.steps))
        found = []
        for where in points:
            share = 0.6 * np.exp(-(((where[0] - BEST) / 6) ** 2)) + gain[recipe.steps]
            amount = 0.0 if member_noise is None else member_noise[recipe.steps]
            members = []
            for seed in fold.seeds:
                mean = share * Y + amount * noise[seed - 1]
                one = point(0.0, np.sqrt(np.mean((Y - mean) ** 2)), mean=mean, recipe=recipe)
                members.append(one.results[0])
            both = members[0]._replace(
                means=np.concatenate([one.means for one in members]), stds=np.concatenate([one.stds for one in members])
            )
            found.append(one._replace(logits=where, results=(both,)))
        return found

    monkeypatch.setattr(CandidateSearch, "evaluate", evaluate)
    search = CandidateSearch([FOLD], [SHORT, HALF, FULL], calibrate=True, n_first=1)
    return search_by_halving(search, LINE, n_fine=4, n_off_diagonal=4), asked


def test_fewer_points_are_trained_for_longer_and_the_best_to_the_end_with_all_members(monkeypatch):
    found, asked = run(monkeypatch, {25: 0.0, 50: 0.1, 200: 0.2})
    rounds = {steps: sum(n for n, _, s in asked if s == steps) for steps in (25, 50, 200)}
    assert rounds[25] > rounds[50] > rounds[200] == 1
    assert rounds[50] <= SECOND_POINTS + 1 + 4
    assert all(seeds == (1,) for _, seeds, steps in asked if steps < 200), "one model per point"
    assert asked[-1] == (1, (1, 2), 200)
    assert found.chosen.recipe == FULL
    assert found.chosen.results[0].means.shape[0] == 2
    assert found.near[0] == found.best
    assert abs(found.chosen.logits[0] - BEST) < 2.0


@pytest.mark.parametrize(
    ("gain", "chosen"), [({25: 0.2, 50: 0.1, 200: 0.0}, SHORT), ({25: 0.0, 50: 0.1, 200: 0.0}, HALF)]
)
def test_a_shorter_training_is_chosen_if_longer_ones_are_worse(monkeypatch, gain, chosen):
    found, _ = run(monkeypatch, gain)
    assert found.chosen.recipe == chosen
    assert found.chosen.results[0].means.shape[0] == 2, "with all members, for the factor of the std"


def test_a_round_that_lost_may_win_at_the_end(monkeypatch):
    found, _ = run(monkeypatch, {25: 0.1, 50: 0.0, 200: 0.2})
    assert found.chosen.recipe == FULL


def test_where_the_first_member_of_the_longer_training_is_worse_ensembles_decide(monkeypatch):
    # one long model is worse by its own noise, and two are better together
    found, _ = run(monkeypatch, {25: 0.0, 50: 0.2, 200: 0.39}, {25: 0.0, 50: 0.0, 200: 0.25})
    assert found.chosen.recipe == FULL
    found, _ = run(monkeypatch, {25: 0.0, 50: 0.2, 200: 0.2}, {25: 0.0, 50: 0.0, 200: 0.5})
    assert found.chosen.recipe == HALF


def test_off_the_diagonal_the_mean_keeps_a_strong_penalty(monkeypatch):
    found, _ = run(monkeypatch, {25: 0.0, 50: 0.1, 200: 0.2})
    off = [one for one in found.points if abs(sum(one.logits)) > 1e-6]
    assert off
    strongest = max(alpha_beta(*one.logits)[0] for one in off)
    assert strongest > alpha_beta(BEST, -BEST)[0], "stronger than that of the best score"


def test_strong_penalties_are_the_first_of_the_plateau_and_halfway_to_the_one_before():
    line = [point(t, 1.0) for t in LINE]
    assert strong_penalties(line, np.array([1.0, 0.9, 0.31, 0.3, 0.35])) == [(6.0, -6.0), (4.5, -4.5)]
    assert strong_penalties(line, np.full(5, 0.5)) == [(0.0, -0.0)]

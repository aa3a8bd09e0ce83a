"""Which targets get a trial of their logarithm, and what is chosen with and without one."""

import numpy as np
import pytest

from heteroscope.core import InputError
from heteroscope.data.rows import Rows
from heteroscope.networks import Architecture
from heteroscope.search import (
    Fold,
    FoldedRows,
    SearchPlan,
    check_target,
    choose_target,
    may_need_logarithm,
    target_scale,
)
from heteroscope.training import mean_first_recipe

PLAN = SearchPlan("diagonal", "nll", True, 8, 6, 4, 3, keep_members=False)
RECIPE = mean_first_recipe(Architecture(1, (8,)), 100)
SKEWED = np.exp(np.random.default_rng(0).normal(size=100))


def folded(y):
    rows = Rows(np.arange(float(len(y)))[:, None], y, np.ones(len(y)))
    return FoldedRows(rows, [Fold(rows, rows)])


@pytest.mark.parametrize(
    ("y", "wanted"),
    [
        (np.exp(np.random.default_rng(0).normal(size=200)), True),
        (np.random.default_rng(0).normal(10, 1, 200), False),
        (np.random.default_rng(0).exponential(size=200) ** 3 - 1e-3, False),
        (-np.exp(np.random.default_rng(0).normal(size=200)) + 99, False),
        (np.full(200, 3.0), False),
    ],
)
def test_the_trial_is_for_positive_skewed_targets(y, wanted):
    assert may_need_logarithm(Rows(np.zeros((len(y), 1)), y, np.ones(len(y)))) is wanted


@pytest.mark.parametrize(("losses", "chosen"), [((1.0, 0.9), "log"), ((0.9, 1.0), "none"), ((1.0, np.nan), "none")])
def test_the_lower_held_out_loss_decides(monkeypatch, losses, chosen):
    monkeypatch.setattr(target_scale, "_trial_loss", lambda plan, data, logged, *_: losses[logged])
    assert choose_target("auto", PLAN, folded(SKEWED), RECIPE, "auto") == chosen


@pytest.mark.parametrize(
    ("target", "changes", "y", "family", "chosen"),
    [
        ("log", {}, SKEWED, "auto", "log"),
        ("none", {}, SKEWED, "auto", "none"),
        ("auto", {"calibrate": False}, SKEWED, "auto", "none"),
        ("auto", {"selection": "paper"}, SKEWED, "auto", "none"),
        ("auto", {}, SKEWED, "student-t", "none"),
        ("auto", {}, SKEWED - 1.0, "auto", "none"),
    ],
)
def test_without_a_trial(monkeypatch, target, changes, y, family, chosen):
    monkeypatch.setattr(target_scale, "_trial_loss", None)
    assert choose_target(target, PLAN._replace(**changes), folded(y), RECIPE, family) == chosen


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="needs targets above 0, and the smallest is -1"):
        choose_target("log", PLAN, folded(np.array([-1.0, 2.0])), RECIPE, "auto")
    with pytest.raises(InputError, match="express them in another unit"):
        choose_target("log", PLAN, folded(np.array([1e-200, 2.0])), RECIPE, "auto")
    with pytest.raises(InputError, match="target must be one of auto, none, log, got 'sqrt'"):
        check_target("sqrt", "auto")
    with pytest.raises(InputError, match="has no finite mean"):
        check_target("log", "student-t")

"""The plan of a search: which lengths it compares, when it halves its points, and which search it runs."""

import numpy as np
import pytest

from heteroscope.core import InputError
from heteroscope.data.rows import Rows
from heteroscope.networks import Architecture
from heteroscope.search import Fold, FoldedRows, SearchPlan, SearchResult, check_plan, plan, search_by_plan
from heteroscope.search.halving import HALVING_LENGTHS
from heteroscope.training import mean_first_recipe

PLAN = SearchPlan("diagonal", "nll", True, 8, 6, 4, 3, keep_members=False)


def rows(n, n_folds):
    many = Rows(np.arange(float(n))[:, None], np.arange(float(n)), np.ones(n))
    return FoldedRows(many, [Fold(many, many)] * n_folds)


@pytest.mark.parametrize(
    ("changes", "n", "n_folds", "lengths"),
    [
        ({}, 500, 5, (0.25, 1.0)),
        ({}, 100_000, 1, HALVING_LENGTHS),
        ({}, 99_999, 1, (0.25, 1.0)),
        ({}, 100_000, 5, (0.25, 1.0)),
        ({"kind": "grid"}, 100_000, 1, (0.25, 1.0)),
        ({"selection": "paper"}, 100_000, 1, (1.0,)),
        ({"calibrate": False}, 100_000, 1, (1.0,)),
    ],
)
def test_lengths(changes, n, n_folds, lengths):
    assert PLAN._replace(**changes).lengths(rows(n, n_folds)) == lengths


def test_members_per_fold():
    assert [PLAN.members_per_fold(n) for n in (1, 2, 5)] == [1, 2, 2]
    assert PLAN._replace(calibrate=False).members_per_fold(5) == 1


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"kind": "line"}, "search must be one of diagonal, grid, theory, got 'line'"),
        ({"selection": "rmse"}, "selection must be one of nll, crps, paper, got 'rmse'"),
        ({"kind": "theory", "selection": "paper"}, "is a rule for the diagonal"),
    ],
)
def test_plans_that_make_no_sense_are_refused(changes, complaint):
    check_plan(PLAN)
    with pytest.raises(InputError, match=complaint):
        check_plan(PLAN._replace(**changes))


@pytest.mark.parametrize(
    ("changes", "n", "name", "arguments"),
    [
        ({}, 500, "search_diagonal", (6, 3, 4)),
        ({"calibrate": False}, 500, "search_diagonal", (6, 3, 0)),
        ({}, 100_000, "search_by_halving", (6, 4)),
        ({"kind": "grid"}, 500, "search_grid", (3,)),
        ({"kind": "theory"}, 500, "search_around", ()),
    ],
)
def test_the_plan_decides_which_search_runs(monkeypatch, changes, n, name, arguments):
    called = {}

    def record(search, first, *rest):
        called.update(search=search, first=first, rest=rest)
        return SearchResult([], 0)

    monkeypatch.setattr(plan, name, record)
    chosen, data = PLAN._replace(**changes), rows(n, 1)
    recipes = [mean_first_recipe(Architecture(1, (4,)), 10)] * len(chosen.lengths(data))
    search_by_plan(chosen, data, recipes, "auto", lambda: (3.0, -3.0))
    assert called["rest"] == arguments
    assert called["search"].n_first == (1 if name == "search_by_halving" else None)
    if name == "search_around":
        assert called["first"] == (3.0, -3.0)
    else:
        np.testing.assert_array_equal(called["first"], chosen.line)

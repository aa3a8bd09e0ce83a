"""The verdict on folds: each held-out row beside the constant model of its own fold, named by its number."""

import numpy as np
import pytest

from heteroscope.data import Rows, merge_rows
from heteroscope.search import Fold, held_out_rows, judge_folds

RANDOM = np.random.default_rng(0)


def given_rows(n=60):
    x = RANDOM.normal(size=(n, 2))
    return Rows(x, x[:, 0] + 0.3 * RANDOM.normal(size=n), np.ones(n))


def test_the_constant_model_of_a_row_is_that_of_its_fold():
    rows = given_rows(20)
    folds = [Fold(rows.take(np.arange(10)), rows.take(np.arange(10, 20)))]
    found = judge_folds(folds, held_out_rows(folds, rows.y[10:], np.ones(10), rows))
    assert found.constant.rmse == pytest.approx(np.sqrt(np.mean((rows.y[10:] - rows.y[:10].mean()) ** 2)))


def test_a_row_is_named_by_its_number_among_the_rows_as_given():
    rows = given_rows()
    rows.y[37] = 100.0
    rows.x[5] = [-0.0, 0.0]
    merged = merge_rows(*rows)  # sorted
    halves = np.arange(30), np.arange(30, 60)
    folds = [Fold(merged.take(halves[1]), merged.take(halves[0])), Fold(merged.take(halves[0]), merged.take(halves[1]))]
    held = held_out_rows(folds, merged.x[:, 0], np.full(60, 0.3), rows)
    assert [row.number for row in judge_folds(folds, held).named] == [37]
    np.testing.assert_array_equal(held.y, rows.y[held.number])
    np.testing.assert_array_equal(held.fold, np.repeat([0, 1], 30))
    np.testing.assert_allclose(held.score, (rows.y[held.number] - rows.x[held.number, 0]) / 0.3)
    unnamed = held_out_rows(folds, merged.x[:, 0], np.full(60, 0.3), None)
    assert judge_folds(folds, unnamed).named[0].number is None


def test_without_held_out_rows_there_is_no_verdict():
    rows = given_rows(4)
    none = rows.take(np.arange(0))
    assert held_out_rows([Fold(rows, none)], np.empty(0), np.empty(0), rows) is None
    assert judge_folds([Fold(rows, none)], None) is None

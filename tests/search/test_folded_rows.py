"""Rows with their folds: counts, logarithms, and a few wild targets that are neither trained on nor compared by."""

import numpy as np

from heteroscope.data.rows import Rows
from heteroscope.search import Fold, FoldedRows

Y = np.exp(np.random.default_rng(0).normal(size=100))
ROWS = Rows(np.arange(100.0)[:, None], Y, np.ones(100))


def folded(rows):
    index = np.arange(100)
    parts = np.array_split(index, 5)
    return FoldedRows(rows, [Fold(rows.take(np.setdiff1d(index, part)), rows.take(part)) for part in parts])


def test_counts():
    data = folded(ROWS)
    assert data.n_held == 100
    assert data.training_share == 0.8
    assert FoldedRows(ROWS, data.folds[:2]).n_held == 40


def test_logarithms_are_those_of_all_rows_and_folds():
    logged = folded(ROWS).logged()
    np.testing.assert_allclose(logged.rows.y, np.log(Y))
    np.testing.assert_allclose(np.concatenate([fold.held.y for fold in logged.folds]), np.log(Y))
    np.testing.assert_allclose(logged.folds[1].training.y, np.log(np.delete(Y, np.arange(20, 40))))


def test_wild_targets_are_not_trained_on_and_have_no_weight_where_points_are_compared():
    wild = ROWS._replace(y=np.where(np.arange(100) == 25, 1e4, Y))
    tamed = folded(wild).without_wild_targets()
    assert len(tamed.rows.y) == 99
    assert [len(fold.training.y) for fold in tamed.folds] == [79, 80, 79, 79, 79]
    assert [fold.held.weight.sum() for fold in tamed.folds] == [20, 19, 20, 20, 20]
    assert tamed.folds[1].held.weight[5] == 0
    assert folded(ROWS).without_wild_targets().n_held == 100

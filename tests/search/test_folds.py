"""Folds: rows of the same inputs are held out together, all others at random."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from heteroscope.data.rows import merge_rows
from heteroscope.search import held_out_fold, make_folds


def repeated(n_inputs, n_copies, seed=0):
    random = np.random.default_rng(seed)
    x = np.repeat(random.normal(size=(n_inputs, 2)), n_copies, axis=0)
    return merge_rows(x, random.normal(size=len(x)), np.ones(len(x)))


def inputs(rows):
    return {row.tobytes() for row in rows.x}


@pytest.mark.parametrize("cv", [5, 0.2])
def test_rows_of_the_same_inputs_are_on_one_side(cv):
    rows = repeated(20, 3)
    folds = make_folds(cv, rows, rows, np.random.RandomState(0))
    for fold in folds:
        assert inputs(fold.training) & inputs(fold.held) == set()
        assert len(fold.held.y) == pytest.approx(12, abs=1)
        assert len(fold.held.y) + len(fold.training.y) == 60
    if cv == 5:
        assert sorted(np.concatenate([fold.held.y for fold in folds])) == sorted(rows.y)
    other = make_folds(cv, rows, rows, np.random.RandomState(1))
    assert inputs(folds[0].held) != inputs(other[0].held), "the folds are random"


def test_groups_of_unequal_size_make_folds_of_about_equal_size():
    random = np.random.default_rng(3)
    x = np.repeat(np.arange(30.0), random.integers(1, 8, 30))[:, None]
    rows = merge_rows(x, random.normal(size=len(x)), np.ones(len(x)))
    sizes = [len(fold.held.y) for fold in make_folds(5, rows, rows, np.random.RandomState(0))]
    assert max(sizes) - min(sizes) <= 1, "single rows fill what the groups leave"


def test_different_inputs_are_split_as_before():
    rows = repeated(40, 1)
    seed = np.random.RandomState(4).randint(2**31 - 1)
    expected = KFold(5, shuffle=True, random_state=seed).split(rows.x)
    for fold, (_, held) in zip(make_folds(5, rows, rows, np.random.RandomState(4)), expected, strict=True):
        np.testing.assert_array_equal(fold.held.y, rows.y[held])
    share = held_out_fold(0.2, rows, np.random.RandomState(4))
    np.testing.assert_array_equal(share.held.y, rows.y[np.sort(np.random.RandomState(4).permutation(40)[:8])])


@pytest.mark.parametrize("n_inputs", [1, 3, 9])
def test_with_few_different_inputs_rows_are_split_one_by_one(n_inputs):
    rows = repeated(n_inputs, 90 // n_inputs)
    sizes = [len(fold.held.y) for fold in make_folds(5, rows, rows, np.random.RandomState(0))]
    assert sizes == [18] * 5


def test_rows_of_one_input_that_would_fill_a_fold_are_split_one_by_one():
    x = np.concatenate([np.zeros(80), np.repeat(np.arange(1.0, 21.0), 2)])[:, None]
    rows = merge_rows(x, np.random.default_rng(0).normal(size=120), np.ones(120))
    for fold in make_folds(5, rows, rows, np.random.RandomState(0)):
        assert len(fold.held.y) == 24
        assert inputs(fold.training) & inputs(fold.held) <= {np.zeros(1).tobytes()}
    fold = held_out_fold(0.2, rows, np.random.RandomState(0))
    assert len(fold.held.y) == pytest.approx(24, abs=1)

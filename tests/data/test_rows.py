"""Merged rows carry the same information as the rows they came from."""

import numpy as np
import pytest

from heteroscope.data.rows import Rows, merge_rows


def test_identical_rows_become_one_of_their_summed_weight():
    x = np.array([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0], [1.0, 2.0]])
    y = np.array([3.0, 1.0, 3.0, 4.0])
    rows = merge_rows(x, y, np.array([1.0, 2.0, 0.5, 3.0]))
    np.testing.assert_array_equal(rows.x, [[0, 5], [1, 2], [1, 2]])
    np.testing.assert_array_equal(rows.y, [1, 3, 4])
    np.testing.assert_array_equal(rows.weight, [2, 1.5, 3])


def test_rows_of_weight_zero_vanish():
    rows = merge_rows(np.arange(4.0)[:, None], np.arange(4.0), np.array([0.0, 1.0, 0.0, 2.0]))
    np.testing.assert_array_equal(rows.y, [1, 3])


def test_the_order_of_rows_does_not_matter():
    random = np.random.default_rng(0)
    x, y, weight = random.normal(size=(30, 3)), random.normal(size=30), random.uniform(size=30)
    shuffled = random.permutation(30)
    for merged, again in zip(
        merge_rows(x, y, weight), merge_rows(x[shuffled], y[shuffled], weight[shuffled]), strict=True
    ):
        np.testing.assert_array_equal(merged, again)


def test_scaling_matches_scikit_learn():
    from sklearn.preprocessing import StandardScaler

    random = np.random.default_rng(1)
    x, y, weight = random.normal(3, 5, size=(40, 2)), random.normal(size=40), random.uniform(0.1, 2, size=40)
    rows = merge_rows(x, y, weight)
    scaler = StandardScaler().fit(x, sample_weight=weight)
    scaling = rows.scaling()
    np.testing.assert_allclose(scaling.x_centre, scaler.mean_)
    np.testing.assert_allclose(scaling.x_scale, scaler.scale_)
    batch = rows.batch(scaling)
    np.testing.assert_allclose(np.average(batch.y, weights=rows.weight), 0, atol=1e-6)
    np.testing.assert_allclose(np.average(np.square(batch.y), weights=rows.weight), 1, rtol=1e-5)


def rows_of(y, weight=None):
    y = np.asarray(y, float)
    return Rows(np.zeros((len(y), 1)), y, np.ones(len(y)) if weight is None else np.asarray(weight, float))


def test_wild_targets_are_left_out_and_no_others():
    y = np.random.default_rng(0).normal(size=500)
    wild = np.where(np.arange(500) % 100 == 0, 100.0, y)
    fences = rows_of(wild).target_fences()
    assert 35 < fences[1] < 50
    np.testing.assert_array_equal(rows_of(wild).within(fences).y, y[wild < 50])
    ignoring = rows_of(wild).ignoring_beyond(fences)
    np.testing.assert_array_equal(ignoring.weight, wild < 50)
    np.testing.assert_array_equal(ignoring.y, wild)
    np.testing.assert_array_equal(rows_of(y).within(rows_of(y).target_fences()).y, y)
    alone = rows_of([100.0])
    np.testing.assert_array_equal(alone.ignoring_beyond(fences).weight, alone.weight)


@pytest.mark.parametrize("y", [np.repeat([0.0, 1.0, 50.0], [80, 19, 1]), np.exp(np.linspace(-9, 9, 200))])
def test_zeros_and_skewed_targets_have_no_outlying_ones(y):
    assert rows_of(y).target_fences() == (-np.inf, np.inf)


def test_fences_count_weights_as_repetitions():
    y, weight = np.random.default_rng(1).normal(size=40), np.random.default_rng(2).integers(1, 4, 40)
    assert rows_of(y, weight).target_fences() == rows_of(np.repeat(y, weight)).target_fences()

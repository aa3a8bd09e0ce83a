import pickle

import numpy as np
import pytest
from scipy import stats

from heteroscope.core.errors import InputError
from heteroscope.datasets import simulated

NAMES = list(simulated.PROCESSES)


def test_six_sets():
    assert sorted(NAMES) == sorted(
        ["sine", "cubic", "curve", "sine_homoskedastic", "cubic_homoskedastic", "curve_homoskedastic"]
    )


@pytest.mark.parametrize(
    ("name", "x", "mean", "std"),
    [
        ("sine", 0.125, 2.0, np.sin(0.75 * np.pi) + 1.25),
        ("cubic", -0.6, -0.216, 0.1),
        ("cubic", -0.5, -0.125, 1.0),
        ("cubic", 0.0, 0.0, 3.0),
        ("cubic", 0.5, 0.125, 10.0),
        ("curve", -1.5, -7.6875, 0.0),
        ("curve", 1.0, -0.5, 2.5),
        ("curve_homoskedastic", 1.0, -0.5, 1.0),
    ],
)
def test_processes_have_the_papers_values(name, x, mean, std):
    process = simulated.PROCESSES[name]
    np.testing.assert_allclose(process.mean(np.array([x])), mean, atol=1e-12)
    np.testing.assert_allclose(process.noise(np.array([x])), std, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_training_rows_are_standardised_and_test_rows_are_a_fresh_draw(name):
    split, _ = simulated.draw(name, seed=1)
    assert split.x_train.shape == split.x_test.shape == (64, 1)
    for scaled in (split.x_train, split.y_train):
        np.testing.assert_allclose([scaled.mean(), scaled.std()], [0, 1], atol=1e-12)
    assert not np.isin(split.x_test, split.x_train).any()
    assert abs(split.y_test.std() - 1) > 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_truth_leaves_standard_normal_residuals(name):
    split, truth = simulated.draw(name, n_train=64, n_test=4000, seed=2)
    z = (split.y_test - truth.mean(split.x_test)) / truth.std(split.x_test)
    assert z.shape == (4000,)
    assert stats.kstest(z, "norm").pvalue > 1e-3
    low = z[split.x_test[:, 0] < np.median(split.x_test)]
    assert stats.kstest(low, "norm").pvalue > 1e-3


def test_truth_takes_columns_and_vectors_and_pickles():
    split, truth = simulated.draw("sine")
    np.testing.assert_array_equal(truth.std(split.x_test), truth.std(split.x_test[:, 0]))
    np.testing.assert_array_equal(truth.mean(split.x_test), pickle.loads(pickle.dumps(truth)).mean(split.x_test))


def test_seed_decides_the_draw_and_the_test_size_does_not_touch_the_training_rows():
    first, _ = simulated.draw("cubic", seed=3)
    again, _ = simulated.draw("cubic", seed=3, n_test=10)
    other, _ = simulated.draw("cubic", seed=4)
    np.testing.assert_array_equal(first.y_train, again.y_train)
    assert not np.array_equal(first.y_train, other.y_train)


def test_twins_share_inputs_and_noise():
    (split, truth), (twin, twin_truth) = simulated.draw("curve"), simulated.draw("curve_homoskedastic")
    np.testing.assert_array_equal(split.x_train, twin.x_train)
    z = (split.y_train - truth.mean(split.x_train)) / truth.std(split.x_train)
    twin_z = (twin.y_train - twin_truth.mean(twin.x_train)) / twin_truth.std(twin.x_train)
    np.testing.assert_allclose(z, twin_z, rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_field_draw_is_even_on_minus_one_to_one_and_standardised(name):
    x, y = simulated.field_draw(name, n_points=1024, seed=1)
    np.testing.assert_array_equal(x, np.linspace(-1, 1, 1024))
    np.testing.assert_allclose([y.mean(), y.std()], [0, 1], atol=1e-12)
    truth = simulated.field_truth(name, n_points=1024, seed=1)
    noisy = truth.std(x) > 0
    z = (y - truth.mean(x))[noisy] / truth.std(x)[noisy]
    assert stats.kstest(z, "norm").pvalue > 1e-3


def test_field_spans_the_sets_own_domain():
    """The sine set's noise has its maximum 2.25 at x = 1/12 of [0, 1], which is -5/6 of [-1, 1]."""
    truth = simulated.field_truth("sine")
    ends = truth.std(np.array([-1.0, -5 / 6, 1.0])) * truth.y_scale.width
    np.testing.assert_allclose(ends, [1.25, 2.25, 1.25], atol=1e-12)


def test_field_has_4096_points_unless_told():
    assert len(simulated.field_draw("sine")[0]) == 4096


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: simulated.draw("sinus"), "no simulated data set is called 'sinus': choose one of sine, cubic"),
        (lambda: simulated.field_draw("yacht"), "'yacht'"),
        (lambda: simulated.draw("sine", n_train=1), "2 training rows"),
        (lambda: simulated.draw("sine", n_test=0), "n_test=0"),
        (lambda: simulated.field_draw("sine", n_points=1), "at least 2 points"),
    ],
)
def test_impossible_draws_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_row_draws_are_the_networks_rows_in_order_and_another_draw_at_them():
    scores = []
    for seed in range(20):
        split, truth = simulated.draw("sine", seed=seed)
        x, y, y_test = simulated.row_draws("sine", seed=seed)
        assert np.all(np.diff(x) > 0)
        rows = zip(split.x_train[:, 0].tolist(), split.y_train.tolist(), strict=True)
        assert set(zip(x.tolist(), y.tolist(), strict=True)) == set(rows)
        assert not np.isclose(y, y_test).any()
        scores.append((y_test - truth.mean(x)) / truth.std(x))
    assert np.std(scores) == pytest.approx(1, abs=0.06), "20 x 64 standard normal numbers"

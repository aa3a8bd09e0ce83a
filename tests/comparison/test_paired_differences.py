"""The corrected t against its formula worked by hand and simulated splits; what it detects against tables of power."""

import math

import numpy as np
import pytest
from scipy import stats

from heteroscope.comparison.paired_differences import detectable_ratio, paired_difference
from heteroscope.core.errors import InputError


def test_a_worked_example_of_nadeau_and_bengio():
    """Ten 90/10 splits: mean 0.05, SD 0.02 of the differences; each number follows with pencil and paper."""
    differences = 0.05 + 0.02 * np.sqrt(9 / 10) * np.array([1.0, -1.0] * 5)
    found = paired_difference(differences, test_share=0.1)
    assert found.n_splits == 10
    assert found.mean == pytest.approx(0.05)
    assert found.standard_error == pytest.approx(0.02 * math.sqrt(0.1 + 1 / 9))  # 0.00919
    assert found.standard_error == pytest.approx(0.009189, abs=1e-6)
    assert found.p_value == pytest.approx(2 * stats.t.sf(5.4413, 9), rel=1e-3)


def test_without_shared_rows_it_is_the_paired_t_test_of_scipy():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 12))
    found = paired_difference(a - b, test_share=0.0)
    expected = stats.ttest_rel(a, b)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.mean / found.standard_error == pytest.approx(expected.statistic)
    low, high = expected.confidence_interval(0.95)
    assert (high - low) / 2 / stats.t.isf(0.025, 11) == pytest.approx(found.standard_error)


def test_the_correction_holds_its_level_on_splits_that_share_rows():
    """The mean of one table's rows, test minus training: no true difference, and every table is drawn anew."""
    random = np.random.default_rng(1)
    alarms = {0.0: 0, 0.1: 0}
    for _ in range(400):
        # differences that are correlated by 0.1, as those of 90/10 splits are assumed to be
        differences = math.sqrt(0.1) * random.normal() + math.sqrt(0.9) * random.normal(size=20)
        for share in alarms:
            alarms[share] += paired_difference(differences, share).p_value < 0.05
    assert alarms[0.1] / 400 < 0.09, "0.05 is asked for; the SD of the count is 0.011"
    assert alarms[0.0] / 400 > 0.15, "without the correction differences are seen where there are none"


@pytest.mark.parametrize(("effect", "pairs"), [(0.2, 198.15), (0.5, 33.37), (0.8, 14.30)])
def test_what_is_detectable_is_what_tables_of_power_say(effect, pairs):
    """A paired t test finds these effects (in SDs) with 80 % power from so many pairs on (Cohen 1988; R's pwr)."""
    assert detectable_ratio(pairs - 1) == pytest.approx(effect * math.sqrt(pairs), rel=2e-3)


def test_with_many_splits_it_is_the_normal_quantiles():
    assert detectable_ratio(math.inf) == pytest.approx(1.959964 + 0.841621, abs=1e-4)
    assert detectable_ratio(10_000.0) == pytest.approx(detectable_ratio(math.inf), rel=1e-3)


def test_a_true_difference_of_the_detectable_size_is_found_four_times_in_five():
    random = np.random.default_rng(2)
    true = detectable_ratio(7.0) / math.sqrt(8)
    found = [paired_difference(true + random.normal(size=8), 0.0).p_value < 0.05 for _ in range(600)]
    assert np.mean(found) == pytest.approx(0.8, abs=0.06)


def test_gaps_are_left_out_and_too_few_splits_have_no_error():
    assert paired_difference(np.array([1.0, np.nan, 3.0]), 0.1).n_splits == 2
    alone = paired_difference(np.array([1.0]), 0.1)
    assert (alone.n_splits, alone.mean) == (1, 1.0)
    assert math.isnan(alone.standard_error)
    assert math.isnan(alone.detectable)
    none = paired_difference(np.array([np.nan]), 0.1)
    assert none.n_splits == 0
    assert math.isnan(none.mean)
    endless = paired_difference(np.array([1.0, np.inf]), 0.1)
    assert endless.mean == math.inf
    assert math.isnan(endless.p_value)


def test_a_method_and_itself_do_not_differ():
    assert paired_difference(np.zeros(5), 0.1)[1:] == (0.0, 0.0, 1.0, 0.0)


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(InputError, match="share of test rows"):
        paired_difference(np.zeros(3), share)

"""Ranks and critical differences against Demsar's published example, scipy's tests and corrections by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from heteroscope.comparison.ranking import compare_with_first, critical_difference, groups_within, holm, rank_methods
from heteroscope.core.errors import InputError

# Demsar (2006), Table 6: AUC of four decision trees on 14 sets; a higher AUC is better. One set's 0.9751 is
# printed as 0.975, like its neighbour, but with the rank 2 before the neighbour's 3.
AUC = """
0.763 0.768 0.771 0.798
0.599 0.591 0.590 0.569
0.954 0.971 0.968 0.967
0.628 0.661 0.654 0.657
0.882 0.888 0.886 0.898
0.936 0.931 0.916 0.931
0.661 0.668 0.609 0.685
0.583 0.583 0.563 0.625
0.775 0.838 0.866 0.875
1.000 1.000 1.000 1.000
0.940 0.962 0.965 0.962
0.619 0.666 0.614 0.669
0.972 0.981 0.9751 0.975
0.957 0.978 0.946 0.970
"""
TREES = pd.DataFrame(
    [[-float(value) for value in line.split()] for line in AUC.split("\n") if line],
    columns=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"],
)


def test_the_published_example_of_mean_ranks_and_critical_difference():
    found = rank_methods(TREES)
    assert found.n_sets == 14
    published = {"C4.5+m+cf": 1.964, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5": 3.143}
    assert list(found.ranks.index) == list(published), "the best first"
    np.testing.assert_allclose(found.ranks, list(published.values()), atol=5e-4)
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    assert found.groups == (tuple(published),), "Nemenyi's test is too weak to tell any two apart, as published"


def test_friedmans_test_is_that_of_scipy_with_ties():
    found = rank_methods(TREES)
    expected = stats.friedmanchisquare(*TREES.to_numpy().T)
    assert found.chi_squared == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)


@pytest.mark.parametrize(
    ("n_methods", "quantile"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (10, 3.164)]
)
def test_critical_values_are_demsars_table(n_methods, quantile):
    expected = quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * 30))
    assert critical_difference(n_methods, 30) == pytest.approx(expected, rel=1e-3)


def test_groups_are_the_longest_that_are_not_told_apart():
    ranks = pd.Series({"a": 1.0, "b": 1.8, "c": 2.7, "d": 4.5, "e": 5.0})
    assert groups_within(ranks, 1.0) == (("a", "b"), ("b", "c"), ("d", "e"))
    assert groups_within(ranks, 1.75) == (("a", "b", "c"), ("d", "e"))
    assert groups_within(ranks, 0.4) == ()
    assert groups_within(ranks, 9.0) == (tuple("abcde"),)


def test_sets_without_a_score_are_left_out_and_endless_scores_are_last():
    scores = pd.DataFrame({"a": [1.0, 2.0, np.nan, 1.0], "b": [2.0, np.inf, 0.0, 0.5]})
    found = rank_methods(scores)
    assert found.n_sets == 3
    assert dict(found.ranks) == pytest.approx({"a": 4 / 3, "b": 5 / 3})


def test_methods_that_are_always_equal_do_not_differ():
    found = rank_methods(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]}))
    assert dict(found.ranks) == {"a": 1.5, "b": 1.5}
    assert (found.chi_squared, found.p_value) == (0.0, 1.0)


@pytest.mark.parametrize("scores", [{"a": [1.0, 2.0]}, {"a": [1.0, 2.0], "b": [1.0, np.nan]}])
def test_too_little_to_rank_is_one_clear_line(scores):
    with pytest.raises(InputError, match="two methods with scores on the same two sets"):
        rank_methods(pd.DataFrame(scores))


def test_wins_and_losses_and_wilcoxons_test():
    random = np.random.default_rng(0)
    first = random.normal(size=15)
    scores = pd.DataFrame({"ours": first, "worse": first + random.uniform(-0.2, 1, 15), "same": first})
    found = compare_with_first(scores)
    gap = (scores["worse"] - scores["ours"]).to_numpy()
    assert tuple(found.loc["worse", ["sets", "wins", "ties", "losses"]]) == (15, (gap > 0).sum(), 0, (gap < 0).sum())
    assert found.loc["worse", "difference"] == pytest.approx(gap.mean())
    assert found.loc["worse", "p_value"] == pytest.approx(stats.wilcoxon(scores["worse"], scores["ours"]).pvalue)
    assert tuple(found.loc["same", ["wins", "ties", "losses", "p_value"]]) == (0, 15, 0, 1.0)
    near = compare_with_first(scores, ties=0.5).loc["worse"]
    assert near["ties"] == (np.abs(gap) <= 0.5).sum()
    assert near["p_value"] == found.loc["worse", "p_value"]


def test_endless_scores_count_as_losses_and_not_as_errors():
    scores = pd.DataFrame({"ours": [1.0, np.inf, 1.0], "b": [np.inf, np.inf, 0.0]})
    found = compare_with_first(scores).loc["b"]
    assert tuple(found[["wins", "ties", "losses"]]) == (1, 1, 1)


def test_holms_correction_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]

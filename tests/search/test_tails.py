"""The predictive distribution that held-out rows ask for: Gaussian errors stay Gaussian, heavy tails are found."""

import numpy as np
import pytest
from scipy import stats

from heteroscope.core import InputError
from heteroscope.data import Rows
from heteroscope.search import Fold
from heteroscope.search.std_calibration import final_std_scale, scale_for_all_rows
from heteroscope.search.tails import DEGREES, check_family, choose_tails, likeliest_scale
from tests.search.made_up_points import point


def tails(z, family="auto", weight=None):
    """Return the tails for held-out errors z under a mean of zero and a std of one."""
    n = len(z)
    rows = Rows(np.zeros((n, 1)), z, np.ones(n) if weight is None else np.asarray(weight, float))
    whole = point(0, 1)
    result = whole.results[0]._replace(means=np.zeros((1, n)), stds=np.ones((1, n)))
    return choose_tails(whole._replace(results=(result,)), [Fold(rows, rows)], family)


def test_gaussian_errors_stay_gaussian_and_keep_their_scale():
    random = np.random.default_rng(0)
    found = [tails(0.7 * random.normal(size=400)) for _ in range(30)]
    assert np.mean([np.isinf(each.df) for each in found]) > 0.9, "two or three in a hundred by chance"
    np.testing.assert_allclose(np.mean([each.std_scale for each in found]), 0.7, rtol=0.03)


@pytest.mark.parametrize("df", [4.5, 6.0])
def test_heavy_tails_are_found_with_their_degrees_of_freedom_and_std(df):
    found = tails(1.3 * stats.t.rvs(df, size=5000, random_state=1))
    assert found.df == pytest.approx(df, abs=2.0)
    assert found.std_scale * np.sqrt((found.df - 2) / found.df) == pytest.approx(1.3, rel=0.05)


@pytest.mark.parametrize("df", [4.0, 10.0])
def test_the_likeliest_scale_is_scipys(df):
    z = np.abs(0.3 * stats.t.rvs(3, size=300, random_state=2))
    *_, expected = stats.t.fit(np.concatenate([z, -z]), fix_df=df, floc=0)
    assert likeliest_scale(z, np.full(300, 1 / 300), df) == pytest.approx(expected, rel=1e-3)


def test_wild_errors_and_exact_ones_have_a_likeliest_scale():
    for z in (np.repeat([1.0, 1e6], [95, 5]), np.repeat([0.0, 1.0], [60, 40]), np.full(9, 1e-9)):
        scale, share = likeliest_scale(z, np.full(len(z), 1 / len(z)), 4.0), 1 / len(z)
        u = (np.maximum(z, 1e-12) / scale) ** 2
        assert share * np.sum(5.0 * u / (4.0 + u)) == pytest.approx(1.0, rel=1e-6)


def test_the_family_can_be_chosen():
    z = np.random.default_rng(3).normal(size=500)
    assert tails(z, "gaussian").df == np.inf
    assert tails(z, "student-t").df == DEGREES[-1], "the lightest tails on offer"
    assert tails(stats.t.rvs(4, size=2000, random_state=0), "gaussian").df == np.inf
    for family, calibrate, told in (("cauchy", True, "student-t"), ("student-t", False, "held-out rows")):
        with pytest.raises(InputError, match=told):
            check_family(family, calibrate)


def test_fewer_held_out_rows_give_wider_tails():
    levels = (np.arange(90) + 0.5) / 90
    found = [tails(stats.norm.ppf(levels[:: 90 // n])).df for n in (15, 30, 90)]
    assert found == pytest.approx([5.0, 10.0, 30.0])
    assert tails(stats.norm.ppf(levels[::10])).df == 4.0, "never below four"
    assert tails(stats.norm.ppf(levels[::10]), "gaussian").df == np.inf


def test_intervals_for_a_new_row_cover_from_a_dozen_rows():
    """Errors of constant scale: a factor computed from twelve of them covers a thirteenth nine times in ten."""
    random = np.random.default_rng(4)
    inside = []
    for _ in range(150):
        found = tails(random.normal(size=12))
        half = found.std_scale * np.sqrt((found.df - 2) / found.df) * stats.t.ppf(0.95, found.df)
        inside.append(2 * stats.norm.cdf(half) - 1)
    assert 0.88 < np.mean(inside) < 0.95
    assert np.quantile(inside, 0.05) > 0.7


def test_a_weight_of_two_is_a_row_given_twice_in_the_scale():
    z = stats.t.rvs(4, size=150, random_state=5)
    twice, weighted = tails(np.repeat(z, 2)), tails(z, weight=np.full(150, 2.0))
    assert twice.df == weighted.df
    assert twice.std_scale == pytest.approx(weighted.std_scale, rel=1e-2)


def test_corrections_for_the_final_fit_are_trusted_with_many_held_out_rows():
    assert final_std_scale(2.0, 0.9, 0.8, 10**6) == pytest.approx(scale_for_all_rows(1.8, 0.8), rel=1e-4)
    assert final_std_scale(2.0, 0.9, 0.8, 30) == pytest.approx(np.sqrt(2.0 * scale_for_all_rows(1.8, 0.8)))
    assert final_std_scale(2.0, 0.9, 0.8, 3) > 1.9

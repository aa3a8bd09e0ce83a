"""Lognormal forecasts: moments, quantiles and every metric against scipy, or the integral that defines it."""

import numpy as np
import pytest
from scipy import integrate, stats

from heteroscope.core.errors import InputError
from heteroscope.distributions import frozen, log_moments, lognormal_moments, metrics, quantiles

LOG_MEAN, LOG_STD = np.array([0.0, 2.0, -3.0, 1.0]), np.array([1e-4, 0.3, 1.0, 2.5])
TRUTH = stats.lognorm(s=LOG_STD, scale=np.exp(LOG_MEAN))
Y = np.array([1.0001, 20.0, 0.01, 0.7])
LEVELS = np.array([0.05, 0.5, 0.9])


def test_mean_and_std_are_scipys_and_fix_the_distribution():
    mean, std = lognormal_moments(LOG_MEAN, LOG_STD)
    np.testing.assert_allclose(mean, TRUTH.mean())
    np.testing.assert_allclose(std, TRUTH.std(), rtol=1e-6)  # scipy loses digits where the std is small
    np.testing.assert_allclose(log_moments(mean, std), (LOG_MEAN, LOG_STD), rtol=1e-12, atol=1e-12)
    made = frozen(mean, std, np.inf, lognormal=True)
    np.testing.assert_allclose(made.logpdf(Y), TRUTH.logpdf(Y))
    expected = np.column_stack([TRUTH.ppf(level) for level in LEVELS])
    np.testing.assert_allclose(quantiles(mean, std, np.inf, LEVELS, lognormal=True), expected)


def test_scores_that_need_no_integral_are_scipys():
    weight = np.arange(4.0)
    np.testing.assert_allclose(metrics.nll_by_row(Y, TRUTH), -TRUTH.logpdf(Y))
    np.testing.assert_allclose(metrics.pit(Y, TRUTH), TRUTH.cdf(Y))
    assert metrics.nll(Y, TRUTH, sample_weight=weight) == pytest.approx(-np.average(TRUTH.logpdf(Y), weights=weight))
    low, high = TRUTH.interval(0.8)
    assert metrics.interval_coverage(Y, TRUTH, coverage=0.8) == np.mean((low <= Y) & (high >= Y))
    assert metrics.interval_width(Y, TRUTH, coverage=0.8) == pytest.approx(np.mean(high - low))
    assert metrics.rmse(Y, TRUTH) == pytest.approx(np.sqrt(np.mean((Y - TRUTH.mean()) ** 2)))
    assert metrics.sharpness(Y, TRUTH) == pytest.approx(np.sqrt(np.mean(TRUTH.var())))


@pytest.mark.parametrize("y", [0.03, 4.0, 30.0, 0.0, -2.0])
def test_crps_is_its_integral(y):
    one = stats.lognorm(s=0.8, scale=3.0)
    below, _ = integrate.quad(lambda t: one.cdf(t) ** 2, 0.0, max(y, 0.0))
    above, _ = integrate.quad(lambda t: one.sf(t) ** 2, max(y, 0.0), np.inf, limit=200)
    assert metrics.crps([y], one) == pytest.approx(below + above + max(-y, 0.0), rel=1e-6)


def test_targets_that_are_not_positive_are_impossible():
    assert metrics.nll([1.0, 0.0], stats.lognorm(s=[1.0, 1.0])) == np.inf
    assert metrics.pit([-1.0, 0.0], stats.lognorm(s=[1.0, 1.0])).tolist() == [0.0, 0.0]
    assert np.isnan(metrics.nll([1.0, np.nan], stats.lognorm(s=[1.0, 1.0])))


def test_a_shifted_lognormal_is_refused_in_one_line():
    with pytest.raises(InputError, match="loc=0"):
        metrics.nll(Y, stats.lognorm(s=1.0, loc=2.0))

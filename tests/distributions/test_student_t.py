"""Student-t forecasts: every metric against scipy or against the integral that defines it."""

import numpy as np
import pytest
from scipy import integrate, stats

from heteroscope.core.errors import InputError
from heteroscope.distributions import metrics
from heteroscope.distributions import student_t as student

DF = np.array([2.1, 3.0, 7.5, 400.0])
FORECAST = stats.t(df=DF, loc=[0.0, 1.0, -2.0, 5.0], scale=[1.0, 0.3, 2.0, 1.5])
Y = np.array([0.4, 3.0, -2.0, 1.0])


def one(k):
    return stats.t(DF[k], FORECAST.kwds["loc"][k], FORECAST.kwds["scale"][k])


def test_nll_and_pit_are_scipys():
    np.testing.assert_allclose(metrics.nll_by_row(Y, FORECAST), -FORECAST.logpdf(Y))
    np.testing.assert_allclose(metrics.pit(Y, FORECAST), FORECAST.cdf(Y))
    weight = np.arange(4.0)
    expected = -np.average(FORECAST.logpdf(Y), weights=weight)
    assert metrics.nll(Y, FORECAST, sample_weight=weight) == pytest.approx(expected)


@pytest.mark.parametrize("k", range(4))
def test_crps_is_its_integral(k):
    below, _ = integrate.quad(lambda t: one(k).cdf(t) ** 2, -np.inf, Y[k])
    above, _ = integrate.quad(lambda t: one(k).sf(t) ** 2, Y[k], np.inf)
    assert metrics.crps_by_row(Y, FORECAST)[k] == pytest.approx(below + above, rel=1e-6)


def test_intervals_std_and_calibration_follow_the_distribution():
    low, high = FORECAST.interval(0.8)
    assert metrics.interval_coverage(Y, FORECAST, coverage=0.8) == np.mean((low <= Y) & (high >= Y))
    assert metrics.interval_width(Y, FORECAST, coverage=0.8) == pytest.approx(np.mean(high - low))
    assert metrics.sharpness(Y, FORECAST) == pytest.approx(np.sqrt(np.mean(FORECAST.var())))
    assert metrics.std_mse(Y, FORECAST) == pytest.approx(np.mean((FORECAST.std() - np.abs(Y - FORECAST.mean())) ** 2))
    assert metrics.rmse(Y, FORECAST) == pytest.approx(np.sqrt(np.mean((Y - FORECAST.mean()) ** 2)))
    levels = (np.arange(100) + 0.5) / 100
    below = np.array([FORECAST.ppf(level) >= Y for level in levels]).mean(axis=1)
    assert metrics.ece(Y, FORECAST) == pytest.approx(np.abs(below - levels).mean())


def test_a_frozen_gaussian_is_a_mean_and_a_std_and_the_limit_of_many_degrees_of_freedom():
    mean, std = np.arange(4.0), np.array([0.5, 1.0, 2.0, 3.0])
    gaussian = metrics.evaluate(Y, mean, std)
    assert metrics.evaluate(Y, stats.norm(mean, std)) == gaussian
    assert metrics.evaluate(Y, stats.t(np.inf, mean, std)) == gaussian
    assert metrics.evaluate(Y, stats.t(1e7, mean, std)) == pytest.approx(gaussian, rel=1e-5)
    assert metrics.nll(Y, stats.norm()) == pytest.approx(-stats.norm.logpdf(Y).mean())


def test_without_a_variance_the_std_is_infinite_and_without_a_mean_the_crps():
    assert metrics.sharpness(Y, stats.t(2.0)) == np.inf
    assert metrics.crps(Y, stats.t(1.0)) == np.inf
    np.testing.assert_allclose(student.scale(DF, student.std(DF, np.full(4, 1.7))), 1.7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((stats.gamma(2.0),), "the distribution .gamma. has no metrics here"),
        ((stats.norm(np.zeros(3), 1.0),), "4 rows and the forecast has other shapes"),
        ((FORECAST, np.ones(4)), "leave std out"),
    ],
)
def test_what_is_no_forecast_is_refused_in_one_line(arguments, message):
    with pytest.raises(InputError, match=message) as refusal:
        metrics.nll(Y, *arguments)
    assert "\n" not in str(refusal.value)

"""Forecasts by quantiles against integrals of their own definition, exact distributions and other libraries."""

import numpy as np
import properscoring
import pytest
import scoringrules
from scipy import integrate, stats

from heteroscope.core.errors import InputError
from heteroscope.distributions import QuantileForecast, metrics

LEVELS = np.array([0.05, 0.2, 0.5, 0.8, 0.95])
VALUES = np.array(
    [
        [-1.0, 0.0, 0.5, 2.0, 6.0],
        [3.0, 1.0, 2.0, 4.0, 3.5],  # crossing
        [0.0, 0.0, 0.0, 1.0, 3.0],  # a jump at 0, whose middle is the level 0.275
        [-2.0, 1.0, 1.0, 1.0, 5.0],  # a jump inside
    ]
)
#: Below all quantiles, at the lowest, between, at a jump, and above all.
TARGETS = [-3.0, 0.0, 0.7, 1.0, 9.0]


@pytest.fixture(scope="module")
def forecast():
    return QuantileForecast(LEVELS, VALUES)


def by_quad(function, breaks):
    """Integrate over (0, 1), with the tails on a logarithmic scale."""
    middle = integrate.quad(function, breaks[0], breaks[-1], points=breaks[1:-1], limit=200)[0]
    low = integrate.quad(lambda u: function(np.exp(u)) * np.exp(u), np.log(breaks[0]) - 40, np.log(breaks[0]))[0]
    edge = 1 - breaks[-1]
    high = integrate.quad(lambda u: function(1 - np.exp(u)) * np.exp(u), np.log(edge) - 30, np.log(edge))[0]
    return low + middle + high


def test_quantiles_are_those_given_once_sorted_and_linear_between(forecast):
    rearranged = np.sort(VALUES, axis=1)
    np.testing.assert_array_equal(forecast.quantiles(LEVELS), rearranged)
    np.testing.assert_allclose(forecast.ppf(0.65), rearranged[:, 2:4].mean(axis=1))
    np.testing.assert_allclose(forecast.median(), rearranged[:, 2])
    shuffled = QuantileForecast(LEVELS[::-1], VALUES[:, ::-1])
    np.testing.assert_array_equal(shuffled.values, forecast.values)


@pytest.mark.parametrize("level", [1e-4, 0.05, 0.1, 0.3, 0.5, 0.7, 0.95, 0.999])
def test_cdf_is_the_inverse_of_the_quantile_function(forecast, level):
    smooth = forecast.rows([0, 1])
    np.testing.assert_allclose(smooth.cdf(smooth.ppf(level)), level)
    np.testing.assert_allclose(smooth.pit(smooth.ppf(level)), level)


@pytest.mark.parametrize("row", range(4))
def test_mean_and_std_are_integrals_of_the_quantile_function(forecast, row):
    one = forecast.rows([row])
    mean = by_quad(lambda tau: one.ppf(tau)[0], LEVELS)
    assert one.mean()[0] == pytest.approx(mean)
    assert one.std()[0] == pytest.approx(np.sqrt(by_quad(lambda tau: (one.ppf(tau)[0] - mean) ** 2, LEVELS)))


@pytest.mark.parametrize("row", range(4))
@pytest.mark.parametrize("y", TARGETS)
def test_crps_is_twice_the_integral_of_the_pinball_loss(forecast, row, y):
    one = forecast.rows([row])
    breaks = np.unique(np.append(LEVELS, np.clip(one.cdf(y), LEVELS[0], LEVELS[-1])))

    def pinball(tau):
        gap = y - one.ppf(tau)[0]
        return 2 * max(tau * gap, (tau - 1) * gap)

    assert one.crps(y)[0] == pytest.approx(by_quad(pinball, breaks), rel=1e-5)


def test_a_laplace_distribution_is_exact_beyond_the_levels():
    laplace = stats.laplace(2.0, 3.0)
    levels = np.array([0.1, 0.5, 0.9])
    for chosen in (levels, levels[[0, 2]]):
        forecast = QuantileForecast(chosen, laplace.ppf(chosen)[np.newaxis])
        for level in (0.001, 0.05, 0.97):
            assert forecast.ppf(level)[0] == pytest.approx(laplace.ppf(level))
            assert forecast.cdf(laplace.ppf(level))[0] == pytest.approx(level)
            assert forecast.logpdf(laplace.ppf(level))[0] == pytest.approx(laplace.logpdf(laplace.ppf(level)))


def test_many_levels_of_a_gaussian_have_the_gaussians_scores():
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=50), rng.uniform(0.5, 2.0, 50)
    y = mean + std * rng.normal(size=50)
    levels = np.arange(1, 400) / 400
    forecast = QuantileForecast(levels, stats.norm.ppf(levels, mean[:, np.newaxis], std[:, np.newaxis]))
    np.testing.assert_allclose(forecast.crps(y), properscoring.crps_gaussian(y, mean, std), rtol=2e-4)
    np.testing.assert_allclose(forecast.crps(y), scoringrules.crps_quantile(y, forecast.values, levels), rtol=0.02)
    np.testing.assert_allclose(forecast.mean(), mean, atol=1e-12)
    np.testing.assert_allclose(forecast.std(), std, rtol=2e-3)
    np.testing.assert_allclose(forecast.logpdf(y), stats.norm.logpdf(y, mean, std), atol=0.15)
    np.testing.assert_allclose(forecast.pit(y), stats.norm.cdf(y, mean, std), atol=1e-3)
    low, high = forecast.interval(0.9)
    np.testing.assert_allclose([low, high], stats.norm.interval(0.9, mean, std), atol=1e-4)


def test_a_density_is_the_slope_of_f_and_equal_quantiles_count_as_one(forecast):
    smooth, step = forecast.rows([0, 1]), 1e-6
    for y in (-4.0, 0.2, 1.5, 3.2, 11.0):
        slope = (smooth.cdf(y + step) - smooth.cdf(y - step)) / (2 * step)
        np.testing.assert_allclose(np.exp(smooth.logpdf(y)), slope, rtol=1e-4, atol=1e-8)
    for row, near in enumerate(forecast.values):
        edges = np.unique(near)
        below, above = edges[0] - 400, edges[-1] + 400
        one = forecast.rows([row])
        mass = sum(
            integrate.quad(lambda t, one=one: np.exp(one.logpdf(t)[0]), low, high, limit=200)[0]
            for low, high in zip([below, edges[0] - 20, *edges], [edges[0] - 20, *edges, edges[-1] + 20], strict=True)
        )
        mass += integrate.quad(lambda t, one=one: np.exp(one.logpdf(t)[0]), edges[-1] + 20, above)[0]
        assert mass == pytest.approx(1, abs=1e-6)


def test_where_there_is_nothing_to_build_on_there_is_no_density_but_a_crps():
    values = [[1.0, 1.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.5, 1.0]]
    forecast = QuantileForecast([0.2, 0.6, 0.9], values)
    assert np.isnan(forecast.logpdf(0.7)).tolist() == [True, False, False]
    half = QuantileForecast([0.4, 0.7, 0.9], values)
    assert np.isnan(half.logpdf(0.7)).tolist() == [True, True, False]
    assert forecast.crps(3.0)[0] == pytest.approx(2.0)
    assert forecast.pit([1.0, 0.0, 0.5]).tolist() == pytest.approx([0.5, 0.3, 0.6])
    assert np.isnan(metrics.nll([1.0, 1.0, 1.0], forecast))
    assert np.isfinite(metrics.crps([1.0, 1.0, 1.0], forecast))


def test_every_metric_takes_quantiles_and_the_interval_score_is_scoringrules(forecast):
    y, weight = np.array([0.0, 3.0, -5.0, 12.0]), np.array([1.0, 2.0, 0.0, 1.0])
    scores = metrics.evaluate(y, forecast, sample_weight=weight)
    low, high = forecast.interval(0.9)
    each = scoringrules.interval_score(y, low, high, 0.1)
    assert scores["interval_score"] == pytest.approx(np.average(each, weights=weight))
    assert scores["interval_width"] == pytest.approx(np.average(high - low, weights=weight))
    assert scores["interval_coverage"] == pytest.approx(0.75)
    assert scores["rmse"] == pytest.approx(np.sqrt(np.average((y - forecast.mean()) ** 2, weights=weight)))
    assert scores["sharpness"] == pytest.approx(np.sqrt(np.average(forecast.std() ** 2, weights=weight)))
    repeated = metrics.evaluate(y[[0, 1, 1, 3]], forecast.rows([0, 1, 1, 3]))
    assert scores == pytest.approx(repeated)


def test_a_row_with_nan_is_nan_and_leaves_the_others_alone(forecast):
    values = VALUES.copy()
    values[1, 2] = np.nan
    broken = QuantileForecast(LEVELS, values)
    y = np.full(4, 0.3)
    for found, whole in (
        (broken.crps(y), forecast.crps(y)),
        (broken.pit(y), forecast.pit(y)),
        (broken.logpdf(y), forecast.logpdf(y)),
        (broken.mean(), forecast.mean()),
        (broken.std(), forecast.std()),
        (broken.ppf(0.01), forecast.ppf(0.01)),
    ):
        np.testing.assert_array_equal(found, np.where(np.arange(4) == 1, np.nan, whole))
    assert np.isnan(forecast.crps(np.array([np.nan, 0, 0, 0]))).tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1, 0.9], [[1.0, 2.0, 3.0]]), "3 columns for 2 levels"),
        (([0.1, 1.0], [[1.0, 2.0]]), "strictly between 0 and 1"),
        (([0.1, 0.1, 0.9], [[1.0, 2.0, 3.0]]), "given twice"),
        (([0.6, 0.9], [[1.0, 2.0]]), "on one side of the median"),
        (([0.1, 0.9], [1.0, 2.0]), "one line per row"),
        (([0.1, 0.9], [[1.0, np.inf]]), "infinite in 1 rows"),
    ],
)
def test_what_is_no_forecast_is_refused_in_one_line(arguments, message):
    with pytest.raises(InputError, match=message) as refusal:
        QuantileForecast(*arguments)
    assert "\n" not in str(refusal.value)


def test_other_numbers_of_rows_are_refused(forecast):
    with pytest.raises(InputError, match="y has 2 rows and the forecast 4"):
        metrics.crps([0.0, 1.0], forecast)
    with pytest.raises(InputError, match="pass one y per row"):
        forecast.cdf([0.0, 1.0])
    with pytest.raises(InputError, match="leave std out"):
        metrics.crps(np.zeros(4), forecast, np.ones(4))

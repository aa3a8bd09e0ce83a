"""Forecasts by samples against other libraries and against what exchangeable draws must have."""

import numpy as np
import properscoring
import pytest
import scoringrules
from scipy import stats
from sklearn.linear_model import BayesianRidge

from heteroscope.core.errors import InputError
from heteroscope.distributions import SampleForecast, metrics


@pytest.fixture(scope="module")
def draws():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 1)) + rng.uniform(0.3, 2, (40, 1)) * rng.gumbel(size=(40, 25))


@pytest.fixture(scope="module")
def y():
    return np.random.default_rng(1).normal(size=40)


def test_crps_is_properscorings_and_scoringrules(draws, y):
    forecast = SampleForecast(draws)
    np.testing.assert_allclose(forecast.crps(y), properscoring.crps_ensemble(y, draws))
    np.testing.assert_allclose(forecast.crps(y), scoringrules.crps_ensemble(y, draws, estimator="nrg"))


def test_the_density_is_scipys_kernel_estimate_of_the_same_width_and_scoringrules(draws, y):
    forecast = SampleForecast(draws)
    np.testing.assert_allclose(-forecast.logpdf(y), scoringrules.logs_ensemble(y, draws, bw=forecast.bandwidth()))
    for row in range(3):
        spread = draws[row].std(ddof=1)
        width = 1.06 * min(spread, stats.iqr(draws[row]) / 1.34) * 25**-0.2
        kernel = stats.gaussian_kde(draws[row], bw_method=width / spread)
        assert forecast.logpdf(y)[row] == pytest.approx(kernel.logpdf(y[row])[0])


def test_the_density_is_finite_far_away_and_flat_where_draws_coincide():
    forecast = SampleForecast([[0.0, 0.0, 0.0, 0.0, 1.0], [2.0, 2.0, 2.0, 2.0, 2.0]])
    assert forecast.bandwidth()[0] == pytest.approx(1.06 * np.std([0, 0, 0, 0, 1], ddof=1) * 5**-0.2)
    far = forecast.logpdf(1e6)
    assert np.isfinite(far[0])
    assert far[0] < -1e10
    assert far[1] == -np.inf
    assert forecast.logpdf(2.0)[1] == np.inf


def test_quantiles_are_numpys_weibull_positions_and_the_cdf_undoes_them(draws):
    forecast = SampleForecast(draws)
    for level in (0.01, 0.05, 0.37, 0.5, 0.95, 0.99):
        np.testing.assert_allclose(forecast.ppf(level), np.quantile(draws, level, axis=1, method="weibull"))
    for level in (0.05, 0.37, 0.5, 0.95):
        np.testing.assert_allclose(forecast.cdf(forecast.ppf(level)), level)
    np.testing.assert_allclose(forecast.mean(), draws.mean(axis=1))
    np.testing.assert_allclose(forecast.std(), draws.std(axis=1))


def test_one_more_draw_is_covered_as_promised_and_its_rank_is_uniform():
    """Exact for any distribution, so that only chance moves these shares: their SDs are below 0.004."""
    drawn = np.random.default_rng(2).standard_t(2, size=(20_000, 20))
    forecast, target = SampleForecast(drawn[:, 1:]), drawn[:, 0]
    assert metrics.interval_coverage(target, forecast, coverage=0.8) == pytest.approx(0.8, abs=0.015)
    assert metrics.interval_coverage(target, forecast, coverage=0.9) == pytest.approx(0.9, abs=0.015)
    assert metrics.ece(target, forecast) < 0.02
    assert np.mean(forecast.pit(target)) == pytest.approx(0.5, abs=0.015)


def test_draws_equal_to_y_count_half():
    forecast = SampleForecast([[1.0, 2.0, 2.0, 3.0]])
    assert forecast.pit(2.0)[0] == pytest.approx(0.5)
    assert forecast.cdf(2.0)[0] == pytest.approx(3 / 5)
    assert forecast.cdf(0.0)[0] == 0
    assert forecast.cdf(9.0)[0] == 1
    assert SampleForecast([[2.0, 2.0, 2.0]]).pit(2.0)[0] == pytest.approx(0.5)


def test_many_draws_of_a_gaussian_have_about_the_gaussians_scores():
    rng = np.random.default_rng(3)
    mean, std = rng.normal(size=200), rng.uniform(0.5, 2.0, 200)
    y = mean + std * rng.normal(size=200)
    forecast = SampleForecast(mean[:, np.newaxis] + std[:, np.newaxis] * rng.normal(size=(200, 2000)))
    found, exact = metrics.evaluate(y, forecast), metrics.evaluate(y, mean, std)
    for name in set(metrics.METRICS):
        assert found[name] == pytest.approx(exact[name], rel=0.04, abs=0.02), name


def test_zero_weights_drop_rows_and_nan_stays_in_its_row(draws, y):
    broken = draws.copy()
    broken[3, 4] = np.nan
    forecast = SampleForecast(broken)
    whole = SampleForecast(draws)
    for name in ("crps", "pit", "logpdf", "cdf"):
        kept = np.where(np.arange(40) == 3, np.nan, getattr(whole, name)(y))
        np.testing.assert_array_equal(getattr(forecast, name)(y), kept)
    weight = (np.arange(40) != 3).astype(float)
    expected = metrics.evaluate(y[weight > 0], whole.rows(weight > 0))
    assert metrics.evaluate(y, forecast, sample_weight=weight) == pytest.approx(expected)


def test_scorers_ask_for_the_distribution():
    class Bootstrap(BayesianRidge):
        def pred_dist(self, X):
            mean, std = self.predict(X, return_std=True)
            return SampleForecast(mean[:, np.newaxis] + std[:, np.newaxis] * np.array([-1.0, 0.0, 1.0]))

    x = np.random.default_rng(0).normal(size=(30, 2))
    model = Bootstrap().fit(x, x[:, 0])
    expected = -properscoring.crps_ensemble(x[:, 1], model.pred_dist(x).draws).mean()
    assert metrics.neg_crps_scorer(model, x, x[:, 1]) == pytest.approx(expected)


def test_what_are_no_draws_is_refused_in_one_line():
    for draws in ([1.0, 2.0], [[1.0]], np.empty((0, 3))):
        with pytest.raises(InputError, match="at least two draws"):
            SampleForecast(draws)

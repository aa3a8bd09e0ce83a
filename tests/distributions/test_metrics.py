"""Each metric against an independent answer: another library, an integral, or a limit known on paper."""

import pickle

import numpy as np
import pandas as pd
import properscoring
import pytest
from scipy import integrate, stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heteroscope.core.errors import InputError
from heteroscope.distributions import metrics

N_ROWS = 200


@pytest.fixture
def forecast():
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=N_ROWS), rng.uniform(0.2, 2.0, N_ROWS)
    return mean + std * rng.standard_t(4, N_ROWS), mean, std


@pytest.fixture
def weight():
    return np.random.default_rng(1).integers(0, 4, N_ROWS).astype(float)


def test_mean_mse_and_rmse_equal_scikit_learns(forecast, weight):
    y, mean, std = forecast
    assert metrics.mean_mse(y, mean, std) == pytest.approx(mean_squared_error(y, mean))
    weighted = mean_squared_error(y, mean, sample_weight=weight)
    assert metrics.rmse(y, mean, std, sample_weight=weight) == pytest.approx(np.sqrt(weighted))


def test_std_mse_is_the_error_of_std_as_a_forecast_of_the_absolute_residual(forecast):
    y, mean, std = forecast
    assert metrics.std_mse(y, mean, std) == pytest.approx(mean_squared_error(np.abs(y - mean), std))


def test_squared_score_is_one_for_honest_noise_of_any_tail(forecast, weight):
    y, mean, std = forecast
    weighted = mean_squared_error(y / std, mean / std, sample_weight=weight)
    assert metrics.squared_score(y, mean, std, sample_weight=weight) == pytest.approx(weighted)
    heavy = stats.t(df=np.full(200_000, 6.0), scale=3.0)
    assert metrics.squared_score(heavy.rvs(random_state=0), heavy) == pytest.approx(1.0, abs=0.02)
    assert metrics.squared_score([1.0, 2.0], [0.0, 2.0], [0.0, 1.0]) == np.inf


def test_nll_equals_scipys_log_density(forecast, weight):
    y, mean, std = forecast
    density = stats.norm.logpdf(y, mean, std)
    assert metrics.nll(y, mean, std) == pytest.approx(-density.mean())
    assert metrics.nll(y, mean, std, sample_weight=weight) == pytest.approx(-np.average(density, weights=weight))


def test_crps_equals_properscorings(forecast, weight):
    y, mean, std = forecast
    each = properscoring.crps_gaussian(y, mean, std)
    assert metrics.crps(y, mean, std) == pytest.approx(each.mean())
    assert metrics.crps(y, mean, std, sample_weight=weight) == pytest.approx(np.average(each, weights=weight))


@pytest.mark.parametrize(("y", "mean", "std"), [(0.3, 0.0, 1.0), (-2.0, 1.0, 0.5), (1.0, 1.0, 3.0)])
def test_crps_equals_its_integral(y, mean, std):
    below, _ = integrate.quad(lambda t: stats.norm.cdf(t, mean, std) ** 2, -np.inf, y)
    above, _ = integrate.quad(lambda t: stats.norm.sf(t, mean, std) ** 2, y, np.inf)
    assert metrics.crps([y], [mean], [std]) == pytest.approx(below + above)


def test_ece_is_the_distance_of_pit_from_uniform(forecast):
    """The integral over tau of |F_pit(tau) - tau| is the Wasserstein distance to the uniform distribution."""
    uniform = (np.arange(100_000) + 0.5) / 100_000
    expected = stats.wasserstein_distance(metrics.pit(*forecast), uniform)
    assert metrics.ece(*forecast) == pytest.approx(expected, abs=1e-3)


def test_ece_counts_rows_below_each_quantile(forecast, weight):
    y, mean, std = forecast
    levels = (np.arange(100) + 0.5) / 100
    below = y <= stats.norm.ppf(levels[:, None], mean, std)
    assert metrics.ece(y, mean, std) == pytest.approx(np.abs(below.mean(axis=1) - levels).mean())
    observed = np.average(below, axis=1, weights=weight)
    assert metrics.ece(y, mean, std, sample_weight=weight) == pytest.approx(np.abs(observed - levels).mean())


@pytest.mark.parametrize("std", [1e-3, 1e-300, 0.0])
def test_vanishing_std_gives_ece_one_quarter_and_turns_std_mse_into_mean_mse(std):
    """The overfit limit that ECE and the std's MSE both fail to punish, while NLL does."""
    residual = np.tile([-1.0, 1.0, -2.0, 2.0], 50)
    y, mean, stds = residual, np.zeros(200), np.full(200, std)
    assert metrics.ece(y, mean, stds) == pytest.approx(0.25)
    assert metrics.std_mse(y, mean, stds) == pytest.approx(metrics.mean_mse(y, mean, stds), rel=3e-3)
    assert metrics.crps(y, mean, stds) == pytest.approx(np.abs(residual).mean(), rel=1e-3)
    assert metrics.nll(y, mean, stds) > 1e5


def test_marginal_forecast_hides_from_ece():
    """Constant mean and std are calibrated on average and know nothing about a row."""
    y = stats.norm.ppf((np.arange(1000) + 0.5) / 1000)
    assert metrics.ece(y, np.zeros(1000), np.ones(1000)) < 1e-3


def test_point_forecast_that_is_right_is_infinitely_likely():
    assert metrics.nll([1.0], [1.0], [0.0]) == -np.inf
    assert metrics.crps([1.0], [1.0], [0.0]) == 0.0
    assert metrics.pit([1.0, 0.0, 2.0], [1.0] * 3, [0.0] * 3).tolist() == [0.5, 0.0, 1.0]


def test_intervals_of_a_calibrated_forecast():
    y = stats.norm.ppf((np.arange(1000) + 0.5) / 1000)
    zero, one = np.zeros(1000), np.ones(1000)
    for coverage in (0.5, 0.9, 0.99):
        low, high = stats.norm.interval(coverage)
        assert metrics.interval_coverage(y, zero, one, coverage=coverage) == pytest.approx(coverage)
        assert metrics.interval_width(y, zero, one, coverage=coverage) == pytest.approx(high - low)
    half = np.where(np.abs(y) < 0.1, 1.0, 0.0)
    assert metrics.interval_coverage(y, zero, one, sample_weight=half) == pytest.approx(1.0)


def test_sharpness_is_the_promised_rmse(forecast):
    _, mean, std = forecast
    assert metrics.sharpness(mean + std, mean, std) == pytest.approx(metrics.rmse(mean + std, mean, std))


def test_integer_weights_repeat_rows_and_zero_weight_removes_them(forecast, weight):
    repeated = [np.repeat(array, weight.astype(int)) for array in forecast]
    y, mean, std = (np.where(weight == 0, np.nan, array) for array in forecast)
    assert metrics.evaluate(y, mean, std, sample_weight=weight) == pytest.approx(metrics.evaluate(*repeated))


def test_evaluate_has_every_metric_as_a_float(forecast):
    scores = metrics.evaluate(*forecast)
    assert list(scores) == list(metrics.METRICS)
    assert all(type(score) is float for score in scores.values())


def test_nan_is_never_swallowed(forecast):
    y, mean, std = forecast
    mean[3] = np.nan
    scores = metrics.evaluate(y, mean, std)
    assert {name for name, score in scores.items() if not np.isnan(score)} == {"interval_width", "sharpness"}


def test_lists_series_and_float32_are_accepted(forecast):
    y, mean, std = forecast
    exact = metrics.crps(y, mean, std)
    assert metrics.crps(list(y), pd.Series(mean), std) == exact
    assert metrics.crps(*(array.astype(np.float32) for array in forecast)) == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], [1.0], [1.0, 1.0]), "2, 1 and 2 rows"),
        (([[1.0]], [1.0], [1.0]), r"y has shape \(1, 1\)"),
        (([], [], []), "non-empty"),
        (([1.0], [1.0], [-1.0]), "std is negative in 1 rows"),
    ],
)
@pytest.mark.parametrize("metric", metrics.METRICS.values())
def test_wrong_input_is_refused_on_one_line(metric, arguments, message):
    with pytest.raises(InputError, match=message) as caught:
        metric(*arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("weight", [[1.0], [1.0, -1.0], [0.0, 0.0], [1.0, np.inf], [1.0, np.nan]])
def test_wrong_weights_are_refused(weight):
    with pytest.raises(InputError, match="sample_weight"):
        metrics.nll([1.0, 2.0], [0.0, 0.0], [1.0, 1.0], sample_weight=weight)


@pytest.mark.parametrize("coverage", [0.0, 1.0, 90.0])
def test_coverage_is_a_probability(coverage):
    with pytest.raises(InputError, match="between 0 and 1"):
        metrics.interval_width([1.0], [1.0], [1.0], coverage=coverage)


def test_geometric_complexity_of_a_linear_function_is_its_squared_slope():
    slopes = np.tile([3.0, 4.0], (7, 1))
    assert metrics.geometric_complexity(slopes) == pytest.approx(25.0)
    assert metrics.geometric_complexity([[1.0], [2.0]], sample_weight=[3, 1]) == pytest.approx(7 / 4)
    with pytest.raises(InputError, match=r"\(point, feature\)"):
        metrics.geometric_complexity([1.0, 2.0])


def test_dirichlet_energy_approaches_the_integral():
    x = np.linspace(-1, 1, 4001)
    uniform, _ = integrate.quad(lambda t: 0.5 * (3 * np.cos(3 * t)) ** 2, -1, 1)
    assert metrics.dirichlet_energy(x, np.sin(3 * x)) == pytest.approx(uniform, rel=1e-5)
    normal, _ = integrate.quad(lambda t: stats.norm.pdf(t) * (3 * np.cos(3 * t)) ** 2, -1, 1)
    energy = metrics.dirichlet_energy(x, np.sin(3 * x), density=stats.norm.pdf(x))
    assert energy == pytest.approx(normal, rel=1e-5)


def test_dirichlet_energy_is_exact_on_an_uneven_grid_and_sees_odd_even_wiggles():
    assert metrics.dirichlet_energy([0.0, 1.0, 4.0], [0.0, 2.0, 8.0]) == pytest.approx(4.0)
    assert metrics.dirichlet_energy(np.arange(5.0), [0, 1, 0, 1, 0]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("x", "values", "density"),
    [([0.0], [1.0], None), ([1.0, 0.0], [0.0, 0.0], None), ([0.0, 1.0], [0.0], None), ([0.0, 1.0], [0.0, 1.0], [1.0])],
)
def test_dirichlet_energy_refuses_what_is_no_field_on_a_grid(x, values, density):
    with pytest.raises(InputError):
        metrics.dirichlet_energy(x, values, density=density)


SCORERS = [metrics.neg_nll_scorer, metrics.neg_crps_scorer, metrics.neg_ece_scorer, metrics.neg_std_mse_scorer]


@pytest.fixture
def regression():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, 2))
    return x, x @ [1.0, -2.0] + 0.3 * rng.normal(size=60)


@pytest.mark.parametrize("scorer", SCORERS, ids=lambda scorer: scorer.metric.__name__)
def test_scorer_is_the_negative_metric_and_pickles(scorer, regression):
    x, y = regression
    model = make_pipeline(StandardScaler(), BayesianRidge()).fit(x, y)
    expected = -scorer.metric(y, *model.predict(x, return_std=True))
    assert pickle.loads(pickle.dumps(scorer))(model, x, y) == expected


def test_scorer_weighs_rows(regression):
    x, y = regression
    model, first = BayesianRidge().fit(x, y), np.arange(60) < 30
    weighted = metrics.neg_nll_scorer(model, x, y, sample_weight=first.astype(float))
    assert weighted == pytest.approx(metrics.neg_nll_scorer(model, x[first], y[first]))


def test_scorer_in_parallel_cross_validation(regression):
    scores = cross_val_score(BayesianRidge(), *regression, scoring=metrics.neg_crps_scorer, cv=3, n_jobs=2)
    np.testing.assert_array_equal(
        scores, cross_val_score(BayesianRidge(), *regression, scoring=metrics.neg_crps_scorer, cv=3)
    )
    assert (scores < 0).all()


def test_scorer_picks_the_noise_level_that_is_there(regression):
    model = GaussianProcessRegressor(optimizer=None)
    search = GridSearchCV(model, {"alpha": [1e-10, 0.1, 100.0]}, scoring=metrics.neg_nll_scorer)
    assert search.fit(*regression).best_params_ == {"alpha": 0.1}


def test_several_scorers_in_one_weighted_search(regression):
    scoring = {"nll": metrics.neg_nll_scorer, "crps": metrics.neg_crps_scorer}
    search = GridSearchCV(BayesianRidge(), {"alpha_1": [1e-6, 1e-2]}, scoring=scoring, refit="nll", cv=2)
    search.fit(*regression, sample_weight=np.ones(60))
    assert {"mean_test_nll", "mean_test_crps"} <= set(search.cv_results_)


def test_pipelines_and_searches_are_asked_for_their_own_distribution(regression):
    x, y = regression
    score = metrics.neg_nll_scorer

    class HeavyTails(BayesianRidge):
        def pred_dist(self, X):
            return stats.t(df=np.full(len(X), 3.0), loc=self.predict(X), scale=0.5)

    plain = HeavyTails().fit(x, y)
    expected = score(plain, x, y)
    assert expected == pytest.approx(stats.t.logpdf(y, 3.0, plain.predict(x), 0.5).mean())
    assert score(make_pipeline("passthrough", HeavyTails()).fit(x, y), x, y) == pytest.approx(expected)
    scaled = make_pipeline(StandardScaler(), HeavyTails()).fit(x, y)
    assert score(scaled, x, y) == pytest.approx(score(scaled[-1], scaled[0].transform(x), y))
    search = GridSearchCV(scaled, {"heavytails__alpha_1": [1e-6]}, cv=2).fit(x, y)
    assert score(search, x, y) == pytest.approx(score(search.best_estimator_, x, y))
    with pytest.raises(InputError, match="LinearRegression gives no std"):
        score(LinearRegression().fit(x, y), x, y)


def test_a_wrong_certainty_outweighs_all_right_ones():
    assert metrics.nll([0.0, 1.0, 2.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]) == np.inf

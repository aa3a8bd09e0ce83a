"""Targets in logarithms: lognormal predictions with exact moments and quantiles, chosen where they score better."""

import numpy as np
import pytest
from scipy import stats

from heteroscope import HeteroskedasticRegressorCV, load_model, metrics, save_model
from heteroscope.core import FarRowsWarning, InputError
from heteroscope.data.rows import Rows
from heteroscope.datasets import splits
from heteroscope.model_files import export_onnx
from heteroscope.networks import mean_bounds
from heteroscope.search import may_need_logarithm
from tests.estimators.test_regressors import SMALL_CV


def prices(n, seed=0):
    """Prices whose noise is a factor: 30 % everywhere."""
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, (n, 1))
    return x, np.exp(5 + 2 * x[:, 0] + 0.3 * random.normal(size=n))


@pytest.fixture(scope="module")
def rows():
    return prices(120)


@pytest.fixture(scope="module")
def fitted(rows):
    return HeteroskedasticRegressorCV(**SMALL_CV, target="log").fit(*rows)


def test_logarithms_are_chosen_by_held_out_rows_and_only_where_targets_are_skewed(rows, fitted):
    chosen = HeteroskedasticRegressorCV(**SMALL_CV).fit(*rows)
    assert chosen.target_ == "log", "noise that is a factor"
    np.testing.assert_array_equal(chosen.predict(rows[0]), fitted.predict(rows[0]), "the trial changes no seed")
    x, y = prices(120)
    additive = HeteroskedasticRegressorCV(**SMALL_CV).fit(x, np.exp(2 * x[:, 0]) + 0.2 + 0.01 * np.sin(99 * y))
    assert additive.target_ == "none", "tried, since the targets are skewed, and worse: the noise is no factor"


def test_the_sets_that_nobody_would_log_cost_no_trial():
    for name, skewed in {"wine": False, "yacht": True}.items():
        split = next(iter(splits(name, protocol="literature", n_splits=1)))
        assert may_need_logarithm(Rows(split.x_train, split.y_train, np.ones(len(split.y_train)))) is skewed, name


def test_all_predictions_are_one_lognormal(rows, fitted, tmp_path):
    x, y = rows
    forecast = fitted.pred_dist(x)
    assert forecast.dist.name == "lognorm"
    assert fitted.df_ == np.inf
    mean, std = fitted.predict(x, return_std=True)
    np.testing.assert_allclose(forecast.mean(), mean)
    np.testing.assert_allclose(forecast.std(), std, rtol=1e-6)
    parts = fitted.predict_parts(x)
    np.testing.assert_allclose(np.hypot(parts.aleatoric, parts.epistemic), std)
    # the moments are those of the exponential of what the networks say: a Gaussian, drawn
    log = fitted.ensemble().predict(x[:1])
    draws = np.exp(np.random.default_rng(0).normal(log.mean, log.std, 400_000))
    assert mean[0] == pytest.approx(draws.mean(), rel=0.01)
    assert std[0] == pytest.approx(draws.std(), rel=0.02)
    lower, upper = fitted.predict_interval(x, coverage=0.999999)
    assert (lower > 0).all()
    np.testing.assert_allclose(np.log([lower, upper]).mean(axis=0), fitted.ensemble().predict(x).mean, rtol=1e-9)
    np.testing.assert_allclose(fitted.predict_quantiles(x, [0.2])[:, 0], forecast.ppf(0.2))
    fresh_x, fresh_y = prices(1000, seed=1)
    fresh = fitted.pred_dist(fresh_x)
    truth = stats.lognorm(0.3, scale=np.exp(5 + 2 * fresh_x[:, 0]))
    assert metrics.nll(fresh_y, fresh) == pytest.approx(-truth.logpdf(fresh_y).mean(), abs=0.15)
    assert metrics.interval_coverage(fresh_y, fresh) == pytest.approx(0.9, abs=0.06)

    loaded = load_model(save_model(fitted, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict_parts(x), parts)
    np.testing.assert_array_equal(loaded.predict_quantiles(x, [0.1, 0.9]), fitted.predict_quantiles(x, [0.1, 0.9]))
    np.testing.assert_allclose(loaded.pred_dist(x).logpdf(y), forecast.logpdf(y))
    assert loaded.target_ == "log"
    np.testing.assert_array_equal(loaded.predict(x), mean, "now from its estimator")


def test_scores_and_verdict_are_in_the_targets_units(rows, fitted):
    y = rows[1]
    scores, verdict = fitted.held_out_scores_, fitted.verdict_
    assert scores["nll"] == pytest.approx(verdict.ours.nll)
    centre, spread = np.log(y).mean(), np.log(y).std()
    constant = -stats.lognorm(spread, scale=np.exp(centre)).logpdf(y).mean()
    assert verdict.constant.nll == pytest.approx(constant, abs=0.05), "the constant model is lognormal, too"
    assert verdict.over_constant.nats == pytest.approx(verdict.constant.nll - verdict.ours.nll)
    assert verdict.over_homoskedastic.nats == pytest.approx(0.0, abs=0.1), "the factor is the same for all rows"
    assert np.std(y) > scores["rmse"] > 0.1 * np.std(y)
    assert "logarithm of the target" in str(fitted.diagnose())
    assert fitted.cv_results_["mean_test_rmse"].max() < 2.0, "the path is of logarithms"


def test_means_stay_near_the_targets_far_outside_the_fit(rows, fitted):
    x = np.array([[50.0], [-50.0]])
    with pytest.warns(FarRowsWarning):
        mean, std = fitted.predict(x, return_std=True)
    assert (mean <= np.exp(1.5**2 / 2) * mean_bounds(rows[1])[1] * (1 + 1e-9)).all()
    assert (std > 3 * fitted.predict([[0.9], [-0.9]], return_std=True)[1] / 2).any()
    with pytest.warns(FarRowsWarning):
        lower, upper = fitted.predict_interval(x)
    assert (upper / lower > 50).all(), "little is known there"


def test_onnx_has_the_same_mean_and_std(rows, fitted, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    session = onnxruntime.InferenceSession(export_onnx(fitted, tmp_path / "model.onnx", "float64"))
    x = np.concatenate([rows[0], [[50.0]]])
    with pytest.warns(FarRowsWarning):
        expected = fitted.predict(x, return_std=True)
    for one, other in zip(session.run(["mean", "std"], {"features": x}), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4)
    assert session.get_modelmeta().custom_metadata_map["distribution"] == "lognormal"


@pytest.mark.parametrize(
    ("settings", "shift", "complaint"),
    [
        ({"target": "log"}, -200.0, "needs targets above 0"),
        ({"target": "sqrt"}, 0.0, "must be one of auto, none, log"),
        ({"target": "log", "family": "student-t"}, 0.0, "no finite mean"),
    ],
)
def test_what_has_no_logarithm_is_refused_in_one_line(rows, settings, shift, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        HeteroskedasticRegressorCV(**SMALL_CV, **settings).fit(rows[0], rows[1] + shift)
    assert "\n" not in str(caught.value)

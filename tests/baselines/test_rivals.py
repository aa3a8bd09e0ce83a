"""Other libraries' models behind one call: units, early stopping and noise, on eighty rows."""

import re
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import jax
import numpy as np
import pytest
from scipy import stats

from heteroscope.baselines import rivals
from heteroscope.baselines.rivals.boosted_trees import BoostingPeer
from heteroscope.baselines.rivals.peers import INSTALL, LEVELS, require
from heteroscope.core.errors import InputError
from heteroscope.distributions import metrics

ROOT = Path(__file__).parents[2]
#: The smallest settings with which each still learns a line; the package that it needs.
PEERS = {
    "ngboost": rivals.NGBoostPeer(max_trees=60, random_state=0),
    "catboost": rivals.CatBoostPeer(max_trees=200, n_jobs=1, random_state=0),
    "sklearn": rivals.GaussianProcessPeer(n_restarts=0, random_state=0),
    "sklearn.gaussian_process": rivals.GaussianProcessPeer(kernel="matern", n_restarts=0, random_state=0),
    "sklearn.ensemble": rivals.QuantileBoostingPeer(max_trees=40, random_state=0),
    "xgboost_distribution": rivals.XGBDistributionPeer(max_trees=200, n_jobs=1, random_state=0),
    "quantile_forest": rivals.QuantileForestPeer(n_trees=30, n_jobs=1, random_state=0),
    "crepes": rivals.ConformalCatBoostPeer(max_trees=200, n_jobs=1, random_state=0),
    "stochtree": rivals.BARTPeer(n_samples=100, burn_in=20, n_trees=20, n_variance_trees=5, n_jobs=1, random_state=0),
    "bde": rivals.BDEPeer(n_members=2, hidden=(8,), epochs=200, warmup_steps=200, n_samples=200, random_state=0),
    "pytabkit": rivals.RealMLPPeer(n_folds=2, n_epochs=100, n_jobs=1, random_state=0),
    "pytabkit.models": rivals.TabMPeer(n_folds=2, n_epochs=30, n_jobs=1, random_state=0),
    "treeffuser": rivals.TreeffuserPeer(n_draws=50, max_trees=50, n_jobs=1, random_state=0),
}
QUANTILE_RIVALS = ("sklearn.ensemble", "quantile_forest", "pytabkit", "pytabkit.models")
SAMPLE_RIVALS = ("crepes", "stochtree", "bde", "treeffuser")


def installed(package):
    return find_spec(package.partition(".")[0]) is not None


def line(n, seed=0):
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, (n, 2))
    return x, 500 + 30 * x[:, 0] + 5 * random.normal(size=n)


def marks(name):
    """Skip a rival whose package is missing; ignore what other libraries warn of about their own dependencies."""
    skip = pytest.mark.skipif(not installed(name), reason=f"{name} is not installed: {INSTALL.get(name)}")
    strict = name in ("catboost", "sklearn", "sklearn.gaussian_process", "sklearn.ensemble")
    return [skip] if strict else [skip, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module", autouse=True)
def other_libraries_write_jax_as_they_like():
    with jax.numpy_rank_promotion("allow"):
        yield


@pytest.fixture(scope="module", params=[pytest.param(name, marks=marks(name)) for name in PEERS])
def peer(request):
    return request.param, PEERS[request.param].fit(*line(80))


def test_the_forecast_is_in_the_targets_units_and_beats_the_constant_model(peer):
    name, model = peer
    x, y = line(400, seed=1)
    mean, std = model.predict(x, return_std=True)
    assert mean.shape == std.shape == (400,)
    np.testing.assert_array_equal(model.predict(x), mean)
    forecast = model.pred_dist(x)
    train = line(80)[1]
    constant = metrics.crps(y, stats.norm(np.full(400, train.mean()), np.full(400, train.std())))
    assert metrics.crps(y, forecast) < 0.75 * constant, "a line with its true noise has 0.28"
    assert 2 < np.median(std) < 15, "the noise has a standard deviation of 5, the target one of 18"
    kind = type(forecast).__name__
    assert (kind == "QuantileForecast") == (name in QUANTILE_RIVALS)
    assert (kind == "SampleForecast") == (name in SAMPLE_RIVALS)


def test_the_same_seed_gives_the_same_numbers(peer):
    name, model = peer
    x = line(20)[0]
    before = model.predict(x, return_std=True)
    if name in ("bde", "pytabkit", "pytabkit.models", "treeffuser"):
        again = model  # too slow to fit twice; the same model must at least predict the same
    else:
        again = type(model)(**model.get_params()).fit(*line(80))
    np.testing.assert_allclose(again.predict(x, return_std=True), before)


@pytest.mark.parametrize("name", ["ngboost", "catboost", "xgboost_distribution"])
def test_trees_that_only_fit_noise_stop_early_and_are_refitted_in_that_number(name):
    pytest.importorskip(name)
    make = type(PEERS[name])
    assert issubclass(make, BoostingPeer)
    random = np.random.default_rng(0)
    x, y = random.normal(size=(60, 2)), random.normal(size=60)
    model = make(max_trees=300, patience=5, random_state=0).fit(x, y)
    assert 1 <= model.n_trees_ < 300
    count = {
        "ngboost": lambda found: len(found.base_models),
        "catboost": lambda found: found.tree_count_,
        "xgboost_distribution": lambda found: found.get_booster().num_boosted_rounds(),
    }
    assert count[name](model.model_) == model.n_trees_


def test_quantile_boosting_chooses_the_trees_of_each_level():
    random = np.random.default_rng(0)
    model = rivals.QuantileBoostingPeer(max_trees=60, patience=5, random_state=0)
    model.fit(random.normal(size=(60, 2)), random.normal(size=60))
    assert 1 <= min(model.n_trees_) < 30, "there is nothing to learn, at least for some levels"
    assert [one.n_iter_ for one in model.model_] == list(model.n_trees_)


def test_a_gaussian_process_finds_the_noise_and_the_feature_that_does_not_matter():
    x, y = line(60)
    process = rivals.GaussianProcessPeer(n_restarts=0, random_state=0).fit(x, y).model_[-1]
    lengths = process.kernel_.k1.k2.length_scale
    assert lengths[1] > 10 * lengths[0] or lengths[1] > 100
    noise = np.sqrt(process.kernel_.k2.noise_level) * y.std()
    assert noise == pytest.approx(5, rel=0.3)


@pytest.mark.parametrize("package", INSTALL)
def test_the_extra_that_installs_a_package_exists(package):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    extra = re.search(r"\[([\w-]+)\]", INSTALL[package])[1]
    wanted = {"bde": "sklearn-contrib-bde", "treeffuser": "lightgbm"}.get(package, package.replace("_", "-"))
    assert any(line.startswith(wanted) for line in extras[extra])


@pytest.mark.parametrize("package", INSTALL)
def test_a_package_that_is_missing_is_one_line_with_the_command(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=r"is not installed: pip install \"heteroscope\[[\w-]+\]\"") as refusal:
        require(package)
    assert "\n" not in str(refusal.value)


class Loaded:
    """A stand-in for a network with its weights: the quantiles of a Gaussian around the first feature."""

    def __init__(self, model_path=None, random_state=None):
        self.model_path = model_path

    def fit(self, x, y):
        self.slope = np.polyfit(x[:, 0], y, 1)
        return self

    def predict(self, x, output_type, quantiles=None, alphas=None):
        assert output_type == "quantiles"
        levels = np.asarray(quantiles or alphas)
        table = np.polyval(self.slope, x[:, 0])[:, np.newaxis] + 5 * stats.norm.ppf(levels)
        return table if alphas else list(table.T)


class GatedError(Exception):
    """An error of a package's own, as TabPFN raises."""


class Weightless(Loaded):
    """The same without weights."""

    def fit(self, x, y):
        raise GatedError("Failed to download\nmodel from hub. Set a token.")


FOUNDATION = {
    "tabpfn": (rivals.TabPFNPeer, "TabPFNRegressor", "auto"),
    "tabicl": (rivals.TabICLPeer, "TabICLRegressor", None),
}


@pytest.mark.parametrize("package", FOUNDATION)
def test_networks_trained_in_advance_are_asked_for_quantiles_where_their_weights_are(package, monkeypatch):
    peer, name, where = FOUNDATION[package]
    module = ModuleType(package)
    setattr(module, name, Loaded)
    monkeypatch.setitem(sys.modules, package, module)
    model = peer(random_state=0).fit(*line(60))
    assert model.model_.model_path == where
    assert peer(model_path="weights.ckpt").fit(*line(60)).model_.model_path == "weights.ckpt"
    forecast = model.pred_dist(line(9, seed=1)[0])
    assert forecast.levels == pytest.approx(LEVELS)
    x, y = line(400, seed=1)
    assert metrics.interval_coverage(y, model.pred_dist(x)) == pytest.approx(0.9, abs=0.06)


@pytest.mark.parametrize("package", FOUNDATION)
def test_networks_without_their_weights_say_so_in_one_line(package, monkeypatch):
    peer, name, _ = FOUNDATION[package]
    module = ModuleType(package)
    setattr(module, name, Weightless)
    monkeypatch.setitem(sys.modules, package, module)
    with pytest.raises(InputError, match=r"could not be fitted \(.*Failed to download model .*set model_path") as no:
        peer().fit(*line(20))
    assert "\n" not in str(no.value)

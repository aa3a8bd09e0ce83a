"""Other libraries' models behind one call: units, early stopping and noise, on sixty rows."""

import sys

import numpy as np
import pytest
from scipy import stats

from heteroscope.baselines.other_libraries import CatBoostPeer, GaussianProcessPeer, NGBoostPeer, require
from heteroscope.core.errors import InputError

PEERS = [
    NGBoostPeer(max_trees=60, random_state=0),
    CatBoostPeer(max_trees=200, n_jobs=1, random_state=0),
    GaussianProcessPeer(n_restarts=0, random_state=0),
]


def line(n, seed=0):
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, (n, 2))
    return x, 500 + 30 * x[:, 0] + 5 * random.normal(size=n)


@pytest.fixture(scope="module", params=PEERS, ids=lambda peer: type(peer).__name__)
def peer(request):
    return request.param.fit(*line(60))


def test_mean_and_std_are_in_the_targets_units_and_beat_the_constant_model(peer):
    x, y = line(400, seed=1)
    mean, std = peer.predict(x, return_std=True)
    assert mean.shape == std.shape == (400,)
    np.testing.assert_array_equal(peer.predict(x), mean)
    constant = stats.norm(line(60)[1].mean(), line(60)[1].std()).logpdf(y).mean()
    assert stats.norm(mean, std).logpdf(y).mean() > constant + 0.2
    assert 2 < np.median(std) < 15, "the noise has a standard deviation of 5, the target one of 18"


def test_the_same_seed_gives_the_same_numbers(peer):
    x, y = line(60)
    again = type(peer)(**peer.get_params()).fit(x, y)
    np.testing.assert_allclose(again.predict(x, return_std=True), peer.predict(x, return_std=True))


@pytest.mark.parametrize("make", [NGBoostPeer, CatBoostPeer])
def test_trees_that_only_fit_noise_stop_early_and_are_refitted_in_that_number(make):
    random = np.random.default_rng(0)
    x, y = random.normal(size=(60, 2)), random.normal(size=60)
    model = make(max_trees=300, patience=5, random_state=0).fit(x, y)
    assert 1 <= model.n_trees_ < 300
    fitted = model.model_.tree_count_ if make is CatBoostPeer else len(model.model_.base_models)
    assert fitted == model.n_trees_


def test_a_gaussian_process_finds_the_noise_and_the_feature_that_does_not_matter():
    x, y = line(60)
    process = GaussianProcessPeer(n_restarts=0, random_state=0).fit(x, y).model_[-1]
    lengths = process.kernel_.k1.k2.length_scale
    assert lengths[1] > 10 * lengths[0] or lengths[1] > 100
    noise = np.sqrt(process.kernel_.k2.noise_level) * y.std()
    assert noise == pytest.approx(5, rel=0.3)


def test_a_package_that_is_missing_is_one_line_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "ngboost", None)
    with pytest.raises(
        InputError, match=r"'ngboost' is not installed: pip install \"heteroscope\[compare\]\""
    ) as refusal:
        require("ngboost")
    assert "\n" not in str(refusal.value)

"""Reliable variance networks: turns, neighbours that are drawn equally often, and a variance that returns far away."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from heteroscope.baselines import ReliableVarianceRegressor
from heteroscope.baselines.reliable_variance import far_share, neighbour_order
from heteroscope.core.errors import FarRowsWarning, InputError
from heteroscope.data.rows import Batch
from heteroscope.training.steps import draw_batch

SETTINGS = {"weight_decay": 1e-3, "held_out": 0, "random_state": 0}


@pytest.fixture(scope="module")
def wave():
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, 150)
    y = 20 + 5 * (np.sin(3 * x) + 0.1 * random.normal(size=150))
    return ReliableVarianceRegressor(1, 2.0, hidden=(8, 8), max_steps=600, **SETTINGS).fit(x[:, None], y), x, y


def test_the_variance_grows_away_from_the_rows_to_the_fixed_one(wave):
    model, x, y = wave
    far = np.array([1.0, 1.05, 1.2, 1.5, 1.9])[:, None]
    std = model.predict(far, return_std=True)[1]
    assert np.all(np.diff(std) > -1e-9)
    np.testing.assert_allclose(std[-2:], 2.0 * y.std(), rtol=1e-2)
    with pytest.warns(FarRowsWarning):
        assert model.predict(np.array([[30.0]]), return_std=True)[1] > 2.0 * y.std()
    near = model.predict(x[:, None], return_std=True)[1]
    assert np.median(near) < 0.3 * y.std(), "among the rows it is the noise"
    np.testing.assert_allclose(model.pred_dist(far).std(), std)


def test_mean_and_std_follow_the_rows(wave):
    model, x, y = wave
    mean, std = model.predict(x[:, None], return_std=True)
    assert np.corrcoef(mean, y)[0, 1] > 0.95
    assert 0.6 < np.mean(np.abs(y - mean) <= stats.norm.ppf(0.95) * std) <= 1.0


def test_mean_and_variance_take_turns():
    stages = ReliableVarianceRegressor(rounds=3).stages(600)
    assert [stage.trains for stage in stages] == [("mean",), ("precision",)] * 3
    assert sum(stage.steps for stage in stages) == 600


def test_rows_that_follow_each_other_are_neighbours():
    x = np.random.default_rng(0).uniform(size=(512, 2)).astype(np.float32)
    order = neighbour_order(x)
    np.testing.assert_array_equal(np.sort(order), np.arange(512))
    step = np.linalg.norm(np.diff(x[order], axis=0), axis=1)
    assert np.median(step) < 0.25 * np.median(np.linalg.norm(np.diff(x, axis=0), axis=1))


def test_a_batch_is_made_of_neighbours_and_every_row_is_drawn_equally_often():
    rows = Batch(jnp.arange(128.0)[:, None], jnp.zeros(128), jnp.where(jnp.arange(128) < 96, 128 / 96, 0.0))
    keys = np.stack([np.zeros(4000, np.uint32), np.arange(4000, dtype=np.uint32)], axis=1)
    drawn = np.asarray(jax.vmap(lambda key: draw_batch(key, rows, 96, 32, 8)[1].x[:, 0])(keys)).astype(int)
    assert drawn.shape == (4000, 32)
    np.testing.assert_allclose(draw_batch(keys[0], rows, 96, 32, 8)[1].weight, 1.0)
    runs = drawn.reshape(-1, 8)
    np.testing.assert_array_equal(np.diff(runs, axis=1) % 96, 1)
    counts = np.bincount(runs[:, 0], minlength=96)
    assert stats.chisquare(counts).pvalue > 1e-3
    np.testing.assert_allclose(np.bincount(drawn.ravel(), minlength=96) / drawn.size, 1 / 96, rtol=0.1)


def test_the_share_of_the_fixed_variance_by_distance():
    share = far_share(np.array([0.0, 2.0, 3.0, 1e3]), spacing=2.0)
    np.testing.assert_allclose(share, [0.0, 0.0, np.tanh(0.5), 1.0])


@pytest.mark.parametrize(
    ("setting", "message"),
    [({"rounds": 0}, "rounds must be"), ({"far_std": 0}, "far_std must be"), ({"far_std": "wide"}, "far_std must be")],
)
def test_what_cannot_be_is_refused(setting, message):
    with pytest.raises(InputError, match=message):
        ReliableVarianceRegressor().set_params(**setting).fit(np.arange(8.0)[:, None], np.arange(8.0))


def test_rows_without_a_distance_are_refused():
    with pytest.raises(InputError, match="the same inputs"):
        ReliableVarianceRegressor(1, hidden=(), max_steps=4, **SETTINGS).fit(np.ones((8, 1)), np.arange(8.0))

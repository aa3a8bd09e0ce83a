"""Student-t regression: the likelihood is scipy's, a simulated t comes back, and all else follows the distribution."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from heteroscope.baselines import StudentTRegressor
from heteroscope.baselines.student_t_and_variational import student_nll
from heteroscope.distributions import metrics


@pytest.mark.parametrize("df", [2.2, 5.0, 80.0])
def test_the_likelihood_is_scipys(df):
    residual, scale = jnp.array([0.0, -0.7, 4.0]), jnp.array([1.0, 0.2, 3.0])
    found = student_nll(residual, scale**2, jnp.full(3, df / 2))
    np.testing.assert_allclose(found, -stats.t(df, 0, scale).logpdf(residual), rtol=1e-4)


@pytest.fixture(scope="module")
def simulated():
    """2,000 rows of a line with noise that is a Student-t of four degrees of freedom; the target has its own units."""
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, 2000)
    noise = 30 * random.standard_t(4, 2000)
    model = StudentTRegressor(
        hidden=(), max_steps=4000, batch_size=None, weight_decay=0.0, held_out=0, random_state=0
    ).fit(x[:, None], 500 + 100 * x + noise)
    return model, noise


def test_degrees_of_freedom_and_scale_recover_a_simulated_t(simulated):
    model, noise = simulated
    df, _, scale = stats.t.fit(noise, floc=0)
    middle = model.pred_dist([[0.0]])
    assert middle.kwds["df"][0] == pytest.approx(df, rel=0.2)
    assert middle.kwds["scale"][0] == pytest.approx(scale, rel=0.05)
    np.testing.assert_allclose(model.predict([[-1.0], [1.0]]), [400, 600], atol=8)
    np.testing.assert_array_equal(model.degrees_of_freedom([[0.0]]), middle.kwds["df"])
    ends = model.degrees_of_freedom([[-1.0], [1.0]])
    assert 2 < ends.min() < ends.max() < 9, "the noise is the same everywhere"


def test_std_quantiles_intervals_and_scores_follow_the_distribution(simulated):
    model, _ = simulated
    x = np.linspace(-1, 1, 7)[:, None]
    forecast = model.pred_dist(x)
    assert forecast.dist.name == "t"
    mean, std = model.predict(x, return_std=True)
    np.testing.assert_allclose(std, forecast.std())
    np.testing.assert_allclose(
        model.predict_quantiles(x, [0.1, 0.7]), np.transpose([forecast.ppf(0.1), forecast.ppf(0.7)])
    )
    lower, upper = model.predict_interval(x, 0.8)
    np.testing.assert_allclose(forecast.cdf(upper) - forecast.cdf(lower), 0.8)
    y = mean + std
    assert metrics.neg_nll_scorer(model, x, y) == pytest.approx(np.mean(forecast.logpdf(y)))
    assert metrics.neg_nll_scorer(model, x, y) != pytest.approx(-metrics.nll(y, mean, std))

"""Student-t forecasts: likelihood against scipy, divergence against quadrature, a posterior against its closed form."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from heteroscope.baselines import StudentTRegressor, VariationalVarianceRegressor
from heteroscope.baselines.student_t_and_variational import VariationalBound, gamma_kl, student_nll
from heteroscope.core.errors import InputError
from heteroscope.core.regularisation import Strengths
from heteroscope.data.rows import Batch
from heteroscope.distributions import metrics
from heteroscope.networks import Layer, Params


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


@pytest.mark.parametrize(
    ("shape", "rate", "a", "b"), [(2.5, 1.0, 1.0, 0.3), (1.2, 0.1, 4.0, 2.0), (3.0, 2.0, 3.0, 2.0)]
)
def test_the_divergence_is_its_integral(shape, rate, a, b):
    q, p = stats.gamma(shape, scale=1 / rate), stats.gamma(a, scale=1 / b)
    expected, _ = integrate.quad(lambda t: q.pdf(t) * (q.logpdf(t) - p.logpdf(t)), 0, np.inf)
    assert float(gamma_kl(jnp.float32(shape), jnp.float32(rate), a, b)) == pytest.approx(expected, abs=2e-5)


def constant_model(mean, squared_scale, shape):
    outputs = np.log(np.expm1(np.array([squared_scale, shape - 1], np.float32)))
    return Params(
        (Layer(np.zeros((1, 1), np.float32), np.array([mean], np.float32)),),
        (Layer(np.zeros((1, 2), np.float32), outputs),),
    )


@pytest.mark.parametrize("prior", [((2.0, 0.5),), ((1.0, 2.0), (2.0, 0.1), (4.0, 4.0))])
def test_it_is_a_bound_of_the_evidence_and_tight_where_the_posterior_is_exact(prior):
    def bound(y, squared_scale, shape):
        batch = Batch(np.zeros((1, 1), np.float32), np.array([y], np.float32), np.ones(1, np.float32))
        terms = VariationalBound(prior)(constant_model(0.3, squared_scale, shape), batch, Strengths(1.0, 0, 0), "tanh")
        return -float(terms.likelihood) - 0.5 * np.log(2 * np.pi)

    for y in (0.3, 2.0):
        # each component integrated out is a Student-t
        each = [stats.t(2 * a, 0.3, np.sqrt(b / a)).pdf(y) for a, b in prior]
        evidence = np.log(np.mean(each))
        assert bound(y, 0.5, 2.0) < evidence
        if len(prior) == 1:
            ((a, b),) = prior
            shape, rate = a + 0.5, b + 0.5 * (y - 0.3) ** 2
            assert bound(y, rate / shape, shape) == pytest.approx(evidence, abs=1e-4)


def test_two_groups_get_the_conjugate_posterior():
    """With the prior Gamma(a, b) the best posterior of a group is Gamma(a + 1/2, b + its mean squared residual / 2)."""
    random = np.random.default_rng(0)
    x = np.repeat([0.0, 1.0], [30, 50])
    y = np.where(x == 0, 10 + random.normal(size=80), 13 + 2.0 * random.normal(size=80))
    a, b = 2.0, 0.4
    settings = {"hidden": (), "max_steps": 4000, "weight_decay": 0.0, "held_out": 0, "random_state": 0}
    model = VariationalVarianceRegressor([(a, b)], **settings).fit(x[:, None], y)
    forecast = model.pred_dist([[0.0], [1.0]])
    np.testing.assert_allclose(forecast.mean(), [y[x == 0].mean(), y[x == 1].mean()], atol=0.02)
    np.testing.assert_allclose(forecast.kwds["df"], 2 * a + 1, rtol=0.02)
    rate = b + 0.5 * np.array([y[x == 0].var(), y[x == 1].var()]) / y.var()
    np.testing.assert_allclose(forecast.kwds["scale"], y.std() * np.sqrt(rate / (a + 0.5)), rtol=0.02)


@pytest.mark.parametrize("prior", [[], [(1.0, 0.0)], [(1.0,)], "wide", 3])
def test_what_is_no_prior_is_refused(prior):
    with pytest.raises(InputError, match="prior must be pairs"):
        VariationalVarianceRegressor().set_params(prior=prior).fit(np.arange(8.0)[:, None], np.arange(8.0))

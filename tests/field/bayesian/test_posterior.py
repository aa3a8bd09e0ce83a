"""Posteriors against a dense Gaussian process, quadrature and each other; and what users may get wrong."""

import warnings

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, norm

from heteroscope import field
from heteroscope.core.errors import InputError
from tests.field.bayesian.oracles import dense_gp, laplacian, penalties_to_cell, quadrature

STIFF = 1e9


def draw(n, seed=0):
    x = np.linspace(-1, 1, n)
    return x, np.sin(3 * x) + 0.7 * np.random.default_rng(seed).standard_normal(n)


@pytest.mark.parametrize("method", ["laplace", "variational"])
def test_a_stiff_precision_leaves_the_dense_gaussian_process(method):
    """Laplace's Gaussian also moves the level l; given the level, it is the GP.

    The Hessian of the mean and the level is [[A, r], [r', D]] with A the GP's. With s = A^-1 r the first block of its
    inverse is A^-1 + s s' / (D - r's).
    """
    x, y = draw(60)
    alpha = 0.02
    found = field.posterior(x, y, *penalties_to_cell(alpha, STIFF), method=method)
    level = found.precision.mean()
    np.testing.assert_allclose(found.precision, level, rtol=1e-6)
    matrix = laplacian(field.chain(x).stiffness)
    mean, variance = dense_gp(matrix, alpha, 1 / level, y)
    if method == "laplace":
        residual = mean - y
        moved = np.linalg.solve(level * np.eye(60) + 2 * alpha * matrix, residual)
        curvature = (60 / 2 + 1.0) / level**2
        variance = variance + moved**2 / (curvature - residual @ moved)
    np.testing.assert_allclose(found.mean, mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.mean_std, np.sqrt(variance), rtol=0, atol=1e-8)


@pytest.fixture(scope="module")
def eight():
    """Eight points, a moderately Gaussian posterior, and its moments by quadrature."""
    x, y = draw(8, seed=3)
    alpha, beta, prior = 0.02, 0.02, (3.0, 1.5)
    return x, y, penalties_to_cell(alpha, beta), prior, quadrature(x, y, alpha, beta, *prior)


@pytest.mark.parametrize("method", ["hmc", "langevin"])
def test_samplers_equal_quadrature_at_eight_points(eight, method):
    x, y, cell, prior, ((mean, mean_std, precision, precision_std, inverse), log_evidence) = eight
    found = field.posterior(x, y, *cell, method=method, level_prior=prior, n_draws=300, n_warmup=120)
    worst = found.diagnostics.ess_bulk.min()
    assert worst > 150
    assert found.diagnostics.r_hat.max() < 1.1
    assert found.diagnostics.divergences == 0
    error = 5 / np.sqrt(worst)
    np.testing.assert_array_less(np.abs(found.mean - mean), error * mean_std)
    np.testing.assert_array_less(np.abs(found.precision - precision), error * precision_std)
    np.testing.assert_allclose(found.mean_std, mean_std, rtol=0.2)
    np.testing.assert_allclose(found.precision_std, precision_std, rtol=0.35)
    np.testing.assert_allclose(found.predictive.aleatoric, np.sqrt(inverse), rtol=0.3)
    assert found.log_evidence == pytest.approx(log_evidence, abs=5 * found.log_evidence_error + 0.05)
    assert found.log_evidence_error < 0.2


def test_approximations_come_near_quadrature_at_eight_points(eight):
    x, y, cell, prior, ((mean, mean_std, precision, _, _), log_evidence) = eight
    for method in ("laplace", "variational"):
        found = field.posterior(x, y, *cell, method=method, level_prior=prior)
        assert np.abs((found.mean - mean) / mean_std).max() < 0.3
        np.testing.assert_allclose(found.mean_std, mean_std, rtol=0.4)
        np.testing.assert_allclose(found.precision, precision, rtol=0.3)
        assert found.log_evidence == pytest.approx(log_evidence, abs=1.0)


def test_methods_agree_where_the_posterior_is_nearly_gaussian():
    x, y = draw(150)
    found = {name: field.posterior(x, y, 0.5, 0.5, method=name) for name in ("laplace", "variational", "hmc")}
    sampled = found.pop("hmc")
    for one in found.values():
        assert np.abs((one.mean - sampled.mean) / sampled.mean_std).max() < 0.2
        np.testing.assert_allclose(one.mean_std, sampled.mean_std, rtol=0.1)
        np.testing.assert_allclose(one.predictive.std, sampled.predictive.std, rtol=0.03)
        assert one.log_evidence == pytest.approx(sampled.log_evidence, abs=0.5)


def test_the_evidence_of_a_stiff_precision_is_a_sum_over_modes():
    """Product over k >= 1 of N(y_k; 0, 1 / l + 1 / (2 alpha lambda_k)), averaged over the level l."""
    x, y = draw(40)
    alpha, prior = 0.3, (2.0, 0.8)
    eigenvalues, vectors = np.linalg.eigh(laplacian(field.chain(x).stiffness))
    modes, eigenvalues = (vectors.T @ y)[1:], eigenvalues[1:]

    def likelihood(level):
        stds = np.sqrt(1 / level + 1 / (2 * alpha * eigenvalues))
        return np.exp(norm.logpdf(modes, scale=stds).sum() + 45) * gamma.pdf(level, prior[0], scale=1 / prior[1])

    known = np.log(quad(likelihood, 1e-3, 30, limit=200)[0]) - 45 - 0.5 * np.log(len(x))
    for method, tolerance in (("laplace", 0.5), ("variational", 0.3), ("hmc", 0.1)):
        found = field.posterior(x, y, *penalties_to_cell(alpha, 1e4), method=method, level_prior=prior)
        assert found.log_evidence == pytest.approx(known, abs=tolerance), method


def test_the_runaway_is_an_artefact_of_the_point_estimate():
    x, y = draw(64)
    assert field.solve(x, y, 0.9999, 0.01).status == "runaway"
    found = field.posterior(x, y, 0.9999, 0.01, method="variational")
    assert found.status == "converged"
    score = np.mean((np.sin(3 * x) + 0.7 * np.random.default_rng(9).standard_normal(64) - found.mean) ** 2)
    assert score < 9 * np.mean(found.predictive.std**2)
    with pytest.raises(InputError, match="no maximum"):
        field.posterior(x, y, 0.9999, 0.01, method="laplace", level_prior=(1.0, 0.0))


def test_a_graph_has_the_posterior_of_its_chain():
    x, y = draw(30)
    chained = field.posterior(x, y, 0.7, 0.4, density="points", method="variational")
    joined = field.posterior_graph(x[:, None], y, 0.7, 0.4, n_neighbors=1, method="variational")
    np.testing.assert_allclose(joined.mean, chained.mean, atol=1e-6)
    np.testing.assert_allclose(joined.precision_std, chained.precision_std, rtol=1e-5)
    sampled = field.posterior_graph(x[:, None], y, 0.7, 0.4, n_neighbors=1, method="hmc", n_draws=40, n_warmup=40)
    assert np.abs((sampled.mean - chained.mean) / chained.mean_std).max() < 1
    with pytest.raises(InputError, match="on a line"):
        joined.predict([0.0])


def test_prediction_between_and_beyond_the_points():
    x, y = draw(20)
    alpha = 0.05
    found = field.posterior(x, y, *penalties_to_cell(alpha, 0.1))
    at_points = found.predict(x)
    np.testing.assert_allclose(at_points.mean, found.samples.mean.mean(axis=(0, 1)))
    width, stiffness = x[1] - x[0], field.chain(x).stiffness[0]
    known = found.samples.mean.var(axis=(0, 1))[-1] + np.array([0, 1, 2]) / (2 * alpha * stiffness)
    beyond = found.predict(x[-1] + width * np.arange(3))
    np.testing.assert_allclose(beyond.epistemic**2, known)
    np.testing.assert_allclose(beyond.aleatoric, beyond.aleatoric[0])
    np.testing.assert_allclose(beyond.std**2, beyond.aleatoric**2 + beyond.epistemic**2)
    middle = found.predict([(x[4] + x[5]) / 2])
    between = found.samples.mean[..., 4:6].mean(axis=-1).var()
    assert middle.epistemic[0] ** 2 == pytest.approx(between + 0.25 / (2 * alpha * stiffness))


def test_arviz_reads_the_draws():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arviz = pytest.importorskip("arviz")
    x, y = draw(10)
    found = field.posterior(x, y, 0.5, 0.5, method="hmc", n_draws=30, n_warmup=30)
    data = found.to_dataset()
    np.testing.assert_allclose(arviz.rhat(data)["mean"], found.diagnostics.r_hat[0])
    np.testing.assert_allclose(arviz.ess(data)["precision"], found.diagnostics.ess_bulk[1])
    assert dict(data.sizes) == {"chain": 4, "draw": 30, "point": 10}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "gibbs"}, "laplace, variational"),
        ({"method": "hmc", "level_prior": (1.0, 0.0)}, "proper prior"),
        ({"level_prior": (0.5, 1.0)}, "shape >= 1"),
        ({"level_prior": (2.0, 0.0)}, "shape >= 1"),
        ({"method": "hmc", "n_chains": 1}, "n_chains >= 2"),
        ({"n_draws": 0}, "n_draws"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(InputError, match=message):
        field.posterior(*draw(8), 0.5, 0.5, **options)

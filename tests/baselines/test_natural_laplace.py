"""Natural parameters with Laplace: evidence and variance against exact Gaussian algebra, derivatives against JAX."""

from itertools import pairwise

import jax
import numpy as np
import pytest
from scipy import stats

from heteroscope.baselines import NaturalLaplaceRegressor
from heteroscope.baselines import laplace_approximation as laplace
from heteroscope.baselines.natural_laplace import natural_objective
from heteroscope.baselines.second_network import share_trunk
from heteroscope.core.errors import FarRowsWarning, InputError
from heteroscope.core.regularisation import Strengths
from heteroscope.data.rows import Batch
from heteroscope.networks import UNIT_PRECISION_BIAS, Architecture, Layer, Params, init_params

SETTINGS = {"held_out": 0, "random_state": 0}


def batch(n=40, features=2, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, features))
    y = x[:, 0] + 0.5 * random.normal(size=n)
    return Batch(x.astype(np.float32), y.astype(np.float32), random.integers(1, 4, n).astype(np.float64))


def inverse_softplus(value):
    return np.log(np.expm1(value))


def linear(weight, precision):
    """mean * precision = x w + b with w and b in `weight`, and a constant precision."""
    first = Layer(np.float32(weight[:-1, None]), np.float32(weight[-1:]))
    second = Layer(np.zeros((len(weight) - 1, 1), np.float32), np.float32([inverse_softplus(precision)]))
    return Params((first,), (second,))


def test_evidence_and_variance_of_a_linear_model_of_known_noise_are_exact():
    rows, precision, prior = batch(), 4.0, 0.7
    design = np.column_stack([rows.x, np.ones(40)]).astype(float) / precision
    y, noise = np.asarray(rows.y, float), 1 / (precision * rows.weight)
    posterior = design.T @ (design / noise[:, None]) + prior * np.eye(3)
    mode = np.linalg.solve(posterior, design.T @ (y / noise))
    around = laplace.approximate(linear(mode, precision), rows, "tanh", "full")
    (block,) = around.blocks
    # with the noise known, the first output's weights are all there is
    alone = laplace.Laplace(
        (laplace.Dense(block.matrix[:3, :3], block.prior[:3]),),
        around.log_likelihood,
        np.array([around.counts[0], 0.0]),
        np.array([around.squared_norms[0], 0.0]),
    )
    exact = stats.multivariate_normal(np.zeros(40), np.diag(noise) + design @ design.T / prior).logpdf(y)
    # a weight of two is two rows: w copies have the density of their mean, and a factor that no model changes
    copies = 0.5 * np.sum(np.log(1 / rows.weight) + (1 - rows.weight) * np.log(2 * np.pi / precision))
    assert alone.log_evidence(np.array([prior, 1.0])) == pytest.approx(exact + copies, abs=1e-3)
    points = laplace.pass_through(linear(mode, precision), rows.x, "tanh")
    covariance = {"0.covariance": np.pad(np.linalg.inv(posterior), (0, 3))}
    expected = np.sum((design @ np.linalg.inv(posterior)) * design, axis=1)
    np.testing.assert_allclose(laplace.mean_variance(covariance, points), expected, rtol=1e-4)


def test_no_other_priors_have_a_higher_evidence():
    around = laplace.approximate(linear(np.array([3.0, 0.2, 0.1]), 2.0), batch(), "tanh", "full")
    best = around.best_priors(np.ones(2))
    grid = np.exp(np.linspace(-4, 4, 25))
    others = [around.log_evidence(best * [one, two]) for one in grid for two in grid]
    assert max(others) < around.log_evidence(best) + 1e-5
    assert max(others) > around.log_evidence(best) - 1e-5, "the grid's middle is the best itself"


def test_jacobians_and_curvature_are_jaxs():
    """H is the Hessian of the loss in the outputs, averaged over the model's own noise, between two Jacobians."""
    params = share_trunk(init_params(3, Architecture(2, (5, 4), "tanh")))
    rows = batch(12)
    points = laplace.pass_through(params, rows.x, "tanh")

    def outputs(trunk, first, second, x):
        hidden = x
        for layer in trunk:
            hidden = jax.numpy.tanh(hidden @ layer.weight + layer.bias)
        return jax.numpy.concatenate([hidden @ first.weight + first.bias, hidden @ second.weight + second.bias])

    *trunk, first = params.mean
    parts = (tuple(trunk), first, params.precision[-1])
    jacobian = jax.jit(jax.vmap(lambda x: jax.jacobian(outputs, (0, 1, 2))(*parts, x)))(rows.x)
    layers = [*jacobian[0], *jacobian[1:]]
    flat = [np.concatenate([layer.weight, layer.bias[:, :, None, :]], axis=2).reshape(12, 2, -1) for layer in layers]
    expected = np.concatenate(flat, axis=2)
    np.testing.assert_allclose(laplace._jacobian(points, slice(None)), expected, atol=1e-5)

    def nll(output, y):
        precision = jax.nn.softplus(output[1])
        return 0.5 * (precision * (output[0] / precision - y) ** 2 - jax.numpy.log(precision))

    nodes, weights = np.polynomial.hermite_e.hermegauss(12)
    weights = weights / weights.sum()
    hessians = jax.jit(jax.vmap(jax.hessian(nll), (None, 0)))
    for n in range(3):
        y = points.mean()[n] + nodes / np.sqrt(points.precision()[n])
        each = hessians(points.outputs[n].astype(np.float32), y.astype(np.float32))
        averaged = np.einsum("v,vkl->kl", weights, each)
        np.testing.assert_allclose(points.fisher()[n], averaged, rtol=2e-3, atol=1e-4)
    (block,) = laplace.approximate(params, rows, "tanh", "full").blocks
    information = rows.weight[:, None, None] * points.fisher()
    np.testing.assert_allclose(
        block.matrix, np.einsum("nkp,nkl,nlq->pq", expected, information, expected), rtol=1e-3, atol=1e-4
    )


def test_a_kronecker_block_of_one_row_is_exact():
    """With a single row, products of averages are averages of products."""
    params = share_trunk(init_params(3, Architecture(2, (5, 4), "tanh")))
    rows = Batch(*(part[:1] for part in batch(12)))
    priors = np.array([0.8, 0.8])
    full, kronecker = (laplace.approximate(params, rows, "tanh", kind) for kind in ("full", "kronecker"))
    (dense,), sizes = full.blocks, (15, 24, 10)
    edges = np.cumsum([0, *sizes])
    for block, low, high in zip(kronecker.blocks, edges, edges[1:], strict=False):
        alone = laplace.Dense(dense.matrix[low:high, low:high], dense.prior[low:high])
        assert block.log_det(priors) == pytest.approx(alone.log_det(priors), rel=1e-6)
    x = batch(5, seed=1).x
    points = laplace.pass_through(params, x, "tanh")
    block_diagonal = np.zeros_like(dense.matrix)
    for low, high in pairwise(edges):
        block_diagonal[low:high, low:high] = dense.matrix[low:high, low:high]
    exact = laplace.Dense(block_diagonal, dense.prior).arrays(priors)
    found = laplace.mean_variance(kronecker.arrays(priors), points)
    np.testing.assert_allclose(found, laplace.mean_variance({"0.covariance": exact["covariance"]}, points), rtol=1e-5)


@pytest.fixture(scope="module")
def two_numbers():
    """Inputs that say nothing: the model is a mean and a precision, and its evidence an integral over two biases."""
    y = 3 + 2 * np.random.default_rng(0).normal(size=200)
    x = np.tile([-1.0, 1.0], 100)[:, None]
    return NaturalLaplaceRegressor(hidden=(), max_steps=2000, rounds=3, **SETTINGS).fit(x, y), x, y


def test_the_evidence_is_the_integral_over_the_weights(two_numbers):
    model, x, y = two_numbers
    first, second = model.prior_precisions_
    z = (y - y.mean()) / y.std()
    sign = x[:, 0]
    moments = [(len(part), part.sum(), (part**2).sum()) for part in (z[sign < 0], z[sign > 0])]

    def given_biases(bias_1, bias_2, slope_1, slope_2):
        total = 0.0
        for (count, one, two), side in zip(moments, (-1, 1), strict=True):
            precision = np.logaddexp(0, bias_2 + side * slope_2)
            f = bias_1 + side * slope_1
            total += (
                f * one - 0.5 * precision * two - 0.5 * count * (f**2 / precision - np.log(precision / (2 * np.pi)))
            )
        return total

    random = np.random.default_rng(0)
    mode = np.array(
        [layer[k][0].ravel()[0] for k in (1, 0) for layer in (model.members_.mean[0], model.members_.precision[0])]
    )
    width = 3 * np.array([0.08, 0.12, 0.08, 0.12])
    draws = mode + width * random.standard_t(5, (400_000, 4))
    proposal = stats.t(5, mode, width).logpdf(draws).sum(axis=1)
    prior = (
        stats.norm(0, first**-0.5).logpdf(draws[:, [0, 2]]).sum(axis=1)
        + stats.norm(UNIT_PRECISION_BIAS, second**-0.5).logpdf(draws[:, 1])
        + stats.norm(0, second**-0.5).logpdf(draws[:, 3])
    )
    log_weight = given_biases(*draws.T) + prior - proposal
    peak = log_weight.max()
    estimate = peak + np.log(np.mean(np.exp(log_weight - peak)))
    assert model.log_evidence_ == pytest.approx(estimate, abs=0.1)
    assert max(model.trials_["log_evidence"]) == model.log_evidence_


def test_noise_and_ignorance_are_told_apart(two_numbers):
    model, _, y = two_numbers
    with pytest.warns(FarRowsWarning):
        parts = model.predict_parts([[-1.0], [1.0], [30.0]])
    np.testing.assert_allclose(parts.std**2, parts.aleatoric**2 + parts.epistemic**2)
    np.testing.assert_allclose(parts.aleatoric[:2], 2.0, rtol=0.15)
    np.testing.assert_allclose(parts.epistemic[:2], y.std() / np.sqrt(100), rtol=0.5)
    assert parts.epistemic[2] > 3 * parts.epistemic[0], "the slope is uncertain, so ignorance grows with the distance"


def test_the_objective_is_minus_the_log_posterior_density():
    params = share_trunk(init_params(1, Architecture(2, (4,), "tanh")))
    rows = batch(9)
    weight = (rows.weight / rows.weight.mean()).astype(np.float32)
    found = natural_objective(params, rows._replace(weight=weight), Strengths(1.0, 0.2, 0.3), "tanh")
    points = laplace.pass_through(params, rows.x, "tanh")
    density = stats.norm(points.mean(), points.precision() ** -0.5).logpdf(rows.y)
    expected = -np.average(density, weights=rows.weight) - 0.5 * np.log(2 * np.pi)
    assert float(found.likelihood) == pytest.approx(expected, rel=1e-4)
    norms = laplace.approximate(params, rows, "tanh", "full").squared_norms
    assert float(found.penalty) == pytest.approx(0.2 * norms[0] + 0.3 * norms[1], rel=1e-5)


@pytest.mark.parametrize("setting", [{"curvature": "diagonal"}, {"rounds": 0}, {"max_steps": 1.5}])
def test_what_cannot_be_is_refused(setting):
    with pytest.raises(InputError, match=f"{next(iter(setting))} must be"):
        NaturalLaplaceRegressor().set_params(**setting).fit(np.arange(8.0)[:, None], np.arange(8.0))

"""The objective against its formula in NumPy, its gradient against finite differences, weights as repetitions."""

import jax
import numpy as np
import pytest
from scipy import stats

from heteroscope.core.regularisation import logits, strengths
from heteroscope.data.rows import Batch
from heteroscope.networks import Architecture, init_params, predict_mean, predict_precision
from heteroscope.networks.objectives import GradientPenalty, gaussian_nll, joint_objective, mean_objective, weight_norm

RHO, GAMMA = 0.7, 0.2
STRENGTHS = strengths(*logits(RHO, GAMMA))
OBJECTIVES = [joint_objective, mean_objective, GradientPenalty(joint_objective)]


@pytest.fixture
def double():
    with jax.enable_x64(True):
        yield


@pytest.fixture
def params(double):
    start = init_params(1, Architecture(2, (6, 4), "silu", start=0.5))
    return jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), start)


@pytest.fixture
def batch():
    random = np.random.default_rng(0)
    return Batch(random.normal(size=(9, 2)), random.normal(size=9), np.ones(9))


def total(objective, params, batch):
    return sum(objective(params, batch, STRENGTHS, "silu"))


def squares(network):
    return sum(np.sum(layer.weight**2) for layer in network)


def test_the_joint_objective_is_the_papers(params, batch):
    mean, precision = (np.asarray(f(params, batch.x, "silu")) for f in (predict_mean, predict_precision))
    likelihood = np.sum(precision * (mean - batch.y) ** 2 - np.log(precision)) / (2 * len(batch.y))
    terms = joint_objective(params, batch, STRENGTHS, "silu")
    assert float(terms.likelihood) == pytest.approx(RHO * likelihood, rel=1e-12)
    penalty = GAMMA * squares(params.mean) + (1 - GAMMA) * squares(params.precision)
    assert float(terms.penalty) == pytest.approx((1 - RHO) * penalty, rel=1e-12)


def test_the_mean_objective_is_half_the_squared_error_and_the_means_penalty(params, batch):
    mean = np.asarray(predict_mean(params, batch.x, "silu"))
    terms = mean_objective(params, batch, STRENGTHS, "silu")
    assert float(terms.likelihood) == pytest.approx(RHO * np.mean((mean - batch.y) ** 2) / 2, rel=1e-12)
    assert float(terms.penalty) == pytest.approx((1 - RHO) * GAMMA * squares(params.mean), rel=1e-12)


def test_the_mean_objective_is_the_joint_one_at_precision_one(params, batch):
    def mean_gradient(objective):
        return jax.grad(lambda p: total(objective, p, batch))(at_one).mean

    silent = [layer._replace(weight=0 * layer.weight, bias=0 * layer.bias) for layer in params.precision]
    silent[-1] = silent[-1]._replace(bias=np.array([np.log(np.e - 1)]))
    at_one = params._replace(precision=tuple(silent))
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9),  # the precision's floor is 1e-8
        mean_gradient(joint_objective),
        mean_gradient(mean_objective),
    )


def test_the_nll_is_scipys_up_to_its_constant(double):
    random = np.random.default_rng(1)
    mean, precision, y = random.normal(size=20), random.uniform(0.1, 5, 20), random.normal(size=20)
    expected = -stats.norm.logpdf(y, mean, precision**-0.5) - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(gaussian_nll(jax.numpy.asarray(mean), jax.numpy.asarray(precision), y), expected)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_gradient_equals_central_differences_in_random_directions(objective, params, batch):
    random = np.random.default_rng(2)
    gradient = jax.grad(lambda p: total(objective, p, batch))(params)
    for _ in range(5):
        direction = jax.tree.map(lambda leaf: random.normal(size=leaf.shape), params)
        there, back = (jax.tree.map(lambda p, d, s=s: p + s * 1e-6 * d, params, direction) for s in (1.0, -1.0))
        difference = (total(objective, there, batch) - total(objective, back, batch)) / 2e-6
        pairs = zip(jax.tree.leaves(gradient), jax.tree.leaves(direction), strict=True)
        assert sum(np.sum(g * d) for g, d in pairs) == pytest.approx(float(difference), rel=1e-6)


def test_biases_are_free(params):
    shifted = tuple(layer._replace(bias=layer.bias + 100.0) for layer in params.mean)
    assert float(weight_norm(shifted)) == float(weight_norm(params.mean)) == pytest.approx(squares(params.mean))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_weights_are_repetitions(objective, params, batch):
    times = np.array([1, 0, 3, 2, 1, 1, 0, 4, 1])
    weighted = batch._replace(weight=times / times.mean())
    n_rows = times.sum()
    repeated = Batch(np.repeat(batch.x, times, axis=0), np.repeat(batch.y, times), np.ones(n_rows))
    assert float(total(objective, params, weighted)) == pytest.approx(
        float(total(objective, params, repeated)), rel=1e-12
    )


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_rows_of_weight_zero_change_nothing(objective, params, batch):
    padded = Batch(np.pad(batch.x, ((0, 5), (0, 0))), np.pad(batch.y, (0, 5)), np.pad(batch.weight, (0, 5)) * 14 / 9)
    assert float(total(objective, params, padded)) == pytest.approx(float(total(objective, params, batch)), rel=1e-12)


@pytest.mark.parametrize("networks", [("mean", "precision"), ("mean",)])
def test_the_penalty_of_gradients_is_that_of_central_differences(params, batch, networks):
    weighted = batch._replace(weight=np.linspace(0.0, 2.0, 9))
    terms = GradientPenalty(joint_objective, networks)(params, weighted, STRENGTHS, "silu")
    assert float(terms.likelihood) == float(joint_objective(params, weighted, STRENGTHS, "silu").likelihood)
    step, wanted = 1e-5, 0.0
    for name, predict, share in (("mean", predict_mean, GAMMA), ("precision", predict_precision, 1 - GAMMA)):
        slopes = [
            (np.asarray(predict(params, batch.x + move, "silu")) - predict(params, batch.x - move, "silu")) / (2 * step)
            for move in step * np.eye(2)
        ]
        wanted += (name in networks) * (1 - RHO) * share * np.mean(weighted.weight * np.sum(np.square(slopes), axis=0))
    assert float(terms.penalty) == pytest.approx(wanted, rel=1e-8)


def test_only_the_penalised_network_is_pulled_by_the_penalty_of_gradients(params, batch):
    objective = GradientPenalty(mean_objective, ("mean",))
    pull = jax.grad(lambda p: objective(p, batch, STRENGTHS, "silu").penalty)(params)
    assert all(not np.any(leaf) for leaf in jax.tree.leaves(pull.precision))
    assert all(not np.any(layer.bias) for layer in pull.mean[-1:]), "a level has no slope"
    assert all(np.any(layer.weight) for layer in pull.mean)

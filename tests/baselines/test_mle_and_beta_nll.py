"""The baselines' objectives against NumPy, and their gradients against those that the formulas say."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from heteroscope.baselines.mle_and_beta_nll import BetaNLL
from heteroscope.baselines.second_network import precision_head, variance_head
from heteroscope.core.regularisation import Strengths
from heteroscope.data.rows import Batch
from heteroscope.networks import Architecture, init_params, predict_mean, predict_precision
from heteroscope.networks.objectives import gaussian_nll, joint_objective

UNPENALISED = Strengths(1.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def model():
    random = np.random.default_rng(0)
    x, y = random.standard_normal((12, 2), np.float32), random.standard_normal(12, np.float32)
    weight = np.array([2.0] * 4 + [0.5] * 8, np.float32)
    return init_params(3, Architecture(2, (5, 4), "tanh")), Batch(x, y, weight)


def gradient(objective, model):
    params, batch = model
    return jax.grad(lambda p: sum(objective(p, batch, UNPENALISED, "tanh")))(params)


def close(found, expected):
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0])
def test_the_value_is_the_formulas(model, beta):
    params, batch = model
    mean = np.asarray(predict_mean(params, batch.x, "tanh"), float)
    variance = np.asarray(predict_precision(params, batch.x, "tanh"), float)  # the same output, read by the other head
    nll = 0.5 * (np.log(variance) + (batch.y - mean) ** 2 / variance)
    weights = [sum((layer.weight**2).sum() for layer in network) for network in params]
    found = BetaNLL(beta)(params, batch, Strengths(0.9, 0.02, 0.03), "tanh")
    assert float(found.likelihood) == pytest.approx(0.9 * np.mean(batch.weight * variance**beta * nll), rel=1e-5)
    assert float(found.penalty) == pytest.approx(0.02 * weights[0] + 0.03 * weights[1], rel=1e-5)


def test_with_a_precision_head_and_beta_zero_it_is_the_objective_of_the_phase_diagram(model):
    params, batch = model
    point = Strengths(0.9, 0.02, 0.03)
    found, expected = (f(params, batch, point, "tanh") for f in (BetaNLL(0.0, precision_head), joint_objective))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_at_beta_one_the_mean_has_the_gradient_of_the_squared_error(model):
    def squared_error(params, batch, _, activation):
        return (jnp.mean(batch.weight * 0.5 * (predict_mean(params, batch.x, activation) - batch.y) ** 2),)

    close(gradient(BetaNLL(1.0), model).mean, gradient(squared_error, model).mean)


@pytest.mark.parametrize("beta", [0.3, 1.0])
def test_no_gradient_flows_through_the_weight_of_a_row(model, beta):
    params, batch = model
    fixed = np.asarray(predict_precision(params, batch.x, "tanh")) ** beta

    def weighed(params, batch, _, activation):
        mean, output = (f(params, batch.x, activation) for f in (predict_mean, predict_precision))
        return (jnp.mean(batch.weight * fixed * gaussian_nll(mean, 1 / output, batch.y)),)

    close(gradient(BetaNLL(beta), model), gradient(weighed, model))


def test_equal_settings_are_one_program_and_travel_to_other_processes():
    assert BetaNLL(0.5) == BetaNLL(0.5)
    assert hash(BetaNLL(0.5)) == hash(BetaNLL(0.5))
    assert BetaNLL(0.5) != BetaNLL(0.4)
    assert pickle.loads(pickle.dumps(BetaNLL(0.5))) == BetaNLL(0.5)


def test_the_two_heads_are_each_others_inverse():
    output = np.array([0.1, 1.0, 7.0])
    np.testing.assert_allclose(variance_head(output) * precision_head(output), 1.0)

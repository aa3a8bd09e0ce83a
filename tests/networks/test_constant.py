"""The constant model is a stationary point with the values that statistics gives it, and flat models are sent there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from heteroscope.core.regularisation import strengths
from heteroscope.data.rows import Batch
from heteroscope.networks import Architecture, apply_network, init_params, predict_mean, predict_precision
from heteroscope.networks.constant import (
    collapse_networks,
    constant_params,
    find_collapsing,
    fit_precision_level,
    hold_constant,
    settle_levels,
)
from heteroscope.networks.objectives import joint_objective

BOTH = ("mean", "precision")
ACTIVATION = "leaky_relu"


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


@pytest.fixture
def batch():
    random = np.random.default_rng(0)
    weight = random.uniform(0, 3, 40)
    return Batch(random.normal(size=(40, 2)), random.normal(2.0, 3.0, size=40), weight / weight.mean())


def start(hidden, scale=1.0):
    params = init_params(0, Architecture(2, hidden, ACTIVATION))
    return jax.tree.map(lambda leaf: scale * np.asarray(leaf, np.float64), params)


def pulls(params, batch, where):
    def part(name):
        return jax.grad(lambda p: getattr(joint_objective(p, batch, where, ACTIVATION), name))(params)

    return part("likelihood"), part("penalty")


@pytest.mark.parametrize("hidden", [(5,), (5, 5), (6, 6, 6)])
@pytest.mark.parametrize("logits", [(0.0, 0.0), (4.0, -4.0), (-3.0, 8.0)])
def test_the_constant_model_is_a_stationary_point(hidden, logits, batch):
    params = constant_params(start(hidden), batch)
    gradient = jax.grad(lambda p: sum(joint_objective(p, batch, strengths(*logits), ACTIVATION)))(params)
    for leaf in jax.tree.leaves(gradient):
        np.testing.assert_allclose(leaf, 0.0, atol=1e-7)  # the precision's floor of 1e-8 is not in the closed form


def test_the_constant_model_is_the_weighted_average_and_variance(batch):
    params = constant_params(start((4, 4)), batch)
    average = np.average(batch.y, weights=batch.weight)
    variance = np.average((batch.y - average) ** 2, weights=batch.weight)
    np.testing.assert_allclose(predict_mean(params, batch.x, ACTIVATION), average, rtol=1e-12)
    np.testing.assert_allclose(predict_precision(params, batch.x, ACTIVATION), 1 / variance, rtol=1e-6)


@pytest.mark.parametrize("variance", [1e-4, 1.0, 1e6])
def test_the_level_is_right_over_many_orders_of_magnitude(variance, batch):
    scaled = batch._replace(y=np.sqrt(variance) * batch.y)
    spread = np.average((scaled.y - np.average(scaled.y, weights=batch.weight)) ** 2, weights=batch.weight)
    params = constant_params(start((4, 4)), scaled)
    np.testing.assert_allclose(predict_precision(params, batch.x, ACTIVATION) - 1e-8, 1 / spread, rtol=1e-4)


def test_collapse_replaces_only_the_networks_it_names(batch):
    before = start((4, 4))
    after = collapse_networks(before, batch, ("mean",))
    jax.tree.map(np.testing.assert_array_equal, after.precision, before.precision)
    assert not any(np.any(layer.weight) for layer in after.mean)


def test_settled_levels_put_a_flat_precision_at_the_inverse_variance(batch):
    flat = constant_params(start((4, 4)), batch._replace(y=10 * batch.y + 3))
    levelled = settle_levels(flat, batch, ACTIVATION)
    expected = constant_params(flat, batch)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), levelled, expected)


@pytest.mark.parametrize(
    ("scale", "logits", "caught"),
    [
        (0.05, (0.0, 0.0), True),  # small weights under a strong penalty shrink to nothing
        (0.05, (30.0, 0.0), False),  # the same weights with hardly a penalty grow
        (1.0, (0.0, 0.0), False),  # a network that says something about the rows is left alone
    ],
)
def test_only_a_flat_and_shrinking_model_is_sent_to_the_constant(scale, logits, caught, batch):
    params = settle_levels(start((6, 6, 6), scale), batch, ACTIVATION)
    pull, shrink = pulls(params, batch, strengths(*logits))
    found = find_collapsing(BOTH, params, lambda _: pull, shrink, batch, ACTIVATION)
    assert {bool(verdict) for verdict in found.values()} == {caught}


@pytest.mark.parametrize("hidden", [(), (6,)])
def test_a_shallow_model_is_never_sent_there(hidden, batch):
    params = jax.tree.map(jnp.zeros_like, start(hidden))
    pull, shrink = pulls(params, batch, strengths(0.0, 0.0))
    assert not any(find_collapsing(BOTH, params, lambda _: pull, shrink, batch, ACTIVATION).values())


def test_one_flat_network_is_caught_by_itself(batch):
    params = start((6, 6, 6))._replace(mean=start((6, 6, 6), 0.05).mean)
    params = settle_levels(params, batch, ACTIVATION, weighted=True)
    pull, shrink = pulls(params, batch, strengths(0.0, 0.0))
    found = find_collapsing(BOTH, params, lambda _: pull, shrink, batch, ACTIVATION)
    assert {name: bool(verdict) for name, verdict in found.items()} == {"mean": True, "precision": False}


@pytest.mark.parametrize("weighted", [False, True])
def test_settled_levels_leave_no_gradient_in_the_means_output_bias(weighted, batch):
    before = start((4, 4))
    params = settle_levels(before, batch, ACTIVATION, weighted=weighted)
    precision = predict_precision(before, batch.x, ACTIVATION) if weighted else 1.0
    residual = predict_mean(params, batch.x, ACTIVATION) - batch.y
    np.testing.assert_allclose(np.mean(batch.weight * precision * residual), 0.0, atol=1e-12)


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_the_precisions_level_is_where_the_likelihood_is_lowest(scale, batch):
    """By scipy's bounded search over a shift of the output; targets a hundredth as large ask for a precision of 1e3."""
    batch = batch._replace(y=scale * (batch.y - 2.0))
    params = start((4, 4))
    params = params._replace(mean=jax.tree.map(jnp.zeros_like, params.mean))
    raw = np.asarray(apply_network(params.precision, batch.x, ACTIVATION))
    squared = np.asarray(predict_mean(params, batch.x, ACTIVATION) - batch.y) ** 2

    def likelihood(shift):
        precision = np.logaddexp(0.0, raw + shift) + 1e-8
        return np.mean(batch.weight * (precision * squared - np.log(precision)))

    expected = minimize_scalar(likelihood, bounds=(-20, 1e4), method="bounded", options={"xatol": 1e-9, "maxiter": 500})
    found = fit_precision_level(params, batch, ACTIVATION)
    shift = float(found.precision[-1].bias[0] - params.precision[-1].bias[0])
    assert likelihood(shift) <= expected.fun + 1e-9
    assert shift == pytest.approx(expected.x, rel=1e-3, abs=1e-3)
    jax.tree.map(np.testing.assert_array_equal, found.mean, params.mean)
    jax.tree.map(np.testing.assert_array_equal, found.precision[:-1], params.precision[:-1])


@pytest.mark.parametrize("network", BOTH)
def test_a_network_held_constant_is_at_the_best_level_beside_the_other(network, batch):
    before = start((4, 4))
    held = hold_constant(before, batch, ACTIVATION, network)
    (other,) = set(BOTH) - {network}
    jax.tree.map(np.testing.assert_array_equal, getattr(held, other), getattr(before, other))
    assert not any(np.any(layer.weight) for layer in getattr(held, network))
    gradient = jax.grad(lambda p: joint_objective(p, batch, strengths(1.0, 0.0), ACTIVATION).likelihood)(held)
    for layer in getattr(gradient, network):
        np.testing.assert_allclose(layer.bias, 0.0, atol=1e-7)  # the precision's floor is not in the closed form

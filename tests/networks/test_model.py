"""Networks against a forward pass written in NumPy, and their gradients against finite differences in float64."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import erf

from heteroscope.core.errors import InputError
from heteroscope.networks import (
    ACTIVATIONS,
    PRECISION_FLOOR,
    Architecture,
    check_architecture,
    init_params,
    input_gradients,
    predict_mean,
    predict_precision,
)

NUMPY_ACTIVATIONS = {
    "leaky_relu": lambda a: np.where(a > 0, a, 0.01 * a),
    "relu": lambda a: np.maximum(a, 0),
    "silu": lambda a: a / (1 + np.exp(-a)),
    "gelu": lambda a: 0.5 * a * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a**3))),
    "tanh": np.tanh,
}
SHAPES = [(), (5,), (7, 3), (4, 4, 4)]
X = np.random.default_rng(0).normal(size=(11, 3))


def double(params):
    return jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), params)


def numpy_forward(network, x, activation):
    for layer in network[:-1]:
        x = NUMPY_ACTIVATIONS[activation](x @ layer.weight + layer.bias)
    return (x @ network[-1].weight + network[-1].bias)[:, 0]


def test_every_activation_has_an_oracle_here():
    assert NUMPY_ACTIVATIONS.keys() == ACTIVATIONS.keys()


def test_gelu_is_close_to_the_gaussian_distribution_function_it_approximates():
    a = np.linspace(-3, 3, 50)
    np.testing.assert_allclose(NUMPY_ACTIVATIONS["gelu"](a), 0.5 * a * (1 + erf(a / np.sqrt(2))), atol=1e-3)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("hidden", SHAPES)
def test_mean_and_precision_equal_a_plain_forward_pass(hidden, activation):
    with jax.enable_x64(True):
        params = double(init_params(3, Architecture(3, hidden, activation, start=0.7)))
        mean = predict_mean(params, X, activation)
        precision = predict_precision(params, X, activation)
    np.testing.assert_allclose(mean, numpy_forward(params.mean, X, activation), rtol=1e-12)
    raw = numpy_forward(params.precision, X, activation)
    np.testing.assert_allclose(precision, np.log1p(np.exp(raw)) + PRECISION_FLOOR, rtol=1e-12)


@pytest.mark.parametrize("activation", ["leaky_relu", "silu"])
@pytest.mark.parametrize("hidden", SHAPES)
def test_input_gradients_equal_central_differences(hidden, activation):
    with jax.enable_x64(True):
        params = double(init_params(4, Architecture(3, hidden, activation)))
        found = input_gradients(params, X, activation)
        for gradient, predict in zip(found, (predict_mean, predict_precision), strict=True):
            for k in range(3):
                step = 1e-6 * np.eye(3)[k][None, :]
                difference = (predict(params, X + step, activation) - predict(params, X - step, activation)) / 2e-6
                np.testing.assert_allclose(gradient[:, k], difference, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("predict", [predict_mean, predict_precision])
def test_parameter_gradients_equal_central_differences_in_random_directions(predict):
    random = np.random.default_rng(1)
    with jax.enable_x64(True):
        params = double(init_params(5, Architecture(3, (6, 5), "silu")))
        gradient = jax.grad(lambda p: jnp.sum(predict(p, X, "silu") ** 2))(params)
        for _ in range(5):
            direction = jax.tree.map(lambda leaf: random.normal(size=leaf.shape), params)
            there, back = (jax.tree.map(lambda p, d, s=s: p + s * 1e-6 * d, params, direction) for s in (1.0, -1.0))
            difference = (jnp.sum(predict(there, X, "silu") ** 2) - jnp.sum(predict(back, X, "silu") ** 2)) / 2e-6
            along = sum(
                np.sum(g * d) for g, d in zip(jax.tree.leaves(gradient), jax.tree.leaves(direction), strict=True)
            )
            assert along == pytest.approx(float(difference), rel=1e-6)


def test_a_he_start_has_the_scale_of_its_inputs_and_a_precision_of_one_where_silent():
    params = init_params(0, Architecture(50, (400, 300)))
    for network in params:
        for layer in network[:2]:
            assert layer.weight.std() == pytest.approx(np.sqrt(2 / layer.weight.shape[0]), rel=0.03)
            assert not layer.bias.any()
    np.testing.assert_allclose(predict_precision(params, np.zeros((2, 50), np.float32), "leaky_relu"), 1.0, rtol=1e-6)


def test_a_small_start_draws_weights_and_biases_from_one_normal():
    params = init_params(0, Architecture(2, (300, 300), start=1e-3))
    for network in params:
        assert network[1].weight.std() == pytest.approx(1e-3, rel=0.03)
        assert network[1].bias.std() == pytest.approx(1e-3, rel=0.15)


def test_the_two_networks_start_differently_and_a_seed_starts_the_same():
    architecture = Architecture(3, (8,))
    first, again, other = (init_params(seed, architecture) for seed in (1, 1, 2))
    jax.tree.map(np.testing.assert_array_equal, first, again)
    assert not np.array_equal(first.mean[0].weight, first.precision[0].weight)
    assert not np.array_equal(first.mean[0].weight, other.mean[0].weight)


def test_precision_stays_positive_and_finite_at_extreme_outputs():
    params = init_params(0, Architecture(1, ()))
    params.precision[0].weight[:] = 1.0
    precision = np.asarray(predict_precision(params, np.array([[-1e4], [1e4]], np.float32), "leaky_relu"))
    np.testing.assert_allclose(precision, [PRECISION_FLOOR, 1e4], rtol=1e-3)


@pytest.mark.parametrize(
    ("hidden", "activation", "start", "word"),
    [
        ((0,), "relu", "he", "hidden"),
        ((-3, 2), "relu", "he", "hidden"),
        (128, "relu", "he", "hidden"),
        ((1.5,), "relu", "he", "hidden"),
        ((True,), "relu", "he", "hidden"),
        (("8",), "relu", "he", "hidden"),
        ((8,), "rellu", "he", "leaky_relu, relu"),
        ((8,), None, "he", "activation"),
        ((8,), "relu", "glorot", "start"),
        ((8,), "relu", 0.0, "start"),
        ((8,), "relu", -1.0, "start"),
        ((8,), "relu", float("nan"), "start"),
        ((8,), "relu", float("inf"), "start"),
        ((8,), "relu", True, "start"),
    ],
)
def test_an_impossible_architecture_is_refused_in_one_line(hidden, activation, start, word):
    with pytest.raises(InputError, match=word) as caught:
        check_architecture(hidden, activation, start)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("hidden", [(), (8,), [8, 8], (np.int64(8),)])
@pytest.mark.parametrize("start", ["he", 1e-3, 1, np.float32(0.1)])
def test_a_possible_architecture_is_accepted_and_can_be_drawn(hidden, start):
    check_architecture(hidden, "silu", start)
    params = init_params(0, Architecture(3, tuple(hidden), "silu", start))
    assert [layer.weight.shape[1] for layer in params.mean] == [*hidden, 1]
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(params))

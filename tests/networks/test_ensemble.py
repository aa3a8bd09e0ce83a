"""Members become one Gaussian with the mixture's own moments."""

import numpy as np
import pytest

from heteroscope.data.scaling import Scaling
from heteroscope.networks import (
    ACTIVATION_NAMES,
    ACTIVATIONS,
    NUMPY_ACTIVATIONS,
    PRECISION_FLOOR,
    Architecture,
    FittedEnsemble,
    init_params,
    predict_mean,
    predict_precision,
)
from heteroscope.networks.ensemble import BLOCK, moment_match, predict_members, stack_members, widest_std

SCALING = Scaling(np.array([1.0, -2.0]), np.array([2.0, 0.5]), 10.0, 3.0, np.full(2, -99.0), np.full(2, 99.0))


def test_moments_match_a_sample_of_the_mixture():
    random = np.random.default_rng(0)
    mean, std = random.normal(size=(4, 3)), random.uniform(0.5, 2, size=(4, 3))
    found = moment_match(mean, std)
    member = random.integers(4, size=400_000)
    sample = mean[member] + std[member] * random.normal(size=(400_000, 3))
    np.testing.assert_allclose(found.mean, sample.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(found.std, sample.std(axis=0), rtol=0.01)
    np.testing.assert_allclose(found.std**2, found.aleatoric**2 + found.epistemic**2)


def test_one_member_is_left_as_it_is():
    found = moment_match(np.array([[1.0, 2.0]]), np.array([[0.1, 0.2]]))
    np.testing.assert_array_equal(found.epistemic, 0)
    np.testing.assert_allclose(found.std, [0.1, 0.2])


@pytest.mark.parametrize("n_rows", [1, 63, 65, BLOCK + 3])
def test_blocks_and_padding_do_not_show(n_rows):
    architecture = Architecture(2, (8, 8), "silu")
    members = [init_params(seed, architecture) for seed in (0, 1)]
    x = np.random.default_rng(2).normal(size=(n_rows, 2))
    mean, std = predict_members(stack_members(members), x, SCALING, "silu")
    assert mean.shape == std.shape == (2, n_rows)
    for member, (member_mean, member_std) in zip(members, zip(mean, std, strict=True), strict=True):
        output = [_numpy_forward(network, (x - SCALING.x_centre) / SCALING.x_scale) for network in member]
        np.testing.assert_allclose(member_mean, 10 + 3 * output[0], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(member_std, 3 / np.sqrt(np.log1p(np.exp(output[1])) + 1e-8), rtol=1e-4)


def _numpy_forward(network, x):
    for layer in network[:-1]:
        x = x @ layer.weight + layer.bias
        x = x / (1 + np.exp(-x))
    return (x @ network[-1].weight + network[-1].bias)[:, 0]


def random_members(activation, seed, spread):
    """Return three members with random weights and biases of the given spread, larger than training gives."""
    architecture = Architecture(2, (9, 8, 7), activation, start=spread)
    return [init_params(3 * seed + k, architecture) for k in range(3)]


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("spread", [0.1, 0.5, 2.0])
def test_numpy_and_jax_agree(activation, spread):
    x = 3.0 * np.random.default_rng(3).normal(size=(50, 2))
    members = random_members(activation, 1, spread)
    mean, std = predict_members(stack_members(members), x, SCALING, activation)
    for member, params in enumerate(members):
        inputs = SCALING.inputs(x)
        theirs = 10.0 + 3.0 * np.asarray(predict_mean(params, inputs, activation), np.float64)
        precision = np.asarray(predict_precision(params, inputs, activation), np.float64)
        np.testing.assert_allclose(mean[member], theirs, rtol=1e-5, atol=1e-5 * np.abs(theirs).max())
        np.testing.assert_allclose(std[member], 3.0 / np.sqrt(precision), rtol=1e-5 * max(1.0, 4.0 * spread))


def test_the_floor_of_the_precision_holds_and_a_member_that_is_not_finite_is_no_warning():
    members = random_members("relu", 0, 0.1)
    for layer in members[0].precision[-1:]:
        layer.bias[:] = -200.0
    members[1].mean[0].weight[:] = np.inf
    mean, std = predict_members(stack_members(members), np.full((2, 2), 1e3), SCALING, "relu")
    np.testing.assert_allclose(std[0], 3.0 / np.sqrt(PRECISION_FLOOR), rtol=1e-6)
    assert not np.isfinite(mean[1]).any()
    assert np.isfinite(mean[[0, 2]]).all()


def test_bounds_hold_for_each_member_and_the_scale_for_their_mixture():
    members, x = stack_members(random_members("silu", 2, 2.0)), np.random.default_rng(0).normal(size=(20, 2))
    bounded = FittedEnsemble(members, SCALING, "silu", 1.5, widest_std=2.0, mean_bounds=(8.0, 12.0))
    free_mean, free_std = predict_members(members, x, SCALING, "silu")
    assert free_std.max() > 2.0
    assert free_mean.max() > 12.0
    found = bounded.predict(x)
    np.testing.assert_allclose(found.mean, np.clip(free_mean, 8.0, 12.0).mean(axis=0))
    np.testing.assert_allclose(found.aleatoric, 1.5 * np.sqrt((np.minimum(free_std, 2.0) ** 2).mean(axis=0)))
    np.testing.assert_allclose(found.epistemic, 1.5 * np.minimum(free_mean.std(axis=0), 2.0))
    np.testing.assert_allclose(found.std, np.hypot(found.aleatoric, found.epistemic))
    free = bounded._replace(widest_std=np.inf, mean_bounds=(-np.inf, np.inf)).predict(x)
    np.testing.assert_allclose(free.std, 1.5 * moment_match(free_mean, free_std).std)


def test_every_activation_can_be_chosen():
    assert set(ACTIVATION_NAMES) == set(ACTIVATIONS) == set(NUMPY_ACTIVATIONS)
    x = np.zeros((3, 2))
    for name in ACTIVATION_NAMES:
        members = stack_members([init_params(0, Architecture(2, (4,), name))])
        assert np.all(np.isfinite(predict_members(members, x, SCALING, name)))


def test_the_widest_std_is_the_range_and_endless_where_nothing_varies():
    assert widest_std(np.array([3.0, -1.0, 2.0])) == 4.0
    assert widest_std(np.array([3.0, 3.0])) == np.inf

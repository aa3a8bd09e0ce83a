"""Members become one Gaussian with the mixture's own moments."""

import numpy as np
import pytest

from heteroscope.data.scaling import Scaling
from heteroscope.networks.ensemble import BLOCK, moment_match, predict_members, stack_members, widest_std
from heteroscope.networks.model import ACTIVATIONS, Architecture, init_params

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


def test_every_activation_can_be_chosen():
    x = np.zeros((3, 2))
    for name in ACTIVATIONS:
        members = stack_members([init_params(0, Architecture(2, (4,), name))])
        assert np.all(np.isfinite(predict_members(members, x, SCALING, name)))


def test_the_widest_std_is_the_range_and_endless_where_nothing_varies():
    assert widest_std(np.array([3.0, -1.0, 2.0])) == 4.0
    assert widest_std(np.array([3.0, 3.0])) == np.inf

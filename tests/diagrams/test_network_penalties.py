"""Penalties of networks from the theory's: the law converts, and rows of any kind are taken."""

import numpy as np
import pytest
from scipy.special import expit

from heteroscope import datasets, field
from heteroscope.core import InputError, alpha_beta
from heteroscope.data import Rows
from heteroscope.diagrams import (
    PenaltyLaw,
    choose_for_rows,
    mean_jump,
    measured_laws,
    network_penalties,
    predicted_point,
)

CHOICE = field.PenaltyChoice(0.2, 0.05, 3.0, 0.4, True, 1, 0.3)


def test_the_penalty_of_the_weights_has_the_slope_of_that_of_the_energy():
    laws = (PenaltyLaw(7.0, 0.4, 0.1, 2.0, 5), PenaltyLaw(4.0, 0.7, 0.1, 2.0, 5))
    found = network_penalties(CHOICE, laws)
    pairs = (CHOICE.alpha, CHOICE.mean_energy), (CHOICE.beta, CHOICE.precision_energy)
    for penalty, law, (wanted, energy) in zip(found, laws, pairs, strict=True):
        step = 1e-6 * energy
        cost = [penalty * law.factor * (energy + sign * step) ** law.power for sign in (-1, 1)]
        assert (cost[1] - cost[0]) / (2 * step) == pytest.approx(wanted, rel=1e-6)


def test_undressed_and_linear_networks_have_the_theorys_own_units():
    for laws in (measured_laws((64, 64, 64), "silu", "gradients"), measured_laws((), "silu")):
        assert network_penalties(CHOICE, laws) == pytest.approx((0.2, 0.05))


def test_laws_belong_to_depth_and_activation():
    assert measured_laws((64,), "silu")[0].power == 0.88
    assert measured_laws((8, 8), "tanh") == measured_laws((64, 64), "relu")
    assert measured_laws((64,) * 3, "silu")[0].power == 0.58
    assert measured_laws((64,) * 5, "relu") == measured_laws((64,) * 3, "leaky_relu")


def test_on_a_simulated_set_the_point_lies_below_the_jump_of_the_mean_and_above_a_hundredth_of_it():
    split = datasets.load("sine_homoskedastic")
    rows = Rows(split.x_train, split.y_train, np.ones(64))
    logits = predicted_point(rows, (128,) * 3, "leaky_relu")
    order = np.argsort(split.x_train[:, 0])
    lattice = field.chain(split.x_train[order, 0], "points")
    jump = mean_jump(lattice, split.y_train[order], measured_laws((128,) * 3, "leaky_relu")[0]).alpha
    alpha, _ = alpha_beta(*logits)
    assert 0.01 * jump < alpha < jump
    assert np.all((expit(logits) > 0) & (expit(logits) < 1))


def test_a_weight_of_two_is_a_row_given_twice_and_units_do_not_count():
    random = np.random.default_rng(0)
    x = random.normal(size=(40, 2)) * [1.0, 5.0]
    y = x[:, 0] + 0.3 * random.normal(size=40)
    weight = np.where(np.arange(40) < 10, 2.0, 1.0)
    twice = np.concatenate([np.arange(40), np.arange(10)])
    by_weight = choose_for_rows(Rows(x, y, weight))
    by_copies = choose_for_rows(Rows(x[twice], y[twice], np.ones(50)))
    np.testing.assert_allclose(by_weight[:2], by_copies[:2], rtol=1e-3)
    in_other_units = choose_for_rows(Rows(1000.0 * x + 7.0, 0.01 * y - 3.0, weight))
    np.testing.assert_allclose(in_other_units[:2], by_weight[:2], rtol=1e-3)


def test_too_few_different_rows_are_refused_in_one_line():
    rows = Rows(np.array([[0.0], [1.0], [1.0]]), np.array([0.0, 1.0, 2.0]), np.ones(3))
    with pytest.raises(InputError, match="needs at least 3 rows of different features, got 2"):
        choose_for_rows(rows)

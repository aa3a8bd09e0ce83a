"""Upward and downward sweeps of rho differ below the fold, on a chain and on a graph; a sweep ends at the fold."""

import numpy as np
import pytest

from heteroscope import field
from heteroscope.core.errors import InputError
from heteroscope.field import Graph


def test_sweeps_agree_away_from_the_fold_and_differ_below_it(sine):
    x, y = sine(256)
    fold = field.fold(x, y, 0.01).logit_rho
    rhos = 1 / (1 + np.exp(-(fold + np.array([-6.0, -0.5, 0.5, 2.0]))))
    both = field.hysteresis(x, y, rhos, [0.01])
    assert both.up.status[:, 0].tolist() == ["converged", "converged", "runaway", "runaway"]
    assert both.down.status[:, 0].tolist() == ["converged", "runaway", "runaway", "runaway"]
    assert both.differ[:, 0].tolist() == [False, True, False, False]


def test_a_higher_ceiling_widens_the_hysteresis(sine):
    x, y = sine(256)
    fold = field.fold(x, y, 0.01).logit_rho
    rhos = 1 / (1 + np.exp(-(fold + np.arange(-8.0, 2.0))))
    widths = [int(field.hysteresis(x, y, rhos, [0.01], ceiling=c).differ.sum()) for c in (1e2, 1e4, 1e6)]
    assert widths[0] < widths[1] < widths[2]


def test_a_ceiling_below_the_flat_precision_gets_one_line(sine):
    with pytest.raises(InputError, match="ceiling"):
        field.hysteresis(*sine(16), [0.5], [0.5], ceiling=0.5)


def as_graph(chain):
    n = len(chain.weights)
    return Graph.of(chain.weights, np.column_stack((np.arange(n - 1), np.arange(1, n))), chain.stiffness)


def test_a_graph_has_the_hysteresis_of_its_chain(sine):
    x, y = sine(24)
    rhos = 1 / (1 + np.exp(-np.array([-2.0, 2.0, 5.0])))
    on_chain = field.hysteresis(x, y, rhos, [0.01])
    on_graph = field.hysteresis_on(as_graph(field.chain(x)), y, rhos, [0.01], tol=1e-8)
    np.testing.assert_array_equal(on_graph.differ, on_chain.differ)
    np.testing.assert_array_equal(on_graph.up.status, on_chain.up.status)


def test_the_last_finite_solution_lies_just_below_the_fold(sine):
    x, y = sine(48)
    gammas = [0.01, 0.5]
    for gamma, found in zip(gammas, field.last_finite_curve(field.chain(x), y, gammas), strict=True):
        assert 0.0 <= field.fold(x, y, gamma).logit_rho - found <= 0.1


def test_a_target_of_known_variance_has_no_fold(sine):
    x, y = sine(48)
    assert field.last_finite(field.chain(x), y, 0.5, variance=np.full(48, 0.1)) is None

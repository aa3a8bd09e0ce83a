"""Units come off before training and go back on afterwards, whatever their size."""

import numpy as np
import pytest

from heteroscope.core.errors import InputError
from heteroscope.data.scaling import fit_scaling


def test_a_constant_column_keeps_scale_one():
    x = np.column_stack([np.arange(10.0), np.full(10, 7.3)])
    scaling = fit_scaling(x, np.arange(10.0), np.ones(10))
    assert scaling.x_scale[1] == 1.0
    np.testing.assert_allclose(scaling.inputs(x)[:, 1], 0.0, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_inputs_of_any_scale_are_standardised(scale):
    x = np.random.default_rng(0).normal(size=(200, 3)) * scale
    standardised = fit_scaling(x, x[:, 0], np.ones(200)).inputs(x)
    np.testing.assert_allclose(standardised.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(standardised.std(axis=0), 1, rtol=1e-5)


def test_a_large_offset_is_removed_in_double_precision():
    x = 1e9 + np.arange(100.0)[:, None]
    standardised = fit_scaling(x, np.arange(100.0), np.ones(100)).inputs(x)
    np.testing.assert_allclose(standardised[:, 0], (np.arange(100) - 49.5) / np.arange(100).std(), rtol=1e-5)


def test_a_constant_target_keeps_scale_one():
    scaling = fit_scaling(np.arange(5.0)[:, None], np.full(5, 1e15), np.ones(5))
    assert (scaling.y_centre, scaling.y_scale) == (1e15, 1.0)


@pytest.mark.parametrize("size", [1e-200, 1e160])
def test_numbers_whose_squares_are_none_are_refused(size):
    column, plain = size * np.arange(4.0), np.arange(4.0)
    with pytest.raises(InputError, match="the target has values of size"):
        fit_scaling(plain[:, None], column, np.ones(4))
    with pytest.raises(InputError, match="column 1 of the inputs has values of size"):
        fit_scaling(np.column_stack([plain, column]), plain, np.ones(4))


def test_inputs_are_moved_to_the_edge_of_the_box_of_twice_the_width():
    x = np.array([[0.0, 5.0], [4.0, 5.0], [2.0, 5.0]])
    scaling = fit_scaling(x, np.arange(3.0), np.ones(3))
    new = np.array([[-2.0, 5.0], [6.0, 5.0], [6.5, 5.0], [-999.0, 5.0], [2.0, 7.0], [1e308, 5.0]])
    edge = np.array([[-2.0, 5.0], [6.0, 5.0], [6.0, 5.0], [-2.0, 5.0], [2.0, 5.0], [6.0, 5.0]])
    np.testing.assert_allclose(scaling.inputs(new), (edge - scaling.x_centre) / scaling.x_scale, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(scaling.outside(new), np.abs(new - edge) / scaling.x_scale, rtol=1e-10, atol=1e-10)
    assert not scaling.outside(x).any()
    assert not scaling.outside(np.array([[2.0, 5.0 + 1e-13]])).any(), "rounding of a column that did not vary"


def test_a_scaling_covers_what_it_has_seen():
    x = np.random.default_rng(0).standard_normal((50, 2))
    scaling = fit_scaling(x[:20], x[:20, 0], np.ones(20)).covering(x[20:])
    np.testing.assert_array_equal(scaling.x_low, x.min(axis=0))
    np.testing.assert_array_equal(scaling.x_high, x.max(axis=0))

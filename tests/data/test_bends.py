"""Columns with values far from all others are bent, ordinary ones are not."""

import numpy as np
import pytest

from heteroscope.data.bends import NARROW, fit_bends
from heteroscope.data.scaling import fit_scaling

RANDOM = np.random.default_rng(0)
LOGNORMAL = np.exp(3.0 * RANDOM.normal(size=800))
OUTLYING = np.where(np.arange(800) % 100 == 7, 100.0, 1.0) * RANDOM.normal(size=800)
ORDINARY = {
    "normal": RANDOM.normal(size=800),
    "exponential": RANDOM.exponential(size=800),
    "lognormal of one": np.exp(RANDOM.normal(size=800)),
    "few values": np.repeat([-5.0, -2.4, -2.3, -2.2, 0.0], 160),
    "a rare category": (np.arange(800) == 3).astype(float),
    "constant": np.full(800, 7.3),
}


def bends_of(column, weight=None):
    x, weight = column[:, None], np.ones(len(column)) if weight is None else weight
    centre = np.average(x, axis=0, weights=weight)
    scale = np.sqrt(np.average((x - centre) ** 2, axis=0, weights=weight))
    return fit_bends(x, weight, centre, scale)


@pytest.mark.parametrize("column", ORDINARY.values(), ids=ORDINARY)
def test_ordinary_columns_stay_straight(column):
    assert bends_of(column) is None


@pytest.mark.parametrize(
    ("column", "pivot"),
    [(LOGNORMAL, 0.0), (-LOGNORMAL, -np.median(LOGNORMAL)), (OUTLYING, np.median(OUTLYING))],
)
def test_the_middle_half_of_a_bent_column_is_seen(column, pivot):
    bends = bends_of(column)
    assert bends is not None
    assert bends.pivot[0] == pytest.approx(pivot, abs=0.01)
    low, high = np.quantile(bends.apply(column[:, None])[:, 0], [0.25, 0.75])
    assert (high - low) / bends.apply(column[:, None]).std() > 3 * NARROW


def test_a_positive_column_is_seen_as_its_logarithm():
    x = LOGNORMAL[:, None]
    inputs = fit_scaling(x, LOGNORMAL, np.ones(800)).inputs(x)[:, 0]
    assert np.corrcoef(inputs, np.log(LOGNORMAL))[0, 1] > 0.999


def test_bending_is_undone_and_its_slope_is_that_of_differences():
    x = np.column_stack([OUTLYING, ORDINARY["normal"]])
    scaling = fit_scaling(x, OUTLYING, np.ones(800))
    assert scaling.bends is not None
    np.testing.assert_allclose(scaling.bends.undo(scaling.bends.apply(x)), x, rtol=1e-9, atol=1e-12)
    near = x + 1e-6
    differences = (scaling.standardised(near) - scaling.standardised(x)) / 1e-6
    np.testing.assert_allclose(scaling.input_slopes(x), differences, rtol=1e-4)
    np.testing.assert_allclose(scaling.inputs(x)[:, 1], (x[:, 1] - x[:, 1].mean()) / x[:, 1].std(), atol=1e-5)


def test_a_weight_of_two_equals_a_row_given_twice():
    weight = 1.0 + (np.arange(800) % 3 == 0)
    once, twice = bends_of(OUTLYING, weight), bends_of(np.repeat(OUTLYING, weight.astype(int)))
    np.testing.assert_allclose(once, twice)


def test_far_inputs_are_moved_to_the_edge_in_bent_units():
    x = LOGNORMAL[:, None]
    scaling = fit_scaling(x, LOGNORMAL, np.ones(800))
    inside = scaling.inputs(x)
    reach = (inside.max() - inside.min()) / 2
    far = np.array([[1e300], [-1e300]])
    moved = scaling.inputs(far)[:, 0]
    np.testing.assert_allclose(moved, [inside.max() + reach, inside.min() - reach], rtol=1e-4)
    assert (scaling.outside(far) > 10).all()
    assert not scaling.outside(x).any()

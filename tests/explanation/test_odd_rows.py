"""Rows that deserve a look: planted outliers are found, by number, and ordinary rows are not."""

import numpy as np
from scipy import stats

from heteroscope.explanation import far_rows, held_out_forecasts, missed_rows
from tests.explanation.made_up import ensemble, inputs


def test_ordinary_rows_are_not_named():
    rows = inputs()
    prediction = ensemble().predict(rows.x)
    assert missed_rows(held_out_forecasts(rows.y, stats.norm(prediction.mean, prediction.std))) == []
    assert far_rows(rows, ensemble().scaling) == []


def test_a_planted_outlier_is_named_with_its_numbers():
    rows = inputs()
    prediction = ensemble().predict(rows.x)
    rows.y[17] = prediction.mean[17] - 8 * prediction.std[17]
    rows.y[3] = prediction.mean[3] + 6 * prediction.std[3]
    forecast = stats.norm(prediction.mean, prediction.std)
    first, second = missed_rows(held_out_forecasts(rows.y, forecast, number=100 + rows.number))
    assert (first.number, second.number) == (117, 103)
    np.testing.assert_allclose([first.score, second.score], [-8, 6], rtol=1e-9)
    np.testing.assert_allclose(second.chance, 400 * 2 * stats.norm.sf(6), rtol=1e-4)
    assert missed_rows(held_out_forecasts(rows.y, forecast))[0].number is None


def test_a_row_far_from_all_others_is_named_with_its_most_unusual_input():
    rows = inputs()
    rows.x[42, 1] = -25.0
    (found,) = far_rows(rows, ensemble().scaling)
    assert (found.number, found.input, found.value, found.deviation) == (42, "noisiness", -25.0, -25.0)
    assert found.distance > 10
    assert far_rows(inputs(8), ensemble().scaling) == [], "too few rows to call one far from the others"

"""Figures of forecasts: each of the three forms is drawn with its own intervals and its own calibration."""

import numpy as np
import pytest
from scipy import stats

from heteroscope.distributions import QuantileForecast, SampleForecast
from heteroscope.explanation import calibration, held_out_forecasts
from heteroscope.plots import calibration_figure, interval_figure, residual_figure
from heteroscope.plots.style import VERMILION

RANDOM = np.random.default_rng(0)
N = 40
MEAN, STD = RANDOM.normal(size=N), RANDOM.uniform(0.5, 2.0, N)
Y = MEAN + STD * RANDOM.normal(size=N)
LEVELS = np.arange(1, 20) / 20
FORMS = {
    "distribution": stats.norm(MEAN, STD),
    "quantiles": QuantileForecast(LEVELS, MEAN[:, np.newaxis] + STD[:, np.newaxis] * stats.norm.ppf(LEVELS)),
    "samples": SampleForecast(MEAN[:, np.newaxis] + STD[:, np.newaxis] * RANDOM.normal(size=(N, 300))),
}


@pytest.mark.parametrize("form", FORMS)
def test_intervals_are_those_of_the_forecast_and_crosses_are_the_rows_outside(form):
    forecast = FORMS[form]
    (ax,) = interval_figure(held_out_forecasts(Y, forecast)).axes
    lower, upper = forecast.interval(0.9)
    drawn = np.array([segment[:, 1] for segment in ax.collections[0].get_segments()])
    order = np.argsort(forecast.mean(), kind="stable")
    np.testing.assert_allclose(drawn, np.stack([lower, upper], axis=1)[order])
    (crosses,) = [line for line in ax.lines if line.get_color() == VERMILION]
    assert len(crosses.get_ydata()) == np.sum((lower > Y) | (upper < Y))


@pytest.mark.parametrize("form", FORMS)
def test_calibration_and_residuals_are_drawn(form):
    rows = held_out_forecasts(Y, FORMS[form])
    figure = calibration_figure(calibration(rows))
    figure.draw_without_rendering()
    inside = 100 * float(np.mean((rows["lower"] <= rows["y"]) & (rows["y"] <= rows["upper"])))
    shown = figure.axes[0].get_title().split("hold ")[1].split(" %")[0]
    assert float(shown) == pytest.approx(inside, abs=0.51)
    residual_figure(rows).draw_without_rendering()

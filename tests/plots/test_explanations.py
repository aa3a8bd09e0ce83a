"""Pictures of an explanation as matplotlib figures: what is drawn is what was computed."""

import numpy as np
import pytest
from scipy import stats

from heteroscope.distributions import QuantileForecast, SampleForecast
from heteroscope.explanation import calibration, held_out_forecasts
from heteroscope.plots.explanations import (
    calibration_figure,
    driver_figure,
    effect_figure,
    interval_figure,
    residual_figure,
    search_figure,
)
from tests.explanation.made_up import explanation, many_categories


@pytest.fixture(scope="module")
def found():
    return explanation()


def lines(ax):
    """The points of the drawn lines of an axes, one array of (x, y) for each."""
    return [np.column_stack(line.get_data()) for line in ax.lines]


def test_calibration_is_drawn_for_all_rows_and_each_quarter(found):
    figure = calibration_figure(found.calibration)
    assert len(figure.axes) == 10
    drawn = lines(figure.axes[0])[1]
    np.testing.assert_allclose(drawn[1:-1, 1], found.calibration["observed"].values[0])
    heights = [patch.get_height() for patch in figure.axes[5].patches if patch.get_width() < 0.5]
    np.testing.assert_allclose(heights, found.calibration["density"].values[0])


@pytest.mark.parametrize("lognormal", [False, True])
def test_residuals_are_those_of_the_scale_that_is_predicted(lognormal):
    rows = explanation(lognormal=lognormal).rows
    by_mean, by_std = residual_figure(rows, "price").axes
    moments = (np.log(rows["y"]) - rows["log_mean"], rows["log_std"]) if lognormal else (rows["score"], rows["std"])
    residual = moments[0] if lognormal else moments[0] * rows["std"]
    np.testing.assert_allclose(lines(by_mean)[-1], np.column_stack([rows["mean"], residual]))
    np.testing.assert_allclose(lines(by_std)[-1], np.column_stack([moments[1], residual]))
    assert ("log" in by_std.get_xlabel()) == lognormal


def test_rows_outside_their_interval_are_crosses(found):
    (ax,) = interval_figure(found.rows).axes
    outside = lines(ax)[-1]
    rows = found.rows.isel(row=np.unique(np.linspace(0, found.rows.sizes["row"] - 1, 48).round().astype(int)))
    missed = ((rows["y"] < rows["lower"]) | (rows["y"] > rows["upper"])).values
    np.testing.assert_allclose(np.sort(outside[:, 1]), np.sort(rows["y"].values[missed]))


def test_every_point_of_the_search_is_drawn(found):
    (ax,) = search_figure(found.path).axes
    drawn = np.array([points[0] for points in lines(ax) if len(points) == 1])
    np.testing.assert_allclose(drawn, np.column_stack([found.path["rho"], found.path["gamma"]]))


def test_bars_are_ordered_by_importance_and_show_their_spread(found):
    figure = driver_figure(found.importance, found.slopes)
    for ax, first in zip(figure.axes, ("width", "noisiness", "width", "noisiness"), strict=True):
        widths = [bar.get_width() for bar in ax.patches]
        assert np.all(np.diff(widths) >= 0)
        assert ax.get_yticklabels()[-1].get_text() == first
    spread = figure.axes[0].collections[0].get_segments()[-1][:, 0]
    values = found.importance["crps"].sel(driven="mean", input="width").values
    np.testing.assert_allclose(spread, [values.min(), values.max()])


def test_of_many_categories_those_with_the_highest_and_lowest_mean_are_drawn(found):
    mean, std, *_ = effect_figure([many_categories()]).axes
    drawn = lines(mean)[0][:, 1]
    np.testing.assert_allclose(drawn, np.sort(many_categories().mean)[::-1][[*range(12), *range(18, 30)]])
    assert len(std.get_xticklabels()) == 24
    assert len(effect_figure(found.effects).axes) == 2 * len(found.effects)


@pytest.mark.parametrize("form", ["distribution", "quantiles", "samples"])
def test_each_form_of_forecasts_is_drawn_with_its_own_intervals(form):
    random, levels = np.random.default_rng(0), np.arange(1, 20) / 20
    mean, std = random.normal(size=40), random.uniform(0.5, 2.0, 40)
    forecast = {
        "distribution": stats.norm(mean, std),
        "quantiles": QuantileForecast(levels, mean[:, np.newaxis] + std[:, np.newaxis] * stats.norm.ppf(levels)),
        "samples": SampleForecast(mean[:, np.newaxis] + std[:, np.newaxis] * random.normal(size=(40, 300))),
    }[form]
    rows = held_out_forecasts(mean + std * random.normal(size=40), forecast)
    (ax,) = interval_figure(rows).axes
    drawn = np.array([segment[:, 1] for segment in ax.collections[0].get_segments()])
    order = np.argsort(forecast.mean(), kind="stable")
    np.testing.assert_allclose(drawn, np.stack(forecast.interval(0.9), axis=1)[order])
    for figure in (calibration_figure(calibration(rows)), residual_figure(rows)):
        figure.draw_without_rendering()

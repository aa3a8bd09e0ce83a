"""Texts and ticks that all figures share."""

import io

import matplotlib.image
import numpy as np
import pytest
from matplotlib.cbook import is_math_text

from heteroscope.core.grids import FIELD_GRID, NETWORK_GRID
from heteroscope.plots.cells import edges
from heteroscope.plots.style import literal, logit_axis, metric_name, new_figure


@pytest.mark.parametrize("name", ["a$b", "$x$", "$", r"\$", "price_$_in_$", "100% & <more>", "_", "", "two words"])
def test_literal_names_start_no_mathematics(name):
    text = literal(name)
    assert not is_math_text(text)
    assert text.replace(r"\$", "$") == name  # which is what matplotlib does with text that is no mathematics


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("sine", ["sine"]),
        ("sine_homoskedastic", ["sine_", "homoskedastic"]),
        ("a name of many words", ["a name of ", "many words"]),
        ("x" * 30, ["x" * 13, "x" * 13, "x" * 4]),
    ],
)
def test_long_names_are_broken_where_it_helps(name, lines):
    assert literal(name, width=13).split("\n") == lines
    assert literal(name, width=13).replace("\n", "") == name


@pytest.mark.parametrize(
    ("grid", "ticks"),
    [
        (FIELD_GRID, [1e-4, 0.5, 1 - 1e-4]),
        (NETWORK_GRID, [1e-8, 1e-4, 0.5, 1 - 1e-4]),
    ],
)
def test_few_ticks_at_even_steps(grid, ticks):
    ax = new_figure(2.0, 2.0).subplots()
    borders = edges(grid)
    logit_axis(ax, "x", float(borders[0]), float(borders[-1]), n_ticks=4)
    np.testing.assert_allclose(ax.get_xticks(), ticks)


def test_a_short_axis_has_ticks_all_the_same():
    ax = new_figure(2.0, 2.0).subplots()
    logit_axis(ax, "y", 0.2, 0.4, n_ticks=4)
    assert len([tick for tick in ax.get_yticks() if 0.2 <= tick <= 0.4]) >= 2


def test_metrics_have_names():
    assert metric_name("mean_mse") == "mean MSE"
    assert metric_name("relative_gradient") == "relative gradient"


def test_a_notebook_shows_a_figure_although_pyplot_was_not_imported():
    figure = new_figure(2.0, 1.0)
    assert matplotlib.image.imread(io.BytesIO(figure._repr_png_()))[..., 3].shape == (100, 200)

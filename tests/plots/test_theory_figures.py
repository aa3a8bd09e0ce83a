"""Figures of the theory of networks: the law of the penalty, and searches beside another one."""

import numpy as np
import pandas as pd
import pytest

from heteroscope.core import InputError
from heteroscope.plots import penalty_law_figure, search_regret_figure

FOUND = pd.DataFrame(
    {
        "set": ["sine", "yacht", "sine", "yacht"],
        "method": ["theory", "theory", "random", "random"],
        "regret": [0.01, -0.3, 0.5, np.nan],
        "error": [0.005, np.nan, 0.1, np.nan],
        "search_steps": [0.2, 0.3, 0.2, 0.31],
    }
)


def test_a_line_through_three_cells_has_the_power_of_the_law(tmp_path):
    energy = np.array([1e-3, 0.1, 10.0])
    figure = penalty_law_figure({"mean": {"sine": (energy, 7.0 * energy**0.4), "curve": (energy[:2], energy[:2])}})
    (ax,) = figure.axes
    assert [line.get_label() for line in ax.lines if not line.get_label().startswith("_")] == ["sine", "curve"]
    (fit,) = [line for line in ax.lines if line.get_label().startswith("_")]
    x, y = (np.log(values) for values in fit.get_data())
    assert np.diff(y) / np.diff(x) == pytest.approx(0.4)
    figure.savefig(tmp_path / "law.png")


def test_each_set_has_a_line_with_its_regret_and_its_steps(tmp_path):
    figure = search_regret_figure(FOUND, aims=(0.02, 0.25))
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["sine", "yacht"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["theory", "random"]
    theory, random = (line.get_xdata() for line in right.lines)
    np.testing.assert_allclose([*theory, *random], [0.2, 0.3, 0.2, 0.31])
    regrets = [bars.lines[0].get_xdata() for bars in left.containers]
    np.testing.assert_allclose(np.array(regrets, float), [[0.01, -0.3], [0.5, np.nan]])
    figure.savefig(tmp_path / "regret.png")


def test_more_than_two_searches_are_refused():
    with pytest.raises(InputError, match="one or two searches can be drawn, got 4"):
        search_regret_figure(FOUND.assign(method=list("abcd")), aims=(0.02, 0.25))

"""Figures of rankings: names at their ranks, bars over groups, points at their medians."""

import numpy as np
import pandas as pd
import pytest

from heteroscope.comparison import rank_methods
from heteroscope.core.errors import InputError
from heteroscope.plots import critical_difference_figure, score_time_figure
from heteroscope.plots.style import ORANGE

NAMES = ["ours", "b", "c", "d", "e"]


@pytest.fixture(scope="module")
def scores():
    """Five methods, of which the last two are alike and far behind the others."""
    level = np.array([0, 0.3, 0.6, 5, 5])
    return pd.DataFrame(level + np.random.default_rng(0).normal(size=(30, 5)), columns=NAMES)


def test_every_method_stands_at_its_rank(scores):
    ranking = rank_methods(scores)
    figure = critical_difference_figure({"NLL": ranking, "CRPS": ranking})
    figure.draw_without_rendering()
    assert len(figure.axes) == 2
    ax = figure.axes[0]
    texts = {text.get_text().strip() for text in ax.texts}
    assert {f"{name} {rank:.2f}" for name, rank in ranking.ranks.items()} <= texts
    assert {"NLL, 30 sets", f"critical difference {ranking.critical_difference:.2f}"} <= texts
    starts = {round(line.get_xdata()[0], 9) for line in ax.lines if len(line.get_xdata()) == 3}
    assert starts == {round(rank, 9) for rank in ranking.ranks}


def test_bars_join_the_groups(scores):
    ranking = rank_methods(scores)
    (ax,) = critical_difference_figure({"NLL": ranking}).axes
    bars = sorted(tuple(line.get_xdata()) for line in ax.lines if line.get_color() == ORANGE)
    expected = [(ranking.ranks[group[0]], ranking.ranks[group[-1]]) for group in ranking.groups]
    assert len(ranking.groups) > 1
    np.testing.assert_allclose(bars, expected, atol=0.03)


def test_no_ranking_is_one_clear_line():
    with pytest.raises(InputError, match="no ranking to draw"):
        critical_difference_figure({})


def test_large_points_are_medians_and_endless_scores_are_left_out(scores, shown_texts, awkward):
    gap = scores.sub(scores.min(axis=1), axis=0).rename(columns={"e": awkward})
    gap.iloc[0, 1] = np.inf
    seconds = gap * 0 + [0, 2, 3, 4, np.nan]
    figure = score_time_figure(gap, seconds, "NLL")
    figure.draw_without_rendering()
    (ax,) = figure.axes
    middles = [line for line in ax.lines if line.get_markersize() == 9]
    assert [line.get_xdata()[0] for line in middles] == [0.01, 2, 3, 4], "the fifth has no times"
    assert middles[0].get_ydata()[0] == pytest.approx(gap["ours"].median())
    assert middles[1].get_ydata()[0] == pytest.approx(gap["b"].iloc[1:].median())
    assert "NLL minus the best of the set" in shown_texts(figure)

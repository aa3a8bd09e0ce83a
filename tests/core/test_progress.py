"""A section of a longer piece of work reports the progress of the whole."""

import pytest

from heteroscope.core.progress import progress_bar, shifted, time_left


def test_a_section_counts_on_from_what_was_finished_before():
    seen = []
    section = shifted(lambda done, total: seen.append((done, total)), 5, 9)
    section(0, 4)
    section(4, 4)
    assert seen == [(5, 9), (9, 9)]


def test_without_a_callback_there_is_none_for_a_section():
    assert shifted(None, 5, 9) is None


def test_a_bar_that_is_not_wanted_is_none_and_short_work_shows_none(capsys):
    with progress_bar("train", enabled=False) as progress:
        assert progress is None
    with progress_bar("train", enabled=True) as progress:
        progress(1, 2)
    assert "1/2" not in capsys.readouterr().err


class ZMQInteractiveShell:
    """What a notebook's kernel calls its shell."""


def test_a_notebook_gets_a_bar_of_text_and_no_hint_to_install_anything(capsys, monkeypatch):
    monkeypatch.setattr("builtins.get_ipython", ZMQInteractiveShell, raising=False)
    monkeypatch.setattr("heteroscope.core.progress.QUIET_SECONDS", 0.0)
    with progress_bar("train", enabled=True) as progress:
        progress(1, 2)
    shown = capsys.readouterr().err
    assert "train" in shown
    assert "ipywidgets" not in shown


@pytest.mark.parametrize(
    ("seconds", "n_new", "done", "total", "left"),
    [
        (10.0, 25, 25, 100, "0:00:30"),
        (10.0, 25, 75, 100, "0:00:10"),  # 50 were there before: they say nothing of the rate
        (60.0, 50, 50, 6050, "-:--:--"),  # too early to say
        (60.0, 0, 500, 1000, "-:--:--"),  # only what was there before
        (60.0, 40, 40, 40, "0:00:00"),
        (60.0, 44, 44, 40, "0:00:00"),  # plans are estimates
        (7200.0, 50, 50, 100, "2:00:00"),
    ],
)
def test_the_time_left_is_at_the_average_rate_since_the_first_report(seconds, n_new, done, total, left):
    assert time_left(seconds, n_new, done, total) == left

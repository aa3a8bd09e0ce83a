"""`heteroscope leaderboard`: page, figures and records, resumed and shown again, and mistakes in one line."""

from functools import partial

import pandas as pd
import pytest
from sklearn.linear_model import BayesianRidge

from heteroscope import datasets
from heteroscope.baselines import methods
from heteroscope.baselines.methods import Method
from tests.cli import commands

run, refused = (partial(function, "leaderboard") for function in (commands.run, commands.refused))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setitem(methods.METHODS, "gp", Method(BayesianRidge))
    monkeypatch.setitem(methods.METHODS, "ours", Method(lambda: BayesianRidge(alpha_init=1.0)))


def test_a_board_is_made_resumed_and_shown_again(tmp_path):
    out = tmp_path / "board"
    words = ("quake", "forest_fires", "--methods", "gp,ours", "--splits", 2, "--max-train", 60, "--out", out)
    result = run(*words)
    assert result.exit_code == 0, result.output
    page = (out / "leaderboard.md").read_text()
    for text in (
        "| gp |",
        "| ours |",
        "| quake |",
        "| forest fires |",
        "![mean ranks](ranks.png)",
        "## Where gp loses",
    ):
        assert text in page
    assert all((out / name).stat().st_size > 5000 for name in ("ranks.png", "time.png"))
    records = {path: path.read_bytes() for path in (out / "records").glob("*.csv")}
    assert sum(len(pd.read_csv(path)) for path in records) == 8
    assert run(*words).stdout == result.stdout
    assert {path: path.read_bytes() for path in records} == records
    shown = run("--methods", "gp", "--records", out / "records", "--out", tmp_path / "other")
    assert shown.exit_code == 0, shown.output
    assert (tmp_path / "other" / "leaderboard.md").read_text() == page
    assert "seed was 0 and is now 1" in refused(*words, "--seed", 1)


def test_one_set_has_no_ranking_yet(tmp_path):
    result = run("quake", "--methods", "gp,ours", "--splits", 1, "--max-train", 60, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "ranks.png" not in (tmp_path / "leaderboard.md").read_text()


@pytest.mark.parametrize(("word", "n_sets"), [("--unseen", 1), ("--all", 2)])
def test_unseen_sets_are_those_that_chose_nothing(word, n_sets, tmp_path, monkeypatch):
    few = {name: datasets.SOURCES[name] for name in ("yacht", "quake")}
    monkeypatch.setattr(datasets, "SOURCES", few)
    result = run(word, "--methods", "gp,ours", "--splits", 1, "--max-train", 60, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert len(list((tmp_path / "records").glob("*.csv"))) == n_sets
    assert (tmp_path / "records" / "quake.csv").is_file()


def test_mistakes_are_one_line(tmp_path):
    assert "has no records" in refused("--out", tmp_path)
    assert "did you mean 'quake'" in refused("quak", "--out", tmp_path)
    assert "name sets, or give --all" in refused("quake", "--all", "--out", tmp_path)
    assert "name sets, or give --all" in refused("--unseen", "--all", "--out", tmp_path)
    assert "no method is called" in refused("quake", "--methods", "gpp", "--out", tmp_path)

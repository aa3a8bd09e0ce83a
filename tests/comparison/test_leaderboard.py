"""Leaderboards: balanced order, records that are resumed and completed, mixtures refused, standings by hand."""

import json
import os
import shutil
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import BayesianRidge

from heteroscope import datasets
from heteroscope.baselines import methods
from heteroscope.baselines.methods import Method
from heteroscope.comparison import (
    SCORES,
    extend_leaderboard,
    leaderboard_tables,
    mean_scores,
    read_leaderboard,
    standings,
)
from heteroscope.comparison.leaderboard import first_rows
from heteroscope.comparison.processor_time import processor_seconds
from heteroscope.core.errors import InputError, StoreWarning
from heteroscope.distributions import metrics

SETS = ("excitation_current", "forest_fires")


class Scripted(RegressorMixin, BaseEstimator):
    """The training rows' mean and SD; it notes how many rows each fit had, and fails while `broken`."""

    fits: list[int] = []  # noqa: RUF012  (counted over all instances)
    broken = False

    def __init__(self, factor=1.0, random_state=None):
        self.factor, self.random_state = factor, random_state

    def fit(self, X, y):
        type(self).fits.append(len(X))
        if self.broken:
            raise RuntimeError("no\nluck")
        self.mean_, self.std_ = y.mean(), self.factor * y.std()
        return self

    def predict(self, X, return_std=False):
        return np.full(len(X), self.mean_), np.full(len(X), self.std_)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(Scripted, "fits", [])
    monkeypatch.setattr(
        methods,
        "METHODS",
        {"ours": Method(Scripted), "ridge": Method(BayesianRidge), "gp": Method(lambda: Scripted(3.0))},
    )


def test_records_are_scores_of_the_first_rows_of_each_split(tmp_path):
    found = extend_leaderboard(tmp_path, SETS, ("ours", "ridge"), n_splits=2, max_train=100)
    assert len(found) == 8
    assert set(found["n_train"]) == {100}
    split = datasets.splits("forest_fires", protocol="literature", n_splits=2)[1]
    model = BayesianRidge().fit(split.x_train[:100], split.y_train[:100])
    expected = metrics.evaluate(split.y_test, *model.predict(split.x_test, return_std=True))
    row = found.query("set == 'forest_fires' and method == 'ridge' and split == 1").iloc[0]
    for score in set(SCORES) - {"seconds"}:
        assert row[score] == pytest.approx(expected[score], rel=1e-5)
    assert row["n_test"] == len(split.y_test)
    assert row["processor_seconds"] >= 0
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["excitation_current.csv", "forest_fires.csv"]


def test_the_order_is_balanced_whenever_it_stops(tmp_path):
    class EnoughError(Exception):
        pass

    def stop(done, of):
        if done == 5:
            raise EnoughError

    with pytest.raises(EnoughError):
        extend_leaderboard(tmp_path, SETS, ("ours", "ridge"), n_splits=2, max_train=50, progress=stop)
    found = read_leaderboard(tmp_path)
    assert dict(found.groupby("split").size()) == {0: 4, 1: 1}


def test_only_what_is_missing_is_fitted_and_the_rest_of_the_files_stays(tmp_path):
    extend_leaderboard(tmp_path, SETS[:1], ("ours",), n_splits=1, max_train=50)
    assert Scripted.fits == [50]
    before = (tmp_path / "excitation_current.csv").read_text().splitlines()
    steps = []
    found = extend_leaderboard(
        tmp_path, SETS, ("gp", "ours"), n_splits=2, max_train=50, progress=lambda *step: steps.append(step)
    )
    assert len(found) == 8
    assert len(Scripted.fits) == 8
    assert steps[0] == (2, 8)
    assert steps[-1] == (8, 8)
    assert set(before) <= set((tmp_path / "excitation_current.csv").read_text().splitlines())
    again = extend_leaderboard(tmp_path, SETS, ("gp", "ours"), n_splits=2, max_train=50)
    assert len(Scripted.fits) == 8
    pd.testing.assert_frame_equal(again, found)


def test_a_fit_that_failed_is_recorded_in_one_line_and_tried_again(tmp_path, monkeypatch):
    monkeypatch.setattr(Scripted, "broken", True)
    found = extend_leaderboard(tmp_path, SETS[:1], ("ours", "ridge"), n_splits=1, max_train=50)
    row = found[found["method"] == "ours"].iloc[0]
    assert row["error"] == "RuntimeError: no luck"
    assert np.isnan(row["nll"])
    monkeypatch.setattr(Scripted, "broken", False)
    found = extend_leaderboard(tmp_path, SETS[:1], ("ours", "ridge"), n_splits=1, max_train=50)
    assert len(found) == 2
    assert found["error"].isna().all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 1}, "seed was 0 and is now 1"),
        ({"max_train": 60}, "max_train was 50 and is now 60"),
        ({"protocol": "paper"}, "protocol was literature and is now paper"),
        ({"n_splits": 0}, "n_splits must be a positive integer"),
        ({"max_train": 0}, "max_train must be a positive integer"),
        ({"sets": ("quak",)}, "no real data set is called 'quak'"),
        ({"sets": ("sine",)}, "no real data set is called 'sine'"),
        ({"sets": ()}, "at least one set"),
        ({"sets": ("quake", "quake")}, "'quake' is listed twice"),
        ({"methods": ("our",)}, "no method is called 'our'"),
    ],
)
def test_other_settings_and_wrong_names_are_refused_before_any_fit(tmp_path, change, message):
    given = {"folder": tmp_path, "sets": SETS[:1], "methods": ("ours",), "n_splits": 1, "max_train": 50}
    extend_leaderboard(**given)
    with pytest.raises(ValueError, match=message) as refusal:
        extend_leaderboard(**given | change)
    assert "\n" not in str(refusal.value)
    assert len(Scripted.fits) == 1


def test_a_method_with_other_parameters_is_refused(tmp_path, monkeypatch):
    extend_leaderboard(tmp_path, SETS[:1], ("ours",), n_splits=1, max_train=50)
    monkeypatch.setitem(methods.METHODS, "ours", Method(lambda: Scripted(2.0)))
    with pytest.raises(InputError, match=r"holds fits of ours of other settings \(factor was 1\.0 and is now 2\.0\)"):
        extend_leaderboard(tmp_path, SETS[:1], ("ours",), n_splits=1, max_train=50)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("settings.json", "{", "settings.json is damaged"),
        ("settings.json", "[]", "settings.json is damaged"),
        ("excitation_current.csv", "a,b\n1,2\n", "other columns"),
        ("excitation_current.csv", "", "other columns"),
        ("excitation_current.csv", 'check,"' + 140_000 * "x", "no table of records"),
    ],
)
def test_damaged_files_are_named(tmp_path, name, text, message):
    extend_leaderboard(tmp_path, SETS[:1], ("ours",), n_splits=1, max_train=50)
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        extend_leaderboard(tmp_path, SETS[:1], ("ours",), n_splits=2, max_train=50)


def test_a_folder_that_holds_no_leaderboard_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no records"):
        read_leaderboard(tmp_path)
    (tmp_path / "prices.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="other columns"):
        read_leaderboard(tmp_path)
    with pytest.raises(InputError, match=r"has tables but no settings\.json"):
        extend_leaderboard(tmp_path, SETS[:1], ("ours",), n_splits=1)


def test_the_same_fit_twice_is_refused(tmp_path):
    extend_leaderboard(tmp_path, SETS[:1], ("ours",), n_splits=1, max_train=50)
    path = tmp_path / "excitation_current.csv"
    path.write_text(path.read_text() + path.read_text().splitlines()[1] + "\n")
    with pytest.raises(InputError, match="a method twice on one split"):
        read_leaderboard(tmp_path)


def test_no_flipped_bit_changes_a_record_and_only_damaged_rows_are_fitted_again(tmp_path):
    whole = extend_leaderboard(tmp_path, SETS[:1], ("ours", "ridge"), n_splits=2, max_train=50)
    path = tmp_path / "excitation_current.csv"
    content, chance = path.read_bytes(), np.random.default_rng(0)
    start = content.index(b"\n") + 1
    whole = whole.set_index(["method", "split"])
    for place in chance.integers(start, len(content), 100):
        damaged = bytearray(content)
        damaged[place] ^= 1 << chance.integers(8)
        path.write_bytes(damaged)
        with pytest.warns(StoreWarning, match=r"do not have their checksum\): their fits count"):
            found = read_leaderboard(tmp_path).set_index(["method", "split"])
        assert 2 <= len(found) < 4
        pd.testing.assert_frame_equal(found, whole.loc[found.index], check_dtype=False)
    path.write_bytes(content.replace(b"ridge,0", b"ridge,9"))
    with pytest.warns(StoreWarning, match="1 of its rows"):
        extend_leaderboard(tmp_path, SETS[:1], ("ours", "ridge"), n_splits=2, max_train=50)
    again = read_leaderboard(tmp_path).set_index(["method", "split"])
    timed = ["seconds", "processor_seconds"]
    pd.testing.assert_frame_equal(again.drop(columns=timed), whole.drop(columns=timed))


def test_a_table_cut_short_anywhere_keeps_its_whole_rows(tmp_path):
    extend_leaderboard(tmp_path, SETS[:1], ("ours", "ridge"), n_splits=1, max_train=50)
    path = tmp_path / "excitation_current.csv"
    content = path.read_bytes()
    start = content.index(b"\n") + 1
    for size in range(start, len(content), 7):
        path.write_bytes(content[:size])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StoreWarning)
            found = read_leaderboard(tmp_path)
        assert len(found) == content[: size + 1].count(b"\n") - 1
        assert found["error"].isna().all()


def test_small_sets_keep_all_their_rows():
    split = datasets.load("excitation_current", protocol="literature")
    assert first_rows(split, 501) is split
    assert len(first_rows(split, 500).y_train) == 500
    np.testing.assert_array_equal(first_rows(split, 9).x_train, split.x_train[:9])


def test_a_kill_loses_at_most_the_fit_under_way(tmp_path):
    out = tmp_path / "board"
    code = f"""
import time
from sklearn.linear_model import BayesianRidge
from heteroscope.baselines import methods
from heteroscope.comparison import extend_leaderboard
class Slow(BayesianRidge):
    def fit(self, X, y):
        time.sleep(600)
methods.METHODS["gp"] = methods.Method(Slow)
methods.METHODS["ridge"] = methods.Method(BayesianRidge)
extend_leaderboard({str(out)!r}, ("excitation_current",), ("ridge", "gp"), n_splits=1, max_train=50)
"""
    victim = subprocess.Popen([sys.executable, "-c", code])
    try:
        deadline = time.monotonic() + 200
        while not (out / "excitation_current.csv").is_file() and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        victim.kill()
        victim.wait()
    assert list(read_leaderboard(out)["method"]) == ["ridge"]
    settings = json.loads((out / "settings.json").read_text())
    assert set(settings["methods"]) == {"ridge", "gp"}


def test_processor_time_counts_workers_that_are_alive():
    busy = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ntime.sleep(600)"
    before = processor_seconds()
    worker = subprocess.Popen([sys.executable, "-c", busy], stdout=subprocess.PIPE)
    try:
        worker.stdout.readline()
        spent = processor_seconds() - before
    finally:
        worker.kill()
        worker.communicate()
    if os.path.exists("/proc/self/stat"):
        assert spent > 0.25
    assert processor_seconds() - before >= spent - 0.05, "nothing is lost when a worker ends"


def made_up(scores, n_test=100):
    """Records of one table: scores[method][set] is a list with one NLL per split, or None."""
    rows = [
        {"set": name, "method": method, "split": k, "n_train": 1000, "n_test": n_test}
        | {"nll": value, "crps": np.exp(value), "rmse": 1.0, "interval_coverage": 0.9, "ece": 0.1, "seconds": 9.0}
        | {"processor_seconds": 2.0 * (k + 1), "error": None if np.isfinite(value) else "RuntimeError: no luck"}
        for method, sets in scores.items()
        for name, values in sets.items()
        for k, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


NAN = float("nan")
BOARD = {
    "rival": {"a": [2.0, 2.2], "b": [1.0, 1.5], "c": [0.5, 0.7]},
    "ours": {"a": [1.0, 1.4], "b": [2.0, 2.3], "c": [0.4, NAN]},
    "late": {"a": [3.0]},
}


def test_means_are_over_the_splits_that_all_methods_of_a_set_have():
    found = mean_scores(made_up(BOARD), "nll")
    assert found.loc["a"].to_dict() == {"rival": 2.0, "ours": 1.0, "late": 3.0}, "late has split 0 alone"
    assert found.loc["b", "ours"] == pytest.approx(2.15)
    assert found.loc["c", "rival"] == 0.5
    assert np.isnan(found.loc["b", "late"])


def test_standings_rank_the_methods_that_have_most_sets_and_compare_with_the_first():
    found = standings(made_up(BOARD))
    assert list(found.scores["nll"].columns) == ["ours", "rival", "late"]
    assert set(found.rankings["nll"].ranks.index) == {"ours", "rival"}
    assert found.rankings["nll"].ranks["ours"] == pytest.approx(4 / 3)
    assert tuple(found.pairs["nll"].loc["rival", ["wins", "losses"]]) == (2, 1)
    assert found.pairs["crps"].loc["rival", "median_difference"] == pytest.approx(
        found.pairs["nll"].loc["rival", "median_difference"]
    ), "CRPS is exp(NLL) here, and its logarithm is compared"
    row = found.sets["nll"].loc["b"]
    gap = np.array([1.0 - 2.0, 1.5 - 2.3])
    assert (row["rival"], row["splits"]) == ("rival", 2)
    assert row["difference"] == pytest.approx(gap.mean())
    share = 100 / 1100
    assert row["standard_error"] == pytest.approx(gap.std(ddof=1) * np.sqrt(1 / 2 + share / (1 - share)))
    assert found.sets["crps"].loc["b", ["difference", "detectable"]].tolist() == pytest.approx(
        row[["difference", "detectable"]].tolist()
    )
    assert row["p_value"] == pytest.approx(2 * stats.t.sf(abs(gap.mean()) / row["standard_error"], 1))
    assert found.methods.loc["ours", ["fits", "failed", "sets"]].to_dict() == {"fits": 5, "failed": 1, "sets": 3}
    assert found.methods.loc["rival", "processor_seconds"] == 3.0


def test_the_share_of_test_rows_counts_rows_that_were_left_out_of_the_training():
    board = {name: {"diamonds": values["a"]} for name, values in BOARD.items()}
    found = standings(made_up(board, n_test=5394)).sets["nll"].loc["diamonds"]
    gap = np.array([2.0 - 1.0, 2.2 - 1.4])
    assert found["standard_error"] == pytest.approx(gap.std(ddof=1) * np.sqrt(1 / 2 + 1 / 9))


def test_the_page_has_every_method_and_set_and_tells_the_losses():
    tables = leaderboard_tables(standings(made_up(BOARD)))
    for name in ("ours", "rival", "late"):
        assert f"| {name} |" in tables["methods"]
    assert "**1.33**" in tables["methods"]
    assert "| rival | NLL | 2-0-1 |" in tables["pairs"]
    assert tables["losses"].splitlines() == ["- **b**. NLL: rival -0.900; CRPS: rival -58.5%"]
    (line,) = [line for line in tables["sets"].splitlines() if line.startswith("| b |")]
    assert "| **1.25** |" in line
    (line,) = [line for line in tables["sets_crps"].splitlines() if line.startswith("| b |")]
    assert "| 1.00 | **0.41** |" in line, "its average CRPS (e + e^1.5) / 2 is 0.41 of ours, (e^2 + e^2.3) / 2"
    for name, table in tables.items():
        widths = {line.count("|") for line in table.splitlines() if line.startswith("|")}
        assert len(widths) == (name != "losses")
    never = {"ours": {"a": [1.0, 1.0]}, "rival": {"a": [2.0, 2.0]}}
    assert leaderboard_tables(standings(made_up(never)))["losses"].startswith("On no set")


def test_without_the_first_method_or_any_record_there_is_one_line():
    with pytest.raises(InputError, match="no record of the method 'gp': choose among rival, ours, late"):
        standings(made_up(BOARD), first="gp")
    with pytest.raises(InputError, match="no record of these sets"):
        standings(made_up(BOARD), sets=["z"])
    assert list(standings(made_up(BOARD), sets=["a", "b"]).sets["nll"].index) == ["a", "b"]


def test_records_of_the_repository_are_whole_and_of_known_sets_and_methods(tmp_path):
    folder = os.path.join(os.path.dirname(__file__), "..", "..", "benchmarks", "records", "leaderboard")
    shutil.copytree(folder, tmp_path / "board", ignore=shutil.ignore_patterns(".*"))
    found = read_leaderboard(tmp_path / "board")
    assert set(found["set"]) <= set(datasets.SOURCES)
    assert found["set"].nunique() >= 20
    assert found["n_train"].max() <= 1000
    assert set(found["method"]) <= set(json.loads((tmp_path / "board" / "settings.json").read_text())["methods"])
    finite = found[found["error"].isna()]
    assert finite[["crps", "rmse", "processor_seconds"]].gt(0).all(axis=None)

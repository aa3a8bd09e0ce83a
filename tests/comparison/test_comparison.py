"""Comparisons: scores and paired differences against NumPy, records that survive a kill, folders that are not mixed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import BayesianRidge

from heteroscope import datasets
from heteroscope.baselines import MLERegressor
from heteroscope.comparison import SCORES, compare, detectable_ratio, markdown, summary
from heteroscope.core.errors import InputError, StoreWarning
from heteroscope.core.provenance import computed_with
from heteroscope.datasets import sample
from heteroscope.distributions import QuantileForecast, SampleForecast, metrics


class Constant(RegressorMixin, BaseEstimator):
    """The training rows' mean and SD, times a factor; it counts its fits."""

    fits = 0

    def __init__(self, factor=1.0, random_state=None):
        self.factor = factor
        self.random_state = random_state

    def fit(self, X, y):
        type(self).fits += 1
        self.mean_, self.std_ = y.mean(), self.factor * y.std()
        return self

    def predict(self, X, return_std=False):
        return np.full(len(X), self.mean_), np.full(len(X), self.std_)


class Heavy(Constant):
    """The same mean and SD as a Student-t of three degrees of freedom."""

    def pred_dist(self, X):
        return stats.t(3, np.full(len(X), self.mean_), np.full(len(X), self.std_ / np.sqrt(3)))


class Broken(Constant):
    """Fails on its second fit."""

    def fit(self, X, y):
        if type(self).fits == 1:
            type(self).fits += 1
            raise RuntimeError("no\nluck")
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def forget_fits():
    Constant.fits = Broken.fits = Slow.fits = 0


def test_a_method_with_a_distribution_is_judged_by_it():
    found = compare("sine", {"gaussian": Constant(), "heavy": Heavy()}, n_splits=2).set_index(["method", "split"])
    split = datasets.splits("sine", protocol="paper", n_splits=2, seed=0)[1]
    model = Heavy().fit(split.x_train, split.y_train)
    expected = -model.pred_dist(split.x_test).logpdf(split.y_test).mean()
    assert found.loc[("heavy", 1), "nll"] == pytest.approx(expected)
    assert found.loc[("heavy", 1), "rmse"] == found.loc[("gaussian", 1), "rmse"]
    assert found.loc[("heavy", 1), "nll"] != found.loc[("gaussian", 1), "nll"]


TIMES = ["seconds", "processor_seconds"]


class Quantiles(Constant):
    """The same Gaussian by three quantiles."""

    def pred_dist(self, X):
        levels = np.array([0.05, 0.5, 0.95])
        values = self.mean_ + self.std_ * stats.norm.ppf(levels)
        return QuantileForecast(levels, np.tile(values, (len(X), 1)))


class Samples(Constant):
    """The same Gaussian by fifty draws, which are all equal if its factor is zero."""

    def pred_dist(self, X):
        draws = np.random.default_rng(0).normal(self.mean_, self.std_, (len(X), 50))
        return SampleForecast(draws)


def test_quantiles_and_samples_are_scored_and_nll_is_absent_where_there_is_no_density(tmp_path):
    methods = {"quantiles": Quantiles(), "samples": Samples(), "atoms": Quantiles(factor=0.0)}
    for _ in range(2):  # the second time from the folder
        found = compare("sine", methods, n_splits=2, out=tmp_path / "out").set_index(["method", "split"])
        assert found["error"].isna().all()
        split = datasets.splits("sine", protocol="paper", n_splits=2, seed=0)[1]
        for name, method in methods.items():
            expected = metrics.evaluate(split.y_test, method.fit(split.x_train, split.y_train).pred_dist(split.x_test))
            for score in set(SCORES) - {"seconds"}:
                assert found.loc[(name, 1), score] == pytest.approx(expected[score], nan_ok=True)
    assert np.isnan(found.loc["atoms", "nll"]).all()
    assert found.drop(columns=["error", "nll"]).notna().all(axis=None)
    text = markdown(summary(found.reset_index()))
    assert "| atoms | nan" not in text
    assert "| atoms | none |" in text


def test_published_splits_are_the_same_for_the_named_set_and_for_its_table_in_the_published_order(tmp_path):
    rows = sample("yacht", published_order=True)
    frame = pd.DataFrame(rows.x, columns=list(rows.feature_names)).assign(y=rows.y)
    frame.to_csv(tmp_path / "ships.csv", index=False)
    methods = {"ridge": BayesianRidge()}
    named = compare("yacht", methods, protocol="published", n_splits=2, seed=3)
    table = compare(tmp_path / "ships.csv", methods, target="y", protocol="published", n_splits=2)
    pd.testing.assert_frame_equal(named.drop(columns=TIMES), table.drop(columns=TIMES))
    assert set(named["n_test"]) == {31}
    frame.sort_values("y").to_csv(tmp_path / "ships.csv", index=False)
    with pytest.raises(InputError, match=r"ships.csv has the rows of yacht in another order"):
        compare(tmp_path / "ships.csv", methods, target="y", protocol="published", n_splits=2)


PAIR = {"constant": Constant(), "ridge": BayesianRidge()}


@pytest.fixture(scope="module")
def records():
    return compare("sine", PAIR, n_splits=3)


def test_every_record_holds_the_scores_of_its_split(records):
    assert list(zip(records["method"], records["split"], strict=True)) == [
        (name, split) for split in range(3) for name in ("constant", "ridge")
    ]
    for number, split in enumerate(datasets.splits("sine", n_splits=3)):
        mean, std = BayesianRidge().fit(split.x_train, split.y_train).predict(split.x_test, return_std=True)
        expected = metrics.evaluate(split.y_test, mean, std)
        row = records[(records["method"] == "ridge") & (records["split"] == number)].iloc[0]
        assert row["error"] is None
        assert row["seconds"] > 0
        for score in set(SCORES) - {"seconds"}:
            assert row[score] == pytest.approx(expected[score])


def test_the_summary_has_means_deviations_and_paired_differences(records):
    table = summary(records)
    assert list(table.index) == ["constant", "ridge"]
    by_method = {name: records[records["method"] == name]["nll"].to_numpy() for name in PAIR}
    gap = by_method["ridge"] - by_method["constant"]
    row = table.loc["ridge"]
    assert row["nll"] == pytest.approx(by_method["ridge"].mean())
    assert row["nll_sd"] == pytest.approx(by_method["ridge"].std(ddof=1))
    assert row["nll_difference"] == pytest.approx(gap.mean())
    assert row["nll_se"] == pytest.approx(gap.std(ddof=1) / np.sqrt(3))
    # 64 of 128 rows are test rows, and each split is drawn anew
    assert row["nll_corrected_se"] == pytest.approx(gap.std(ddof=1) * np.sqrt(1 / 3 + 1))
    fresh = summary(records, fresh_draws=True).loc["ridge"]
    assert fresh["nll_corrected_se"] == pytest.approx(row["nll_se"])
    assert fresh["nll_detectable"] == pytest.approx(fresh["nll_se"] * detectable_ratio(2.0))
    assert table.loc["constant", "nll_difference"] == table.loc["constant", "nll_se"] == 0
    assert list(table["fits"]) == [3, 3]


def test_markdown_has_both_tables(records):
    text = markdown(summary(records))
    lines = text.splitlines()
    assert sum(line.startswith("| ridge |") for line in lines) == 3
    assert sum(line.startswith("| constant |") for line in lines) == 1, "no difference of the first to itself"
    table = summary(records).loc["ridge"]
    assert f"{table['nll']:.3g} ± {table['nll_sd']:.2g}" in text
    assert f"{table['nll_difference']:+.3g} ± {table['nll_corrected_se']:.2g}" in text
    assert f"| {table['nll_detectable']:.2g} |" in text
    widths = {line.count("|") for line in lines if line.startswith("|")}
    assert widths == {len(SCORES) + 2}


def test_a_score_that_one_fit_lacks_is_no_average_of_the_others(records):
    lacking = records.copy()
    lacking.loc[(lacking["method"] == "ridge") & (lacking["split"] == 1), "nll"] = np.nan
    table = summary(lacking)
    assert np.isnan(table.loc["ridge", ["nll", "nll_difference"]].astype(float)).all()
    assert table.loc["ridge", "crps"] == pytest.approx(summary(records).loc["ridge", "crps"])
    older = summary(records.drop(columns="interval_score"))
    assert "interval_score" not in older
    assert markdown(older).count("RMSE") == 3, "scores, differences and detectable differences"


def test_a_method_that_fails_costs_the_others_nothing_and_is_tried_again(tmp_path):
    methods = {"constant": Constant(), "broken": Broken()}
    records = compare("sine", methods, n_splits=3, out=tmp_path / "out")
    failed = records[records["error"].notna()]
    assert list(failed["method"]) == ["broken"]
    assert failed["error"].iloc[0] == "RuntimeError: no luck"
    assert failed["nll"].isna().all()
    table = summary(records)
    assert list(table["fits"]) == [3, 2]
    assert list(table["failed"]) == [0, 1]
    assert table.loc["broken", "nll_difference"] == 0, "over the two splits that both have"
    assert "broken (1 failed)" in markdown(table)
    assert compare("sine", methods, n_splits=3, out=tmp_path / "out")["error"].isna().all()


def test_a_second_call_fits_only_what_is_new(tmp_path):
    out = tmp_path / "a" / "b"
    first = compare("sine", PAIR, n_splits=2, out=out)
    assert Constant.fits == 2
    pd.testing.assert_frame_equal(first, compare("sine", PAIR, n_splits=2, out=out))
    assert Constant.fits == 2
    longer = compare("sine", {**PAIR, "wide": Constant(factor=2.0)}, n_splits=3, out=out)
    assert Constant.fits == 2 + 1 + 3
    assert len(longer) == 9
    kept = longer[(longer["split"] < 2) & (longer["method"] != "wide")].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, first)


def test_an_infinite_score_survives_in_the_folder(tmp_path):
    methods = {"sure": Constant(factor=0.0), "constant": Constant()}
    for _ in range(2):
        records = compare("sine", methods, n_splits=2, out=tmp_path / "out")
        assert np.isinf(records.loc[records["method"] == "sure", "nll"]).all()
    assert summary(records).loc["sure", "nll"] == np.inf


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 1}, "seed was 0 and is now 1"),
        ({"data": "curve"}, "data.set was sine and is now curve"),
        ({"methods": {"constant": Constant(factor=3.0)}}, "factor was 1.0 and is now 3.0"),
        ({"methods": {"constant": BayesianRidge()}}, "factor was 1.0 and is now not set"),
    ],
)
def test_a_folder_of_other_settings_is_refused_with_the_difference(tmp_path, change, message):
    settings = {"data": "sine", "methods": {"constant": Constant()}, "n_splits": 2, "out": tmp_path / "out"}
    compare(**settings)
    with pytest.raises(InputError, match=message) as refusal:
        compare(**settings | change)
    assert "\n" not in str(refusal.value)


def test_a_table_whose_rows_changed_is_another_comparison(tmp_path):
    frame = table(40)
    path, out = tmp_path / "table.csv", tmp_path / "out"
    frame.to_csv(path, index=False)
    compare(path, PAIR, target="y", n_splits=2, out=out)
    frame.assign(y=frame["y"] + 1).to_csv(path, index=False)
    with pytest.raises(InputError, match=r"data\.file was \w{12} and is now"):
        compare(path, PAIR, target="y", n_splits=2, out=out)


def test_a_folder_with_other_files_is_refused_and_a_damaged_record_is_made_again(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="holds other files"):
        compare("sine", PAIR, n_splits=2, out=tmp_path)
    with pytest.raises(InputError, match="cannot be written to"):
        compare("sine", PAIR, n_splits=2, out=tmp_path / "thesis.txt" / "out")
    first = compare("sine", PAIR, n_splits=2, out=tmp_path / "out")
    record = tmp_path / "out" / "records" / "ridge-001.json"
    for content in ("", "[]", "{}", record.read_text()[:-30]):
        record.write_text(content)
        with pytest.warns(StoreWarning, match=r"ridge-001\.json is damaged .*: this fit is made again"):
            again = compare("sine", PAIR, n_splits=2, out=tmp_path / "out")
        pd.testing.assert_frame_equal(again.drop(columns=TIMES), first.drop(columns=TIMES))
    (tmp_path / "out" / "settings.json").write_text("{}")
    with pytest.raises(InputError, match=r"settings\.json is damaged .*: name another folder"):
        compare("sine", PAIR, n_splits=2, out=tmp_path / "out")


def test_a_comparison_says_what_else_computed_a_part_of_it(tmp_path, monkeypatch):
    compare("sine", PAIR, n_splits=1, out=tmp_path)
    now = computed_with()
    monkeypatch.setattr("heteroscope.core.provenance.computed_with", lambda: now | {"numpy": "99"})
    with pytest.warns(StoreWarning, match=r"continues with 2 fits .*numpy was .* and is now 99"):
        compare("sine", PAIR, n_splits=1, out=tmp_path)


def table(n):
    random = np.random.default_rng(0)
    a = random.standard_normal(n)
    town = random.choice(["Bern", "Oslo"], n)
    town[0] = "Rome"  # which is a test row of some split, unknown to its training rows
    return pd.DataFrame({"a": a, "town": town, "y": 5 + a + 0.1 * random.standard_normal(n)})


@pytest.mark.parametrize(("protocol", "n_test"), [("literature", 6), ("paper", 20)])
def test_a_users_table_is_cut_and_encoded_by_its_training_rows(tmp_path, protocol, n_test):
    table(60).to_parquet(tmp_path / "table.parquet")
    records = compare(str(tmp_path / "table.parquet"), PAIR, target="y", protocol=protocol, n_splits=12)
    assert set(records["n_test"]) == {n_test}
    assert set(records["n_train"]) == {60 - n_test}
    assert records["error"].isna().all()
    assert summary(records).loc["ridge", "rmse"] == pytest.approx(0.1, rel=0.4)


def test_our_own_methods_take_seeds_and_processes():
    tiny = MLERegressor(hidden=(4,), max_steps=20, weight_decay=0.01, held_out=0)
    once, twice = (compare("sine", {"mle": tiny}, n_splits=2, n_jobs=1) for _ in range(2))
    np.testing.assert_array_equal(once["nll"], twice["nll"])
    assert tiny.random_state is None, "a user's own estimator is left as it was"


REFUSED = {
    "no split": ({"n_splits": 0}, "n_splits must be a positive integer"),
    "unknown set": ({"data": "yatch"}, "did you mean 'yacht'"),
    "a target for a named set": ({"target": "y"}, "leave it out"),
    "a table without a target": ({"data": "table.csv"}, "name the column to predict"),
    "no such table": ({"data": "none.csv", "target": "y"}, "none.csv"),
    "unknown target": ({"data": "table.csv", "target": "z"}, "has no column 'z'"),
    "unknown protocol": ({"data": "table.csv", "target": "y", "protocol": "mine"}, "protocol"),
    "90/10 of a simulated set": ({"protocol": "literature"}, "protocol='paper'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_gets_one_clear_line_before_any_fit(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table(40).to_csv("table.csv", index=False)
    change, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=message) as refusal:
        compare(**{"data": "sine", "methods": PAIR, "n_splits": 2} | change)
    if isinstance(refusal.value, InputError):
        assert "\n" not in str(refusal.value)
    assert Constant.fits == 0


class Slow(Constant):
    """Its second fit does not end in the process that is to be killed."""

    fits = 0
    hangs = False

    def fit(self, X, y):
        if self.hangs and type(self).fits == 1:
            time.sleep(600)
        return super().fit(X, y)


VICTIM = """
import sys
sys.path.insert(0, {tests!r})
from tests.comparison.test_comparison import Constant, Slow, compare

Slow.hangs = True
compare("sine", {{"constant": Constant(), "slow": Slow()}}, n_splits=3, out={out!r})
"""


def test_a_kill_loses_at_most_the_fit_under_way(tmp_path):
    out = tmp_path / "out"
    tests = str(Path(__file__).parents[2])
    victim = subprocess.Popen([sys.executable, "-c", VICTIM.format(tests=tests, out=str(out))])
    try:
        deadline = time.monotonic() + 200
        while len(list(out.glob("records/*.json"))) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2)
    finally:
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
    done = sorted(path.name for path in out.glob("records/*.json"))
    assert done == ["constant-000.json", "constant-001.json", "slow-000.json"]
    assert all(json.loads((out / "records" / name).read_text())["error"] is None for name in done)
    records = compare("sine", {"constant": Constant(), "slow": Slow()}, n_splits=3, out=out)
    assert len(records) == 6
    assert (Constant.fits, Slow.fits) == (1, 2), "what was recorded is not fitted again"

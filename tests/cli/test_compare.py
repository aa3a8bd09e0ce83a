"""`heteroscope compare`: tables on screen and on disk, notes, and mistakes in one line."""

import subprocess
import sys
import time
from functools import partial

import click
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import BayesianRidge

from heteroscope import comparison
from heteroscope.baselines import methods
from heteroscope.baselines.methods import METHODS, Method
from heteroscope.cli.compare import NAMES
from heteroscope.comparison import SCORES
from tests.cli import commands

run, refused = (partial(function, "compare") for function in (commands.run, commands.refused))


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(0)
    a = random.standard_normal(60)
    path = tmp_path / "houses.csv"
    pd.DataFrame({"a": a, "price": 5 + a + 0.1 * random.standard_normal(60)}).to_csv(path, index=False)
    return path


def test_the_names_in_the_help_are_those_that_there_are():
    assert tuple(METHODS) == NAMES
    assert ",".join(NAMES) in "".join(run("--help").stdout.split())


def test_two_methods_on_a_table_print_and_write_their_tables(table, tmp_path):
    out = tmp_path / "out"
    words = (table, "--target", "price", "--methods", "gp,catboost", "--splits", 2, "--out", out, "--jobs", 1)
    result = run(*words)
    assert result.exit_code == 0, result.output
    for text in ("gp", "catboost", "Difference from gp", *(title.split()[0] for title in SCORES.values())):
        assert text in result.stdout
    assert "Note:" not in result.stdout
    records, summary = pd.read_csv(out / "records.csv"), pd.read_csv(out / "summary.csv", index_col="method")
    assert len(records) == 4
    expected = records.groupby("method")["nll"].mean()
    np.testing.assert_allclose(summary["nll"], expected[summary.index])
    assert "| catboost |" in (out / "summary.md").read_text()
    assert not list(out.glob(".*"))
    before = {path: path.stat().st_mtime_ns for path in (out / "records").iterdir()}
    assert run(*words).stdout == result.stdout
    assert {path: path.stat().st_mtime_ns for path in (out / "records").iterdir()} == before


def test_several_sets_have_a_folder_each_and_their_tables_in_one_file(table, tmp_path, monkeypatch):
    monkeypatch.setitem(methods.METHODS, "gp", Method(BayesianRidge))  # which takes no time
    out = tmp_path / "out"
    result = run("sine", "cubic", "--methods", "gp", "--splits", 2, "--out", out, "--jobs", 1)
    assert result.exit_code == 0, result.output
    text = (out / "summary.md").read_text()
    for name in ("sine", "cubic"):
        assert f"# {name}\n\n{(out / name / 'summary.md').read_text()}" in text
        assert len(pd.read_csv(out / name / "records.csv")) == 2
    assert "named twice" in refused("sine", table, table, "--methods", "gp", "--out", tmp_path / "other")


def test_by_default_notes_say_which_methods_are_left_out_and_which_failed(table, tmp_path, monkeypatch):
    def broken():
        class Broken(BayesianRidge):
            def fit(self, X, y):
                raise RuntimeError("no luck")

        return Broken()

    few = {"gp": Method(BayesianRidge), "gp2": Method(BayesianRidge, max_rows=10), "bad": Method(broken)}
    few["lost"] = Method(BayesianRidge, packages=("no_such_package",))
    few["asked"] = Method(BayesianRidge, by_default=False)
    monkeypatch.setattr(methods, "METHODS", few)
    monkeypatch.setitem(methods.INSTALL, "no_such_package", 'pip install "heteroscope[lost]"')
    result = run(table, "--target", "price", "--splits", 2, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "Note: gp2 is left out: it takes at most 10 training rows, and there are 54." in result.stdout
    assert "Note: lost is left out: the package 'no_such_package' is not installed: pip install" in result.stdout
    assert "asked" not in result.stdout, "it is neither run nor left out: it runs if it is named"
    assert "Note: bad failed on split 1: RuntimeError: no luck" in result.stdout


def test_mistakes_are_one_line(table, tmp_path):
    some = ("--methods", "gp", "--splits", 2, "--out", tmp_path / "out")
    assert "did you mean 'catboost'" in refused(
        "sine", "--methods", "catbost", "--splits", 2, "--out", tmp_path / "out"
    )
    assert "--target" in refused(table, *some)
    assert "did you mean 'price'" in refused(table, *some, "--target", "prise")
    assert "at least two splits" in refused("sine", "--methods", "gp", "--splits", 1, "--out", tmp_path / "out")
    assert "is a file" in refused("sine", "--methods", "gp", "--out", table)
    assert "is a file" in refused("sine", "--methods", "gp", "--out", table / "deeper")
    assert "--protocol" in refused("sine", *some, "--protocol", "mine")
    assert "use --protocol paper" in refused("sine", *some, "--protocol", "literature")
    assert "--target y is for tables: leave it out for sine" in refused("sine", *some, "--target", "y")
    assert "did you mean 'yacht'" in refused("yatch", *some)
    assert not (tmp_path / "out").exists(), "nothing is written before the input is known to be good"


def test_the_default_folder_is_named_after_the_data(table, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    seen = {}

    def fake(data, methods, **settings):
        seen.update(settings, data=data, methods=methods)
        raise click.ClickException("enough")

    monkeypatch.setattr(comparison, "compare", fake)
    run(table, "--target", "price")
    assert str(seen["out"]) == "houses-compare"
    assert seen["methods"] is None
    assert seen["n_splits"] == comparison.N_SPLITS


SIX = "ngboost,catboost,gp-matern,quantile-boosting,quantile-forest,conformal-catboost"
RIVALS = """
import sys
from heteroscope.baselines import methods, rivals
from heteroscope.cli import main

small = {{
    "ngboost": rivals.NGBoostPeer(max_trees=10),
    "catboost": rivals.CatBoostPeer(max_trees=10),
    "gp-matern": rivals.GaussianProcessPeer(kernel="matern", n_restarts=0),
    "quantile-boosting": rivals.QuantileBoostingPeer(max_trees=5),
    "quantile-forest": rivals.QuantileForestPeer(n_trees=10),
    "conformal-catboost": rivals.ConformalCatBoostPeer(max_trees=10),
}}
methods.METHODS |= {{name: methods.Method(lambda peer=peer: peer) for name, peer in small.items()}}
words = "compare sine cubic curve --methods {methods} --splits 2 --jobs 1 --out".split()
sys.argv = ["heteroscope", *words, {out!r}]
main()
"""


def test_six_rivals_on_three_sets_in_one_command_lose_at_most_one_fit_to_a_kill(tmp_path):
    pytest.importorskip("quantile_forest")
    out = tmp_path / "out"
    words = [sys.executable, "-W", "ignore", "-c", RIVALS.format(methods=SIX, out=str(out))]
    victim = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 200
        while len(list(out.glob("*/records/*.json"))) < 16 and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        victim.kill()
        victim.wait()
    before = {path: path.stat().st_mtime_ns for path in out.glob("*/records/*.json")}
    assert 16 <= len(before) < 36, "it was killed in the second set"
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {path: path.stat().st_mtime_ns for path in before} == before
    for name in ("sine", "cubic", "curve"):
        records = pd.read_csv(out / name / "records.csv")
        assert sorted(records["method"]) == sorted(2 * SIX.split(","))
        assert records["error"].isna().all()
        assert records["crps"].notna().all()
    assert (out / "summary.md").read_text().count("# ") >= 3

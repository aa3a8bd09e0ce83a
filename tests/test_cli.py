"""The command line: each command does its work, and each mistake is one line that starts with `Error:`."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from heteroscope import cli, defaults, load_model
from heteroscope.cli.one_line import INTERRUPTED
from heteroscope.cli.predict import ADDED
from heteroscope.estimators import HeteroskedasticRegressor, HeteroskedasticRegressorCV
from heteroscope.storage import load_bundle

POINT = ["--rho", "0.9", "--gamma", "0.1", "--hidden", "6", "--steps", "10", "--jobs", "1", "--seed", "0"]
ROOT = Path(__file__).parents[1]
COMMANDS = sorted(cli.main.commands)


def run(*words):
    return CliRunner().invoke(cli.main, [str(word) for word in words])


def refused(*words):
    result = run(*words)
    assert result.exit_code not in (0, INTERRUPTED)
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1, "one line"
    assert "Traceback" not in result.stderr
    return result.stderr


def table(n=20, **columns):
    random = np.random.default_rng(0)
    a = random.standard_normal(n)
    town = random.choice(["Bern", "Oslo"], n)
    return pd.DataFrame({"a": a, "town": town, "y": a + 0.3 * random.standard_normal(n)}).assign(**columns)


def csv(tmp_path, frame):
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A table and the model folder that `fit` made of it."""
    folder = tmp_path_factory.mktemp("fitted")
    path = csv(folder, table())
    result = run("fit", path, "--target", "y", "--out", folder / "model", *POINT)
    assert result.exit_code == 0, result.output
    return path, folder / "model"


class TestFit:
    def test_a_point_is_fitted_and_diagnosed(self, tmp_path):
        result = run("fit", csv(tmp_path, table()), "--target", "y", "--out", tmp_path / "model", *POINT)
        assert result.exit_code == 0
        assert result.stderr == ""
        for expected in ("'town' is one-hot encoded", "coverage of 90 % intervals", "Phase ", f"{tmp_path / 'model'}"):
            assert expected in result.stdout
        assert type(load_model(tmp_path / "model")) is HeteroskedasticRegressor

    def test_the_search_prints_its_path_and_marks_the_chosen_point(self, tmp_path):
        words = ["--folds", "2", "--members", "1", "--hidden", "6", "--steps", "4", "--jobs", "1", "--seed", "0"]
        result = run("fit", csv(tmp_path, table()), "--target", "y", "--out", tmp_path / "model", *words)
        assert result.exit_code == 0, result.output
        model = load_model(tmp_path / "model")
        assert type(model) is HeteroskedasticRegressorCV
        assert model.cv == 2
        marked = [line for line in result.stdout.splitlines() if "->" in line]
        assert len(marked) == 1
        assert model.cv_results_["phase"][model.best_index_] in marked[0]
        assert "held-out rows" in result.stdout
        assert "The diagonal and points beside it" in result.stdout

    def test_what_is_not_given_is_left_to_the_estimator(self, fitted):
        _, folder = fitted
        ours, theirs = load_model(folder).get_params(), HeteroskedasticRegressor(0.9, 0.1).get_params()
        given = {"hidden", "max_steps", "n_jobs", "random_state"}
        assert {k: v for k, v in ours.items() if k not in given} == {k: v for k, v in theirs.items() if k not in given}

    def test_help_shows_the_estimators_defaults(self):
        text = " ".join(run("fit", "--help").stdout.split())
        search, point = HeteroskedasticRegressorCV().get_params(), HeteroskedasticRegressor().get_params()
        assert f"{search['max_steps']}, or {point['max_steps']} with" in text
        assert f"{search['n_members']}, or {point['n_members']} with" in text
        assert f"[default: {search['cv']}]" in text
        assert ",".join(map(str, defaults.HIDDEN)) in text

    @pytest.mark.parametrize(("rho", "gamma"), [("0.9", None), (None, "0.1")])
    def test_half_a_point_is_refused(self, fitted, tmp_path, rho, gamma):
        words = ["--rho", rho] if rho else ["--gamma", gamma]
        assert "give both" in refused("fit", fitted[0], "--target", "y", "--out", tmp_path / "m", *words)

    @pytest.mark.parametrize("words", [("--folds", "3"), ("--selection", "crps")])
    def test_settings_of_a_search_do_not_go_with_a_point(self, fitted, tmp_path, words):
        assert words[0] in refused("fit", fitted[0], "--target", "y", "--out", tmp_path / "m", *POINT, *words)

    def test_missing_values_are_imputed_by_choice(self, tmp_path):
        frame = table()
        frame.loc[3, "a"] = np.nan
        words = ["fit", csv(tmp_path, frame), "--target", "y", "--out", tmp_path / "m", *POINT]
        assert "--missing impute" in refused(*words)
        result = run(*words, "--missing", "impute")
        assert result.exit_code == 0
        assert "filled with" in result.stdout


# Each: what is in the table, and a word of the line that refuses it (None: there is a result).
UGLY = {
    "infinite feature": (table(a=[np.inf] + [1.0] * 19), "infinite"),
    "missing target": (table(y=[np.nan] + [1.0, 2.0] * 9 + [3.0]), "drop those rows"),
    "infinite target": (table(y=[np.inf] + [1.0, 2.0] * 9 + [3.0]), "infinite"),
    "text as target": (table(y=["high", "low"] * 10), "number"),
    "free text": (table(note=[f"remark {k}" for k in range(20)]), "free text"),
    "dates": (table(day=[f"2024-01-{k:02d}" for k in range(1, 21)]), "dates"),
    "one row": (table(1), "varies"),
    "two identical rows": (pd.concat([table(1), table(1)]), "varies"),
    "constant column": (table(c=1.0), None),
    "constant target": (table(y=2.5), "constant"),
    "features of 1e12": (table(big=np.linspace(-1e12, 1e12, 20)), None),
    "targets of 1e12": (table(y=np.linspace(-1e12, 1e12, 20)), None),
    "only the target": (table()[["y"]], "no column but the target"),
    "two rows": (table(20).iloc[:2].drop(columns="town"), None),
}


@pytest.mark.parametrize("name", UGLY)
def test_ugly_tables_get_a_result_or_one_line(tmp_path, name):
    frame, complaint = UGLY[name]
    words = ["fit", csv(tmp_path, frame), "--target", "y", "--out", tmp_path / "model", *POINT]
    if complaint:
        assert complaint in refused(*words)
        assert not (tmp_path / "model").exists()
        return
    result = run(*words)
    assert result.exit_code == 0, result.output
    predicted = run("predict", tmp_path / "model", tmp_path / "table.csv", "--out", tmp_path / "p.csv")
    assert predicted.exit_code == 0, predicted.output
    found = pd.read_csv(tmp_path / "p.csv")
    assert np.isfinite(found[list(ADDED)].to_numpy()).all()
    assert (found["std"] > 0).all()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "empty"),
        ("a,y\n", "no rows"),
        ("a,a,y\n1,2,3\n2,3,4\n", "more than one column"),
        ("a,y\n1,2\n3", "truncated"),
        ("a,z\n1,2\n2,4\n", "no column 'y'"),
        ("\x00\x01\x02", "table.csv"),
    ],
)
def test_ugly_files_get_one_line(tmp_path, text, complaint):
    (tmp_path / "table.csv").write_text(text)
    assert complaint in refused("fit", tmp_path / "table.csv", "--target", "y", "--out", tmp_path / "m", *POINT)


@pytest.mark.parametrize(
    ("rho", "gamma", "complaint"),
    [
        ("1", "0.5", "rho = 1"),
        ("0", "0.5", "rho = 0"),
        ("0.5", "1", "gamma = 1"),
        ("0.5", "0", "gamma = 0"),
        ("nan", "0.5", "rho"),
        ("-2", "0.5", "rho"),
        ("abc", "0.5", "'abc' is not a valid float"),
        ('"0.5"', "0.5", "not a valid float"),
    ],
)
def test_points_without_a_solution_get_one_line(fitted, tmp_path, rho, gamma, complaint):
    words = ["--rho", rho, "--gamma", gamma, "--jobs", "1"]
    assert complaint in refused("fit", fitted[0], "--target", "y", "--out", tmp_path / "m", *words)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--hidden", "8,x"], "128,128,128"),
        (["--hidden", "0"], "hidden"),
        (["--activation", "abs"], "leaky_relu"),
        (["--steps", "0"], "--steps"),
        (["--members", "0"], "--members"),
        (["--seed", "-1"], "--seed"),
        (["--jobs", "0"], "--jobs"),
        (["--missing", "forget"], "impute"),
    ],
)
def test_settings_that_cannot_be_get_one_line(fitted, tmp_path, words, complaint):
    point = ["--rho", "0.9", "--gamma", "0.1", "--jobs", "1"]
    assert complaint in refused("fit", fitted[0], "--target", "y", "--out", tmp_path / "m", *point, *words)


class TestPredict:
    def test_four_columns_are_added_to_the_table_as_it_is(self, fitted, tmp_path):
        path, folder = fitted
        result = run("predict", folder, path, "--out", tmp_path / "p.csv")
        assert result.exit_code == 0, result.output
        assert result.output == ""
        before, after = (pd.read_csv(one, float_precision="round_trip") for one in (path, tmp_path / "p.csv"))
        pd.testing.assert_frame_equal(after[before.columns], before)
        assert list(after.columns) == [*before.columns, *ADDED]
        bundle = load_bundle(folder)
        features = pd.DataFrame(bundle.encoder.features(before), columns=bundle.encoder.feature_names)
        mean, std = bundle.model.predict(features, return_std=True)
        np.testing.assert_allclose(after[["mean", "std"]], np.column_stack([mean, std]), rtol=1e-14)
        lower, upper = bundle.model.predict_interval(features, 0.9)
        np.testing.assert_allclose(after[["lower", "upper"]], np.column_stack([lower, upper]), rtol=1e-14)

    def test_standard_output_is_the_same_csv(self, fitted, tmp_path):
        path, folder = fitted
        run("predict", folder, path, "--out", tmp_path / "p.csv")
        assert run("predict", folder, path).stdout == (tmp_path / "p.csv").read_text()

    def test_parquet_in_and_out_and_the_target_is_not_needed(self, fitted, tmp_path):
        frame = table().drop(columns="y").set_index(pd.Index([f"row {k}" for k in range(20)]))
        frame.to_parquet(tmp_path / "new.parquet")
        assert run("predict", fitted[1], tmp_path / "new.parquet", "--out", tmp_path / "p.parquet").exit_code == 0
        after = pd.read_parquet(tmp_path / "p.parquet")
        pd.testing.assert_frame_equal(after[frame.columns], frame)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["new.parquet", "p.parquet"]

    def test_the_folder_of_the_output_is_made(self, fitted, tmp_path):
        assert run("predict", fitted[1], fitted[0], "--out", tmp_path / "a" / "b" / "p.csv").exit_code == 0
        assert (tmp_path / "a" / "b" / "p.csv").is_file()

    def test_a_wider_coverage_is_wider(self, fitted):
        def width(coverage):
            lines = run("predict", fitted[1], fitted[0], "--coverage", coverage).stdout.splitlines()
            lower, upper = lines[1].split(",")[-2:]
            return float(upper) - float(lower)

        assert width(0.5) < width(0.9) < width(0.99)

    def test_columns_of_the_same_name_are_not_overwritten(self, fitted, tmp_path):
        path, folder = fitted
        first = tmp_path / "p.csv"
        run("predict", folder, path, "--out", first)
        assert "--prefix" in refused("predict", folder, first)
        result = run("predict", folder, first, "--prefix", "pred_")
        assert result.stdout.splitlines()[0].endswith("mean,std,lower,upper,pred_mean,pred_std,pred_lower,pred_upper")

    def test_an_unknown_category_points_to_the_option_of_fit(self, fitted, tmp_path):
        assert "--unknown zeros" in refused("predict", fitted[1], csv(tmp_path, table(town="Rome")))

    @pytest.mark.parametrize("coverage", ["0", "1", "1.5", "nan", "much"])
    def test_a_coverage_that_cannot_be(self, fitted, coverage):
        assert "coverage" in refused("predict", fitted[1], fitted[0], "--coverage", coverage)

    def test_places_that_cannot_be(self, fitted, tmp_path):
        path, folder = fitted
        assert "not a model folder" in refused("predict", tmp_path / "no", path)
        assert "does not exist" in refused("predict", folder, tmp_path / "no.csv")
        assert "lacks column 'a'" in refused("predict", folder, csv(tmp_path, table()[["town"]]))
        assert ".parquet" in refused("predict", folder, path, "--out", tmp_path / "p.xlsx")
        assert "the table itself" in refused("predict", folder, path, "--out", path)
        assert "--out" in refused("predict", folder, path, "--out", "/proc/p.csv")

    def test_damaged_and_newer_models(self, fitted, tmp_path):
        path, folder = fitted
        description = (folder / "model.json").read_text()
        for name, text in {
            "damaged": description[:100],
            "upgrade": description.replace('"heteroscope_model": 1', '"heteroscope_model": 2'),
        }.items():
            (tmp_path / name).mkdir()
            (tmp_path / name / "model.json").write_text(text)
            (tmp_path / name / "arrays.npz").write_bytes((folder / "arrays.npz").read_bytes())
            assert name in refused("predict", tmp_path / name, path)


class TestPlaces:
    def test_a_folder_of_other_things_is_kept_and_refused_before_the_work(self, fitted, tmp_path):
        (tmp_path / "mine.txt").write_text("mine")
        assert "not overwritten" in refused("fit", fitted[0], "--target", "y", "--out", tmp_path)
        assert (tmp_path / "mine.txt").read_text() == "mine"

    @pytest.mark.parametrize("place", ["/proc/model", "{file}/model", "{file}"])
    def test_unwritable_places_are_refused_before_the_work(self, fitted, tmp_path, place):
        (tmp_path / "file").write_text("")
        refused("fit", fitted[0], "--target", "y", "--out", place.format(file=tmp_path / "file"))

    def test_demo_too(self):
        refused("demo", "--out", "/proc/demo")

    def test_a_full_disk_is_one_line(self, fitted, tmp_path, monkeypatch):
        def full(*_, **__):
            raise OSError(28, "No space left on device", str(tmp_path))

        monkeypatch.setattr("pathlib.Path.write_bytes", full)
        assert "No space left" in refused("fit", fitted[0], "--target", "y", "--out", tmp_path / "m", *POINT)


class TestErrors:
    def test_a_bug_is_one_line_and_debug_shows_it_all(self, fitted, monkeypatch):
        def bug(_):
            raise RuntimeError("two\nlines")

        monkeypatch.setattr("heteroscope.storage.load_bundle", bug)
        message = refused("predict", fitted[1], fitted[0])
        assert "RuntimeError: two lines" in message
        assert "--debug" in message
        assert isinstance(run("predict", fitted[1], fitted[0], "--debug").exception, RuntimeError)

    def test_typos_suggest_the_near_one(self):
        assert "did you mean 'predict'?" in refused("predit", "m", "t.csv")
        assert "--target" in refused("fit", "t.csv", "--taget", "y")
        assert "choose one of" in refused("xyzzy")

    def test_what_is_left_out_is_named(self):
        assert "--target" in refused("fit", "t.csv")
        assert "TABLE" in refused("fit", "--target", "y", "--out", "m")


class TestHelp:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_shows_an_example(self, command):
        text = run(command, "--help").stdout
        assert f"  heteroscope {command}" in text.split("Example", 1)[1]
        assert "--quiet" in text

    def test_without_a_command_there_is_help(self):
        result = run()
        assert result.exit_code == 0
        assert all(command in result.stdout for command in COMMANDS)

    def test_version(self):
        from importlib.metadata import version

        assert run("--version").stdout == f"heteroscope, version {version('heteroscope')}\n"

    @pytest.mark.parametrize("words", [[], ["--help"], ["fit", "--help"], ["--version"], ["fitt"]])
    def test_it_imports_nothing_heavy(self, words):
        code = (
            "import sys\n"
            "from heteroscope.cli import main\n"
            "try: main(sys.argv[1:])\n"
            "except SystemExit: pass\n"
            "heavy = {'jax', 'numpy', 'pandas', 'scipy', 'sklearn', 'matplotlib', 'xarray', 'rich', 'joblib'}\n"
            "sys.exit(' '.join(sorted(heavy & set(sys.modules))) or 0)"
        )
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


DOCUMENTED = re.findall(r"^\$ heteroscope (.*)$", (ROOT / "docs" / "command-line.md").read_text(), flags=re.MULTILINE)
TINY_THEORY = 64  # points of the field theory, the same wherever it is run, so that it is compiled once
TINY_DEMO = {"n_coarse": 3, "n_fine": 2, "n_aside": 0, "cv": 2, "max_steps": 20, "hidden": (4,), "n_members": 1}


def test_the_documented_commands_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("heteroscope.demo.SEARCH", TINY_DEMO)
    monkeypatch.setattr("heteroscope.demo.THEORY_POINTS", TINY_THEORY)
    houses = table().rename(columns={"a": "area", "y": "price"}).assign(rooms=np.arange(20) % 5)
    houses.to_csv("houses.csv", index=False)
    assert {line.split()[0] for line in DOCUMENTED} == set(COMMANDS)
    for line in DOCUMENTED:
        words = shlex.split(line)
        if words[0] == "fit":
            words += ["--steps", "4", "--hidden", "4", "--members", "1", "--jobs", "1"]
            words += [] if "--rho" in words else ["--folds", "2"]
        if words[0] == "map":
            words += ["--steps", "20", "--hidden", "4", "--jobs", "1"]
        if words[0] == "field":
            words += ["--points", TINY_THEORY]
        if words[0] == "demo":
            words += ["--jobs", "1"]
        result = run(*words)
        assert result.exit_code == 0, f"{line}: {result.output}"
    assert "second_std" in pd.read_parquet("both.parquet")


def test_the_demo_prints_the_path_and_writes_the_figure(tmp_path, monkeypatch):
    monkeypatch.setattr("heteroscope.demo.SEARCH", TINY_DEMO)
    monkeypatch.setattr("heteroscope.demo.THEORY_POINTS", TINY_THEORY)
    result = run("demo", "--out", tmp_path / "new", "--jobs", "1")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("->") == 1
    assert "The diagonal: held-out scores" in result.stdout
    assert "Phase " in result.stdout
    assert str(tmp_path / "new" / "diagonal.png") in result.stdout
    assert (tmp_path / "new" / "diagonal.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "new" / "page.html").read_text().startswith("<!doctype html>")


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the workers in /proc")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_is_one_line_and_leaves_no_worker(fitted, tmp_path, jobs):
    words = ["fit", str(fitted[0]), "--target", "y", "--out", str(tmp_path / "m"), "--steps", "1000000", "--jobs", jobs]
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # a background job ignores it
    code = f"{heed}; from heteroscope.cli import main; main()"
    started = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        wait_for(lambda: len(session(started.pid)) > int(jobs))
        started.send_signal(signal.SIGINT)
        _, error = started.communicate(timeout=60)
        assert (started.returncode, error) == (INTERRUPTED, "Error: interrupted\n")
        wait_for(lambda: not session(started.pid))
        assert list(tmp_path.iterdir()) == []
    finally:
        for pid in session(started.pid):
            os.kill(pid, signal.SIGKILL)


def session(leader):
    """The living processes of a session, by number."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                state, _, _, number = file.read().rsplit(")", 1)[1].split()[:4]
        except OSError:
            continue
        if int(number) == leader and state != "Z":
            found.append(int(pid))
    return found


def wait_for(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


class TestField:
    def test_it_writes_the_diagram_and_its_figure(self, tmp_path):
        import xarray as xr

        result = run("field", "curve", "--points", TINY_THEORY, "--out", tmp_path / "field")
        assert result.exit_code == 0, result.stderr
        with xr.open_dataset(tmp_path / "field" / "field.nc", engine="scipy") as diagram:
            assert dict(diagram.sizes)["rho"] == 19
            assert diagram.attrs["data_set"] == "curve"
        assert (tmp_path / "field" / "field.png").read_bytes().startswith(b"\x89PNG")
        assert "361 cells" in result.stdout

    def test_an_unknown_set_is_refused(self, tmp_path):
        assert "sine" in refused("field", "sin", "--out", tmp_path / "field")

"""`heteroscope fit`: points, searches, and one line for every table, setting and place that cannot be."""

import io
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from heteroscope import cli, load_model
from heteroscope.cli.predict import ADDED
from heteroscope.core import defaults
from heteroscope.core.auto_rules import resolve_batch_size
from heteroscope.core.errors import InputError
from heteroscope.estimators import HeteroskedasticRegressor, HeteroskedasticRegressorCV
from tests.cli.commands import POINT, csv, refused, run, table


def test_a_point_is_fitted_and_diagnosed(tmp_path):
    result = run("fit", csv(tmp_path, table()), "--target", "y", "--out", tmp_path / "model", *POINT)
    assert result.exit_code == 0
    assert result.stderr == ""
    for expected in (
        "'town' is one-hot encoded",
        "Can these predictions be trusted",
        "What to do:",
        f"{tmp_path / 'model'}",
    ):
        assert expected in result.stdout
    assert type(load_model(tmp_path / "model").estimator) is HeteroskedasticRegressor


SEARCH = ["--folds", "2", "--members", "1", "--hidden", "6", "--steps", "4", "--jobs", "1", "--seed", "0"]


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """What the search prints, in short and with `--path`, and its model."""
    folder = tmp_path_factory.mktemp("searched")
    words = ["fit", csv(folder, table()), "--target", "y", "--out", folder / "model", *SEARCH]
    results = [run(*words, *more) for more in ([], ["--path"])]
    assert [result.exit_code for result in results] == [0, 0], results[0].output
    return *(result.stdout for result in results), load_model(folder / "model")


def test_the_verdict_comes_first_and_five_points_of_the_path_last(searched):
    text, _, model = searched
    assert type(model.estimator) is HeteroskedasticRegressorCV
    assert model.cv == 2
    verdict, todo, networks, path = (text.index(words) for words in ("trusted", "What to do", "the networks", "->"))
    assert verdict < todo < networks < path
    assert text.startswith(str(model.diagnose()))
    table = text[text.index("The path") : text.index("RMSE and score")].splitlines()
    assert len(table) - 2 == 5


def test_the_whole_path_is_printed_on_request_and_marks_the_chosen_point(searched):
    _, text, model = searched
    path = model.cv_results_
    lines = text[text.index("The path") : text.index("RMSE and score")].splitlines()[2:]
    lines = [line for line in lines if line]
    assert len(lines) == len(path["rho"])
    assert [line.startswith("->") for line in lines].index(True) == model.best_index_
    assert model.phase_ in lines[model.best_index_]
    for line, steps, gamma in zip(lines, path["max_steps"], path["gamma"], strict=True):
        assert f" {steps} " in line
        assert f" {gamma:.3g} " in line


def test_the_output_fits_eighty_columns_and_has_no_colour(searched):
    for text in searched[:2]:
        assert max(map(len, text[: text.index("The model is in")].splitlines())) <= 80
        assert "\x1b" not in text


def test_prose_wraps_at_the_width_in_columns(fitted, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    result = run("fit", fitted[0], "--target", "y", "--out", tmp_path / "m", *POINT)
    prose = result.stdout[: result.stdout.index("\n\n")]
    assert 45 < max(map(len, prose.splitlines())) <= 60


def test_logarithms_are_asked_for_beside_the_column_to_predict(tmp_path):
    positive = csv(tmp_path, table().assign(y=lambda frame: np.exp(frame["y"])))
    words = ["--target", "y", "--out", tmp_path / "model", *SEARCH, "--target-scale", "log"]
    result = run("fit", positive, *words)
    assert result.exit_code == 0, result.output
    assert "logarithm of the target" in " ".join(result.stdout.split())
    model = load_model(tmp_path / "model")
    assert (model.target, model.target_) == ("log", "log")
    assert model.pred_dist(model.encoder.features(table())).dist.name == "lognorm"
    assert "needs targets above 0" in refused("fit", csv(tmp_path, table()), *words)
    assert "--family student-t" in refused("fit", positive, *words, "--family", "student-t")
    assert "leave them out" in refused("fit", positive, *words, "--rho", "0.9", "--gamma", "0.1")


def test_the_model_is_saved_even_if_nobody_reads(fitted, tmp_path):
    words = ["fit", fitted[0], "--target", "y", "--out", tmp_path / "m", *POINT]
    command = [sys.executable, "-m", "heteroscope", *map(str, words)]
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as nobody:
        found = subprocess.run(command, stdout=nobody, stderr=subprocess.PIPE, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    assert load_model(tmp_path / "m").rho_ == 0.9


def test_what_is_not_given_is_left_to_the_estimator(fitted):
    _, folder = fitted
    ours, theirs = load_model(folder).get_params(), HeteroskedasticRegressor(0.9, 0.1).get_params()
    given = {"hidden", "max_steps", "n_jobs", "random_state"}
    assert {k: v for k, v in ours.items() if k not in given} == {k: v for k, v in theirs.items() if k not in given}


def test_help_shows_the_estimators_defaults():
    text = " ".join(run("fit", "--help").stdout.split())
    search, point = HeteroskedasticRegressorCV().get_params(), HeteroskedasticRegressor().get_params()
    assert f"{search['max_steps']}, or {point['max_steps']} with" in text
    assert f"{search['n_members']}, or {point['n_members']} with" in text
    assert f"[default: {search['cv']}]" in text
    assert ",".join(map(str, defaults.HIDDEN)) in text


def test_help_says_which_batch_is_the_default_when():
    text = " ".join(run("fit", "--help").stdout.split())
    assert "half of the rows, at most 128; beyond 2,000 rows 256" in text
    assert resolve_batch_size("auto", 100) == 50
    assert resolve_batch_size("auto", 2000) == 128
    assert resolve_batch_size("auto", 2001) == 256


def test_auto_is_what_is_not_given(tmp_path, monkeypatch):
    seen = []

    def fit(self, *_):
        seen.append(self.get_params())
        raise InputError("seen")

    monkeypatch.setattr(HeteroskedasticRegressorCV, "fit", fit)
    words = ["fit", csv(tmp_path, table()), "--target", "y", "--out", tmp_path / "m"]
    refused(*words)
    refused(*words, "--folds", "auto", "--steps", "auto", "--batch", "auto")
    assert seen[0] == seen[1]
    assert (seen[0]["cv"], seen[0]["max_steps"], seen[0]["batch_size"]) == ("auto", "auto", "auto")
    assert "'few' is not a valid integer, nor 'auto'" in refused(*words, "--folds", "few")


def test_the_word_na_is_a_category_like_others(tmp_path):
    frame = table(garage=["NA", "attached"] * 10)
    result = run("fit", csv(tmp_path, frame), "--target", "y", "--out", tmp_path / "m", *POINT)
    assert result.exit_code == 0, result.output
    assert "column 'garage' is one-hot encoded: 'NA', 'attached'" in result.stdout
    only = csv(tmp_path, frame[frame["garage"] == "NA"])
    assert run("predict", tmp_path / "m", only).exit_code == 0


@pytest.mark.parametrize(("rho", "gamma"), [("0.9", None), (None, "0.1")])
def test_half_a_point_is_refused(fitted, tmp_path, rho, gamma):
    words = ["--rho", rho] if rho else ["--gamma", gamma]
    assert "give both" in refused("fit", fitted[0], "--target", "y", "--out", tmp_path / "m", *words)


@pytest.mark.parametrize("words", [("--folds", "3"), ("--selection", "crps"), ("--search", "theory")])
def test_settings_of_a_search_do_not_go_with_a_point(fitted, tmp_path, words):
    assert words[0] in refused("fit", fitted[0], "--target", "y", "--out", tmp_path / "m", *POINT, *words)


def test_missing_values_are_imputed_by_choice(tmp_path):
    frame = table()
    frame.loc[3, "a"] = np.nan
    words = ["fit", csv(tmp_path, frame), "--target", "y", "--out", tmp_path / "m", *POINT]
    assert "--missing impute" in refused(*words)
    result = run(*words, "--missing", "impute")
    assert result.exit_code == 0
    assert "filled with" in result.stdout


def test_a_table_of_real_life_passes_with_the_choices_that_are_offered_and_predict_repeats_them(tmp_path):
    frame = table(
        orderId=[f"A-{k}" for k in range(20)],
        day=[f"{k + 1}.5.2024" for k in range(20)],
        price=[f"${k},000.50" for k in range(1, 21)],
        note=[f"a remark {k}" for k in range(20)],
        a=[None, *range(19)],
    )
    words = ["fit", csv(tmp_path, frame), "--target", "y", "--out", tmp_path / "m", *POINT]
    failed = run(*words)
    assert failed.exit_code == 1
    head, *lines, offered = failed.stderr.splitlines()
    assert head == "Error: the table has 3 problems:"
    assert [line[:2] for line in lines].count("- ") == 3
    assert max(map(len, lines)) <= 80
    assert offered == "To use it as it is: --missing impute --dates days --drop note"
    choices = offered.split(": ")[1].split()
    result = run(*words, *choices)
    assert result.exit_code == 0, result.output
    assert "column 'orderId' is an identifier" in result.stdout
    assert "Before the fit" not in result.stdout
    later = frame.drop(columns=["note", "y", "orderId"])
    (tmp_path / "later.tsv").write_text(later.to_csv(index=False, sep="\t"))
    predicted = run("predict", tmp_path / "m", tmp_path / "later.tsv")
    assert predicted.exit_code == 0, predicted.output
    piped = CliRunner().invoke(cli.main, ["predict", str(tmp_path / "m"), "-"], input=later.to_csv(index=False))
    assert piped.stdout == predicted.stdout
    mean = load_model(tmp_path / "m").predict(later)
    np.testing.assert_allclose(pd.read_csv(io.StringIO(piped.stdout))["mean"], mean, rtol=1e-12)


def test_a_table_from_standard_input_is_fitted_after_a_look_at_it(tmp_path):
    text = table(number=range(20), y=[*range(19), 1e6]).to_csv(index=False)
    words = ["fit", "-", "--target", "y", "--out", str(tmp_path / "m"), *POINT]
    result = CliRunner().invoke(cli.main, words, input=text)
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("Before the fit:\n- ")
    assert "column 'number' may only number the rows" in result.stderr
    assert max(map(len, result.stderr.splitlines())) <= 80
    same = [word if word != "-" else str(tmp_path / "t.csv") for word in words]
    (tmp_path / "t.csv").write_text(text)
    assert run(*same, "--drop", "number", "--features", "a,number").stderr == ""


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--drop", "tuwn"], "--drop names 'tuwn', which is no column (did you mean 'town'?)"),
        (["--features", "y"], "--features names the target"),
        (["--sheet", "a"], "--sheet a is for Excel files"),
        (["--max-categories", "1"], "--max-categories 1): group"),
        (["--thousands", "ab"], "--thousands ab cannot separate thousands"),
    ],
)
def test_choices_of_columns_that_cannot_be(fitted, tmp_path, words, complaint):
    assert complaint in refused("fit", fitted[0], "--target", "y", "--out", tmp_path / "m", *POINT, *words)


# Each: what is in the table, and a word of the line that refuses it (None: there is a result).
UGLY = {
    "infinite feature": (table(a=[np.inf] + [1.0] * 19), "infinite"),
    "missing targets": (table(y=[np.nan] + [1.0, 2.0] * 9 + [3.0]), None),
    "no target at all": (table(y=np.nan), "drop those rows"),
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
        (["--batch", "0"], "--batch must be a positive integer"),
        (["--seed", "-1"], "--seed"),
        (["--jobs", "0"], "--jobs must be a positive number or -1 for all cores, got 0"),
        (["--missing", "forget"], "impute"),
    ],
)
def test_settings_that_cannot_be_get_one_line(fitted, tmp_path, words, complaint):
    point = ["--rho", "0.9", "--gamma", "0.1", "--jobs", "1"]
    assert complaint in refused("fit", fitted[0], "--target", "y", "--out", tmp_path / "m", *point, *words)


def test_a_folder_of_other_things_is_kept_and_refused_before_the_work(fitted, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    assert "not overwritten" in refused("fit", fitted[0], "--target", "y", "--out", tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("place", ["/proc/model", "{file}/model", "{file}"])
def test_unwritable_places_are_refused_before_the_work(fitted, tmp_path, place):
    (tmp_path / "file").write_text("")
    refused("fit", fitted[0], "--target", "y", "--out", place.format(file=tmp_path / "file"))


def test_a_full_disk_is_one_line(fitted, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", str(tmp_path))

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    assert "No space left" in refused("fit", fitted[0], "--target", "y", "--out", tmp_path / "m", *POINT)

"""`heteroscope diagnose`: anyone's forecasts in every form, a fitted model, and one line for what cannot be."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from heteroscope import diagnose
from tests.cli.commands import run

N = 300
RANDOM = np.random.default_rng(0)
MEAN = RANDOM.normal(size=N)
STD = np.exp(0.5 * RANDOM.normal(size=N))
Y = MEAN + STD * RANDOM.normal(size=N)
LEVELS = {0.05: "q05", 0.25: "q25", 0.5: "q50", 0.75: "q75", 0.95: "q95"}


@pytest.fixture(scope="module")
def forecasts(tmp_path_factory):
    """A table of right forecasts in all forms."""
    true = stats.norm(MEAN, STD)
    columns = {"y": Y, "m": MEAN, "s": STD, "low": true.ppf(0.1), "high": true.ppf(0.9), "one": 1.0, "word": "x"}
    columns |= {name: true.ppf(level) for level, name in LEVELS.items()}
    columns |= {f"draw_{k}": MEAN + STD * RANDOM.normal(size=N) for k in range(40)}
    path = tmp_path_factory.mktemp("forecasts") / "f.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


FORMS = {
    "moments": (["--mean", "m", "--std", "s"], {"mean": MEAN, "std": STD}),
    "interval": (["--lower", "low", "--upper", "high", "--coverage", "0.8"], {"mean": MEAN, "std": STD}),
    "quantiles": ([word for level, name in LEVELS.items() for word in ("--quantile", f"{level}={name}")], None),
    "samples": (["--samples", "draw_"], None),
    "weights": (["--mean", "m", "--std", "s", "--weight", "one"], {"mean": MEAN, "std": STD}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_forecast_is_judged(forecasts, tmp_path, form):
    words, same = FORMS[form]
    page = tmp_path / "page.html"
    result = run("diagnose", forecasts, "--target", "y", *words, "--report", page)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Can these predictions be trusted on new rows? Yes.")
    assert max(map(len, result.stdout.split("The report is")[0].splitlines())) <= 80
    assert "Is the std real or memorised? Real" in " ".join(result.stdout.split())
    assert "Forecasts of y" in page.read_text()
    if same is not None:
        shown = diagnose(Y, **same, target_name="y").text(80)
        assert result.stdout.startswith(shown[: shown.index("width")])


def test_training_rows_tell_a_memorised_std_from_one_that_was_never_right(forecasts, tmp_path):
    """The std of the training rows is the size of their residuals; that of the new rows has nothing to do with them."""
    train = pd.DataFrame({"y": Y, "m": MEAN, "s": np.abs(Y - MEAN) + 0.01})
    train.to_csv(tmp_path / "train.csv", index=False)
    new = pd.read_csv(forecasts).assign(s=RANDOM.permutation(train["s"]))
    new.to_csv(tmp_path / "new.csv", index=False)
    words = ["diagnose", tmp_path / "new.csv", "--target", "y", "--mean", "m", "--std", "s"]
    alone, beside = (" ".join(run(*words, *more).stdout.split()) for more in ([], ["--train", tmp_path / "train.csv"]))
    assert "only forecasts of the training rows can tell" in alone
    assert "Memorised: it knows the residuals of the training rows" in beside


def test_a_fitted_model_is_shown_again_and_explained_on_a_table(fitted, tmp_path):
    table, folder = fitted
    result = run("diagnose", folder, "--table", table, "--report", tmp_path / "fit.html")
    assert result.exit_code == 0, result.output
    assert "Can these predictions be trusted" in result.stdout
    assert "town" in (tmp_path / "fit.html").read_text()


def test_a_table_is_read_as_the_options_say(tmp_path):
    true = pd.DataFrame({"y": Y, "m": MEAN, "s": STD}).round(3)
    true.to_csv(tmp_path / "f.csv", index=False, decimal=",")
    words = ["diagnose", tmp_path / "f.csv", "--target", "y", "--mean", "m", "--std", "s"]
    result = run(*words, "--decimal", ",")
    assert result.exit_code == 0, result.output
    assert "holds no numbers" in run(*words).stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--mean", "m", "--std", "s"], "--target is missing"),
        (["--target", "y", "--mean", "m"], "described by mean: give mean and std"),
        (["--target", "y", "--mean", "mm", "--std", "s"], "there is no column 'mm': choose among 'y', 'm'"),
        (["--target", "y", "--mean", "m", "--std", "word"], "column 'word' holds no numbers"),
        (["--target", "y", "--quantile", "q05"], "write it as 0.05=q05"),
        (["--target", "y", "--quantile", "0.05=q05"], "give one below and one above 0.5"),
        (["--target", "y", "--samples", "drew"], "no column that begins with 'drew'"),
        (["--target", "y", "--mean", "m", "--std", "s", "--table", "t.csv"], "--table is for a model folder"),
    ],
)
def test_what_cannot_be_is_one_line(forecasts, words, complaint):
    result = run("diagnose", forecasts, *words)
    assert result.exit_code == 1
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1


def test_all_columns_that_cannot_be_used_are_named_at_once(forecasts):
    result = run("diagnose", forecasts, "--target", "yy", "--mean", "mm", "--std", "word")
    assert result.stderr.splitlines()[0].endswith("has 3 problems:")
    assert all(name in result.stderr for name in ("'yy'", "'mm'", "'word'"))


def test_options_of_a_table_of_forecasts_do_not_go_with_a_model(fitted):
    result = run("diagnose", fitted[1], "--mean", "m", "--std", "s")
    assert "--mean and --std are for a table of forecasts: leave them out for" in result.stderr

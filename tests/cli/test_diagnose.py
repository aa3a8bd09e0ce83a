"""`heteroscope diagnose` on a table of forecasts: mean and std, intervals or quantiles, and mistakes in one line."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.cli import commands

run, refused = (partial(function, "diagnose") for function in (commands.run, commands.refused))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Right forecasts of 400 rows in every form, and a std that is a third of the right one."""
    random = np.random.default_rng(0)
    mean, std = random.normal(size=400), random.uniform(0.5, 2.0, 400)
    quantiles = {f"q{level}": mean + std * stats.norm.ppf(level / 100) for level in (5, 25, 50, 75, 95)}
    frame = pd.DataFrame({"y": mean + std * random.normal(size=400), "mean": mean, "std": std, "third": std / 3})
    path = tmp_path_factory.mktemp("forecasts") / "forecasts.csv"
    frame.assign(**quantiles).to_csv(path, index=False)
    return path


QUANTILES = [word for level in (5, 25, 50, 75, 95) for word in ("--quantile", f"{level / 100:g}=q{level}")]


@pytest.mark.parametrize("words", [("--mean", "mean", "--std", "std"), ("--lower", "q5", "--upper", "q95"), QUANTILES])
def test_right_forecasts_of_every_form_are_trusted_and_have_a_page(table, tmp_path, words):
    page = tmp_path / "page.html"
    result = run(table, "--target", "y", *words, "--report", page)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Can these predictions be trusted on new rows? Yes.")
    assert page.stat().st_size > 10_000


def test_a_std_that_is_too_small_is_not_trusted(table):
    result = run(table, "--target", "y", "--mean", "mean", "--std", "third")
    assert result.stdout.startswith("Can these predictions be trusted on new rows? No.")


def test_mistakes_are_one_line(table):
    assert "write it as 0.05=q05" in refused(table, "--target", "y", "--quantile", "q5")
    assert "has no column 'q7'" in refused(table, "--target", "y", "--quantile", "0.07=q7")
    low = ("--quantile", "0.05=q5", "--quantile", "0.25=q25")
    assert "one side of the median" in refused(table, "--target", "y", *low)
    assert "--target is missing" in refused(table, "--mean", "mean", "--std", "std")
    assert "give mean and std, or lower and upper, or quantiles" in refused(table, "--target", "y", "--mean", "mean")

"""`heteroscope predict`: what it adds to a table, and one line for every model, table and place that cannot be."""

import os

import numpy as np
import pandas as pd
import pytest

from heteroscope.cli.predict import ADDED
from heteroscope.model_files import load_bundle
from tests.cli.commands import POINT, csv, refused, run, table


def test_four_columns_are_added_to_the_table_as_it_is(fitted, tmp_path):
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


def test_codes_and_words_come_back_as_they_were_whatever_else_is_in_the_file(tmp_path):
    frame = table(code=["01", "02", "A1", "NA"] * 5, zip=["02139", "90210"] * 10)
    frame.to_parquet(tmp_path / "t.parquet")
    result = run("fit", tmp_path / "t.parquet", "--target", "y", "--out", tmp_path / "m", *POINT)
    assert result.exit_code == 0, result.output
    for rows in (slice(0, 4), slice(0, 2), slice(3, 4)):
        text = frame[rows].to_csv(index=False)
        (tmp_path / "new.csv").write_text(text)
        result = run("predict", tmp_path / "m", tmp_path / "new.csv")
        assert result.exit_code == 0, result.output
        assert [line.rsplit(",", 4)[0] for line in result.stdout.splitlines()] == text.splitlines()


def test_a_table_of_decimal_commas_comes_back_with_points_and_commas(fitted, tmp_path):
    (tmp_path / "new.csv").write_text("id;a;town;note\n007;1,50;Bern;NA\n008;2;Oslo;x\n")
    lines = run("predict", fitted[1], tmp_path / "new.csv").stdout.splitlines()
    assert [line.rsplit(",", 4)[0] for line in lines] == ["id,a,town,note", "007,1.5,Bern,NA", "008,2.0,Oslo,x"]


def test_standard_output_is_the_same_csv(fitted, tmp_path):
    path, folder = fitted
    run("predict", folder, path, "--out", tmp_path / "p.csv")
    assert run("predict", folder, path).stdout == (tmp_path / "p.csv").read_text()


def test_parquet_in_and_out_and_the_target_is_not_needed(fitted, tmp_path):
    frame = table().drop(columns="y").set_index(pd.Index([f"row {k}" for k in range(20)]))
    frame.to_parquet(tmp_path / "new.parquet")
    assert run("predict", fitted[1], tmp_path / "new.parquet", "--out", tmp_path / "p.parquet").exit_code == 0
    after = pd.read_parquet(tmp_path / "p.parquet")
    pd.testing.assert_frame_equal(after[frame.columns], frame)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.parquet", "p.parquet"]


def test_the_folder_of_the_output_is_made(fitted, tmp_path):
    assert run("predict", fitted[1], fitted[0], "--out", tmp_path / "a" / "b" / "p.csv").exit_code == 0
    assert (tmp_path / "a" / "b" / "p.csv").is_file()


def test_a_wider_coverage_is_wider(fitted):
    def width(coverage):
        lines = run("predict", fitted[1], fitted[0], "--coverage", coverage).stdout.splitlines()
        lower, upper = lines[1].split(",")[-2:]
        return float(upper) - float(lower)

    assert width(0.5) < width(0.9) < width(0.99)


def test_columns_of_the_same_name_are_not_overwritten(fitted, tmp_path):
    path, folder = fitted
    first = tmp_path / "p.csv"
    run("predict", folder, path, "--out", first)
    assert "--prefix" in refused("predict", folder, first)
    result = run("predict", folder, first, "--prefix", "pred_")
    assert result.stdout.splitlines()[0].endswith("mean,std,lower,upper,pred_mean,pred_std,pred_lower,pred_upper")


def test_an_unknown_category_points_to_the_option_of_fit(fitted, tmp_path):
    assert "--unknown zeros" in refused("predict", fitted[1], csv(tmp_path, table(town="Rome")))


@pytest.mark.parametrize("coverage", ["0", "1", "1.5", "nan", "much"])
def test_a_coverage_that_cannot_be(fitted, coverage):
    assert "coverage" in refused("predict", fitted[1], fitted[0], "--coverage", coverage)


def test_places_that_cannot_be(fitted, tmp_path):
    path, folder = fitted
    assert "not a model folder" in refused("predict", tmp_path / "no", path)
    assert "does not exist" in refused("predict", folder, tmp_path / "no.csv")
    assert "lacks column 'a'" in refused("predict", folder, csv(tmp_path, table()[["town"]]))
    assert ".parquet" in refused("predict", folder, path, "--out", tmp_path / "p.txt")
    assert "the table itself" in refused("predict", folder, path, "--out", path)
    assert "/proc cannot be written to" in refused("predict", folder, path, "--out", "/proc/p.csv")


def test_damaged_and_newer_models(fitted, tmp_path):
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


@pytest.mark.filterwarnings("default::heteroscope.core.errors.FarRowsWarning")
def test_rows_far_outside_the_fit_are_counted_in_one_line(fitted, tmp_path):
    far = csv(tmp_path, table().assign(a=[-999.0, *[0.0] * 18, 999.0]))
    result = run("predict", fitted[1], far)
    assert result.exit_code == 0
    assert result.stderr.startswith("Warning: 2 of 20 rows lie far outside the rows of the fit, the first is row 1")
    assert "-999 in column 'a'" in result.stderr
    assert result.stderr.count("\n") == 1
    message = refused("predict", fitted[1], csv(tmp_path, table().assign(a=[*[0.0] * 19, 1e308])))
    assert "row 20 with 1e+308 in column 'a'" in message


def test_a_pipe_is_not_called_a_folder(fitted, tmp_path):
    os.mkfifo(tmp_path / "table.csv")
    assert "is a pipe or device" in refused("predict", fitted[1], tmp_path / "table.csv")


def test_names_cannot_steer_the_terminal(fitted, tmp_path):
    for name in ("\x1b[2J.csv", "\u202etxt.csv", "\udcff.csv"):
        message = refused("predict", fitted[1], tmp_path / name)
        assert message[:-1].isprintable()

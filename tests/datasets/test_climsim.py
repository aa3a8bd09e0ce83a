"""ClimSim's files by their names and shapes, and made-up ones that have the mean and variance they are said to have."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats

from heteroscope import load_model
from heteroscope.cli import main
from heteroscope.core.errors import InputError
from heteroscope.datasets.climsim import INPUTS, OUTPUTS, PAPER, climsim_stream, draw_test_rows, is_climsim
from heteroscope.datasets.climsim_generated import generate_climsim, truth
from heteroscope.distributions import metrics


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return generate_climsim(tmp_path_factory.mktemp("climsim"), n_train=30_000, n_val=8_000, seed=3)


def test_files_are_as_published(folder):
    for part, n_rows in (("train", 30_000), ("val", 8_000)):
        for kind, n_columns in (("input", 124), ("target", 128)):
            array = np.load(folder / f"{part}_{kind}.npy", mmap_mode="r")
            assert array.shape == (n_rows, n_columns)
            assert array.dtype == np.float32
            assert array.flags.c_contiguous
            assert np.isfinite(array).all()
    assert (INPUTS[59], INPUTS[60], INPUTS[121]) == ("state_t_59", "state_q0001_0", "pbuf_SOLIN")
    assert (OUTPUTS[119], OUTPUTS[120], OUTPUTS[123]) == ("ptend_q0001_59", "cam_out_NETSW", "cam_out_PRECC")


def test_the_target_goes_by_name(folder):
    stream = climsim_stream(folder, "cam_out_NETSW")
    x, y = stream.read(100, 200)
    np.testing.assert_array_equal(x, np.load(folder / "train_input.npy")[100:200])
    np.testing.assert_array_equal(y, np.load(folder / "train_target.npy")[100:200, 120])
    assert climsim_stream(folder, "NETSW").target_name == "cam_out_NETSW"
    assert stream.feature_names == INPUTS


@pytest.mark.parametrize("target", ["cam_out_NETSW", "cam_out_FLWDS", "cam_out_PRECC", "ptend_t_40", "ptend_q0001_59"])
def test_outputs_are_drawn_from_what_is_said_to_be_their_distribution(folder, target):
    x, y = climsim_stream(folder, target).read(0, 30_000)
    mean, std = truth(x, target)
    assert stats.kstest((y - mean) / std, "norm").pvalue > 1e-4
    assert np.std(std) > 0.1 * np.mean(std)  # heteroskedastic
    assert np.var(mean) > 0.1 * np.var(y)  # and there is something to learn


def test_levels_are_correlated_and_half_of_the_globe_is_dark(folder):
    x, y = climsim_stream(folder, "NETSW").read(0, 30_000)
    assert np.corrcoef(x[:, 30], x[:, 31])[0, 1] > 0.9
    night = x[:, 121] == 0
    assert 0.4 < night.mean() < 0.6
    assert abs(y[night].mean()) < 1 < y[~night].mean()


def test_the_same_seed_gives_the_same_rows_at_any_number_of_them(folder, tmp_path):
    few = generate_climsim(tmp_path, n_train=13_000, n_val=10, seed=3)
    np.testing.assert_array_equal(np.load(few / "train_target.npy"), np.load(folder / "train_target.npy")[:13_000])


def test_test_rows_are_drawn_from_val(folder):
    drawn, again = (draw_test_rows(folder, "NETSW", n_rows=500, seed=1) for _ in range(2))
    np.testing.assert_array_equal(drawn.y, again.y)
    assert set(drawn.y.tolist()) <= set(np.load(folder / "val_target.npy")[:, 120].tolist())
    assert len(draw_test_rows(folder).y) == 7209


def test_what_is_wrong_with_the_download_is_one_line(folder, tmp_path):
    with pytest.raises(InputError, match="ClimSim has no output 'NETWS'"):
        climsim_stream(folder, "NETWS")
    with pytest.raises(InputError, match=r"scoring_input.npy is missing: download it with `huggingface-cli"):
        climsim_stream(folder, part="scoring")
    assert not is_climsim(tmp_path)
    for kind in ("input", "target"):
        np.save(tmp_path / f"train_{kind}.npy", np.zeros((5, 124), np.float32))
    with pytest.raises(InputError, match=r"train_target.npy has 124 columns, not 128"):
        climsim_stream(tmp_path)


def invoke(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_fit_and_compare_on_the_command_line(folder, tmp_path):
    common = ("--target", "NETSW", "--hidden", "8,8", "--epochs", 2, "--jobs", 1)
    point = ("--rho", 0.99, "--gamma", 0.01, "--seed", 0, "--store", tmp_path / "run")
    done = invoke("fit", folder, "--out", tmp_path / "model", *common, *point)
    assert done.exit_code == 0, done.output
    model, test = load_model(tmp_path / "model"), draw_test_rows(folder, "NETSW", 1000)
    assert model.batch_size == PAPER["batch_size"]
    assert model.n_iter_ == 2 * 30_000 // 256
    assert np.corrcoef(model.predict(test.x), truth(test.x, "NETSW").mean)[0, 1] > 0.9
    done = invoke("compare", folder, "--methods", "mle", "--splits", 1, "--out", tmp_path / "scores", *common)
    assert done.exit_code == 0, done.output
    scores = pd.read_csv(tmp_path / "scores" / "summary.csv").set_index("method")
    assert scores.loc["mle", "nll"] < metrics.nll(test.y, np.full(1000, test.y.mean()), np.full(1000, test.y.std()))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ("fit", "FOLDER", "--target", "NETSW", "--out", "m", "--folds", 3),
            "--folds is for tables: leave it out for a stream",
        ),
        (
            ("fit", "FOLDER", "--target", "NETSW", "--out", "m", "--folds", 3, "--drop", "a", "--missing", "impute"),
            "--drop, --missing and --folds are for tables: leave them out for a stream",
        ),
        (("fit", "FOLDER", "--target", "NETSW", "--out", "m", "--epochs", 1, "--steps", 5), "set the same thing"),
        (("fit", "FOLDER", "--target", "NETSW", "--out", "m", "--epochs", -1), "--epochs must be positive"),
        (("fit", "table.csv", "--target", "y", "--out", "m", "--epochs", 1), "are for streams"),
        (("compare", "sine", "--epochs", 1), "are for streams"),
        (("compare", "EMPTY", "--target", "y"), "has no .parquet files"),
    ],
)
def test_options_that_do_not_fit_are_one_line(arguments, complaint, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    places = {"FOLDER": folder, "EMPTY": tmp_path / "empty"}
    done = invoke(*(places.get(part, part) for part in arguments))
    assert done.exit_code != 0
    assert complaint in done.output
    assert done.output.count("\n") == 1

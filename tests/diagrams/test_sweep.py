"""A sweep: its numbers against direct training and the metrics; a killed sweep ends in the same diagram."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.special import logit

from heteroscope import datasets, open_diagram, phase_diagram
from heteroscope.core.auto_rules import resolve_diagram_batch_size, resolve_diagram_steps
from heteroscope.core.errors import InputError
from heteroscope.data.rows import Rows
from heteroscope.diagrams.resumable_store import NAME, ROUNDS
from heteroscope.diagrams.tile_marks import DONE
from heteroscope.distributions import metrics
from heteroscope.networks import Architecture, input_gradients, predict_mean, predict_precision
from heteroscope.networks.ensemble import predict_members, stack_members
from heteroscope.training.recipes import exchange_recipes, mean_first_recipe
from heteroscope.training.steps import Job
from heteroscope.training.workers import Task, train

RHOS, GAMMAS = [0.5, 0.99, 0.9999], [0.01, 0.9]
SMALL = {"rhos": RHOS, "gammas": GAMMAS, "hidden": (8, 8), "max_steps": 300, "n_seeds": 2}


@pytest.fixture(scope="module")
def split():
    return datasets.load("sine")


@pytest.fixture(scope="module")
def diagram(split):
    told = []
    found = phase_diagram(
        pd.DataFrame(split.x_train, columns=["place"]),
        pd.Series(split.y_train, name="height"),
        X_test=split.x_test,
        y_test=split.y_test,
        name="sine",
        progress=lambda *now: told.append(now),
        **SMALL,
    )
    assert told == sorted(told)
    assert told[-1] == (12, 12)
    return found


def test_dimensions_names_and_attributes(diagram):
    assert dict(diagram.sizes) == {"rho": 3, "gamma": 2, "seed": 2, "split": 2, "row": 128, "feature": 1}
    for name in ("mean_mse", "std_mse", "ece", "nll", "crps", "squared_score", "mean_energy", "precision_energy"):
        assert diagram[name].dims == ("rho", "gamma", "seed", "split")
        assert np.isfinite(diagram[name]).all()
    assert set(np.unique(diagram.phase)) <= {"U_I", "U_II", "S", "O_I", "O_II"}
    assert set(np.unique(diagram.status)) <= {"converged", "runaway", "out of steps"}
    assert list(diagram.feature.values) == ["place"]
    assert diagram.attrs["source"] == "networks"
    assert (diagram.attrs["data_set"], diagram.attrs["target"]) == ("sine", "height")
    assert (diagram.attrs["hidden"], diagram.attrs["start"], diagram.attrs["max_steps"]) == ("8,8", "he", 300)


def test_a_cell_is_the_engines_model_scored_by_the_metrics(split):
    rows = Rows(split.x_train, split.y_train, np.ones(64))
    scaling = rows.scaling()
    recipe = mean_first_recipe(Architecture(1, (8, 8)), 300)
    jobs = [Job(float(logit(0.99)), float(logit(0.9)), seed=1)]
    ((fit,),) = train([Task(rows.batch(scaling), jobs)], recipe)
    tests = {"X_test": split.x_test, "y_test": split.y_test}
    apart = phase_diagram(split.x_train, split.y_train, **tests, **SMALL, exchange=False)
    assert apart.attrs["exchange"] == 0
    cell = apart.sel(rho=0.99, gamma=0.9, seed=1)
    mean, std = predict_members(stack_members([fit.params]), split.x_test, scaling, "leaky_relu")
    mean, std = (mean[0] - scaling.y_centre) / scaling.y_scale, std[0] / scaling.y_scale
    np.testing.assert_allclose(cell["mean"][64:], mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(cell["std"][64:], std, rtol=1e-5)
    y = scaling.targets(split.y_test).astype(float)
    np.testing.assert_allclose(cell["y"][64:], y)
    np.testing.assert_allclose(cell.nll.sel(split="test"), metrics.nll(y, mean, std), rtol=1e-5)
    slopes, _ = input_gradients(fit.params, scaling.inputs(split.x_train), "leaky_relu")
    np.testing.assert_allclose(
        cell.mean_energy.sel(split="train"), metrics.geometric_complexity(np.asarray(slopes)), rtol=1e-4
    )
    assert float(cell.objective) == fit.objective
    assert int(cell.steps) == fit.steps


@pytest.mark.parametrize(("start", "n_steps"), [("he", [112, 113, 75]), (0.1, [182, 71, 47])])
def test_with_exchange_each_round_begins_with_the_best_models_of_the_one_before(split, start, n_steps):
    """The same by hand, for one seed: the objective of every cell with every model, written out."""
    settings = SMALL | {"rhos": [0.01, *RHOS], "n_seeds": 1, "random_state": 1, "start": start}
    diagram = phase_diagram(split.x_train, split.y_train, **settings)
    rows = Rows(split.x_train, split.y_train, np.ones(64))
    batch = rows.batch(rows.scaling())
    points = [(rho, gamma) for rho in settings["rhos"] for gamma in GAMMAS]
    jobs = [Job(float(logit(rho)), float(logit(gamma)), seed=1) for rho, gamma in points]
    rounds = exchange_recipes(Architecture(1, (8, 8), start=start), 300)
    assert [recipe.steps for recipe in rounds] == n_steps
    starts, taken = None, np.zeros(len(points), int)
    for number, recipe in enumerate(rounds):
        (fits,) = train([Task(batch, jobs, starts)], recipe)
        taken += [fit.steps for fit in fits]
        starts = []
        zero = [all(not layer.weight.any() for layer in fit.params.mean) for fit in fits]
        for own, (rho, gamma) in enumerate(points):
            reach = [k for k in range(len(fits)) if start == "he" or zero[k] or not zero[own]]
            tried = [by_hand(fits[k].params, batch, rho, gamma, start == "he" and number == 0) for k in reach]
            starts.append(fits[reach[int(np.argmin(tried))]].params)
    assert start == "he" or 0 < sum(zero) < len(zero), "some means are zero and some are not"
    assert diagram.attrs["exchange"] == 1
    np.testing.assert_array_equal(diagram.objective.sel(seed=1).values.ravel(), [fit.objective for fit in fits])
    np.testing.assert_array_equal(diagram.steps.sel(seed=1).values.ravel(), taken)


def by_hand(params, batch, rho, gamma, mean_only):
    """(1/2N) sum [precision r^2 - log precision] + (1 - rho)/rho [gamma |mean weights|^2 + (1 - gamma) |others|^2]."""
    squares = [sum((layer.weight.astype(float) ** 2).sum() for layer in network) for network in params]
    residual = np.asarray(predict_mean(params, batch.x, "leaky_relu"), float) - batch.y
    precision = np.asarray(predict_precision(params, batch.x, "leaky_relu"), float)
    if mean_only:
        precision, squares[1] = np.full(len(residual), 1 / np.mean(residual**2)), 0.0
    likelihood = 0.5 * np.mean(precision * residual**2 - np.log(precision))
    return likelihood + (1 - rho) / rho * (gamma * squares[0] + (1 - gamma) * squares[1])


@pytest.mark.parametrize("other", [{"batch_size": 16}, {"schedule": "cosine"}, {"exchange": False}])
def test_models_are_exchanged_only_where_steps_see_all_rows_and_it_is_wanted(split, other):
    small = {"rhos": [0.5], "gammas": [0.1, 0.9], "hidden": (), "max_steps": 20}
    assert phase_diagram(split.x_train, split.y_train, **small | other).attrs["exchange"] == 0


def test_in_batches_levels_are_in_closed_form(split):
    small = {"rhos": [0.5], "gammas": [0.1], "hidden": (), "max_steps": 20, "batch_size": 16}
    found = phase_diagram(split.x_train, split.y_train, **small)
    assert found.attrs["schedule"] == "levelled"
    np.testing.assert_allclose(found["squared_score"].sel(split="train"), 1.0, atol=0.2)


def test_units_do_not_matter(diagram, split):
    scaled = phase_diagram(
        1e3 * split.x_train,
        1e-4 * split.y_train + 7,
        X_test=1e3 * split.x_test,
        y_test=1e-4 * split.y_test + 7,
        **SMALL,
    )
    np.testing.assert_array_equal(scaled.phase, diagram.phase)
    np.testing.assert_allclose(scaled.mean_mse, diagram.mean_mse, rtol=0.02)
    assert scaled.attrs["target_scale"] == pytest.approx(1e-4 * np.std(split.y_train))


def test_it_goes_through_zarr_and_netcdf(diagram, tmp_path):
    diagram.to_netcdf(tmp_path / "diagram.nc", engine="scipy")
    with xr.open_dataset(tmp_path / "diagram.nc", engine="scipy") as again:
        np.testing.assert_array_equal(again.nll, diagram.nll)
        assert (again.phase == diagram.phase).all()
    diagram.to_zarr(tmp_path / "diagram.zarr", zarr_format=2, consolidated=False)
    assert xr.open_zarr(tmp_path / "diagram.zarr", consolidated=False).load().identical(diagram)


def test_without_test_rows_there_is_one_split(split):
    found = phase_diagram(split.x_train, split.y_train, rhos=[0.5], gammas=[0.9], hidden=(8, 8), max_steps=20)
    assert list(found.split.values) == ["train"]
    assert found.sizes["row"] == 64


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"rhos": [0.5, 1.0]}, "rho = 1"),
        ({"X_test": np.zeros((3, 1))}, "belong together"),
        ({"X_test": np.zeros((3, 2)), "y_test": np.zeros(3)}, "2 columns and X has 1"),
        ({"n_seeds": 0}, "n_seeds must be a positive integer"),
        ({"hidden": (0,)}, "hidden must be"),
        ({"batch_size": "some"}, "batch_size must be"),
        ({"max_steps": "many"}, "max_steps must be"),
        ({"y": np.zeros(64)}, "the target is constant"),
        ({"y": np.full(64, np.nan)}, "NaN"),
    ],
)
def test_bad_input_is_one_line(split, arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        phase_diagram(**{"X": split.x_train, "y": split.y_train} | arguments)


SWEEP = {
    "rhos": [0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99, 0.999],
    "gammas": [0.1, 0.9],
    "n_seeds": 2,
    "hidden": (8, 8),
    "max_steps": 500,
    "n_jobs": 2,
}
SCRIPT = f"""
import sys
from heteroscope import datasets, phase_diagram

if __name__ == "__main__":
    split = datasets.load("sine")
    rows = dict(X=split.x_train, y=split.y_train, X_test=split.x_test, y_test=split.y_test)
    phase_diagram(**rows, store=sys.argv[1], **{SWEEP!r})
"""


def marks(folder):
    """How many tiles are finished, of all rounds together."""
    stores = [folder / NAME, *(folder / ROUNDS / f"round-{number}.zarr" for number in range(2))]
    return sum(len(list((store / DONE).glob("[0-9]*.[0-9]*"))) for store in stores)


def kill(script, store, enough, delay=0.0):
    """Run the sweep until `enough` tiles are finished, of 16 in each of three rounds; False if it ended before."""
    # a session of its own, so that the whole family can be killed at once
    run = subprocess.Popen([sys.executable, script, store], start_new_session=True)
    while run.poll() is None and marks(store) < enough:
        time.sleep(0.02)
    time.sleep(delay)
    if run.poll() is not None:
        return False
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    return True


@pytest.fixture(scope="module")
def uninterrupted(split):
    return phase_diagram(
        split.x_train, split.y_train, X_test=split.x_test, y_test=split.y_test, **SWEEP | {"n_jobs": 1}
    )


@pytest.fixture
def resume(split):
    rows = {"X": split.x_train, "y": split.y_train, "X_test": split.x_test, "y_test": split.y_test}
    return lambda store: phase_diagram(**rows, **SWEEP | {"n_jobs": 1}, store=store)


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "sweep.py"
    path.write_text(SCRIPT)
    return path


def test_killed_early_in_the_last_round_it_ends_in_the_same_diagram(script, uninterrupted, resume, tmp_path):
    store = tmp_path / "killed"
    assert kill(script, store, enough=34)
    unfinished = open_diagram(store)
    assert (unfinished.phase == "").any()
    assert (unfinished.phase != "").any()
    resumed = resume(store)
    assert resumed.identical(open_diagram(store))
    assert resumed.identical(uninterrupted)
    assert not (store / ROUNDS).exists(), "nothing is left of the models that rounds handed over"


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(3))
def test_killed_again_and_again_it_ends_in_the_same_diagram(script, uninterrupted, resume, tmp_path, seed):
    chance = random.Random(seed)
    store = tmp_path / "killed"
    moments = sorted(chance.randrange(1, 46) for _ in range(8))
    killed = [kill(script, store, enough, chance.uniform(0.0, 0.05)) for enough in moments]
    assert any(killed)
    resumed = resume(store)
    assert resumed.identical(open_diagram(store))
    assert resumed.identical(uninterrupted)
    assert not (store / ROUNDS).exists(), "nothing is left of the models that rounds handed over"


def test_a_sweep_that_has_begun_refuses_other_settings(split, tmp_path):
    begun = {"rhos": [0.5], "gammas": [0.9], "hidden": (8, 8), "max_steps": 20, "store": tmp_path}
    phase_diagram(split.x_train, split.y_train, **begun)
    with pytest.raises(InputError, match=r"max_steps was 20 and is now 30"):
        phase_diagram(split.x_train, split.y_train, **begun | {"max_steps": 30})
    with pytest.raises(
        InputError, match=r"data\.arrays was \w{12} and is now \w{12}\): use these again, or choose another folder"
    ):
        phase_diagram(split.x_train, 2 * split.y_train, **begun)


@pytest.mark.parametrize(
    ("wanted", "n_rows", "seen"), [("auto", 512, None), ("auto", 513, 256), (7, 100, 7), (None, 9999, None)]
)
def test_a_step_sees_all_rows_while_they_are_few(wanted, n_rows, seen):
    assert resolve_diagram_batch_size(wanted, n_rows) == seen


def test_steps_that_see_all_rows_are_more_unless_a_number_is_given():
    few, more, batches = (resolve_diagram_steps("auto", *rows) for rows in ((128, None), (129, None), (9999, 256)))
    assert few > more > batches > 0
    assert {resolve_diagram_steps(50, 99, batch_size) for batch_size in (None, 256)} == {50}


def test_a_small_start_has_as_many_steps_again_for_its_patience():
    assert resolve_diagram_steps("auto", 64, None, 1e-3) == 2 * resolve_diagram_steps("auto", 64, None)
    assert resolve_diagram_steps("auto", 9999, 256, 1e-3) == resolve_diagram_steps("auto", 9999, 256)
    assert resolve_diagram_steps(50, 64, None, 1e-3) == 50
    for schedule in ("cosine", "paper"):  # these have no patience to pay for
        assert resolve_diagram_steps("auto", 64, None, 1e-3, schedule) == resolve_diagram_steps("auto", 64, None)

"""Faithful regression: its mean is the squared error's, whatever the noise, and its std is the residuals'."""

import numpy as np
import pytest

from heteroscope.baselines import FaithfulRegressor
from heteroscope.core.errors import InputError
from heteroscope.data.rows import merge_rows
from heteroscope.networks import Architecture
from heteroscope.networks.objectives import mean_objective
from heteroscope.training.recipes import Recipe
from heteroscope.training.schedules import cosine_adam
from heteroscope.training.stages import Stage
from heteroscope.training.steps import Job
from heteroscope.training.workers import Task, train

SETTINGS = {"weight_decay": 0.0, "held_out": 0, "batch_size": None, "random_state": 0}


def noisy_line(n=100, seed=1):
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 2))
    return x, x @ [1.0, -2.0] + (0.1 + np.abs(x[:, 0])) * random.normal(size=n)


def test_a_linear_mean_is_least_squares_and_the_std_holds_on_average():
    x, y = noisy_line()
    design = np.column_stack([x, np.ones(100)])
    expected = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    model = FaithfulRegressor("separate", hidden=(), max_steps=1500, **SETTINGS).fit(x, y)
    mean, std = model.predict(x, return_std=True)
    np.testing.assert_allclose(mean, expected, atol=0.01)
    # softplus(a + b x) has a derivative in its bias, so this is one of the equations that a minimum solves
    output = (std / model.scaling_.y_scale) ** 2
    slope = (1 - np.exp(-output)) / output
    assert np.sum(slope * ((y - mean) ** 2 / std**2 - 1)) / np.sum(slope) == pytest.approx(0, abs=0.02)


@pytest.fixture(scope="module")
def squared_error():
    """Mean networks trained by the engine under squared error, with no other network about."""
    rows = merge_rows(*noisy_line(), np.ones(100))
    recipe = Recipe(
        Architecture(2, (8, 8), "silu"), (Stage(mean_objective, ("mean",), cosine_adam(200)),), None, retires=False
    )
    ((fit,),) = train([Task(rows.batch(rows.scaling()), [Job(np.inf, 0.0, 7)])], recipe, n_jobs=1)
    return fit.params.mean


@pytest.mark.parametrize("trunk", ["shared", "separate"])
def test_the_mean_network_is_that_of_squared_error_alone(trunk, squared_error, monkeypatch):
    monkeypatch.setattr("heteroscope.baselines.base.member_seeds", lambda *_: [7])
    model = FaithfulRegressor(trunk, hidden=(8, 8), max_steps=200, **SETTINGS).fit(*noisy_line())
    for ours, theirs in zip(model.members_.mean, squared_error, strict=True):
        np.testing.assert_allclose(ours.weight[0], theirs.weight, atol=1e-4)
    shared = [np.array_equal(a.weight, b.weight) for a, b in zip(*model.members_, strict=True)]
    assert shared == ([True, True, False] if trunk == "shared" else [False, False, False])


@pytest.mark.parametrize("trunk", ["both", None, 1])
def test_an_unknown_trunk_is_refused(trunk):
    with pytest.raises(InputError, match="trunk must be one of shared, separate"):
        FaithfulRegressor().set_params(trunk=trunk).fit(*noisy_line())

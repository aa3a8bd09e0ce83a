"""Recipes are data: what the paper's schedule splits into, and what is refused."""

import numpy as np
import pytest

from heteroscope.errors import InputError
from heteroscope.networks import Architecture
from heteroscope.objective import joint_objective, mean_objective
from heteroscope.stages import mean_first_recipe

ARCHITECTURE = Architecture(1)


def test_the_papers_schedule_splits_600_000_steps_as_the_paper_does():
    first, second = mean_first_recipe(ARCHITECTURE, 600_000, "paper").stages
    assert (first.solver.steps, second.solver.steps) == (250_000, 350_000)
    assert first.solver.cycle == second.solver.cycle == 50_000
    assert second.solver.offset == 250_000
    assert (first.solver.floor, first.solver.peak, first.solver.clip) == (1e-4, 1e-2, 1000.0)


@pytest.mark.parametrize("schedule", ["cosine", "paper"])
@pytest.mark.parametrize("max_steps", [2, 3, 100, 4001])
def test_the_mean_comes_first_and_no_step_is_lost(schedule, max_steps):
    first, second = mean_first_recipe(ARCHITECTURE, max_steps, schedule).stages
    assert (first.objective, first.trains) == (mean_objective, ("mean",))
    assert (second.objective, second.trains) == (joint_objective, ("mean", "precision"))
    assert first.solver.steps + second.solver.steps == max_steps
    assert min(first.solver.steps, second.solver.steps) >= 1


def test_a_recipe_can_be_compiled_in():
    recipe = mean_first_recipe(ARCHITECTURE, 100, batch_size=10)
    assert hash(recipe) == hash(mean_first_recipe(ARCHITECTURE, np.int64(100), batch_size=10))
    assert recipe != mean_first_recipe(ARCHITECTURE, 100, batch_size=11)


@pytest.mark.parametrize("max_steps", [1, 0, -5, 2.5, "100", True, None])
def test_a_number_of_steps_that_is_none_is_refused(max_steps):
    with pytest.raises(InputError, match="max_steps must be an integer of at least 2"):
        mean_first_recipe(ARCHITECTURE, max_steps)


def test_an_unknown_schedule_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match="cosine, paper"):
        mean_first_recipe(ARCHITECTURE, 100, "linear")

"""Recipes are data: what the paper's schedule splits into, what "auto" chooses, and what is refused."""

import jax
import numpy as np
import pytest

from heteroscope.core.errors import InputError
from heteroscope.core.regularisation import strengths
from heteroscope.data.rows import Batch
from heteroscope.networks import Architecture, init_params, predict_mean
from heteroscope.networks.constant import hold_constant
from heteroscope.networks.objectives import first_mean_objective, joint_objective, mean_objective
from heteroscope.training.recipes import exchange_recipes, mean_first_recipe
from heteroscope.training.schedules import Linear, Triangular2, paper_adam
from heteroscope.training.stages import HeldConstant, InspectionTimes, PrecisionLevel

ARCHITECTURE = Architecture(1)


def test_the_papers_schedule_splits_600_000_steps_as_the_paper_does():
    first, second = mean_first_recipe(ARCHITECTURE, 600_000, "paper").stages
    assert (first.steps, second.steps) == (250_000, 350_000)
    assert first.optimiser.schedule == Triangular2(1e-4, 1e-2, 50_000)
    assert second.optimiser.schedule == Triangular2(1e-4, 1e-2, 50_000, offset=250_000)
    assert first.optimiser.clip == second.optimiser.clip == 1000.0


@pytest.mark.parametrize("schedule", ["auto", "fast", "cosine", "levelled", "paper"])
@pytest.mark.parametrize("max_steps", [2, 3, 100, 4001])
def test_the_mean_comes_first_and_no_step_is_lost(schedule, max_steps):
    first, second = mean_first_recipe(ARCHITECTURE, max_steps, schedule).stages
    assert first.trains == ("mean",)
    assert first.objective is (mean_objective if schedule in ("cosine", "paper") else first_mean_objective)
    assert (second.objective, second.trains) == (joint_objective, ("mean", "precision"))
    assert first.steps + second.steps == max_steps
    assert min(first.steps, second.steps) >= 1


@pytest.mark.parametrize(("max_steps", "shares"), [(8000, [3000, 3000, 2000]), (3, [1, 1, 1]), (2, [1, 1])])
def test_rounds_have_all_steps_and_the_last_half_of_the_rate(max_steps, shares):
    rounds = exchange_recipes(ARCHITECTURE, max_steps)
    assert [recipe.steps for recipe in rounds] == shares
    first, second = mean_first_recipe(ARCHITECTURE, sum(shares[:2])).stages
    assert [recipe.stages for recipe in rounds[:2]] == [(first,), (second,)]
    for (again,) in (recipe.stages for recipe in rounds[2:]):
        assert again.optimiser == second.optimiser._replace(
            steps=shares[2], schedule=Linear(second.optimiser.schedule.peak / 2)
        )


def test_a_recipe_can_be_compiled_in():
    recipe = mean_first_recipe(ARCHITECTURE, 100, batch_size=10)
    assert hash(recipe) == hash(mean_first_recipe(ARCHITECTURE, np.int64(100), batch_size=10))
    assert recipe != mean_first_recipe(ARCHITECTURE, 100, batch_size=11)


@pytest.mark.parametrize("max_steps", [1, 0, -5, 2.5, "100", True, None])
def test_a_number_of_steps_that_is_none_is_refused(max_steps):
    with pytest.raises(InputError, match="max_steps must be an integer of at least 2"):
        mean_first_recipe(ARCHITECTURE, max_steps)


def test_an_unknown_schedule_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match="auto, fast, cosine, levelled, paper"):
        mean_first_recipe(ARCHITECTURE, 100, "linear")


def test_auto_is_fast_for_exact_gradients_and_cosine_for_batches():
    assert mean_first_recipe(ARCHITECTURE, 100) == mean_first_recipe(ARCHITECTURE, 100, "fast")
    batches = mean_first_recipe(ARCHITECTURE, 100, batch_size=10)
    assert batches == mean_first_recipe(ARCHITECTURE, 100, "cosine", batch_size=10)
    assert batches != mean_first_recipe(ARCHITECTURE, 100, "fast", batch_size=10)


def test_fast_moves_a_fitted_mean_slowly_and_all_biases_quickly():
    params = init_params(0, Architecture(2, (3,)))
    alone, joint = mean_first_recipe(ARCHITECTURE, 100, "fast").stages
    rates = joint.relative_rates.factors(params._asdict())
    for network, weight, bias in (("mean", 0.1, 0.3), ("precision", 1.0, 3.0)):
        for layer, own in zip(rates[network], getattr(params, network), strict=True):
            assert (layer.weight.shape, layer.bias.shape) == (own.weight.shape, own.bias.shape)
            np.testing.assert_allclose(layer.weight, weight)
            np.testing.assert_allclose(layer.bias, bias, rtol=1e-6)
    (first, *_) = alone.relative_rates.factors({"mean": params.mean})["mean"]
    assert (float(first.weight[0, 0]), float(first.bias[0])) == (1.0, 3.0)


def test_from_a_small_start_fast_is_patient_first_and_then_what_it_is_from_hes():
    small = Architecture(1, start=1e-3)
    mean, both, *rest = mean_first_recipe(small, 16_000, "fast").stages
    assert (mean.objective, mean.trains, both.objective, both.trains) == (
        *(mean_objective, ("mean",)),
        *(joint_objective, ("mean", "precision")),
    )
    assert (mean.steps, both.steps) == (4000, 2000)
    assert mean.inspected is both.inspected is InspectionTimes.AT_END
    for solver in (mean.optimiser, both.optimiser):  # the paper's Adam, near the top of its triangle
        theirs = paper_adam(solver.steps)
        (rate,) = {solver.schedule.rate(k, solver.steps) for k in (0, 1, solver.steps)}
        assert theirs.schedule.high / 2 < rate < theirs.schedule.high
        assert (solver.momentum, solver.memory, solver.epsilon) == (0.9, 0.999, 1e-8)
    assert tuple(rest) == mean_first_recipe(ARCHITECTURE, 10_000, "fast").stages
    first, *others = exchange_recipes(small, 16_000)
    assert first.stages[:2] == (mean, both)
    assert [first.stages[2:], *(one.stages for one in others)] == [
        one.stages for one in exchange_recipes(ARCHITECTURE, 10_000)
    ]


@pytest.mark.parametrize("max_steps", [2, 3, 4, 7, 100])
def test_few_steps_are_all_there_from_a_small_start_too(max_steps):
    small = Architecture(1, start=0.1)
    assert mean_first_recipe(small, max_steps, "fast").steps == max_steps
    assert sum(one.steps for one in exchange_recipes(small, max_steps)) == max_steps
    assert mean_first_recipe(small, max_steps, "fast").stages[-1].trains == ("mean", "precision")


def test_batches_are_not_patient():
    recipe = mean_first_recipe(Architecture(1, start=1e-3), 100, "fast", batch_size=10)
    assert recipe.stages == mean_first_recipe(ARCHITECTURE, 100, "fast").stages


@pytest.mark.parametrize("schedule", ["cosine", "levelled", "paper"])
def test_other_schedules_have_one_rate_for_all(schedule):
    for stage in mean_first_recipe(ARCHITECTURE, 100, schedule).stages:
        assert stage.relative_rates.factors(init_params(0, Architecture(2, (3,)))._asdict()) is None


def test_the_first_mean_is_fitted_with_the_precision_of_the_moment_up_to_a_hundred():
    random = np.random.default_rng(0)
    rows = Batch(random.normal(size=(30, 2)), random.normal(size=30), np.ones(30))
    params, where = init_params(0, Architecture(2, (6, 6))), strengths(1.0, -0.5)
    terms = first_mean_objective(params, rows, where, "leaky_relu")
    residual = np.asarray(predict_mean(params, rows.x, "leaky_relu")) - rows.y
    expected = where.likelihood * 0.5 * (1 + np.log(np.mean(residual**2) + 0.01))
    assert float(terms.likelihood) == pytest.approx(float(expected), rel=1e-5)
    squares = sum(float(np.sum(layer.weight**2)) for layer in params.mean)
    assert float(terms.penalty) == pytest.approx(float(where.mean_penalty) * squares, rel=1e-5)


@pytest.mark.parametrize("held", ["mean", "precision"])
def test_a_narrowed_stage_has_the_joint_objective_and_its_gradient_at_the_held_networks_best_level(held):
    _, joint = mean_first_recipe(ARCHITECTURE, 100, "fast").stages
    narrow = joint.holding(held)
    assert (narrow.constant, narrow.held) == (HeldConstant(held), held)
    assert set(narrow.trains) == {"mean", "precision"} - {held}
    random = np.random.default_rng(0)
    weight = random.uniform(0, 2, 30)
    with jax.enable_x64(True):
        rows = Batch(random.normal(size=(30, 2)), random.normal(1.0, 2.0, 30), weight / weight.mean())
        params = jax.tree.map(lambda part: np.asarray(part, np.float64), init_params(0, Architecture(2, (6, 6))))
        params, where = hold_constant(params, rows, "leaky_relu", held), strengths(1.0, -0.5)

        def value_and_gradient(objective):
            return jax.value_and_grad(lambda p: sum(objective(p, rows, where, "leaky_relu")))(params)

        (value, gradient), (expected, joint_gradient) = (
            value_and_gradient(stage.objective) for stage in (narrow, joint)
        )
    (left,) = narrow.trains
    assert float(value) == pytest.approx(float(expected), abs=1e-7)
    for ours, theirs in zip(*(jax.tree.leaves(getattr(g, left)) for g in (gradient, joint_gradient)), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize("start", ["he", 1e-3])
def test_a_penalty_of_gradients_is_in_every_stage_and_nothing_collapses(start):
    architecture = Architecture(2, (6, 6), start=start)
    whole = [mean_first_recipe(architecture, 800, schedule, penalty="gradients") for schedule in ("fast", "levelled")]
    plain = mean_first_recipe(architecture, 800, "fast")
    assert plain == mean_first_recipe(architecture, 800, "fast", penalty="weights")
    assert not plain.penalises_gradients
    for recipe in (*whole, *exchange_recipes(architecture, 800, "gradients")):
        assert recipe.penalises_gradients
        assert hash(recipe) == hash(recipe._replace())
        for stage in recipe.stages:
            assert (stage.objective.networks, stage.constant, stage.collapses) == (stage.trains, None, False)
            assert stage.precision_level is not PrecisionLevel.SOLVED, "the penalty depends on the level, too"
    assert [stage.optimiser for stage in whole[0].stages] == [stage.optimiser for stage in plain.stages]


def test_an_unknown_penalty_is_refused_in_one_line():
    with pytest.raises(InputError, match="penalty must be one of weights, gradients, got 'slopes'"):
        mean_first_recipe(ARCHITECTURE, 100, penalty="slopes")

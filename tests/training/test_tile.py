"""One tile: known minima of linear models, neighbours that do not touch, and one compilation a shape."""

import jax
import numpy as np
import pytest
from scipy.optimize import minimize

from heteroscope.core.regularisation import logits, strengths
from heteroscope.core.status import Status
from heteroscope.data.rows import Batch
from heteroscope.networks import Architecture, predict_mean, predict_precision
from heteroscope.networks.constant import constant_params, hold_constant
from heteroscope.networks.objectives import joint_objective, mean_objective
from heteroscope.training import steps, tile
from heteroscope.training.adam import Adam
from heteroscope.training.recipes import Recipe, exchange_recipes, mean_first_recipe
from heteroscope.training.schedules import Level, cosine_adam
from heteroscope.training.stages import HoldCollapsed, InspectionTimes, Stage
from heteroscope.training.steps import Job, lanes
from heteroscope.training.tile import Fit, train_tile
from heteroscope.training.workers import pad

LINEAR = Architecture(2, (), start=0.1)
SMALL = Architecture(2, (8, 8))


def rows(n_rows=64, seed=0, weighted=False):
    random = np.random.default_rng(seed)
    x = random.normal(size=(n_rows, 2))
    y = x @ [1.0, -0.5] + 0.3 + np.exp(0.5 * x[:, 0]) * random.normal(size=n_rows)
    weight = random.integers(0, 4, n_rows).astype(float) if weighted else np.ones(n_rows)
    return Batch(x, y, weight)


def ridge(batch, rho, gamma):
    """Weights and bias that minimise rho mean[w (mean - y)^2 / 2] + (1 - rho) gamma |weights|^2, by linear algebra."""
    share = batch.weight / batch.weight.sum()
    design = np.column_stack([batch.x, np.ones(len(batch.y))])
    penalty = 2 * (1 - rho) * gamma / rho * np.diag([1.0, 1.0, 0.0])
    return np.linalg.solve(design.T @ (share[:, None] * design) + penalty, design.T @ (share * batch.y))


def linear_minimum(batch, rho, gamma):
    """The minimum of the joint objective for two linear networks, by a quasi-Newton method in float64."""
    share = batch.weight / batch.weight.sum()
    design = np.column_stack([batch.x, np.ones(len(batch.y))])

    def objective(flat):
        mean, raw = design @ flat[:3], design @ flat[3:]
        precision = np.logaddexp(0, raw)
        likelihood = 0.5 * np.sum(share * (precision * (mean - batch.y) ** 2 - np.log(precision)))
        return likelihood + (1 - rho) / rho * (gamma * np.sum(flat[:2] ** 2) + (1 - gamma) * np.sum(flat[3:5] ** 2))

    found = minimize(objective, np.array([0, 0, 0, 0, 0, 0.5]), method="BFGS", options={"gtol": 1e-7})
    return found.x, found.fun


def flat_linear(fit):
    return np.concatenate([leaf.ravel() for layer in (*fit.params.mean, *fit.params.precision) for leaf in layer])


def numbers(fit):
    return jax.tree.leaves((fit.params, fit.objective, fit.relative_gradient, fit.steps))


def assert_bitwise_equal(first: Fit, second: Fit):
    assert first.status is second.status
    for a, b in zip(numbers(first), numbers(second), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("rho", "gamma"), [(0.5, 0.5), (0.9, 0.1), (0.2, 0.7)])
def test_the_mean_stage_of_a_linear_model_is_ridge_regression(rho, gamma, weighted):
    batch = rows(weighted=weighted)
    recipe = Recipe(LINEAR, (Stage(mean_objective, ("mean",), cosine_adam(3000, 2e-2)),))
    # inspections are a doubling apart, so the last one is near the end of the cosine: allow what STATIONARY allows
    (fit,) = train_tile(pad(batch, 64), [Job(*logits(rho, gamma), seed=0)], recipe)
    assert fit.status is Status.CONVERGED
    found = np.append(fit.params.mean[0].weight[:, 0], fit.params.mean[0].bias)
    np.testing.assert_allclose(found, ridge(batch, rho, gamma), atol=0.02)


@pytest.mark.parametrize(("rho", "gamma"), [(0.9, 0.1), (0.99, 0.5)])
def test_a_linear_heteroskedastic_model_reaches_its_minimum(rho, gamma):
    batch = rows(128)
    expected, objective = linear_minimum(batch, rho, gamma)
    (fit,) = train_tile(pad(batch, 128), [Job(*logits(rho, gamma), seed=1)], mean_first_recipe(LINEAR, 6000))
    assert fit.status is Status.CONVERGED
    assert fit.objective == pytest.approx(objective, abs=2e-3)
    np.testing.assert_allclose(flat_linear(fit), expected, atol=0.05)


def undressed_minimum(batch, rho, gamma):
    """The same with the penalty of gradients: |a|^2 of the mean a'x + b, and the average of (sigmoid(raw) |c|)^2."""
    design = np.column_stack([batch.x, np.ones(len(batch.y))])

    def objective(flat):
        mean, raw = design @ flat[:3], design @ flat[3:]
        precision = np.logaddexp(0, raw)
        likelihood = 0.5 * np.mean(precision * (mean - batch.y) ** 2 - np.log(precision))
        slopes = np.sum(flat[:2] ** 2), np.sum(flat[3:5] ** 2) * np.mean(1 / (1 + np.exp(-raw)) ** 2)
        return likelihood + (1 - rho) / rho * (gamma * slopes[0] + (1 - gamma) * slopes[1])

    found = minimize(objective, np.array([0, 0, 0, 0, 0, 0.5]), method="BFGS", options={"gtol": 1e-7})
    return found.x, found.fun


def test_a_linear_model_with_a_penalty_of_gradients_reaches_its_minimum():
    batch, (rho, gamma) = rows(128), (0.9, 0.1)
    expected, objective = undressed_minimum(batch, rho, gamma)
    recipe = mean_first_recipe(LINEAR, 6000, penalty="gradients")
    (fit,) = train_tile(pad(batch, 128), [Job(*logits(rho, gamma), seed=1)], recipe)
    assert fit.status is Status.CONVERGED
    assert fit.objective == pytest.approx(objective, abs=2e-3)
    assert objective < linear_minimum(batch, rho, gamma)[1] - 0.01, "slopes of the precision cost less than its weights"
    np.testing.assert_allclose(flat_linear(fit), expected, atol=0.05)


def test_a_flat_network_is_no_minimum_of_the_penalty_of_gradients_and_never_made_constant():
    batch, where = rows(64), logits(0.02, 0.5)
    weights, gradients = (
        train_tile(pad(batch, 64), [Job(*where, seed=0)], mean_first_recipe(SMALL, 1500, penalty=penalty))[0]
        for penalty in ("weights", "gradients")
    )
    assert all(not layer.weight.any() for layer in weights.params.mean)
    mean = np.asarray(predict_mean(gradients.params, batch.x.astype(np.float32), "leaky_relu"))
    assert all(layer.weight.any() for layer in gradients.params.mean)
    alpha = 0.5 * 0.98 / 0.02  # linear response of a straight line: slope = cov(x, y) / (2 alpha var y + var x)
    assert 0.2 < np.std(mean) * (2 * alpha * np.var(batch.y)) / np.std(batch.y) < 2.0


def test_minibatches_reach_about_the_full_batch_minimum():
    batch = rows(600)
    where = logits(0.9, 0.1)
    expected, objective = linear_minimum(batch, 0.9, 0.1)
    recipe = mean_first_recipe(LINEAR, 4000, batch_size=50)
    fit, again, other = train_tile(pad(batch, 600), [Job(*where, seed=s) for s in (1, 1, 2)], recipe)
    assert fit.objective == pytest.approx(objective, abs=0.01)
    np.testing.assert_allclose(flat_linear(fit), expected, atol=0.15)
    assert_bitwise_equal(fit, again)
    assert not np.array_equal(flat_linear(fit), flat_linear(other))


@pytest.mark.parametrize("hidden", [(16,), (16, 16)])
def test_a_precision_whose_weights_are_held_down_reaches_a_level_that_its_bias_cannot_walk_to(hidden):
    """Targets with a noise of 0.03 ask for a precision of 1,000; 600 steps of 2e-2 go a dozen."""
    batch = rows(600)
    quiet = batch._replace(y=batch.x @ np.array([0.8, -0.6]) + 0.03 * np.random.default_rng(1).normal(size=600))
    jobs = [Job(*logits(0.01, 1e-9), seed=0)]
    scores = {}
    for schedule in ("cosine", "levelled"):
        recipe = mean_first_recipe(Architecture(2, hidden), 600, schedule, batch_size=100)
        (fit,) = train_tile(pad(quiet, 608), jobs, recipe)
        x = quiet.x.astype(np.float32)
        residual = np.asarray(predict_mean(fit.params, x, "leaky_relu")) - quiet.y
        scores[schedule] = np.mean(np.asarray(predict_precision(fit.params, x, "leaky_relu")) * residual**2)
    assert scores["cosine"] < 0.2, "its precision lags far behind the residuals"
    assert scores["levelled"] == pytest.approx(1.0, abs=0.02)


def test_padding_changes_nothing_beyond_rounding():
    batch = rows(50, weighted=True)
    recipe = mean_first_recipe(Architecture(2, (8,), "silu"), 300)
    jobs = [Job(2.0, -1.0, seed=0)]
    (short,), (long,) = (train_tile(pad(batch, n_rows), jobs, recipe) for n_rows in (50, 90))
    assert long.objective == pytest.approx(short.objective, rel=1e-3)
    for predict in (predict_mean, predict_precision):
        a, b = (np.asarray(predict(fit.params, batch.x.astype(np.float32), "silu")) for fit in (short, long))
        np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-2)


def test_a_broken_model_leaves_its_lane_neighbours_bitwise_unchanged(monkeypatch):
    recipe = mean_first_recipe(SMALL, 10 * tile.FIRST_INSPECTION)
    jobs = [Job(3.0, -3.0, seed) for seed in range(3)]
    batch = pad(rows(), 64)
    alone = train_tile(batch, jobs, recipe)
    start = steps.init_params

    def explode(seed, architecture):
        params = start(seed, architecture)
        if seed == 1:
            params.mean[0].weight[:] = np.nan
        if seed == 2:
            params.mean[0].weight[:] *= 1e6
        return params

    monkeypatch.setattr(steps, "init_params", explode)
    beside = train_tile(batch, jobs, recipe)
    assert_bitwise_equal(alone[0], beside[0])
    assert beside[1].status is Status.NOT_FINITE
    assert beside[1].steps <= recipe.stages[0].steps  # it does not enter the second stage
    assert Status.NOT_FINITE not in {fit.status for fit in alone}


def test_a_flat_cell_is_caught_at_the_constant_model_long_before_the_step_limit():
    recipe = mean_first_recipe(Architecture(2, (8, 8, 8)), 20_000)
    batch = pad(rows(), 64)
    (fit,) = train_tile(batch, [Job(-2.0, 0.0, seed=0)], recipe)
    assert fit.status is Status.CONVERGED
    assert fit.steps < 5000
    expected = constant_params(fit.params, batch)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), fit.params, expected)
    variance = np.var(batch.y)
    assert fit.objective == pytest.approx(0.5 * (1 + np.log(variance)), abs=1e-4)


def test_a_fit_above_the_constant_model_gives_way_to_it_and_only_such_a_fit():
    batch = pad(rows(), 64)
    constant = 0.5 * (1 + np.log(np.var(batch.y)))
    lively = steps.init_params(0, SMALL)
    for objective, gives_way in ((constant + 0.01, True), (constant - 0.01, False), (float("nan"), False)):
        fit = Fit(lively, Status.OUT_OF_STEPS, float(objective), 0.3, 700)
        after = tile._constant_if_lower(fit, batch)
        if not gives_way:
            assert after is fit
            continue
        assert (after.status, after.relative_gradient, after.steps) == (Status.CONVERGED, 0.0, 700)
        terms = joint_objective(after.params, batch, strengths(1.0, -1.0), SMALL.activation)
        assert float(sum(terms)) / float(strengths(1.0, -1.0).likelihood) == pytest.approx(after.objective, abs=1e-5)


@pytest.mark.parametrize(
    ("where", "flat", "lively"), [((2.0, -4.0), "precision", "mean"), ((-1.0, 9.0), "mean", "precision")]
)
def test_a_network_that_falls_flat_is_held_at_its_best_level_while_the_other_goes_on(where, flat, lively):
    recipe = mean_first_recipe(Architecture(2, (8, 8, 8)), 1500, "fast")
    batch = pad(rows(), 64)
    (fit,) = train_tile(batch, [Job(*where, seed=0)], recipe)
    assert not any(np.any(layer.weight) for layer in getattr(fit.params, flat))
    assert any(np.any(layer.weight) for layer in getattr(fit.params, lively))
    assert recipe.stages[1].steps <= fit.steps <= 1500  # a mean that is flat leaves the first stage early
    expected = hold_constant(fit.params, batch, "leaky_relu", flat)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4), fit.params, expected)
    terms = joint_objective(fit.params, batch, strengths(*where), "leaky_relu")
    assert fit.objective == pytest.approx(float(sum(terms)) / float(strengths(*where).likelihood), rel=1e-4)


def test_a_cell_without_a_minimum_runs_away():
    """Without noise the residuals vanish; the precision starts near one, and 600 steps of at most 2e-2 add a dozen.

    So precision * r^2 ends below 1e-6 whatever the last bits are, where 0.05 is called a runaway.
    """
    x = np.random.default_rng(0).normal(size=(6, 2))
    batch = pad(Batch(x, x @ [0.8, -0.6] + 0.1, np.ones(6)), 6)
    recipe = Recipe(LINEAR, (Stage(joint_objective, ("mean", "precision"), cosine_adam(600)),))
    fits = train_tile(batch, [Job(16.0, -12.0, seed) for seed in range(3)], recipe)
    for fit in fits:
        assert fit.status is Status.RUNAWAY
        precision = np.asarray(predict_precision(fit.params, batch.x, "leaky_relu"))
        residual = np.asarray(predict_mean(fit.params, batch.x, "leaky_relu")) - batch.y
        assert np.mean(precision * residual**2) < 1e-6


def test_the_reported_objective_is_that_of_the_returned_parameters_over_rho():
    batch = pad(rows(), 64)
    where = (2.0, -1.0)
    (fit,) = train_tile(batch, [Job(*where, seed=0)], mean_first_recipe(SMALL, 300))
    terms = joint_objective(fit.params, batch, strengths(*where), SMALL.activation)
    assert fit.objective == pytest.approx(float(sum(terms)) / float(strengths(*where).likelihood), rel=1e-4)
    assert fit.steps <= 300


def test_a_second_tile_of_the_same_shape_is_not_traced_again_nor_a_longer_training(monkeypatch):
    def recipe(n_steps):
        return mean_first_recipe(Architecture(2, (5, 7)), n_steps)

    def traced(*arguments):
        traces.append(arguments)
        return take_steps(*arguments)

    traces, take_steps = [], steps.take_steps
    monkeypatch.setattr(steps, "take_steps", traced)
    train_tile(pad(rows(), 64), [Job(2.0, -2.0, 0)], recipe(260))
    n_first = len(traces)
    assert n_first > 0
    train_tile(pad(rows(seed=1), 64), [Job(0.5, -1.0, seed) for seed in range(1, 6)], recipe(310))
    assert len(traces) == n_first


def test_a_processor_has_one_lane_and_an_accelerator_as_many_as_fit(monkeypatch):
    def width(hidden, **changes):
        lanes.cache_clear()
        return lanes(Recipe(Architecture(4, hidden), (Stage(mean_objective, ("mean",), cosine_adam(10)),), **changes))

    assert width((8,)) == 1
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    widths = [width((size, size, size)) for size in (8, 64, 512, 2048)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[-1] >= 1
    assert width((64,)) == width((64,), batch_size=7)
    lanes.cache_clear()


def test_models_side_by_side_in_lanes_are_the_models_one_by_one_up_to_rounding(monkeypatch):
    jobs = [Job(2.0, -2.0, seed) for seed in range(4)]
    batch = pad(rows(), 64)
    alone = train_tile(batch, jobs, mean_first_recipe(SMALL, 300))
    monkeypatch.setattr(steps, "lanes", lambda recipe: 3)  # as on an accelerator; the last group has one model
    steps.rows_program.clear_cache()  # the width is compiled in
    beside = train_tile(batch, jobs, mean_first_recipe(SMALL, 300))
    steps.rows_program.clear_cache()
    for one, other in zip(alone, beside, strict=True):
        assert one.objective == pytest.approx(other.objective, rel=0.02)
        assert one.status is other.status


def test_a_model_goes_on_from_networks_that_were_trained_before():
    batch, where = pad(rows(), 64), logits(0.9, 0.1)
    solver = cosine_adam(400)
    recipe = Recipe(SMALL, (Stage(joint_objective, ("mean", "precision"), solver),))
    (first,) = train_tile(batch, [Job(*where, seed=0)], recipe)
    later = recipe._replace(stages=(recipe.stages[0]._replace(optimiser=cosine_adam(400, peak=1e-4)),))
    (second,), (fresh,) = (train_tile(batch, [Job(*where, seed=1)], later, start) for start in ([first.params], None))
    assert second.objective == pytest.approx(first.objective, abs=0.05), "a hundredth of the rate leads nowhere else"
    assert second.objective < first.objective + 1e-5, "a training ends no worse than it began"
    assert fresh.objective > first.objective + 0.1, "nor does it lead there from another start"


def test_a_training_that_only_harms_ends_where_it_began():
    batch, where = pad(rows(), 64), logits(0.9, 0.1)
    stage = Stage(joint_objective, ("mean", "precision"), cosine_adam(400))
    (first,) = train_tile(batch, [Job(*where, seed=0)], Recipe(SMALL, (stage,)))
    wild = Recipe(SMALL, (stage._replace(optimiser=Adam(50, Level(5.0))),), retires=False)
    (second,) = train_tile(batch, [Job(*where, seed=0)], wild, [first.params])
    for ours, begun in zip(jax.tree.leaves(second.params), jax.tree.leaves(first.params), strict=True):
        np.testing.assert_array_equal(ours, begun)
    assert second.objective == pytest.approx(first.objective, rel=1e-6)
    assert second.steps == 50


def test_a_constant_model_that_is_taken_over_costs_no_step():
    batch = pad(rows(), 64)
    recipe = exchange_recipes(SMALL, 400)[1]
    constant = constant_params(steps.init_model(Job(-8.0, 0.0, 0), recipe).params, batch)
    (fit,) = train_tile(batch, [Job(-8.0, 0.0, seed=0)], recipe, [jax.device_get(constant)])
    assert (fit.status, fit.steps) == (Status.CONVERGED, 0)


def test_no_model_leaves_a_patient_stage_early():
    """At rho = 3e-4 the penalty wins: looked at after 250 steps, a model is constant; unseen, it takes all 600."""
    batch, job = pad(rows(), 64), Job(-8.0, 0.0, seed=0)
    mean = Stage(mean_objective, ("mean",), cosine_adam(600))
    joint = Stage(joint_objective, ("mean", "precision"), cosine_adam(600), constant=HoldCollapsed())
    unseen_mean = mean._replace(inspected=InspectionTimes.AT_END)
    looked_at, unseen = (train_tile(batch, [job], Recipe(SMALL, (first, joint)))[0] for first in (mean, unseen_mean))
    assert (looked_at.status, unseen.status) == (Status.CONVERGED, Status.CONVERGED)
    assert unseen.steps == looked_at.steps + 350


def test_a_mean_that_is_at_zero_after_its_patience_stays_there_beside_the_precision():
    batch, job = pad(rows(), 64), Job(0.0, 8.0, seed=0)  # alpha is one, beta 3e-4
    mean = Stage(mean_objective, ("mean",), cosine_adam(600), inspected=InspectionTimes.AT_END)
    both = Stage(joint_objective, ("mean", "precision"), cosine_adam(400), inspected=InspectionTimes.AT_END)
    (fit,) = train_tile(batch, [job], Recipe(SMALL, (mean, both)))
    assert all(not layer.weight.any() for layer in fit.params.mean)
    assert all(layer.weight.any() for layer in fit.params.precision)
    assert fit.steps == 1000


def test_a_model_that_collapses_beside_one_that_has_collapsed_trains_no_chunk_twice(monkeypatch):
    """The second model collapses after the first chunk, the first after the second: both then share a stage."""
    recipe = mean_first_recipe(Architecture(2, (8,)), 1500, "fast")
    joint = recipe._replace(stages=recipe.stages[-1:])
    collapsed = iter([None, "precision", "precision"])
    monkeypatch.setattr(tile, "_collapsed_network", lambda inspection: next(collapsed, None))
    monkeypatch.setattr(tile, "is_settled", lambda inspection: False)
    fits = train_tile(pad(rows(), 64), [Job(3.0, 0.0, seed) for seed in range(2)], joint)
    assert next(collapsed, "all used") == "all used"
    assert [fit.steps for fit in fits] == [joint.steps] * 2

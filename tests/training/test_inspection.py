"""What an inspection sees at points whose answer is known, and the status that follows from what it saw."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from heteroscope.core.regularisation import Strengths, strengths
from heteroscope.core.status import Status
from heteroscope.data.rows import Batch
from heteroscope.networks import Architecture, init_params, predict_mean, predict_precision
from heteroscope.networks.constant import constant_params, hold_constant
from heteroscope.networks.objectives import joint_objective, mean_objective
from heteroscope.training.inspection import (
    RUNAWAY_LOG_PRECISION,
    STATIONARY,
    Inspection,
    final_status,
    inspect_model,
    is_settled,
)
from heteroscope.training.schedules import cosine_adam
from heteroscope.training.stages import HoldCollapsed, PrecisionLevel, Stage

ACTIVATION = "silu"
JOINT = Stage(joint_objective, ("mean", "precision"), cosine_adam(10))
MEAN = Stage(mean_objective, ("mean",), cosine_adam(10))
NARROWING = JOINT._replace(constant=HoldCollapsed())
AVERAGE = 0.3


@pytest.fixture
def batch():
    random = np.random.default_rng(0)
    weight = random.uniform(0, 2, 30)
    x, y = random.normal(size=(30, 2)), random.normal(size=30)
    return Batch(*(part.astype(np.float32) for part in (x, y, weight / weight.mean())))


def start(hidden=(8, 8), scale=1.0):
    return jax.tree.map(lambda leaf: np.float32(scale) * leaf, init_params(0, Architecture(2, hidden, ACTIVATION)))


def single(logit_rho, logit_gamma):
    return Strengths(*(np.float32(part) for part in strengths(logit_rho, logit_gamma)))


def inspect(stage, params, where, batch):
    return inspect_model(stage, params, where, batch, batch, ACTIVATION, average=jnp.full(3, AVERAGE))


def found(**changes):
    usual = {"objective": 0.0, "relative_gradient": 0.5, "average_gradient": 0.5, "squared_score": 1.0}
    flags = {"log_precision": 0.0, "finite": True, "constant_mean": False, "constant_precision": False}
    return Inspection(**{name: jnp.asarray(value) for name, value in (usual | flags | changes).items()})


@pytest.mark.parametrize(
    ("changes", "status", "settled"),
    [
        ({}, Status.OUT_OF_STEPS, False),
        ({"relative_gradient": STATIONARY}, Status.CONVERGED, True),
        ({"relative_gradient": 0.0, "squared_score": 0.0}, Status.CONVERGED, True),
        ({"average_gradient": STATIONARY}, Status.CONVERGED, False),  # at a kink; known at the end only
        ({"squared_score": 0.01}, Status.RUNAWAY, False),
        ({"log_precision": RUNAWAY_LOG_PRECISION + 1}, Status.RUNAWAY, True),
        ({"finite": False}, Status.NOT_FINITE, True),
        ({"finite": False, "relative_gradient": 0.0}, Status.NOT_FINITE, True),
        ({"relative_gradient": float("nan"), "finite": False}, Status.NOT_FINITE, True),
    ],
)
def test_what_was_seen_decides_the_status_and_whether_to_go_on(changes, status, settled):
    assert final_status(found(**changes)) is status
    assert is_settled(found(**changes)) is settled


def test_the_numbers_are_those_of_the_model(batch):
    params, where = start(), single(2.0, -1.0)
    _, seen = inspect(JOINT, params, where, batch)
    mean, precision = predict_mean(params, batch.x, ACTIVATION), predict_precision(params, batch.x, ACTIVATION)
    terms = joint_objective(params, batch, where, ACTIVATION)
    assert float(seen.objective) == pytest.approx(float(sum(terms) / where.likelihood), rel=1e-5)
    score = np.average(precision * (mean - batch.y) ** 2, weights=batch.weight)
    assert float(seen.squared_score) == pytest.approx(score, rel=1e-5)
    assert float(seen.log_precision) == pytest.approx(np.average(np.log(precision), weights=batch.weight), rel=1e-4)
    assert bool(seen.finite)
    assert not bool(seen.constant_mean | seen.constant_precision)


def test_the_relative_gradient_is_the_norm_of_the_sum_over_the_sum_of_the_norms(batch):
    params, where = start(), single(2.0, -1.0)

    def norm(part):
        gradient = jax.grad(lambda p: part(mean_objective(p, batch, where, ACTIVATION)))(params)
        return np.sqrt(sum(np.sum(leaf**2) for leaf in jax.tree.leaves(gradient.mean)))

    expected = norm(sum) / (norm(lambda t: t.likelihood) + norm(lambda t: t.penalty) + 1e-3 * where.likelihood)
    _, seen = inspect(MEAN, params, where, batch)
    assert float(seen.relative_gradient) == pytest.approx(float(expected), rel=1e-4)
    assert float(seen.average_gradient) == pytest.approx(np.sqrt(3) * AVERAGE * float(expected / norm(sum)), rel=1e-4)


@pytest.mark.parametrize("stage", [JOINT, MEAN])
def test_the_constant_model_is_seen_as_converged(stage, batch):
    _, seen = inspect(stage, constant_params(start(), batch), single(0.0, 0.0), batch)
    assert final_status(seen) is Status.CONVERGED
    assert bool(seen.constant_mean)
    variance = np.average((batch.y - np.average(batch.y, weights=batch.weight)) ** 2, weights=batch.weight)
    if stage is JOINT:
        assert float(seen.objective) == pytest.approx(0.5 * (1 + np.log(variance)), abs=1e-5)
    else:
        assert float(seen.objective) == pytest.approx(0.5 * variance, rel=1e-5)


def test_a_flat_model_is_moved_to_the_constant_one(batch):
    params, seen = inspect(JOINT, start(scale=0.02), single(0.0, 0.0), batch)
    assert bool(seen.constant_mean & seen.constant_precision)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), params, constant_params(params, batch))


def test_a_lively_model_is_not_touched(batch):
    before = start()
    after, _ = inspect(JOINT, before, single(4.0, -4.0), batch)
    jax.tree.map(np.testing.assert_array_equal, after, before)


def test_the_mean_stage_leaves_the_precision_alone(batch):
    before = start(scale=0.02)
    after, seen = inspect(MEAN, before, single(0.0, 0.0), batch)
    assert bool(seen.constant_mean)
    assert not bool(seen.constant_precision)
    jax.tree.map(np.testing.assert_array_equal, after.precision, before.precision)


def test_a_precision_at_the_wrong_level_is_not_converged_though_its_weights_are(batch):
    off = constant_params(start((8,)), batch._replace(y=3 * batch.y))  # one hidden layer: never collapsed by the rule
    _, seen = inspect(JOINT, off, single(0.0, 0.0), batch)
    assert final_status(seen) is Status.OUT_OF_STEPS


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_broken_model_is_not_finite(value, batch):
    params = start()
    params.mean[0].weight[0, 0] = value
    _, seen = inspect(JOINT, params, single(0.0, 0.0), batch)
    assert final_status(seen) is Status.NOT_FINITE


def test_a_stage_names_the_networks_it_moves():
    params = start()
    assert list(MEAN.trained(params)) == ["mean"]
    assert list(JOINT.trained(params)) == ["mean", "precision"]


@pytest.mark.parametrize("flat", ["mean", "precision"])
def test_one_flat_network_is_held_constant_if_the_stage_knows_the_others_objective(flat, batch):
    lively = start()
    before = lively._replace(**{flat: getattr(start(scale=0.02), flat)})
    after, seen = inspect(JOINT, before, single(0.0, 0.0), batch)
    jax.tree.map(np.testing.assert_array_equal, after, before)
    after, seen = inspect(NARROWING, before, single(0.0, 0.0), batch)
    assert (bool(seen.constant_mean), bool(seen.constant_precision)) == (flat == "mean", flat == "precision")
    expected = hold_constant(before, batch, ACTIVATION, flat)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), after, expected)


@pytest.mark.parametrize("held", ["mean", "precision"])
def test_in_a_narrowed_stage_the_objective_is_the_joint_one_and_the_held_level_follows(held, batch):
    before, where = start(), single(2.0, -1.0)
    after, seen = inspect(NARROWING.holding(held), before, where, batch)
    expected = hold_constant(before, batch, ACTIVATION, held)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), after, expected)
    terms = joint_objective(after, batch, where, ACTIVATION)
    assert float(seen.objective) == pytest.approx(float(sum(terms) / where.likelihood), rel=1e-5)


def test_the_last_network_to_fall_flat_takes_the_held_one_to_the_constant_model(batch):
    after, seen = inspect(NARROWING.holding("precision"), start(scale=0.02), single(0.0, 0.0), batch)
    assert final_status(seen) is Status.CONVERGED
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), after, constant_params(after, batch))


def test_a_stage_that_levels_leaves_the_precision_where_it_fits_the_residuals(batch):
    params, where = start(), single(2.0, -1.0)
    as_it_was, _ = inspect(MEAN, params, where, batch)
    jax.tree.map(np.testing.assert_array_equal, as_it_was.precision, params.precision)
    levelled, _ = inspect(MEAN._replace(precision_level=PrecisionLevel.FROM_RESIDUALS), params, where, batch)
    jax.tree.map(np.testing.assert_array_equal, levelled.mean, params.mean)
    residual = predict_mean(params, batch.x, ACTIVATION) - batch.y
    variance = np.average((residual - np.average(residual, weights=batch.weight)) ** 2, weights=batch.weight)
    for before, after in zip(params.precision[:-1], levelled.precision[:-1], strict=True):
        jax.tree.map(np.testing.assert_array_equal, before, after)
    shift = levelled.precision[-1].bias[0] - params.precision[-1].bias[0]
    typical = np.exp(np.average(np.log(predict_precision(params, batch.x, ACTIVATION)), weights=batch.weight))
    assert float(shift) == pytest.approx(np.log(np.expm1(1 / variance)) - np.log(np.expm1(typical)), abs=1e-3)


def test_where_the_precision_trains_a_stage_that_levels_leaves_no_gradient_in_its_output_bias(batch):
    params, where = start(), single(2.0, -1.0)
    levelled, seen = inspect(JOINT._replace(precision_level=PrecisionLevel.SOLVED), params, where, batch)
    gradient = jax.grad(lambda p: joint_objective(p, batch, where, ACTIVATION).likelihood)
    before, after = (float(gradient(p).precision[-1].bias[0]) for p in (params, levelled))
    assert abs(after) < 1e-5 < 1e-2 < abs(before)
    jax.tree.map(np.testing.assert_array_equal, levelled.mean, params.mean)
    terms = joint_objective(levelled, batch, where, ACTIVATION)
    assert float(seen.objective) == pytest.approx(float(sum(terms) / where.likelihood), rel=1e-5)

"""Adam against its equations written in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from heteroscope.training.adam import Adam
from heteroscope.training.schedules import Cosine, Linear, Triangular2, cosine_adam


def numpy_adam(start, gradient_of, rates, clip, momentum, memory, epsilon):
    variables, m, v = start.copy(), np.zeros_like(start), np.zeros_like(start)
    for t, rate in enumerate(rates, start=1):
        gradient = gradient_of(variables)
        norm = np.sqrt(np.sum(gradient**2))
        gradient = gradient * min(1.0, clip / norm)
        m = momentum * m + (1 - momentum) * gradient
        v = memory * v + (1 - memory) * gradient**2
        variables = variables - rate * (m / (1 - momentum**t)) / (np.sqrt(v / (1 - memory**t)) + epsilon)
    return variables


def run(adam, start, gradient_of):
    variables, state = jnp.asarray(start), adam.init(start)
    for _ in range(adam.steps):
        variables, state = adam.step(gradient_of(variables), state, variables)
    return variables


@pytest.mark.parametrize(("momentum", "memory"), [(0.9, 0.999), (0.99, 0.95)])
@pytest.mark.parametrize("clip", [1000.0, 0.5])
@pytest.mark.parametrize("schedule", [Cosine(1e-2, 1e-4), Linear(1e-2, 1e-4), Triangular2(1e-4, 1e-2, 16)])
def test_steps_equal_the_equations(schedule, clip, momentum, memory):
    random = np.random.default_rng(0)
    start, curvature = random.normal(size=6), random.uniform(0.1, 10, 6)
    adam = Adam(40, schedule, clip=clip, momentum=momentum, memory=memory)
    with jax.enable_x64(True):
        found = run(adam, start, lambda p: curvature * p)
        rates = [float(adam.schedule.rate(jnp.int32(t), adam.steps)) for t in range(40)]
    expected = numpy_adam(start, lambda p: curvature * p, rates, clip, momentum, memory, adam.epsilon)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_a_gradient_as_small_as_the_smallest_rho_still_moves_the_variables():
    adam = Adam(100, Cosine(1e-2))
    variables, state = jnp.zeros(2), adam.init(jnp.zeros(2))
    for _ in range(5):
        variables, state = adam.step(jnp.full(2, 1e-11), state, variables)
    expected = -sum(float(adam.schedule.rate(t, adam.steps)) for t in range(5))
    np.testing.assert_allclose(variables, expected, rtol=1e-3)


def test_a_solver_that_starts_late_is_there_in_its_schedule_with_moments_of_zero():
    adam = Adam(100, Cosine(1e-2))
    gradient, variables = jnp.array([2.0, -0.5]), jnp.zeros(2)
    late, state = adam.step(gradient, adam.init(variables, position=60), variables)
    np.testing.assert_allclose(late, -float(adam.schedule.rate(60, adam.steps)) * np.sign(gradient), rtol=1e-5)
    assert int(state.position) == 61


def test_the_average_gradient_vanishes_where_the_gradient_only_jumps():
    adam = Adam(400, Cosine(1e-3), momentum=0.99, memory=0.95)
    variables, state = jnp.array([0.05]), adam.init(jnp.zeros(1))
    for _ in range(adam.steps):
        gradient = jnp.sign(variables)  # of |x|
        variables, state = adam.step(gradient, state, variables)
    assert abs(float(gradient[0])) == 1.0
    assert abs(float(adam.average_gradient(state)[0])) < 0.2


def test_relative_rates_scale_each_variables_own_step():
    adam, gradient, variables = cosine_adam(100), jnp.array([2.0, -0.5, 3.0]), jnp.array([1.0, 2.0, 3.0])
    state, relative = adam.init(variables, position=10), jnp.array([1.0, 0.1, 3.0])
    plain, _ = adam.step(gradient, state, variables)
    scaled, _ = adam.step(gradient, state, variables, relative)
    np.testing.assert_allclose(scaled - variables, relative * (plain - variables), rtol=1e-4)


def test_clipping_and_failure_stay_with_the_model_they_happen_to():
    adam = Adam(5, Triangular2(1e-4, 1e-2, cycle=4), clip=1.0)

    def step(gradients):
        variables = jnp.ones((3, 4))
        state = jax.vmap(adam.init)(variables)
        return jax.vmap(adam.step)(gradients, state, variables)[0]

    quiet = jnp.full((3, 4), 0.1)
    among_quiet = step(quiet)
    among_loud = step(quiet.at[1].set(1e30).at[2].set(jnp.nan))
    np.testing.assert_array_equal(among_quiet[0], among_loud[0])
    assert np.isnan(among_loud[2]).all()

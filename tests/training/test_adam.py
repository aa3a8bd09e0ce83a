"""Adam against its equations written in NumPy, and the schedules against their formulas."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from heteroscope.core.errors import InputError
from heteroscope.training.adam import Adam, cosine_adam, fast_adam, paper_adam, stable_peak_rate, triangular2


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
@pytest.mark.parametrize("schedule", ["cosine", "linear", "paper"])
def test_steps_equal_the_equations(schedule, clip, momentum, memory):
    random = np.random.default_rng(0)
    start, curvature = random.normal(size=6), random.uniform(0.1, 10, 6)
    adam = Adam(40, schedule, 1e-2, 1e-4, 16, clip=clip, momentum=momentum, memory=memory)
    with jax.enable_x64(True):
        found = run(adam, start, lambda p: curvature * p)
        rates = [float(adam.learning_rate(jnp.int32(t), adam.steps)) for t in range(40)]
    expected = numpy_adam(start, lambda p: curvature * p, rates, clip, momentum, memory, adam.epsilon)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_a_gradient_as_small_as_the_smallest_rho_still_moves_the_variables():
    adam = Adam(100, schedule="cosine", peak=1e-2)
    variables, state = jnp.zeros(2), adam.init(jnp.zeros(2))
    for _ in range(5):
        variables, state = adam.step(jnp.full(2, 1e-11), state, variables)
    expected = -sum(float(adam.learning_rate(t, adam.steps)) for t in range(5))
    np.testing.assert_allclose(variables, expected, rtol=1e-3)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_run_of_a_few_steps_has_a_rate_too(steps):
    rates = [float(cosine_adam(steps).learning_rate(step, steps)) for step in range(steps)]
    assert np.isfinite(rates).all()
    assert max(rates) == pytest.approx(2e-2)


def test_a_solver_that_starts_late_is_there_in_its_schedule_with_moments_of_zero():
    adam = Adam(100, schedule="cosine", peak=1e-2)
    gradient, variables = jnp.array([2.0, -0.5]), jnp.zeros(2)
    late, state = adam.step(gradient, adam.init(variables, position=60), variables)
    np.testing.assert_allclose(late, -float(adam.learning_rate(60, adam.steps)) * np.sign(gradient), rtol=1e-5)
    assert int(state.position) == 61


def test_the_average_gradient_vanishes_where_the_gradient_only_jumps():
    adam = Adam(400, schedule="cosine", peak=1e-3, momentum=0.99, memory=0.95)
    variables, state = jnp.array([0.05]), adam.init(jnp.zeros(1))
    for _ in range(adam.steps):
        gradient = jnp.sign(variables)  # of |x|
        variables, state = adam.step(gradient, state, variables)
    assert abs(float(gradient[0])) == 1.0
    assert abs(float(adam.average_gradient(state)[0])) < 0.2


@pytest.mark.parametrize("step", [0, 1, 124, 125, 200, 249, 250, 300, 375, 500, 749, 1000])
def test_triangular2_rises_and_falls_once_a_cycle_and_halves(step):
    low, high, cycle = 1e-4, 1e-2, 250
    half = cycle / 2
    number = np.floor(1 + step / cycle)  # Smith's own way of writing it
    x = np.abs(step / half - 2 * number + 1)
    expected = low + (high - low) * max(0.0, 1 - x) / 2 ** (number - 1)
    assert float(triangular2(low, high, cycle)(step)) == pytest.approx(expected, rel=1e-6)


def test_an_offset_continues_the_cycles_where_an_earlier_stage_left_them():
    whole, rest = triangular2(1e-4, 1e-2, 50), triangular2(1e-4, 1e-2, 50, offset=130)
    assert [rest(step) for step in range(100)] == [whole(130 + step) for step in range(100)]


def test_the_papers_schedule_peaks_at_its_numbers():
    rate = partial(paper_adam(600_000).learning_rate, length=600_000)
    assert rate(0) == pytest.approx(1e-4)
    assert rate(25_000) == pytest.approx(1e-2)
    assert rate(50_000) == pytest.approx(1e-4)
    assert rate(75_000) == pytest.approx(1e-4 + 0.5 * (1e-2 - 1e-4))
    assert rate(575_000) == pytest.approx(1e-4 + 0.5**11 * (1e-2 - 1e-4))
    assert paper_adam(600_000).clip == 1000.0


def test_the_cosine_warms_up_for_two_per_cent_and_ends_at_zero():
    steps, peak = 1000, 5e-3
    rate = partial(cosine_adam(steps, peak).learning_rate, length=steps)
    for step in (0, 5, 19):
        assert float(rate(step)) == pytest.approx(peak * step / 20, rel=1e-5)
    for step in (20, 100, 510, 999, 1000):
        expected = peak * 0.5 * (1 + np.cos(np.pi * (step - 20) / (steps - 20)))
        assert float(rate(step)) == pytest.approx(expected, rel=1e-3, abs=1e-9)


def test_the_line_warms_up_for_two_per_cent_and_ends_at_zero():
    rate = partial(fast_adam(1000).learning_rate, length=1000)
    for step, expected in ((0, 0.0), (5, 5e-3), (20, 2e-2), (265, 1.5e-2), (510, 1e-2), (1000, 0.0)):
        assert float(rate(step)) == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_relative_rates_scale_each_variables_own_step():
    adam, gradient, variables = cosine_adam(100), jnp.array([2.0, -0.5, 3.0]), jnp.array([1.0, 2.0, 3.0])
    state, relative = adam.init(variables, position=10), jnp.array([1.0, 0.1, 3.0])
    plain, _ = adam.step(gradient, state, variables)
    scaled, _ = adam.step(gradient, state, variables, relative)
    np.testing.assert_allclose(scaled - variables, relative * (plain - variables), rtol=1e-4)


def test_clipping_and_failure_stay_with_the_model_they_happen_to():
    adam = Adam(5, schedule="paper", peak=1e-2, floor=1e-4, cycle=4, clip=1.0)

    def step(gradients):
        variables = jnp.ones((3, 4))
        state = jax.vmap(adam.init)(variables)
        return jax.vmap(adam.step)(gradients, state, variables)[0]

    quiet = jnp.full((3, 4), 0.1)
    among_quiet = step(quiet)
    among_loud = step(quiet.at[1].set(1e30).at[2].set(jnp.nan))
    np.testing.assert_array_equal(among_quiet[0], among_loud[0])
    assert np.isnan(among_loud[2]).all()


@pytest.mark.parametrize("peak", [0.0, -1e-3, float("nan"), float("inf")])
def test_a_peak_that_is_no_rate_is_refused(peak):
    with pytest.raises(InputError, match="learning rate must be positive"):
        cosine_adam(100, peak)


def test_an_unknown_schedule_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match="cosine, linear, level, paper"):
        Adam(10, schedule="step").learning_rate(0, 10)


@pytest.mark.parametrize(("hidden", "peak"), [((), 2e-2), ((8, 64), 2e-2), ((128, 16), 1e-2), ((256, 256), 5e-3)])
def test_wide_networks_get_a_lower_rate(hidden, peak):
    assert stable_peak_rate(hidden) == pytest.approx(peak)

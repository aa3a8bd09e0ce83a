"""Learning rates against their formulas, and what is refused."""

from functools import partial

import numpy as np
import pytest

from heteroscope.core.errors import InputError
from heteroscope.training.schedules import (
    Cosine,
    Linear,
    Triangular2,
    cosine_adam,
    fast_mean_adam,
    paper_adam,
    stable_peak_rate,
)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_run_of_a_few_steps_has_a_rate_too(steps):
    rates = [float(cosine_adam(steps).schedule.rate(step, steps)) for step in range(steps)]
    assert np.isfinite(rates).all()
    assert max(rates) == pytest.approx(2e-2)


@pytest.mark.parametrize("step", [0, 1, 124, 125, 200, 249, 250, 300, 375, 500, 749, 1000])
def test_triangular2_rises_and_falls_once_a_cycle_and_halves(step):
    low, high, cycle = 1e-4, 1e-2, 250
    half = cycle / 2
    number = np.floor(1 + step / cycle)  # Smith's own way of writing it
    x = np.abs(step / half - 2 * number + 1)
    expected = low + (high - low) * max(0.0, 1 - x) / 2 ** (number - 1)
    assert float(Triangular2(low, high, cycle).rate(step, 0)) == pytest.approx(expected, rel=1e-6)


def test_an_offset_continues_the_cycles_where_an_earlier_stage_left_them():
    whole, rest = Triangular2(1e-4, 1e-2, 50), Triangular2(1e-4, 1e-2, 50, offset=130)
    assert [rest.rate(step, 0) for step in range(100)] == [whole.rate(130 + step, 0) for step in range(100)]


def test_the_papers_schedule_peaks_at_its_numbers():
    rate = partial(paper_adam(600_000).schedule.rate, length=600_000)
    assert rate(0) == pytest.approx(1e-4)
    assert rate(25_000) == pytest.approx(1e-2)
    assert rate(50_000) == pytest.approx(1e-4)
    assert rate(75_000) == pytest.approx(1e-4 + 0.5 * (1e-2 - 1e-4))
    assert rate(575_000) == pytest.approx(1e-4 + 0.5**11 * (1e-2 - 1e-4))
    assert paper_adam(600_000).clip == 1000.0


def test_the_cosine_warms_up_for_two_per_cent_and_ends_at_zero():
    steps, peak = 1000, 5e-3
    rate = partial(cosine_adam(steps, peak).schedule.rate, length=steps)
    for step in (0, 5, 19):
        assert float(rate(step)) == pytest.approx(peak * step / 20, rel=1e-5)
    for step in (20, 100, 510, 999, 1000):
        expected = peak * 0.5 * (1 + np.cos(np.pi * (step - 20) / (steps - 20)))
        assert float(rate(step)) == pytest.approx(expected, rel=1e-3, abs=1e-9)


def test_the_line_warms_up_for_two_per_cent_and_ends_at_zero():
    rate = partial(fast_mean_adam(1000).schedule.rate, length=1000)
    for step, expected in ((0, 0.0), (5, 5e-3), (20, 2e-2), (265, 1.5e-2), (510, 1e-2), (1000, 0.0)):
        assert float(rate(step)) == pytest.approx(expected, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("peak", [0.0, -1e-3, float("nan"), float("inf")])
def test_a_peak_that_is_no_rate_is_refused(peak):
    with pytest.raises(InputError, match="learning rate must be positive"):
        cosine_adam(100, peak)


@pytest.mark.parametrize(("hidden", "peak"), [((), 2e-2), ((8, 64), 2e-2), ((128, 16), 1e-2), ((256, 256), 5e-3)])
def test_wide_networks_get_a_lower_rate(hidden, peak):
    assert stable_peak_rate(hidden) == pytest.approx(peak)


def test_schedules_with_equal_numbers_are_different_settings():
    assert Cosine(1e-2) != Linear(1e-2)
    assert hash(Cosine(1e-2)) == hash(Cosine(1e-2))

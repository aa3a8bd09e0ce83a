"""Learning-rate schedules, and the settings of Adam that go with each of them.

A schedule gives the learning rate of each step: `Cosine`, `Linear`, `Level` or `Triangular2`, the paper's. Functions
such as `paper_adam` return complete settings of Adam.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from heteroscope.core import InputError
from heteroscope.training.adam import Adam, Count, Rate

PEAK_RATE = 2e-2  # highest rate of our own schedules; networks of up to 64 units per layer train stably with it
PAPER_LOW, PAPER_HIGH, PAPER_CYCLE = 1e-4, 1e-2, 50_000  # of the paper: lowest and highest rate, steps per triangle
PAPER_MEMORY, PAPER_EPSILON = 0.999, 1e-8  # of Adam in the paper: the usual defaults
ESCAPE_RATE = 8e-3  # constant rate that leaves the zero network at the same penalties as the paper's schedule


# Schedules are dataclasses, not tuples: a tuple would equal another schedule with the same numbers.
@dataclass(frozen=True)
class Cosine:
    """Rise from zero to `peak` in the first 2 % of the steps, then follow half a cosine down to `floor`."""

    peak: float
    floor: float = 0.0

    def rate(self, position: Count, length: Count) -> Rate:
        """Return the learning rate of step `position` of `length`."""
        return _warm_up(position, length, self.floor, self.peak, lambda fallen: 0.5 * (1.0 + jnp.cos(jnp.pi * fallen)))


@dataclass(frozen=True)
class Linear:
    """Rise from zero to `peak` in the first 2 % of the steps, then fall in a straight line to `floor`."""

    peak: float
    floor: float = 0.0

    def rate(self, position: Count, length: Count) -> Rate:
        """Return the learning rate of step `position` of `length`."""
        return _warm_up(position, length, self.floor, self.peak, lambda fallen: 1.0 - fallen)


@dataclass(frozen=True)
class Level:
    """Keep the rate at `height` for all steps."""

    height: float

    def rate(self, position: Count, length: Count) -> Rate:
        """Return the learning rate, the same for every step."""
        return self.height


@dataclass(frozen=True)
class Triangular2:
    """Rise and fall between `low` and `high` once per `cycle`; each triangle is half as high as the one before.

    This is Smith's triangular2, which the paper uses. It begins `offset` steps in.
    """

    low: float
    high: float
    cycle: int
    offset: int = 0

    def rate(self, position: Count, length: Count) -> Rate:
        """Return the learning rate of step `position`, whatever the length."""
        step = position + self.offset
        height = 1.0 - abs(2.0 * (step % self.cycle) / self.cycle - 1.0)
        return self.low + (self.high - self.low) * height * 0.5 ** (step // self.cycle)


def _warm_up(position: Count, length: Count, low: float, high: float, left: Callable[[Any], Any]) -> Rate:
    """Return the rate of a schedule that rises for 2 % of its length and then falls from `high` to `low`.

    `left(fallen)` is the share of the height that is left after a share `fallen` of the way down.
    """
    warm_up = jnp.minimum(jnp.maximum(jnp.asarray(length) // 50, 1), length - 1)  # zero for a training of one step
    fallen = jnp.clip((position - warm_up) / jnp.maximum(length - warm_up, 1), 0.0, 1.0)
    falling = low + (high - low) * left(fallen)
    return jnp.where(position < warm_up, high * position / jnp.maximum(warm_up, 1), falling)


def paper_adam(steps: int, cycle: int = PAPER_CYCLE, offset: int = 0) -> Adam:
    """Return the paper's Adam: triangular2 from 1e-4 to 1e-2, begun `offset` steps in, gradients clipped at 1000."""
    schedule = Triangular2(PAPER_LOW, PAPER_HIGH, cycle, offset)
    return Adam(steps, schedule, memory=PAPER_MEMORY, epsilon=PAPER_EPSILON)


def cosine_adam(steps: int, peak: float = PEAK_RATE) -> Adam:
    """Return Adam for batches: one cosine to zero, and a short memory of squares, which tolerates a high rate."""
    if not math.isfinite(peak) or peak <= 0:
        raise InputError(f"the peak learning rate must be positive, got {peak!r}")
    return Adam(steps, Cosine(peak))


def stable_peak_rate(hidden: Sequence[int]) -> float:
    """Return 2e-2 up to 64 units per layer, above that 2e-2 * 64 / (widest layer): 256 units diverge at 2e-2."""
    return PEAK_RATE * min(1.0, 64 / max(hidden, default=64))


def fast_mean_adam(steps: int) -> Adam:
    """Return Adam for a mean network and exact gradients: a line to zero, and momentum over a hundred steps.

    The noise of batches would be carried along by so long a momentum.
    """
    return Adam(steps, Linear(PEAK_RATE), momentum=0.99)


def fast_joint_adam(steps: int, peak: float = PEAK_RATE) -> Adam:
    """Return Adam for both networks and exact gradients: a line to zero, and two moments of equal memory.

    Where the precision is high, a small step of the mean can multiply the gradient by a thousand. If the momentum
    remembered such a gradient longer than the squares do, the model would diverge.
    """
    return Adam(steps, Linear(peak), momentum=0.98, memory=0.98)


def constant_rate_adam(steps: int) -> Adam:
    """Return Adam with a constant rate; it escapes the zero network at the same penalties as the paper's schedule.

    The rate decides up to which penalty networks escape: a constant 1e-2, the paper's highest rate, escapes at larger
    penalties, too.
    """
    return Adam(steps, Level(ESCAPE_RATE), memory=PAPER_MEMORY, epsilon=PAPER_EPSILON)

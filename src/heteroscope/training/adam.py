"""Adam with a schedule, for one model: the paper's triangular2 cycles, one cosine or line to nothing, or one level.

m <- b m + (1 - b) g,    v <- c v + (1 - c) g^2,    variables <- variables - rate * m' / (sqrt(v') + epsilon)

m' and v' are m and v divided by what their start at zero has cost them, 1 - b^t and 1 - c^t.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from heteroscope.core import InputError

SHAPES = ("cosine", "linear", "level", "paper")

Variables = Float[Any, " variable"]
Count = Int[Any, ""] | int
Rate = Float[Any, ""] | float


class AdamState(NamedTuple):
    """Where the schedule stands and how long it is, how many steps the moments have seen, and the moments.

    The length is data, so that runs of all lengths share one compiled program.
    """

    position: Int[Any, ""]
    length: Int[Any, ""]
    seen: Int[Any, ""]
    first: Variables
    second: Variables


class Adam(NamedTuple):
    """Settings of one run: its number of steps, the shape of its learning rate, its memory and its clipping."""

    steps: int
    schedule: str = "cosine"
    peak: float = 2e-2
    floor: float = 0.0
    cycle: int = 50_000
    offset: int = 0
    clip: float = 1000.0
    momentum: float = 0.9
    memory: float = 0.95
    epsilon: float = 1e-15  # far below any gradient of the grid's smallest rho, 1e-11, which 1e-8 would drown

    def init(self, variables: Variables, position: int = 0) -> AdamState:
        """Moments of zero, `position` steps into the schedule."""
        zeros = np.zeros(variables.shape, variables.dtype)
        return AdamState(np.int32(position), np.int32(self.steps), np.int32(0), zeros, zeros)

    def step(
        self, gradient: Variables, state: AdamState, variables: Variables, relative: Variables | float = 1.0
    ) -> tuple[Variables, AdamState]:
        """variables - rate * relative * m' / (sqrt(v') + epsilon), the gradient's norm clipped first."""
        gradient = gradient * jnp.minimum(1.0, self.clip / jnp.sqrt(jnp.sum(gradient**2)))
        first = self.momentum * state.first + (1.0 - self.momentum) * gradient
        second = self.memory * state.second + (1.0 - self.memory) * gradient**2
        seen = state.seen + 1
        rate = self.learning_rate(state.position, state.length) / _share_seen(self.momentum, seen, first)
        size = jnp.sqrt(second / _share_seen(self.memory, seen, second)) + self.epsilon
        return variables - rate * relative * first / size, AdamState(
            state.position + 1, state.length, seen, first, second
        )

    def average_gradient(self, state: AdamState) -> Variables:
        """m': the gradient averaged over the last steps. At a kink it vanishes where the gradient itself only jumps."""
        return state.first / _share_seen(self.momentum, state.seen, state.first)

    def learning_rate(self, position: Count, length: Count) -> Rate:
        """The rate of one step of a schedule of that length."""
        if self.schedule == "paper":
            return triangular2(self.floor, self.peak, self.cycle, self.offset)(position)
        if self.schedule == "cosine":
            return warm_cosine(position, length, self.floor, self.peak)
        if self.schedule == "linear":
            return warm_line(position, length, self.floor, self.peak)
        if self.schedule == "level":
            return self.peak
        raise InputError(f"schedule must be one of {', '.join(SHAPES)}, got {self.schedule!r}")


def _share_seen(decay: float, seen: Int[Any, ""], moment: Variables) -> Float[Any, ""]:
    """1 - decay^t: what a moment that began at zero has gathered of its full size."""
    return 1.0 - decay ** jnp.asarray(seen, moment.dtype)


def warm_cosine(position: Count, length: Count, low: float, high: float) -> Rate:
    """A straight line from zero to high for two per cent of the length, then half a cosine to low."""
    return _warm(position, length, low, high, lambda fallen: 0.5 * (1.0 + jnp.cos(jnp.pi * fallen)))


def warm_line(position: Count, length: Count, low: float, high: float) -> Rate:
    """A straight line from zero to high for two per cent of the length, then one to low."""
    return _warm(position, length, low, high, lambda fallen: 1.0 - fallen)


def _warm(position: Count, length: Count, low: float, high: float, left: Callable[[Any], Any]) -> Rate:
    """`left` is what is left of the height once a share of the way down is done."""
    warm_up = jnp.minimum(jnp.maximum(jnp.asarray(length) // 50, 1), length - 1)  # none where there is one step only
    fallen = jnp.clip((position - warm_up) / jnp.maximum(length - warm_up, 1), 0.0, 1.0)
    falling = low + (high - low) * left(fallen)
    return jnp.where(position < warm_up, high * position / jnp.maximum(warm_up, 1), falling)


def triangular2(low: float, high: float, cycle: int, offset: int = 0) -> Callable[[Count], Rate]:
    """Triangles between low and high, one a cycle, each half the height of the one before (Smith's triangular2)."""

    def rate(step: Count) -> Rate:
        step = step + offset
        height = 1.0 - abs(2.0 * (step % cycle) / cycle - 1.0)
        return low + (high - low) * height * 0.5 ** (step // cycle)

    return rate


def paper_adam(steps: int, cycle: int = 50_000, offset: int = 0) -> Adam:
    """The paper's schedule, begun `offset` steps in: rates from 1e-4 to 1e-2, gradients clipped at 1000."""
    return Adam(steps, schedule="paper", peak=1e-2, floor=1e-4, cycle=cycle, offset=offset, memory=0.999, epsilon=1e-8)


def cosine_adam(steps: int, peak: float = 2e-2) -> Adam:
    """For batches: two per cent of linear warm-up, then one cosine to zero; a short memory bears a high rate."""
    if not math.isfinite(peak) or peak <= 0:
        raise InputError(f"the peak learning rate must be positive, got {peak!r}")
    return Adam(steps, schedule="cosine", peak=peak)


def stable_peak_rate(hidden: Sequence[int]) -> float:
    """2e-2 up to 64 units a layer, then falling as one over the widest layer: 256 units do not bear 2e-2."""
    return 2e-2 * min(1.0, 64 / max(hidden, default=64))


def fast_adam(steps: int) -> Adam:
    """For exact gradients: a line to zero, and momentum over a hundred steps, which noise would spoil."""
    return cosine_adam(steps)._replace(schedule="linear", momentum=0.99)


def fast_joint_adam(steps: int) -> Adam:
    """The same for both networks, with moments that last equally long.

    Where a precision is high, a small step of the mean makes a gradient a thousand times as large as the one before. A
    momentum that remembers it longer than the squares do carries the model away.
    """
    return fast_adam(steps)._replace(momentum=0.98, memory=0.98)


def patient_adam(steps: int) -> Adam:
    """The paper's Adam level below its highest rate: in thousands of steps it leaves the zero network where that does.

    The rate decides up to which penalty zero is left: its 1e-2 from the first step on leaves it at larger ones, too.
    """
    return paper_adam(steps)._replace(schedule="level", peak=8e-3)

"""Adam with a schedule, for one model: the paper's triangular2 cycles, or one cosine from a peak to nothing."""

import math
from typing import Any, NamedTuple

import optax

from heteroscope.errors import InputError

SCHEDULES = ("cosine", "paper")


class Adam(NamedTuple):
    """Settings of one run: its number of steps, the shape of its learning rate and where gradients are clipped."""

    steps: int
    schedule: str = "cosine"
    peak: float = 5e-3
    floor: float = 0.0
    cycle: int = 50_000
    offset: int = 0
    clip: float = 1000.0

    def init(self, variables: Any) -> optax.OptState:
        """Moments of zero."""
        return self._transformation().init(variables)

    def step(self, gradient: Any, state: optax.OptState, variables: Any) -> tuple[Any, optax.OptState]:
        """variables - rate * m / (sqrt(v) + 1e-8), the gradient's norm clipped first."""
        update, state = self._transformation().update(gradient, state, variables)
        return optax.apply_updates(variables, update), state

    def _transformation(self) -> optax.GradientTransformation:
        return optax.chain(optax.clip_by_global_norm(self.clip), optax.adam(self.learning_rate()))

    def learning_rate(self) -> optax.Schedule:
        """The learning rate as a function of the step."""
        if self.schedule == "paper":
            return triangular2(self.floor, self.peak, self.cycle, self.offset)
        if self.schedule == "cosine":
            return optax.warmup_cosine_decay_schedule(0.0, self.peak, max(1, self.steps // 50), self.steps, self.floor)
        raise InputError(f"schedule must be one of {', '.join(SCHEDULES)}, got {self.schedule!r}")


def triangular2(low: float, high: float, cycle: int, offset: int = 0) -> optax.Schedule:
    """Triangles between low and high, one a cycle, each half the height of the one before (Smith's triangular2)."""

    def rate(step: Any) -> Any:
        step = step + offset
        height = 1.0 - abs(2.0 * (step % cycle) / cycle - 1.0)
        return low + (high - low) * height * 0.5 ** (step // cycle)

    return rate


def paper_adam(steps: int, cycle: int = 50_000, offset: int = 0) -> Adam:
    """The paper's schedule, begun `offset` steps in: rates from 1e-4 to 1e-2, gradients clipped at 1000."""
    return Adam(steps, schedule="paper", peak=1e-2, floor=1e-4, cycle=cycle, offset=offset)


def cosine_adam(steps: int, peak: float = 5e-3) -> Adam:
    """A short modern schedule: two per cent of linear warm-up, then one cosine to zero."""
    if not math.isfinite(peak) or peak <= 0:
        raise InputError(f"the peak learning rate must be positive, got {peak!r}")
    return Adam(steps, schedule="cosine", peak=peak)

"""The Adam optimiser, for the parameters of one model as a flat vector.

m <- b m + (1 - b) g,    v <- c v + (1 - c) g^2,    variables <- variables - rate * m' / (sqrt(v') + epsilon)

g is the clipped gradient. m' = m / (1 - b^t) and v' = v / (1 - c^t) correct m and v for their start at zero.
"""

from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

Variables: TypeAlias = Float[Any, " variable"]
Count: TypeAlias = Int[Any, ""] | int
Rate: TypeAlias = Float[Any, ""] | float


@runtime_checkable
class Schedule(Protocol):
    """A learning rate for each step; hashable, so that it can be compiled in."""

    def rate(self, position: Count, length: Count) -> Rate:
        """Return the learning rate of step `position` of a training of `length` steps."""
        ...


class AdamState(NamedTuple):
    """What changes from step to step.

    `length` is data, not a setting, so that trainings of all lengths share one compiled program.
    """

    position: Int[Any, ""]  # steps done in the schedule
    length: Int[Any, ""]  # steps of the whole schedule
    seen: Int[Any, ""]  # gradients in the two moments: t in the formula
    first: Variables  # m
    second: Variables  # v


class Adam(NamedTuple):
    """Settings of one training: its number of steps, its learning rates, its clipping and its decay rates."""

    steps: int
    schedule: Schedule
    clip: float = 1000.0  # largest norm of a gradient; the paper's
    momentum: float = 0.9  # b
    memory: float = 0.95  # c
    epsilon: float = 1e-15  # far below the gradients at the grid's smallest rho, 1e-11, which 1e-8 would drown

    def init(self, variables: Variables, position: int = 0) -> AdamState:
        """Return moments of zero, `position` steps into the schedule."""
        zeros = np.zeros(variables.shape, variables.dtype)
        return AdamState(np.int32(position), np.int32(self.steps), np.int32(0), zeros, zeros)

    def step(
        self, gradient: Variables, state: AdamState, variables: Variables, relative: Variables | float = 1.0
    ) -> tuple[Variables, AdamState]:
        """Return variables - rate * relative * m' / (sqrt(v') + epsilon), and the next state."""
        gradient = gradient * jnp.minimum(1.0, self.clip / jnp.sqrt(jnp.sum(gradient**2)))
        first = self.momentum * state.first + (1.0 - self.momentum) * gradient
        second = self.memory * state.second + (1.0 - self.memory) * gradient**2
        seen = state.seen + 1
        rate = self.schedule.rate(state.position, state.length) / _share_seen(self.momentum, seen, first)
        size = jnp.sqrt(second / _share_seen(self.memory, seen, second)) + self.epsilon
        return variables - rate * relative * first / size, AdamState(
            state.position + 1, state.length, seen, first, second
        )

    def average_gradient(self, state: AdamState) -> Variables:
        """Return m', the gradient averaged over the last steps; at a kink it vanishes though each gradient jumps."""
        return state.first / _share_seen(self.momentum, state.seen, state.first)


def _share_seen(decay: float, seen: Int[Any, ""], moment: Variables) -> Float[Any, ""]:
    """Return 1 - decay^t, the weight that a moment gives to the gradients seen so far."""
    return 1.0 - decay ** jnp.asarray(seen, moment.dtype)

"""The field theory on a line: `solve` checks what it is given, states the problem and minimises."""

from numpy.typing import ArrayLike

from heteroscope.field.checking import state
from heteroscope.field.descent import Solution, minimise
from heteroscope.field.lattices import chain
from heteroscope.field.solver import Start, begin


def solve(
    x: ArrayLike,
    y: ArrayLike,
    rho: float,
    gamma: float,
    *,
    density: ArrayLike | None = None,
    variance: ArrayLike | None = None,
    start: Start = "flat",
    tol: float = 1e-10,
    max_steps: int = 500,
) -> Solution:
    """The minimum of the free energy of one draw y(x) that descent from `start` finds, or the proof that it finds none.

    With `variance`, y is the noise's mean and F its average over all draws. `density` is as for `field.chain`.
    """
    problem = state(chain(x, density), y, rho, gamma, variance)
    return minimise(problem, begin(problem, start), tol=tol, max_steps=max_steps)

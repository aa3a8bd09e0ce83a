"""One step towards a minimum: the best mean for a precision, a damped step of the precision, or Newton on both.

    t = 1 / (1 + max_i(-d_i / precision_i))

With that length a Newton direction d keeps every precision positive; for a fixed mean the energy is convex and
self-concordant in the precision, and falls by at least t/2 times the squared Newton decrement.
"""

import numpy as np

from heteroscope.field.lattice import Field
from heteroscope.field.problem import Equations, Fields, Problem, energy, gradient, hessian

_SUFFICIENT = 1e-4  # Armijo's share of the decrease that the slope promises
_SHORTEST = 2.0**-6  # a Newton direction that needs a shorter step is no better than an alternation


def best_mean(problem: Problem, precision: Field) -> Field:
    """(w precision + 2 alpha K) mean = w precision y: the exact minimum over the mean."""
    pull = problem.lattice.weights * precision
    return problem.lattice.solve(pull, 2.0 * problem.alpha, pull * problem.y)


def alternate(problem: Problem, fields: Fields, precision_steps: int = 2) -> Fields:
    """A few damped Newton steps of the precision for this mean, then the best mean for that precision."""
    weights = problem.lattice.weights
    squares = (fields.mean - problem.y) ** 2 + problem.variance
    precision = fields.precision
    for _ in range(precision_steps):
        slope = 0.5 * weights * (squares - 1.0 / precision) + 2.0 * problem.beta * problem.lattice.laplacian(precision)
        direction = problem.lattice.solve(0.5 * weights / precision**2, 2.0 * problem.beta, -slope)
        precision = precision + _longest(precision, direction) * direction
    return Fields(best_mean(problem, precision), precision)


def newton(problem: Problem, fields: Fields, conditions: Equations) -> Fields | None:
    """The Newton step of both fields, shortened until F falls; None at a saddle or where only a tiny step helps."""
    slope = gradient(problem, conditions)
    direction = _newton_direction(problem, fields, slope)
    if direction is None:
        return None
    decrement = -slope.dot(direction)
    here = energy(problem, fields)
    rounding = np.finfo(float).eps * (abs(here) + len(problem.y))
    length = _longest(fields.precision, direction.precision)
    while length >= _SHORTEST:
        step = Fields(length * direction.mean, length * direction.precision)
        if energy(problem, fields.plus(1.0, step)) <= here - _SUFFICIENT * length * decrement + rounding:
            return step
        length /= 2.0
    return None


def is_minimum(problem: Problem, fields: Fields) -> bool:
    """Whether the Hessian at these fields is positive definite."""
    return _newton_direction(problem, fields, Fields(problem.y, problem.y)) is not None


def _newton_direction(problem: Problem, fields: Fields, slope: Fields) -> Fields | None:
    """-H^-1 slope, or None where the Hessian H is not positive definite."""
    solution = problem.lattice.solve_pair(*hessian(problem, fields), (-slope.mean, -slope.precision))
    return None if solution is None else Fields(*solution)


def _longest(precision: Field, direction: Field) -> float:
    return 1.0 / (1.0 + max(0.0, float(np.max(-direction / precision))))

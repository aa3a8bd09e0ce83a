"""Descend to a local minimum of the free energy, or show that the descent from this start has none.

Alternations come first, then Newton steps on both fields. Where the Hessian is indefinite or a Newton step does not
descend, more alternations follow. Every step lowers F, so the start decides which minimum is found. A Newton direction
d is shortened to the length

    t = 1 / (1 + max_i(-d_i / precision_i))

which keeps every precision positive. For a fixed mean the energy is convex and self-concordant in the precision, and
such a step lowers it by at least t/2 times the squared Newton decrement.
"""

from typing import NamedTuple

import numpy as np

from heteroscope.core import Status
from heteroscope.field.lattices import Field
from heteroscope.field.problem import Equations, Fields, Problem, energy, equations, gradient, hessian, runaway_bound

_SUFFICIENT_DECREASE = 1e-4  # least decrease of F, relative to what the slope predicts (Armijo)
_SHORTEST_STEP = 2.0**-6  # below this a Newton step is no better than an alternation
_SAME_MINIMUM = 1e-4  # root mean square distance below which two minima count as one
_ALTERNATIONS = 4  # before the first Newton step, and after each rejected one


class Solution(NamedTuple):
    """The fields at the end of a descent, and how it ended.

    Attributes
    ----------
    mean, precision : ndarray of shape (n_points,)
        The fields.
    energy : float
        The free energy F.
    residual : float
        Relative residual of the stationarity conditions.
    status : Status
        Converged, runaway or out of steps.
    n_steps : int
        Steps taken.
    """

    mean: Field
    precision: Field
    energy: float
    residual: float
    status: Status
    n_steps: int

    @property
    def fields(self) -> Fields:
        """Mean and precision as a start for another descent."""
        return Fields(self.mean, self.precision)


def minimise(problem: Problem, start: Fields, tol: float = 1e-10, max_steps: int = 500) -> Solution:
    """Descend from `start` until the conditions of a minimum hold or the precision provably diverges.

    The last step to a minimum is always Newton's, whose Cholesky factor shows that the point is a minimum and not a
    saddle. The rounding errors of Newton steps are summed up in `tail`: the curvature of nearly flat fields is a
    difference of almost equal numbers, and only so does its residual reach `tol`.

    Parameters
    ----------
    problem : Problem
        Points, target and penalties.
    start : Fields
        Where the descent begins.
    tol : float, default=1e-10
        Relative residual of the stationarity conditions at which the descent ends.
    max_steps : int, default=500
        Most steps to take.

    Returns
    -------
    Solution
        The fields, with status runaway if the precision diverges and out of steps if `max_steps` was too few.
    """
    bound = runaway_bound(problem)
    fields, tail = start, None
    alternations, is_convex = _ALTERNATIONS, False
    n_steps = 0
    while True:
        conditions = equations(problem, fields, tail)
        if fields.precision.min() > bound:
            interpolating = Fields(best_mean(problem, fields.precision), fields.precision)
            residual = equations(problem, interpolating).relative
            return _solution(problem, interpolating, residual, Status.RUNAWAY, n_steps)
        if conditions.relative <= tol and is_convex:
            return _solution(problem, fields, conditions.relative, Status.CONVERGED, n_steps)
        if n_steps == max_steps:
            return _solution(problem, fields, conditions.relative, Status.OUT_OF_STEPS, n_steps)
        step = None if alternations else newton(problem, fields, conditions)
        is_convex = step is not None
        if step is None:
            alternations = (alternations or _ALTERNATIONS) - 1
            fields, tail = alternate(problem, fields), None
        else:
            mean, mean_error = _two_sum(fields.mean, step.mean)
            precision, precision_error = _two_sum(fields.precision, step.precision)
            error = Fields(mean_error, precision_error)
            fields, tail = Fields(mean, precision), error if tail is None else tail.plus(1.0, error)
        n_steps += 1


def are_different(one: Fields, other: Fields) -> bool:
    """Return whether two minima differ by more than 1e-4 (root mean square) in mean / std or in log precision."""
    by_mean = np.mean(np.maximum(one.precision, other.precision) * (one.mean - other.mean) ** 2)
    by_precision = np.mean(np.log(one.precision / other.precision) ** 2)
    return bool(max(by_mean, by_precision) > _SAME_MINIMUM**2)


def best_mean(problem: Problem, precision: Field) -> Field:
    """Return the exact minimum over the mean: (w precision + 2 alpha K) mean = w precision y."""
    pull = problem.lattice.weights * precision
    return problem.lattice.solve(pull, 2.0 * problem.alpha, pull * problem.y)


def alternate(problem: Problem, fields: Fields, precision_steps: int = 2) -> Fields:
    """Take a few damped Newton steps of the precision for this mean, then the best mean for that precision."""
    weights = problem.lattice.weights
    squares = (fields.mean - problem.y) ** 2 + problem.variance
    precision = fields.precision
    for _ in range(precision_steps):
        slope = 0.5 * weights * (squares - 1.0 / precision) + 2.0 * problem.beta * problem.lattice.laplacian(precision)
        direction = problem.lattice.solve(0.5 * weights / precision**2, 2.0 * problem.beta, -slope)
        precision = precision + _step_length(precision, direction) * direction
    return Fields(best_mean(problem, precision), precision)


def newton(problem: Problem, fields: Fields, conditions: Equations) -> Fields | None:
    """Return the Newton step of both fields, shortened until F falls; None at a saddle or if it gets too short."""
    slope = gradient(problem, conditions)
    direction = _newton_direction(problem, fields, slope)
    if direction is None:
        return None
    decrement = -slope.dot(direction)
    current = energy(problem, fields)
    rounding = np.finfo(float).eps * (abs(current) + len(problem.y))
    length = _step_length(fields.precision, direction.precision)
    while length >= _SHORTEST_STEP:
        step = Fields(length * direction.mean, length * direction.precision)
        if energy(problem, fields.plus(1.0, step)) <= current - _SUFFICIENT_DECREASE * length * decrement + rounding:
            return step
        length /= 2.0
    return None


def is_minimum(problem: Problem, fields: Fields) -> bool:
    """Return whether the Hessian at these fields is positive definite."""
    return _newton_direction(problem, fields, Fields(problem.y, problem.y)) is not None


def _newton_direction(problem: Problem, fields: Fields, slope: Fields) -> Fields | None:
    """Return -H^-1 slope, or None where the Hessian H is not positive definite."""
    solution = problem.lattice.solve_pair(*hessian(problem, fields), (-slope.mean, -slope.precision))
    return None if solution is None else Fields(*solution)


def _step_length(precision: Field, direction: Field) -> float:
    """Return t = 1 / (1 + max(-d / precision)), which keeps every precision positive."""
    return 1.0 / (1.0 + max(0.0, float(np.max(-direction / precision))))


def _solution(problem: Problem, fields: Fields, residual: float, status: Status, n_steps: int) -> Solution:
    """Return the fields as a Solution with their energy."""
    return Solution(*fields, energy(problem, fields), residual, status, n_steps)


def _two_sum(large: Field, small: Field) -> tuple[Field, Field]:
    """Return the rounded sum and its exact rounding error (Knuth)."""
    total = large + small
    shift = total - large
    return total, (large - (total - shift)) + (small - shift)

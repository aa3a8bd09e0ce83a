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
    reached: float | None = None  # F at the fields where the last step has computed it
    alternations, is_convex = _ALTERNATIONS, False
    n_steps = 0
    while True:
        if fields.precision.min() > bound:
            interpolating = Fields(best_mean(problem, fields.precision), fields.precision)
            residual = equations(problem, interpolating).relative
            return _solution(problem, interpolating, residual, Status.RUNAWAY, n_steps)
        step = None
        if not alternations or n_steps == max_steps:  # alternations need no residual, and never are the last step
            conditions = equations(problem, fields, tail)
            if conditions.relative <= tol and is_convex:
                return _solution(problem, fields, conditions.relative, Status.CONVERGED, n_steps)
            if n_steps == max_steps:
                return _solution(problem, fields, conditions.relative, Status.OUT_OF_STEPS, n_steps)
            step = newton(problem, fields, conditions, reached)
        is_convex = step is not None
        if step is None:
            alternations = (alternations or _ALTERNATIONS) - 1
            fields, tail, reached = alternate(problem, fields), None, None
        else:
            mean, mean_error = _two_sum(fields.mean, step.change.mean)
            precision, precision_error = _two_sum(fields.precision, step.change.precision)
            error = Fields(mean_error, precision_error)
            fields, tail = Fields(mean, precision), error if tail is None else tail.plus(1.0, error)
            reached = step.energy
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
    lattice, stiff = problem.lattice, 2.0 * problem.beta
    half = 0.5 * lattice.weights
    target = half * ((fields.mean - problem.y) ** 2 + problem.variance)
    precision = fields.precision
    for _ in range(precision_steps):
        pull = half / precision
        slope = pull - target - stiff * lattice.laplacian(precision)
        direction = lattice.solve(pull / precision, stiff, slope)
        precision = precision + _step_length(precision, direction) * direction
    return Fields(best_mean(problem, precision), precision)


class NewtonStep(NamedTuple):
    """The change of both fields by a Newton step, and F after it."""

    change: Fields
    energy: float


def newton(problem: Problem, fields: Fields, conditions: Equations, current: float | None = None) -> NewtonStep | None:
    """Return the Newton step of both fields, shortened until F falls; None at a saddle or if it gets too short.

    `current` is F at the fields, if it is known.
    """
    slope = gradient(problem, conditions)
    direction = _newton_direction(problem, fields, slope)
    if direction is None:
        return None
    decrement = -slope.dot(direction)
    if current is None:
        current = energy(problem, fields)
    rounding = np.finfo(float).eps * (abs(current) + len(problem.y))
    length = _step_length(fields.precision, direction.precision)
    while length >= _SHORTEST_STEP:
        change = direction.times(length)
        after = energy(problem, fields.plus(1.0, change))
        if after <= current - _SUFFICIENT_DECREASE * length * decrement + rounding:
            return NewtonStep(change, after)
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

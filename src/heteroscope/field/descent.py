"""A local minimum of the free energy to machine precision, or the proof that descent from this start has none.

Alternations first, then Newton on both fields; where Newton's Hessian is indefinite or its step does not descend, more
alternations. Every step lowers F, so the start decides which minimum is found.
"""

from typing import NamedTuple

import numpy as np

from heteroscope.core import Status
from heteroscope.field.lattices import Field
from heteroscope.field.problem import Equations, Fields, Problem, energy, equations, gradient, hessian, runaway_bound

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


_SAME = 1e-4
_ALTERNATIONS = 4  # before Newton, and again after each Newton step that was refused


class Solution(NamedTuple):
    """Fields at the end of a run, F, the relative residual of the stationarity conditions, and how the run ended."""

    mean: Field
    precision: Field
    energy: float
    residual: float
    status: Status
    n_steps: int

    @property
    def fields(self) -> Fields:
        """Mean and precision as a start for another run."""
        return Fields(self.mean, self.precision)


def minimise(problem: Problem, start: Fields, tol: float = 1e-10, max_steps: int = 500) -> Solution:
    """Descend from `start` until the relative residual is at most `tol` or the precision provably diverges.

    The last step to a minimum is always Newton's, whose Cholesky factor shows that it is a minimum and not a saddle.
    Newton steps are accumulated with their rounding errors in `tail`, so that the residual of nearly flat fields, whose
    curvature is a difference of almost equal numbers, still reaches `tol`.
    """
    bound = runaway_bound(problem)
    fields, tail = start, None
    alternations, curved_up = _ALTERNATIONS, False
    n_steps = 0
    while True:
        conditions = equations(problem, fields, tail)
        if fields.precision.min() > bound:
            interpolating = Fields(best_mean(problem, fields.precision), fields.precision)
            residual = equations(problem, interpolating).relative
            return _solution(problem, interpolating, residual, Status.RUNAWAY, n_steps)
        if conditions.relative <= tol and curved_up:
            return _solution(problem, fields, conditions.relative, Status.CONVERGED, n_steps)
        if n_steps == max_steps:
            return _solution(problem, fields, conditions.relative, Status.OUT_OF_STEPS, n_steps)
        step = None if alternations else newton(problem, fields, conditions)
        curved_up = step is not None
        if step is None:
            alternations = (alternations or _ALTERNATIONS) - 1
            fields, tail = alternate(problem, fields), None
        else:
            mean, mean_error = _two_sum(fields.mean, step.mean)
            precision, precision_error = _two_sum(fields.precision, step.precision)
            error = Fields(mean_error, precision_error)
            fields, tail = Fields(mean, precision), error if tail is None else tail.plus(1.0, error)
        n_steps += 1


def apart(one: Fields, other: Fields) -> bool:
    """Whether two minima differ: by more than 1e-4 in mean / std or in log precision, root mean square over points."""
    by_mean = np.mean(np.maximum(one.precision, other.precision) * (one.mean - other.mean) ** 2)
    by_precision = np.mean(np.log(one.precision / other.precision) ** 2)
    return bool(max(by_mean, by_precision) > _SAME**2)


def _solution(problem: Problem, fields: Fields, residual: float, status: Status, n_steps: int) -> Solution:
    return Solution(*fields, energy(problem, fields), residual, status, n_steps)


def _two_sum(large: Field, small: Field) -> tuple[Field, Field]:
    """The rounded sum and its exact rounding error (Knuth)."""
    total = large + small
    shift = total - large
    return total, (large - (total - shift)) + (small - shift)

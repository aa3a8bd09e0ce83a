"""A local minimum of the free energy to machine precision, or the proof that descent from this start has none.

Alternations first, then Newton on both fields; where Newton's Hessian is indefinite or its step does not descend, more
alternations. Every step lowers F, so the start decides which minimum is found.
"""

from typing import NamedTuple

import numpy as np

from heteroscope.core import Status
from heteroscope.field.lattice import Field
from heteroscope.field.problem import Fields, Problem, energy, equations, runaway_bound
from heteroscope.field.steps import alternate, best_mean, newton

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

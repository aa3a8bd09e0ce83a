"""Where the finite solution disappears as rho grows: the fold that bounds the overfit phase O_I, as a curve.

From the flat start's solution just before its runaway, the branch is followed round its fold, d(logit rho) = 0. If
descent from beyond a fold finds another finite minimum, that was a jump between finite phases, and its branch is next.
Where the precision is constant to more digits than this needs, the fold has a closed form (`stiff.py`).
"""

from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit, logit

from heteroscope.core import InputError, Status, logits
from heteroscope.field.branches import BranchPoint, Row, advance, trace
from heteroscope.field.checking import state
from heteroscope.field.descent import Solution, minimise
from heteroscope.field.grid import Values
from heteroscope.field.lattice import Field
from heteroscope.field.lattices import chain
from heteroscope.field.parallel import Progress, run_all
from heteroscope.field.solver import flat
from heteroscope.field.steps import is_minimum
from heteroscope.field.stiff import stiff_fold

_BRACKET = 0.25  # how close to the flat start's runaway, in logit rho, the branch is picked up
_BEYOND = 1e-3  # how far past a fold descent decides whether anything finite is left
_PATIENCE = 5000  # steps for that descent, which is slow where a minimum has only just vanished
_FLAT = 1e-5  # the tangent's logit rho at which a point counts as the turn
_STIFF = 1e-6  # how much of itself a precision may bend to count as constant: the closed form is off by less
_STRIDE, _LIMIT = 4.0, 40.0  # how the flat start's runaway is bracketed, in logit rho


class Branch(NamedTuple):
    """Stationary points along one branch: its stable part, the fold, and the unstable part that leads back."""

    logit_rho: Float[np.ndarray, " step"]
    mean: Float[np.ndarray, "step point"]
    precision: Float[np.ndarray, "step point"]
    stable: Bool[np.ndarray, " step"]


class Bifurcation(NamedTuple):
    """Where the flat start's finite solution ends at this gamma, the fields there, and the jumps passed on the way."""

    gamma: float
    logit_rho: float
    mean: Field
    precision: Field
    jumps: Float[np.ndarray, " jump"]

    @property
    def rho(self) -> float:
        """The fold's rho."""
        return float(expit(self.logit_rho))


def branch(
    x: ArrayLike,
    y: ArrayLike,
    rho: float,
    gamma: float,
    *,
    density: ArrayLike | None = None,
    max_points: int = 100,
) -> Branch:
    """The branch of the flat start's solution at (rho, gamma), towards larger rho, round its folds, at fixed gamma."""
    logit_rho, _ = logits(rho, gamma)
    row = _row(x, y, gamma, density)
    solution = _from_flat(row, logit_rho)
    if solution.status is not Status.CONVERGED:
        raise InputError(
            f"no finite solution at rho = {rho:g}, gamma = {gamma:g} ({solution.status}); start at a smaller rho"
        )
    points = list(islice(trace(row, solution.fields, logit_rho), max_points))
    return Branch(
        np.array([point.logit_rho for point in points]),
        np.array([point.fields.mean for point in points]),
        np.array([point.fields.precision for point in points]),
        np.array([is_minimum(row.at(point.logit_rho), point.fields) for point in points]),
    )


def fold(
    x: ArrayLike, y: ArrayLike, gamma: float, *, density: ArrayLike | None = None, max_points: int = 400
) -> Bifurcation:
    """The fold at one gamma, by pseudo-arclength continuation of the minimum that descent from the flat field finds."""
    row = _row(x, y, gamma, density)
    stiff = stiff_fold(row.lattice, row.base.y, gamma)
    if stiff.bend < _STIFF:
        return Bifurcation(gamma, stiff.logit_rho, *stiff.fields, stiff.jumps)
    logit_rho, solution = _last_before_runaway(row)
    jumps: list[float] = []
    while True:
        turn = _next_turn(row, solution, logit_rho, max_points)
        beyond = turn.logit_rho + _BEYOND
        solution = minimise(row.at(beyond), turn.fields, max_steps=_PATIENCE)
        if solution.status is Status.RUNAWAY:
            return Bifurcation(gamma, turn.logit_rho, *turn.fields, np.array(jumps))
        if solution.status is Status.OUT_OF_STEPS:
            raise _lost(turn)
        jumps.append(turn.logit_rho)
        logit_rho = beyond


def fold_curve(
    x: ArrayLike,
    y: ArrayLike,
    gammas: Values,
    *,
    density: ArrayLike | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[Bifurcation]:
    """The fold at every gamma: the boundary beyond which the diagram has no finite solution."""
    return run_all(partial(fold, x, y, density=density), [float(gamma) for gamma in gammas], n_jobs, progress)


def _row(x: ArrayLike, y: ArrayLike, gamma: float, density: ArrayLike | None) -> Row:
    lattice = chain(x, density)
    return Row(state(lattice, y, 0.5, gamma), lattice, float(logit(gamma)))


def _last_before_runaway(row: Row) -> tuple[float, Solution]:
    """The flat start's last finite solution, within `_BRACKET` in logit rho of its runaway, by bisection."""
    low = high = 0.0
    solution = _from_flat(row, 0.0)
    while solution.status is not Status.CONVERGED:
        low -= _STRIDE
        solution = _within_limits(row, low)
    lowest = solution
    while solution.status is not Status.RUNAWAY:
        high += _STRIDE
        solution = _within_limits(row, high)
        if solution.status is Status.CONVERGED:
            low, lowest = high, solution
    while high - low > _BRACKET:
        middle = (low + high) / 2.0
        solution = _from_flat(row, middle)
        if solution.status is Status.CONVERGED:
            low, lowest = middle, solution
        else:
            high = middle
    return low, lowest


def _within_limits(row: Row, logit_rho: float) -> Solution:
    if abs(logit_rho) > _LIMIT:
        raise InputError(f"no fold between logit rho = -{_LIMIT:g} and {_LIMIT:g}; standardise y, and x to [-1, 1]")
    return _from_flat(row, logit_rho)


def _from_flat(row: Row, logit_rho: float) -> Solution:
    problem = row.at(logit_rho)
    return minimise(problem, flat(problem))


def _next_turn(row: Row, solution: Solution, logit_rho: float, max_points: int) -> BranchPoint:
    """The first point whose tangent has no logit rho left: a change of sign, then root finding along that step."""
    before: BranchPoint | None = None
    for count, point in enumerate(trace(row, solution.fields, logit_rho)):
        if point.slope <= 0.0 and before is not None:
            return _turn_between(row, before, point)
        if count == max_points:
            break
        before = point
    raise _lost(point)


def _turn_between(row: Row, before: BranchPoint, after: BranchPoint) -> BranchPoint:
    """The turn to second order in `_FLAT`: any closer and the Hessian is singular to rounding."""

    def at(length: float) -> BranchPoint:
        point = advance(row, before, length) if length > 0.0 else before
        if point is None:
            raise _lost(before)
        return point

    def slope(length: float) -> float:
        found = at(length).slope
        return found if abs(found) > _FLAT else 0.0

    return at(brentq(slope, 0.0, after.step))


def _lost(point: BranchPoint) -> ArithmeticError:
    return ArithmeticError(f"the branch was lost at logit rho = {point.logit_rho:g}; try another gamma or fewer points")

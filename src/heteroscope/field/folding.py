"""Where the finite solution disappears as rho grows: the fold that bounds the overfit phase O_I, as a curve.

From the flat start's solution just before its runaway, the branch is followed round its fold, d(logit rho) = 0. If
descent from beyond a fold finds another finite minimum, that was a jump between finite phases, and its branch is next.
Where the precision is constant to more digits than this needs, the fold has a closed form (`stiff.py`).
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit

from heteroscope.core import InputError, Progress, Status
from heteroscope.field.branches import BranchPoint, Row, advance, row_of_gamma, solve_from_flat, trace
from heteroscope.field.descent import Solution, minimise
from heteroscope.field.grid import Values, run_all
from heteroscope.field.lattices import Chain, Field, inner
from heteroscope.field.problem import Fields

_PER_DECADE = 16  # values of q: each mode adds a bump to q R(q) that is more than a decade wide


class StiffFold(NamedTuple):
    """Where the solution of constant precision ends, the jumps before that, and how much the precision would bend."""

    logit_rho: float
    fields: Fields
    jumps: Float[np.ndarray, " jump"]
    bend: float  # largest difference of the precision over its value, to first order in 1 / beta


def stiff_fold(lattice: Chain, y: Field, gamma: float) -> StiffFold:
    """The fold of a constant precision; it is that of the theory as far as `bend` is small."""
    ends = _rising_ends(lattice, y)
    alphas = np.array([0.5 / _worth(lattice, y, q) for q in ends])
    alpha, q = float(alphas[-1]), ends[-1]
    residual = _residual(lattice, y, q)
    precision = 2.0 * alpha * q
    # K d = w (1 / precision - residual^2) / (4 beta), summed up from the left twice
    pull = np.cumsum(lattice.weights * (1.0 / precision - residual**2))[:-1] / (4.0 * alpha * (1.0 - gamma) / gamma)
    bend = float(np.ptp(np.cumsum(np.append(0.0, pull / lattice.stiffness)))) / precision
    logit_rhos = np.log(gamma) - np.log(alphas)  # alpha = gamma (1 - rho) / rho
    return StiffFold(float(logit_rhos[-1]), Fields(y + residual, np.full_like(y, precision)), logit_rhos[:-1], bend)


def _rising_ends(lattice: Chain, y: Field) -> list[float]:
    """Every q at which q R(q) is higher than ever before and falls behind it: all maxima lie between the modes of K."""
    slowest = 1.0 / (lattice.weights.sum() * np.sum(1.0 / lattice.stiffness))
    fastest = 2.0 * float(np.max(lattice.degree() / lattice.weights))
    n_values = int(_PER_DECADE * np.log10(fastest / slowest)) + 4
    log_q = np.linspace(np.log(slowest / 2), np.log(2 * fastest), n_values)
    worths = np.array([_worth(lattice, y, q) for q in np.exp(log_q)])
    ends = []
    for k in range(1, n_values - 1):
        if worths[k] >= worths[: k + 2].max():
            bounds = (log_q[k - 1], log_q[k + 1])
            best = minimize_scalar(
                lambda t: -_worth(lattice, y, np.exp(t)), bounds=bounds, method="bounded", options={"xatol": 1e-6}
            )
            ends.append(float(np.exp(best.x)))
    return ends


def _worth(lattice: Chain, y: Field, q: float) -> float:
    """q R(q)."""
    return q * inner(lattice.weights, _residual(lattice, y, q) ** 2) / len(y)


def _residual(lattice: Chain, y: Field, q: float) -> Field:
    """mean - y = -(q W + K)^-1 K y."""
    return -lattice.solve(q * lattice.weights, 1.0, lattice.laplacian(y))


_BRACKET = 0.25  # how close to the flat start's runaway, in logit rho, the branch is picked up
_BEYOND = 1e-3  # how far past a fold descent decides whether anything finite is left
_PATIENCE = 5000  # steps for that descent, which is slow where a minimum has only just vanished
_FLAT = 1e-5  # the tangent's logit rho at which a point counts as the turn
_STIFF = 1e-6  # how much of itself a precision may bend to count as constant: the closed form is off by less
_STRIDE, _LIMIT = 4.0, 40.0  # how the flat start's runaway is bracketed, in logit rho


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


def fold(
    x: ArrayLike, y: ArrayLike, gamma: float, *, density: ArrayLike | None = None, max_points: int = 400
) -> Bifurcation:
    """The fold at one gamma, by pseudo-arclength continuation of the minimum that descent from the flat field finds."""
    row = row_of_gamma(x, y, gamma, density)
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


def _last_before_runaway(row: Row) -> tuple[float, Solution]:
    """The flat start's last finite solution, within `_BRACKET` in logit rho of its runaway, by bisection."""
    low = high = 0.0
    solution = solve_from_flat(row, 0.0)
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
        solution = solve_from_flat(row, middle)
        if solution.status is Status.CONVERGED:
            low, lowest = middle, solution
        else:
            high = middle
    return low, lowest


def _within_limits(row: Row, logit_rho: float) -> Solution:
    if abs(logit_rho) > _LIMIT:
        raise InputError(f"no fold between logit rho = -{_LIMIT:g} and {_LIMIT:g}; standardise y, and x to [-1, 1]")
    return solve_from_flat(row, logit_rho)


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

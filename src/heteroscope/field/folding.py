"""Find the fold: the rho at which the finite solution disappears, which bounds the overfit phase O_I.

Start with the flat start's last finite solution before its runaway and follow the branch to its fold, where
d(logit rho) = 0. If descent from beyond the fold finds another finite minimum, the fold was a jump between finite
phases; continue on the branch of that minimum.

As gamma -> 0 the precision is too stiff to bend, and the fold has a closed form up to one number:

    2 alpha q R(q) = 1,    R(q) = weighted mean square of (q W + K)^-1 K y

A constant precision l = 2 alpha q leaves those residuals, and stationarity makes 1 / l their mean square. As alpha
falls the solution moves along the rising parts of q R(q), jumps from a maximum to the next higher part, and ends at the
highest maximum.
"""

from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, logit

from heteroscope.core import InputError, Progress, Status, cell_borders, shifted
from heteroscope.field.branches import (
    BranchPoint,
    ProblemFamily,
    advance,
    family_on,
    problem_family,
    solve_from_flat,
    trace_branch,
)
from heteroscope.field.descent import Solution, minimise
from heteroscope.field.grid import GridSolution, Values, run_all, stack_solutions
from heteroscope.field.lattices import Chain, Field, chain, inner
from heteroscope.field.problem import Fields

_VALUES_PER_DECADE = 16  # of q: each mode adds a bump to q R(q) that is more than a decade wide
_BRACKET = 0.25  # distance in logit rho from the flat start's runaway at which the branch begins
_STEP_BEYOND = 1e-3  # distance beyond a fold, in logit rho, at which descent looks for another finite minimum
_MAX_STEPS_BEYOND = 5000  # of that descent, which is slow near the minimum that has just vanished
_KICK = 0.3  # length along the branch's tangent by which that descent starts beyond the fold, as it is slow at the fold
_ZERO_SLOPE = 1e-5  # component of logit rho in the tangent below which a point counts as the turn
_NEGLIGIBLE_BEND = 1e-6  # relative variation of the precision up to which it counts as constant
_NEAR = 0.12  # the same distance where the cells of a grid are known: a jump costs more than a few descents
_STRIDE, _LARGEST_LOGIT = 4.0, 40.0  # step and limit of the search for the flat start's runaway, in logit rho


class Bifurcation(NamedTuple):
    """The end of the flat start's finite solution at one gamma.

    Attributes
    ----------
    gamma : float
        The gamma.
    logit_rho : float
        logit rho of the fold.
    mean, precision : ndarray of shape (n_points,)
        The fields at the fold.
    jumps : ndarray of shape (n_jumps,)
        logit rho of the jumps between finite minima before the fold.
    """

    gamma: float
    logit_rho: float
    mean: Field
    precision: Field
    jumps: Float[np.ndarray, " jump"]

    @property
    def rho(self) -> float:
        """Value of rho at the fold."""
        return float(expit(self.logit_rho))


def fold(
    x: ArrayLike, y: ArrayLike, gamma: float, *, density: ArrayLike | None = None, max_points: int = 400
) -> Bifurcation:
    """Find the fold at one gamma, by continuation of the minimum that descent from the flat field finds.

    Parameters
    ----------
    x : array_like of shape (n_points,)
        Strictly increasing positions, at least 3.
    y : array_like of shape (n_points,)
        Target: one draw of y(x), standardised.
    gamma : float
        Strictly between 0 and 1.
    density : array_like of shape (n_points,), "points" or None, default=None
        Density of the points; see `chain`.
    max_points : int, default=400
        Most points of a branch before its fold.

    Returns
    -------
    Bifurcation
        logit rho of the fold, the fields there, and the jumps before it.

    See Also
    --------
    fold_curve : The fold at several gammas.
    branch : The branch itself, with its unstable part.
    """
    family = problem_family(x, y, gamma, density)
    stiff = stiff_fold(family.lattice, family.base.y, gamma)
    if stiff.bend < _NEGLIGIBLE_BEND:
        return Bifurcation(gamma, stiff.logit_rho, *stiff.fields, stiff.jumps)
    return _follow_to_fold(family, *_last_before_runaway(family), max_points)._replace(gamma=gamma)


def _follow_to_fold(family: ProblemFamily, logit_rho: float, solution: Solution, max_points: int = 400) -> Bifurcation:
    """Follow the branch of a finite solution from fold to fold until descent beyond one runs away."""
    gamma = float(expit(family.logit_gamma))
    jumps: list[float] = []
    while True:
        turn = _next_turn(family, solution, logit_rho, max_points)
        beyond = turn.logit_rho + _STEP_BEYOND
        kicked = turn.fields.plus(_KICK, turn.tangent)
        start = kicked if kicked.precision.min() > 0.0 else turn.fields
        solution = minimise(family.at(beyond), start, max_steps=_MAX_STEPS_BEYOND)
        if solution.status is Status.RUNAWAY:
            return Bifurcation(gamma, turn.logit_rho, *turn.fields, np.array(jumps))
        if solution.status is Status.OUT_OF_STEPS:
            raise _branch_lost(turn)
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
    """Find the fold at every gamma: the boundary beyond which descent from the flat field runs away.

    Parameters
    ----------
    x : array_like of shape (n_points,)
        Strictly increasing positions, at least 3.
    y : array_like of shape (n_points,)
        Target: one draw of y(x), standardised.
    gammas : sequence of float
        Values of gamma, each strictly between 0 and 1.
    density : array_like of shape (n_points,), "points" or None, default=None
        Density of the points; see `chain`.
    n_jobs : int, default=1
        Number of processes.
    progress : callable or None, default=None
        Called as progress(done, total) with numbers of gammas.

    Returns
    -------
    list of Bifurcation
        One fold per gamma, in the given order.
    """
    return run_all(partial(fold, x, y, density=density), [float(gamma) for gamma in gammas], n_jobs, progress)


def solve_with_folds(
    x: ArrayLike,
    y: ArrayLike,
    rhos: Values,
    gammas: Values,
    *,
    density: ArrayLike | None = None,
    folds: bool | Literal["inside"] = True,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> tuple[GridSolution, list[Bifurcation]]:
    """Solve every cell of a grid on a line, one task for each gamma, then find the folds, one task for each.

    The fold's branch begins near the last finite cell below the runaways, so jumps between finite minima further down
    are not listed.

    Parameters
    ----------
    x : array_like of shape (n_points,)
        Strictly increasing positions, at least 3.
    y : array_like of shape (n_points,)
        Target: one draw of y(x).
    rhos, gammas : sequence of float
        Values of the grid, each strictly between 0 and 1, in increasing order.
    density : array_like of shape (n_points,), "points" or None, default=None
        Density of the points; see `chain`.
    folds : bool or "inside", default=True
        Whether to find the folds. "inside" finds those that a figure of the grid shows: the folds between the outer
        borders of the cells along rho, and the next one on either side, towards which the curve leaves the figure.
    n_jobs : int, default=1
        Number of processes.
    progress : callable or None, default=None
        Called as progress(done, total) with numbers of gammas; with folds each counts twice.

    Returns
    -------
    GridSolution
        The solutions of all cells, each from the flat start.
    list of Bifurcation
        The folds that were sought, in the order of `gammas`.

    See Also
    --------
    solve_grid : The cells alone.
    fold_curve : The folds alone, with the jumps before them.
    """
    lattice, ordered = chain(x, density), np.asarray(rhos, dtype=float)
    families = [family_on(lattice, y, float(gamma)) for gamma in gammas]
    logit_rhos, n = logit(ordered), len(families)
    borders = cell_borders(logit_rhos)[[0, -1]] if folds == "inside" else None
    total = 2 * n if folds else n
    columns = run_all(partial(_solve_column, logit_rhos, borders), families, n_jobs, shifted(progress, 0, total))
    solutions = [list(row) for row in zip(*(column.solutions for column in columns), strict=True)]
    grid = stack_solutions(ordered, gammas, solutions)
    if not folds:
        return grid, []
    inside = np.pad([column.has_fold_inside for column in columns], 1)
    sought = np.flatnonzero(inside[:-2] | inside[1:-1] | inside[2:])[::-1]  # folds at high gammas take longest
    maxima = record_maxima(lattice, families[0].base.y) if len(sought) else []
    tasks = [(families[k], _last_finite(logit_rhos, columns[k].solutions)) for k in sought]
    found = run_all(partial(_find_fold, maxima), tasks, n_jobs, shifted(progress, total - len(sought), total))
    in_order = zip(sought[::-1], found[::-1], strict=True)
    return grid, [one._replace(gamma=float(gammas[k])) for k, one in in_order]


class _Column(NamedTuple):
    """The cells of one gamma, and whether its fold lies between the borders of the cells."""

    solutions: list[Solution]
    has_fold_inside: bool


def _solve_column(
    logit_rhos: Float[np.ndarray, " rho"], borders: Float[np.ndarray, "2"] | None, family: ProblemFamily
) -> _Column:
    """Solve all cells of one gamma from the flat start; without borders every fold counts as inside.

    The fold lies at the flat start's last finite solution or above it. So a finite solution at the upper border shows
    that it is outside, while a runaway there only shows that it may be inside.
    """
    solutions = [solve_from_flat(family, float(z)) for z in logit_rhos]
    if borders is None:
        return _Column(solutions, True)
    starts_finite, ends_finite = (solutions[k].status is not Status.RUNAWAY for k in (0, -1))
    low, high = (partial(solve_from_flat, family, float(z)) for z in borders)
    is_below = not starts_finite and low().status is Status.RUNAWAY
    is_above = ends_finite and high().status is Status.CONVERGED
    return _Column(solutions, not (is_below or is_above))


class _Finite(NamedTuple):
    """A finite cell, and half the distance to the runaway above it: where the search for a fold begins."""

    logit_rho: float
    solution: Solution
    stride: float


def _last_finite(logit_rhos: Float[np.ndarray, " rho"], solutions: list[Solution]) -> _Finite | None:
    """Return the last finite cell below the first runaway of a column, or None if there is no such cell."""
    runaway = [k for k, solution in enumerate(solutions) if solution.status is Status.RUNAWAY]
    last = (runaway[0] if runaway else len(solutions)) - 1
    if last < 0 or solutions[last].status is not Status.CONVERGED:
        return None
    stride = float(logit_rhos[last + 1] - logit_rhos[last]) / 2.0 if runaway else _STRIDE / 2.0
    return _Finite(float(logit_rhos[last]), solutions[last], stride)


def _find_fold(maxima: list[float], task: tuple[ProblemFamily, _Finite | None]) -> Bifurcation:
    """Find the fold of one gamma above its last finite cell, or from scratch if it has none."""
    family, cell = task
    gamma = float(expit(family.logit_gamma))
    stiff = stiff_fold(family.lattice, family.base.y, gamma, maxima)
    if stiff.bend < _NEGLIGIBLE_BEND:
        return Bifurcation(gamma, stiff.logit_rho, *stiff.fields, stiff.jumps)
    return _follow_to_fold(
        family, *(_last_before_runaway(family) if cell is None else _approach_runaway(family, *cell))
    )


def _approach_runaway(
    family: ProblemFamily, logit_rho: float, solution: Solution, stride: float
) -> tuple[float, Solution]:
    """Continue a finite solution towards its runaway, in steps that are halved at each failure, down to `_NEAR`."""
    while stride > _NEAR:
        found = minimise(family.at(logit_rho + stride), solution.fields)
        if found.status is Status.CONVERGED:
            logit_rho, solution = logit_rho + stride, found
            _within(logit_rho)
        else:
            stride /= 2.0
    return logit_rho, solution


def _last_before_runaway(family: ProblemFamily) -> tuple[float, Solution]:
    """Bisect for the flat start's last finite solution, within `_BRACKET` in logit rho of its runaway."""
    low = high = 0.0
    solution = solve_from_flat(family, 0.0)
    while solution.status is not Status.CONVERGED:
        low -= _STRIDE
        solution = _within_limits(family, low)
    lowest = solution
    while solution.status is not Status.RUNAWAY:
        high += _STRIDE
        solution = _within_limits(family, high)
        if solution.status is Status.CONVERGED:
            low, lowest = high, solution
    while high - low > _BRACKET:
        middle = (low + high) / 2.0
        solution = solve_from_flat(family, middle)
        if solution.status is Status.CONVERGED:
            low, lowest = middle, solution
        else:
            high = middle
    return low, lowest


def _within_limits(family: ProblemFamily, logit_rho: float) -> Solution:
    """Descend from the flat fields, or raise if logit rho is outside the limits of the search."""
    _within(logit_rho)
    return solve_from_flat(family, logit_rho)


def _within(logit_rho: float) -> None:
    """Raise if logit rho is outside the limits of the search."""
    if abs(logit_rho) > _LARGEST_LOGIT:
        raise InputError(
            f"no fold between logit rho = -{_LARGEST_LOGIT:g} and {_LARGEST_LOGIT:g}; standardise y, and x to [-1, 1]"
        )


def _next_turn(family: ProblemFamily, solution: Solution, logit_rho: float, max_points: int) -> BranchPoint:
    """Follow the branch until its slope in logit rho changes sign, and return the turn within that step."""
    before: BranchPoint | None = None
    for count, point in enumerate(trace_branch(family, solution.fields, logit_rho)):
        if point.slope <= 0.0 and before is not None:
            return _turn_between(family, before, point)
        if count == max_points:
            break
        before = point
    raise _branch_lost(point)


def _turn_between(family: ProblemFamily, before: BranchPoint, after: BranchPoint) -> BranchPoint:
    """Find the turn to second order in `_ZERO_SLOPE`; any closer to it the Hessian is singular to rounding."""

    def at(length: float) -> BranchPoint:
        point = advance(family, before, length) if length > 0.0 else before
        if point is None:
            raise _branch_lost(before)
        return point

    def slope(length: float) -> float:
        found = at(length).slope
        return found if abs(found) > _ZERO_SLOPE else 0.0

    return at(brentq(slope, 0.0, after.step))


def _branch_lost(point: BranchPoint) -> ArithmeticError:
    """Return the error of a branch that cannot be followed further."""
    return ArithmeticError(
        f"the branch cannot be followed beyond logit rho = {point.logit_rho:g}; try another gamma or fewer points"
    )


class StiffFold(NamedTuple):
    """The fold of a constant precision, the jumps before it, and how much the precision would bend."""

    logit_rho: float
    fields: Fields
    jumps: Float[np.ndarray, " jump"]
    bend: float  # relative variation of the precision, to first order in 1 / beta


def stiff_fold(lattice: Chain, y: Field, gamma: float, maxima: list[float] | None = None) -> StiffFold:
    """Return the fold of a constant precision; its error is small where `bend` is small.

    `maxima` is what `record_maxima` returns, the same for every gamma.
    """
    maxima = record_maxima(lattice, y) if maxima is None else maxima
    alphas = np.array([0.5 / _q_mean_square(lattice, y, q) for q in maxima])
    alpha, q = float(alphas[-1]), maxima[-1]
    residual = _residual(lattice, y, q)
    precision = 2.0 * alpha * q
    # K d = w (1 / precision - residual^2) / (4 beta), summed twice from the left
    flux = np.cumsum(lattice.weights * (1.0 / precision - residual**2))[:-1] / (4.0 * alpha * (1.0 - gamma) / gamma)
    bend = float(np.ptp(np.cumsum(np.append(0.0, flux / lattice.stiffness)))) / precision
    logit_rhos = np.log(gamma) - np.log(alphas)  # alpha = gamma (1 - rho) / rho
    return StiffFold(float(logit_rhos[-1]), Fields(y + residual, np.full_like(y, precision)), logit_rhos[:-1], bend)


def record_maxima(lattice: Chain, y: Field) -> list[float]:
    """Return each local maximum q of q R(q) that exceeds all values at smaller q.

    All maxima lie between the slowest and the fastest mode of K.
    """
    slowest = 1.0 / (lattice.weights.sum() * np.sum(1.0 / lattice.stiffness))
    fastest = 2.0 * float(np.max(lattice.degree() / lattice.weights))
    n_values = int(_VALUES_PER_DECADE * np.log10(fastest / slowest)) + 4
    log_q = np.linspace(np.log(slowest / 2), np.log(2 * fastest), n_values)
    values = np.array([_q_mean_square(lattice, y, q) for q in np.exp(log_q)])
    maxima = []
    for k in range(1, n_values - 1):
        if values[k] >= values[: k + 2].max():
            bounds = (log_q[k - 1], log_q[k + 1])
            best = minimize_scalar(
                lambda t: -_q_mean_square(lattice, y, np.exp(t)),
                bounds=bounds,
                method="bounded",
                options={"xatol": 1e-6},
            )
            maxima.append(float(np.exp(best.x)))
    return maxima


def _q_mean_square(lattice: Chain, y: Field, q: float) -> float:
    """Return q R(q)."""
    return q * inner(lattice.weights, _residual(lattice, y, q) ** 2) / len(y)


def _residual(lattice: Chain, y: Field, q: float) -> Field:
    """Return mean - y = -(q W + K)^-1 K y."""
    return -lattice.solve(q * lattice.weights, 1.0, lattice.laplacian(y))

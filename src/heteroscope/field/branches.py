"""Following a stationary point as rho changes, round the folds where natural continuation in rho would lose it.

    [ H       g_s ] [dz]     [ g                                        ]
    [ t_z'G   t_s ] [ds] = - [ <t_z, z - z_0>_G + t_s (s - s_0) - length ]

Pseudo-arclength continuation in z = (mean, precision) and s = logit rho at fixed gamma, with gradient g and Hessian H.
Lengths are measured per point in the Fisher metric of the Gaussian, G = (precision, 1 / (2 precision^2)): they do not
depend on units.
"""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike
from scipy.special import logit

from heteroscope.core import InputError, Progress, Status, alpha_beta, logits
from heteroscope.field.descent import Solution, apart, best_mean, is_minimum, minimise
from heteroscope.field.grid import GridSolution, Values, run_all, stack
from heteroscope.field.lattices import Chain, chain, interleave
from heteroscope.field.problem import Fields, Problem, equations, gradient, hessian, state
from heteroscope.field.solver import flat

_TOLERANCE = 1e-8  # of the last correction; Newton squares it once more
_STRAIGHT = 0.9  # the least cosine between tangents of neighbouring points, so that no step leaves its branch
_CORRECTIONS = 6
_CLOSE = 0.1  # the largest first correction, as a share of the step: a larger one may end on another branch
_RESOLVED = 1e-3  # beyond this relative residual the stiff terms are rounding, however small the last correction
_FIRST, _SHORTEST, _LONGEST = 0.02, 1e-7, 0.2


class Row(NamedTuple):
    """The problems of one gamma, one for each logit rho."""

    base: Problem
    lattice: Chain
    logit_gamma: float

    def at(self, logit_rho: float) -> Problem:
        """The problem there: alpha and beta both fall as exp(-logit rho)."""
        alpha, beta = alpha_beta(logit_rho, self.logit_gamma)
        return self.base._replace(alpha=float(alpha), beta=float(beta))


class BranchPoint(NamedTuple):
    """A stationary point on a branch, and the unit tangent there: `slope` is its logit rho, `tangent` its fields.

    `step` is the length of the step that led here.
    """

    logit_rho: float
    fields: Fields
    slope: float
    tangent: Fields
    step: float


def trace(row: Row, start: Fields, logit_rho: float) -> Iterator[BranchPoint]:
    """Points along the branch of a stationary `start`, towards larger rho at first, then wherever the branch leads.

    Steps grow where corrections are easy and shrink where they fail. The branch ends where the shortest step fails, or
    where rounding of stiff terms leaves too large a residual, as it does far along the unstable branch.
    """
    point = first_point(row, start, logit_rho)
    length = _FIRST
    while True:
        yield point
        ahead = advance(row, point, length)
        while ahead is None:
            length /= 2.0
            if length < _SHORTEST:
                return
            ahead = advance(row, point, length)
        point, length = ahead, min(1.5 * length, _LONGEST)


def first_point(row: Row, start: Fields, logit_rho: float) -> BranchPoint:
    """`start` with the tangent that points towards larger rho."""
    change, length = _tangent(row, start, _solve(row.at(logit_rho), row.lattice, start)[1])
    return BranchPoint(logit_rho, start, 1.0 / length, change.times(1.0 / length), 0.0)


def advance(row: Row, point: BranchPoint, length: float) -> BranchPoint | None:
    """The stationary point a `length` further along, or None where corrections fail or the branch turns too sharply."""
    border = _metric(row, point.fields).times(point.tangent)
    fields, logit_rho = point.fields.plus(length, point.tangent), point.logit_rho + length * point.slope
    for count in range(_CORRECTIONS):
        if fields.precision.min() <= 0.0:
            return None
        newton, sensitivity = _solve(row.at(logit_rho), row.lattice, fields)
        miss = border.dot(fields.plus(-1.0, point.fields)) + point.slope * (logit_rho - point.logit_rho) - length
        change = (border.dot(newton) - miss) / (point.slope - border.dot(sensitivity))
        step = newton.plus(change, sensitivity)
        correction = _length(row, fields, step)
        if count == 0 and correction > _CLOSE * length:
            return None
        fields, logit_rho = fields.plus(-1.0, step), logit_rho + change
        if correction <= _TOLERANCE:
            tangent, norm = _tangent(row, fields, sensitivity)
            cosine = (border.dot(tangent) + point.slope) / norm
            if abs(cosine) < _STRAIGHT or equations(row.at(logit_rho), fields).relative > _RESOLVED:
                return None
            scale = float(np.sign(cosine)) / norm
            return BranchPoint(logit_rho, fields, scale, tangent.times(scale), length)
    return None


def _solve(problem: Problem, lattice: Chain, fields: Fields) -> tuple[Fields, Fields]:
    """H^-1 g and H^-1 g_s; the penalties' part of g is minus its derivative by s."""
    slope = gradient(problem, equations(problem, fields))
    sensitivity = interleave(
        -2.0 * problem.alpha * lattice.laplacian(fields.mean), -2.0 * problem.beta * lattice.laplacian(fields.precision)
    )
    right = np.column_stack((interleave(*slope), sensitivity))
    columns = lattice.solve_indefinite_pair(*hessian(problem, fields), right)
    return Fields(columns[0::2, 0], columns[1::2, 0]), Fields(columns[0::2, 1], columns[1::2, 1])


def _tangent(row: Row, fields: Fields, sensitivity: Fields) -> tuple[Fields, float]:
    """dz/ds = -H^-1 g_s and the length of (dz/ds, 1)."""
    change = sensitivity.times(-1.0)
    return change, float(np.hypot(_length(row, fields, change), 1.0))


def _length(row: Row, fields: Fields, direction: Fields) -> float:
    return float(np.sqrt(_metric(row, fields).times(direction).dot(direction)))


def _metric(row: Row, fields: Fields) -> Fields:
    weights = row.lattice.weights / len(fields.mean)
    return Fields(weights * fields.precision, 0.5 * weights / fields.precision**2)


class Branch(NamedTuple):
    """Stationary points along one branch: its stable part, the fold, and the unstable part that leads back."""

    logit_rho: Float[np.ndarray, " step"]
    mean: Float[np.ndarray, "step point"]
    precision: Float[np.ndarray, "step point"]
    stable: Bool[np.ndarray, " step"]


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
    row = row_of_gamma(x, y, gamma, density)
    solution = solve_from_flat(row, logit_rho)
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


def row_of_gamma(x: ArrayLike, y: ArrayLike, gamma: float, density: ArrayLike | None) -> Row:
    """Return the problems of one gamma on the chain of `x`."""
    lattice = chain(x, density)
    return Row(state(lattice, y, 0.5, gamma), lattice, float(logit(gamma)))


def solve_from_flat(row: Row, logit_rho: float) -> Solution:
    """Descend from the flat fields at one logit rho."""
    problem = row.at(logit_rho)
    return minimise(problem, flat(problem))


class Hysteresis(NamedTuple):
    """The diagrams of an upward and a downward sweep of rho, and where they differ."""

    up: GridSolution
    down: GridSolution
    differ: Bool[np.ndarray, "rho gamma"]


def hysteresis(
    x: ArrayLike,
    y: ArrayLike,
    rhos: Values,
    gammas: Values,
    *,
    density: ArrayLike | None = None,
    ceiling: float = 1e3,
    tol: float = 1e-10,
    max_steps: int = 500,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Hysteresis:
    """Both sweeps along increasing `rhos`, each from the flat field at its first cell, for every gamma."""
    if not ceiling > 1.0:
        raise InputError(
            f"ceiling must be larger than 1, got {ceiling:g}; it is how far a runaway gets, for example 1000"
        )
    lattice = chain(x, density)
    columns = [[state(lattice, y, float(rho), float(gamma)) for rho in rhos] for gamma in gammas]
    both_ways = [problems for column in columns for problems in (column, column[::-1])]
    follow = partial(_follow, ceiling=ceiling, tol=tol, max_steps=max_steps)
    sweeps = run_all(follow, both_ways, n_jobs, progress)
    up, down = _transpose(sweeps[0::2]), _transpose([sweep[::-1] for sweep in sweeps[1::2]])
    differ = np.array([_differ(*rows) for rows in zip(up, down, strict=True)])
    return Hysteresis(stack(rhos, gammas, up), stack(rhos, gammas, down), differ)


def _follow(problems: list[Problem], ceiling: float, tol: float, max_steps: int) -> list[Solution]:
    solutions: list[Solution] = []
    for problem in problems:
        fields = solutions[-1].fields if solutions else flat(problem)
        if solutions and solutions[-1].status is Status.RUNAWAY:
            precision = ceiling * flat(problem).precision
            fields = Fields(best_mean(problem, precision), precision)
        solutions.append(minimise(problem, fields, tol, max_steps))
    return solutions


def _transpose(columns: list[list[Solution]]) -> list[list[Solution]]:
    return [list(row) for row in zip(*columns, strict=True)]


def _differ(up: list[Solution], down: list[Solution]) -> list[bool]:
    return [
        one.status != other.status or (one.status is Status.CONVERGED and apart(one.fields, other.fields))
        for one, other in zip(up, down, strict=True)
    ]

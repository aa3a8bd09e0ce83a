"""Follow a stationary point along its branch and around its folds as rho changes.

Continuation in rho alone loses the point at a fold. Pseudo-arclength continuation in z = (mean, precision) and
s = logit rho at fixed gamma, with gradient g and Hessian H, does not:

    [ H       g_s ] [dz]     [ g                                        ]
    [ t_z'G   t_s ] [ds] = - [ <t_z, z - z_0>_G + t_s (s - s_0) - length ]

Lengths are measured per point in the Fisher metric of the Gaussian, G = (precision, 1 / (2 precision^2)), so they do
not depend on units.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike
from scipy.special import logit

from heteroscope.core import InputError, Status, alpha_beta, logits
from heteroscope.field.descent import Solution, is_minimum, minimise
from heteroscope.field.lattices import Chain, chain, interleave
from heteroscope.field.problem import Fields, Problem, equations, gradient, hessian, state
from heteroscope.field.solver import flat

_TOLERANCE = 1e-8  # length of the last correction; Newton converges quadratically, so the error is far smaller
_LEAST_COSINE = 0.9  # between tangents of neighbouring points; a sharper turn may lead to another branch
_MAX_CORRECTIONS = 6  # Newton corrections of one step
_LARGEST_FIRST_CORRECTION = 0.1  # relative to the step; a larger correction may end on another branch
_LARGEST_RESIDUAL = 1e-3  # relative residual above which stiff terms are only rounding
_FIRST_STEP, _SHORTEST_STEP, _LONGEST_STEP = 0.02, 1e-7, 0.5  # lengths in the Fisher metric
_LARGEST_GROWTH = 3.0  # of a step, relative to the one before


class ProblemFamily(NamedTuple):
    """The problems of one gamma, one for each logit rho."""

    base: Problem
    lattice: Chain
    logit_gamma: float

    def at(self, logit_rho: float) -> Problem:
        """Return the problem at one logit rho; alpha and beta are both proportional to exp(-logit rho)."""
        alpha, beta = alpha_beta(logit_rho, self.logit_gamma)
        return self.base._replace(alpha=float(alpha), beta=float(beta))


class BranchPoint(NamedTuple):
    """A stationary point on a branch and the unit tangent there.

    `slope` is the tangent's component of logit rho, `tangent` that of the fields, `step` the length of the step that
    led to the point, and `next_step` the length at which the next correction should stay within its limit.
    """

    logit_rho: float
    fields: Fields
    slope: float
    tangent: Fields
    step: float
    next_step: float


def trace_branch(family: ProblemFamily, start: Fields, logit_rho: float) -> Iterator[BranchPoint]:
    """Yield points along the branch of a stationary `start`, at first towards larger rho.

    Steps grow where corrections succeed and shrink where they fail. The branch ends where the shortest step fails, or
    where rounding of stiff terms leaves too large a residual, which happens far along the unstable branch.
    """
    point = first_point(family, start, logit_rho)
    length = _FIRST_STEP
    while True:
        yield point
        following = advance(family, point, length)
        while following is None:
            length /= 2.0
            if length < _SHORTEST_STEP:
                return
            following = advance(family, point, length)
        point, length = following, following.next_step


def first_point(family: ProblemFamily, start: Fields, logit_rho: float) -> BranchPoint:
    """Return `start` with the tangent that points towards larger rho."""
    change, length = _tangent(family, start, _solve(family.at(logit_rho), family.lattice, start)[1])
    return BranchPoint(logit_rho, start, 1.0 / length, change.times(1.0 / length), 0.0, _FIRST_STEP)


def advance(family: ProblemFamily, point: BranchPoint, length: float) -> BranchPoint | None:
    """Return the stationary point a `length` further along; None if corrections fail or the turn is too sharp."""
    border = _metric(family, point.fields).times(point.tangent)
    fields, logit_rho = point.fields.plus(length, point.tangent), point.logit_rho + length * point.slope
    next_step = _LONGEST_STEP
    for count in range(_MAX_CORRECTIONS):
        if fields.precision.min() <= 0.0:
            return None
        newton, sensitivity = _solve(family.at(logit_rho), family.lattice, fields)
        length_error = (
            border.dot(fields.plus(-1.0, point.fields)) + point.slope * (logit_rho - point.logit_rho) - length
        )
        change = (border.dot(newton) - length_error) / (point.slope - border.dot(sensitivity))
        step = newton.plus(change, sensitivity)
        correction = _length(family, fields, step)
        if count == 0:
            # the first correction grows as length^2, so its share of the step grows as the length
            growth = 0.7 * _LARGEST_FIRST_CORRECTION * length / max(correction, np.finfo(float).tiny)
            if growth < 0.7:
                return None
            next_step = min(length * min(growth, _LARGEST_GROWTH), _LONGEST_STEP)
        fields, logit_rho = fields.plus(-1.0, step), logit_rho + change
        if correction <= _TOLERANCE:
            tangent, norm = _tangent(family, fields, sensitivity)
            cosine = (border.dot(tangent) + point.slope) / norm
            if abs(cosine) < _LEAST_COSINE or equations(family.at(logit_rho), fields).relative > _LARGEST_RESIDUAL:
                return None
            scale = float(np.sign(cosine)) / norm
            return BranchPoint(logit_rho, fields, scale, tangent.times(scale), length, next_step)
    return None


def _solve(problem: Problem, lattice: Chain, fields: Fields) -> tuple[Fields, Fields]:
    """Return H^-1 g and H^-1 g_s; the derivative of g by s is minus the penalties' part of g."""
    slope = gradient(problem, equations(problem, fields))
    sensitivity = interleave(
        -2.0 * problem.alpha * lattice.laplacian(fields.mean), -2.0 * problem.beta * lattice.laplacian(fields.precision)
    )
    right = np.column_stack((interleave(*slope), sensitivity))
    columns = lattice.solve_indefinite_pair(*hessian(problem, fields), right)
    return Fields(columns[0::2, 0], columns[1::2, 0]), Fields(columns[0::2, 1], columns[1::2, 1])


def _tangent(family: ProblemFamily, fields: Fields, sensitivity: Fields) -> tuple[Fields, float]:
    """Return dz/ds = -H^-1 g_s and the length of (dz/ds, 1)."""
    change = sensitivity.times(-1.0)
    return change, float(np.hypot(_length(family, fields, change), 1.0))


def _length(family: ProblemFamily, fields: Fields, direction: Fields) -> float:
    """Return the length of a direction in the Fisher metric."""
    return float(np.sqrt(_metric(family, fields).times(direction).dot(direction)))


def _metric(family: ProblemFamily, fields: Fields) -> Fields:
    """Return the diagonal of the Fisher metric per point."""
    weights = family.lattice.weights / len(fields.mean)
    return Fields(weights * fields.precision, 0.5 * weights / fields.precision**2)


class Branch(NamedTuple):
    """Stationary points along one branch: the stable part, the fold, and the unstable part that leads back.

    Attributes
    ----------
    logit_rho : ndarray of shape (n_steps,)
        logit rho of each point.
    mean, precision : ndarray of shape (n_steps, n_points)
        The fields.
    stable : ndarray of bool of shape (n_steps,)
        Whether the point is a minimum.
    """

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
    """Follow the flat start's solution at (rho, gamma) towards larger rho and around its folds, at fixed gamma.

    Parameters
    ----------
    x : array_like of shape (n_points,)
        Strictly increasing positions, at least 3.
    y : array_like of shape (n_points,)
        Target: one draw of y(x).
    rho, gamma : float
        Where the branch begins, each value strictly between 0 and 1.
    density : array_like of shape (n_points,), "points" or None, default=None
        Density of the points; see `chain`.
    max_points : int, default=100
        Most points of the branch.

    Returns
    -------
    Branch
        Stationary points in the order in which they were reached.

    See Also
    --------
    fold : The fold alone.
    """
    logit_rho, _ = logits(rho, gamma)
    family = problem_family(x, y, gamma, density)
    solution = solve_from_flat(family, logit_rho)
    if solution.status is not Status.CONVERGED:
        raise InputError(
            f"descent from the flat field finds no solution at rho = {rho:g}, gamma = {gamma:g} ({solution.status}): "
            "start at a smaller rho"
        )
    points = list(islice(trace_branch(family, solution.fields, logit_rho), max_points))
    return Branch(
        np.array([point.logit_rho for point in points]),
        np.array([point.fields.mean for point in points]),
        np.array([point.fields.precision for point in points]),
        np.array([is_minimum(family.at(point.logit_rho), point.fields) for point in points]),
    )


def problem_family(x: ArrayLike, y: ArrayLike, gamma: float, density: ArrayLike | None) -> ProblemFamily:
    """Return the problems of one gamma on the chain of `x`."""
    return family_on(chain(x, density), y, gamma)


def family_on(lattice: Chain, y: ArrayLike, gamma: float) -> ProblemFamily:
    """Return the problems of one gamma on a chain."""
    return ProblemFamily(state(lattice, y, 0.5, gamma), lattice, float(logit(gamma)))


def solve_from_flat(family: ProblemFamily, logit_rho: float) -> Solution:
    """Descend from the flat fields at one logit rho."""
    problem = family.at(logit_rho)
    return minimise(problem, flat(problem))

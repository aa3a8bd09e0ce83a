"""Sweep rho up and down over a grid: hysteresis, and the last finite solution on lattices without a band.

A sweep starts each cell from the fields of the cell before it; where there are two minima, the upward and the downward
sweep give two diagrams. A runaway has no fields to continue from. The cell after it starts where finite training would
have stopped: at a flat precision of `ceiling` times that of the flat field, with the best mean for it. Without a
ceiling no sweep would come back, because a high enough precision runs away at every rho.

On a graph the fold is found by such a sweep, too: each step continues from the last finite solution, and is halved
until the runaway is bracketed. Pseudo-arclength continuation needs a banded solve at saddles, which only a chain has.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool
from numpy.typing import ArrayLike

from heteroscope.core import InputError, Progress, Status
from heteroscope.field.descent import Solution, are_different, best_mean, minimise
from heteroscope.field.grid import GridSolution, Values, run_all, stack_solutions
from heteroscope.field.lattices import Lattice, chain
from heteroscope.field.problem import Fields, Problem, problem_at, state
from heteroscope.field.solver import flat

_FIRST_STRIDE, _LARGEST_LOGIT = 2.0, 40.0  # step and limit of the search for the runaway, in logit rho


class Hysteresis(NamedTuple):
    """The diagrams of an upward and a downward sweep of rho.

    Attributes
    ----------
    up, down : GridSolution
        The two diagrams.
    differ : ndarray of bool of shape (n_rhos, n_gammas)
        Where they have different minima, or only one of them has a finite solution.
    """

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
    """Sweep rho up and down for every gamma, each cell starting from the fields of the cell before it.

    Parameters
    ----------
    x : array_like of shape (n_points,)
        Strictly increasing positions, at least 3.
    y : array_like of shape (n_points,)
        Target: one draw of y(x).
    rhos : sequence of float
        Increasing values of rho; each sweep begins with the flat field at its first cell.
    gammas : sequence of float
        Values of gamma.
    density : array_like of shape (n_points,), "points" or None, default=None
        Density of the points; see `chain`.
    ceiling : float, default=1000.0
        Precision from which the cell after a runaway starts, in units of the flat precision; larger than 1.
    tol : float, default=1e-10
        Relative residual at which a descent ends.
    max_steps : int, default=500
        Most steps of a descent.
    n_jobs : int, default=1
        Number of processes.
    progress : callable or None, default=None
        Called as progress(done, total) with numbers of sweeps, two for each gamma.

    Returns
    -------
    Hysteresis
        Both diagrams and where they differ.
    """
    return hysteresis_on(
        chain(x, density),
        y,
        rhos,
        gammas,
        ceiling=ceiling,
        tol=tol,
        max_steps=max_steps,
        n_jobs=n_jobs,
        progress=progress,
    )


def hysteresis_on(
    lattice: Lattice,
    y: ArrayLike,
    rhos: Values,
    gammas: Values,
    *,
    variance: ArrayLike | None = None,
    ceiling: float = 1e3,
    tol: float = 1e-10,
    max_steps: int = 500,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Hysteresis:
    """Sweep rho up and down on any lattice, such as the graph of a table.

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph of points.
    y : array_like of shape (n_points,)
        Target.
    rhos : sequence of float
        Increasing values of rho; each sweep begins with the flat field at its first cell.
    gammas : sequence of float
        Values of gamma.
    variance : array_like of shape (n_points,) or None, default=None
        Known variance of the target.
    ceiling : float, default=1000.0
        Precision from which the cell after a runaway starts, in units of the flat precision; larger than 1.
    tol : float, default=1e-10
        Relative residual at which a descent ends; 1e-8 is what conjugate gradients on a graph reach.
    max_steps : int, default=500
        Most steps of a descent.
    n_jobs : int, default=1
        Number of processes.
    progress : callable or None, default=None
        Called as progress(done, total) with numbers of sweeps, two for each gamma.

    Returns
    -------
    Hysteresis
        Both diagrams and where they differ.
    """
    if not ceiling > 1.0:
        raise InputError(
            f"ceiling must be larger than 1, got {ceiling:g}; it bounds the precision of a runaway, for example 1000"
        )
    columns = [[state(lattice, y, float(rho), float(gamma), variance) for rho in rhos] for gamma in gammas]
    both_ways = [problems for column in columns for problems in (column, column[::-1])]
    sweep = partial(_sweep, ceiling=ceiling, tol=tol, max_steps=max_steps)
    sweeps = run_all(sweep, both_ways, n_jobs, progress)
    up, down = _transpose(sweeps[0::2]), _transpose([sweep[::-1] for sweep in sweeps[1::2]])
    differ = np.array([_differ(*rows) for rows in zip(up, down, strict=True)])
    return Hysteresis(stack_solutions(rhos, gammas, up), stack_solutions(rhos, gammas, down), differ)


def _sweep(problems: list[Problem], ceiling: float, tol: float, max_steps: int) -> list[Solution]:
    """Solve the problems in order, each from the fields of the one before."""
    solutions: list[Solution] = []
    for problem in problems:
        fields = solutions[-1].fields if solutions else flat(problem)
        if solutions and solutions[-1].status is Status.RUNAWAY:
            precision = ceiling * flat(problem).precision
            fields = Fields(best_mean(problem, precision), precision)
        solutions.append(minimise(problem, fields, tol, max_steps))
    return solutions


def _transpose(columns: list[list[Solution]]) -> list[list[Solution]]:
    """Turn one list per gamma into one list per rho."""
    return [list(row) for row in zip(*columns, strict=True)]


def _differ(up: list[Solution], down: list[Solution]) -> list[bool]:
    """Return for each pair whether the minima differ or only one of the two is finite."""
    return [
        one.status != other.status or (one.status is Status.CONVERGED and are_different(one.fields, other.fields))
        for one, other in zip(up, down, strict=True)
    ]


def last_finite(
    lattice: Lattice,
    y: ArrayLike,
    gamma: float,
    *,
    variance: ArrayLike | None = None,
    within: float = 0.1,
    tol: float = 1e-8,
    max_steps: int = 500,
) -> float | None:
    """Return logit rho of the last finite solution as rho rises at one gamma, on any lattice.

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph of points.
    y : array_like of shape (n_points,)
        Target.
    gamma : float
        Strictly between 0 and 1.
    variance : array_like of shape (n_points,) or None, default=None
        Known variance of the target, which bounds the precision.
    within : float, default=0.1
        The fold lies at most so far above the returned logit rho.
    tol : float, default=1e-8
        Relative residual at which a descent ends.
    max_steps : int, default=500
        Most steps of a descent.

    Returns
    -------
    float or None
        logit rho; None if no descent runs away up to logit rho = 40.

    See Also
    --------
    fold : The fold on a line, to machine precision.
    """
    base = state(lattice, y, 0.5, gamma, variance)
    if base.variance.any():
        return None
    low, stride = -_FIRST_STRIDE, _FIRST_STRIDE
    found = _descend_from_flat(base, gamma, low, tol, max_steps)
    while found.status is not Status.CONVERGED:
        low -= _FIRST_STRIDE
        if low < -_LARGEST_LOGIT:
            return None
        found = _descend_from_flat(base, gamma, low, tol, max_steps)
    while stride > within and low < _LARGEST_LOGIT:
        beyond = minimise(problem_at(base, low + stride, gamma), found.fields, tol, max_steps)
        if beyond.status is Status.CONVERGED:
            low, found = low + stride, beyond
        else:
            stride /= 2.0
    return low if low < _LARGEST_LOGIT else None


def last_finite_curve(
    lattice: Lattice,
    y: ArrayLike,
    gammas: Values,
    *,
    variance: ArrayLike | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[float | None]:
    """Return `last_finite` at every gamma.

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph of points.
    y : array_like of shape (n_points,)
        Target.
    gammas : sequence of float
        Values of gamma, each strictly between 0 and 1.
    variance : array_like of shape (n_points,) or None, default=None
        Known variance of the target.
    n_jobs : int, default=1
        Number of processes.
    progress : callable or None, default=None
        Called as progress(done, total) with numbers of gammas.

    Returns
    -------
    list of float or None
        logit rho at each gamma; None where no descent runs away.
    """
    one = partial(last_finite, lattice, y, variance=variance)
    return run_all(one, [float(gamma) for gamma in gammas], n_jobs, progress)


def _descend_from_flat(base: Problem, gamma: float, logit_rho: float, tol: float, max_steps: int) -> Solution:
    """Descend from the flat fields at one logit rho."""
    problem = problem_at(base, logit_rho, gamma)
    return minimise(problem, flat(problem), tol, max_steps)

"""Where a descent begins; the free energy has several minima, and the start decides which one is found."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from heteroscope.core import InputError, Status
from heteroscope.field.descent import Solution, apart, best_mean, minimise
from heteroscope.field.graphs import table
from heteroscope.field.lattices import chain, inner
from heteroscope.field.problem import Fields, Problem, state

Start = str | tuple[np.ndarray, np.ndarray]


def flat(problem: Problem) -> Fields:
    """mean = average of y, precision = 1 / variance of y: the minimum as rho -> 0."""
    weights = problem.lattice.weights / len(problem.y)
    average = inner(weights, problem.y)
    spread = inner(weights, (problem.y - average) ** 2 + problem.variance)
    return Fields(np.full_like(problem.y, average), np.full_like(problem.y, 1.0 / spread))


def mean_first(problem: Problem) -> Fields:
    """The mean that is best for the flat precision, as networks are trained: first the mean, then both."""
    precision = flat(problem).precision
    return Fields(best_mean(problem, precision), precision)


NAMED = {"flat": flat, "mean first": mean_first}


def begin(problem: Problem, start: Start) -> Fields:
    """The fields a descent begins from: a named start, or a (mean, precision) pair such as a neighbour's solution."""
    if isinstance(start, str):
        if start not in NAMED:
            raise InputError(f"start={start!r} is not known; use one of {sorted(NAMED)} or a (mean, precision) pair")
        return NAMED[start](problem)
    mean, precision = (np.asarray(part, dtype=float) for part in start)
    if mean.shape != problem.y.shape or precision.shape != problem.y.shape:
        raise InputError(f"start must be a (mean, precision) pair, each of shape {problem.y.shape} like y")
    if not np.all(np.isfinite(mean) & np.isfinite(precision) & (precision > 0)):
        raise InputError("start must be finite, and its precision positive at every point")
    return Fields(mean, precision)


def solve(
    x: ArrayLike,
    y: ArrayLike,
    rho: float,
    gamma: float,
    *,
    density: ArrayLike | None = None,
    variance: ArrayLike | None = None,
    start: Start = "flat",
    tol: float = 1e-10,
    max_steps: int = 500,
) -> Solution:
    """The minimum of the free energy of one draw y(x) that descent from `start` finds, or the proof that it finds none.

    With `variance`, y is the noise's mean and F its average over all draws. `density` is as for `field.chain`.
    """
    problem = state(chain(x, density), y, rho, gamma, variance)
    return minimise(problem, begin(problem, start), tol=tol, max_steps=max_steps)


def solve_graph(
    X: ArrayLike,
    y: ArrayLike,
    rho: float,
    gamma: float,
    *,
    n_neighbors: int = 10,
    start: Start = "flat",
    tol: float = 1e-8,
    max_steps: int = 500,
) -> Solution:
    """`solve` for a table of features: mean and precision at every row; `n_neighbors` edges a row at least."""
    rows = table(X, y, n_neighbors)
    problem = state(rows.lattice, rows.y, rho, gamma, rows.variance)
    solution = minimise(problem, begin(problem, start), tol=tol, max_steps=max_steps)
    return solution._replace(mean=solution.mean[rows.place], precision=solution.precision[rows.place])


_NEIGHBOURS = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))  # steps in (logit rho, logit gamma)


def minima(
    x: ArrayLike,
    y: ArrayLike,
    rho: float,
    gamma: float,
    *,
    density: ArrayLike | None = None,
    reach: float = 1.0,
    tol: float = 1e-10,
    max_steps: int = 500,
) -> list[Solution]:
    """The distinct minima, lowest energy first; empty where every start runs away.

    Neighbours lie `reach` away in logit rho and in logit gamma; each is solved from every named start.
    """
    lattice = chain(x, density)
    here = state(lattice, y, rho, gamma)
    around = [
        state(lattice, y, float(expit(logit(rho) + reach * up)), float(expit(logit(gamma) + reach * right)))
        for up, right in _NEIGHBOURS
    ]
    starts = [begin(here) for begin in NAMED.values()]
    starts += [minimise(there, begin(there), tol, max_steps).fields for there in around for begin in NAMED.values()]
    found: list[Solution] = []
    for start in starts:
        solution = minimise(here, start, tol, max_steps)
        if solution.status is Status.CONVERGED and all(apart(solution.fields, one.fields) for one in found):
            found.append(solution)
    return sorted(found, key=lambda solution: solution.energy)

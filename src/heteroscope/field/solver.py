"""Solve the field theory at one (rho, gamma): on a line, on a table, from one start or from several.

The free energy has several minima, and the start decides which one is found.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from heteroscope.core import InputError, Status
from heteroscope.field.descent import Solution, are_different, best_mean, minimise
from heteroscope.field.graphs import table
from heteroscope.field.lattices import chain, inner
from heteroscope.field.problem import Fields, Problem, state

Start = str | tuple[np.ndarray, np.ndarray]
_NEIGHBOUR_STEPS = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))  # in units of `reach`: (logit rho, logit gamma)


def flat(problem: Problem) -> Fields:
    """Return mean = average of y and precision = 1 / variance of y, the minimum as rho -> 0."""
    weights = problem.lattice.weights / len(problem.y)
    average = inner(weights, problem.y)
    spread = inner(weights, (problem.y - average) ** 2 + problem.variance)
    return Fields(np.full_like(problem.y, average), np.full_like(problem.y, 1.0 / spread))


def mean_first(problem: Problem) -> Fields:
    """Return the flat precision and the best mean for it; networks are trained in this order, too."""
    precision = flat(problem).precision
    return Fields(best_mean(problem, precision), precision)


NAMED_STARTS = {"flat": flat, "mean first": mean_first}


def start_fields(problem: Problem, start: Start) -> Fields:
    """Return the fields of a named start or of a checked (mean, precision) pair."""
    if isinstance(start, str):
        if start not in NAMED_STARTS:
            raise InputError(
                f"start={start!r} is not known; use one of {sorted(NAMED_STARTS)} or a (mean, precision) pair"
            )
        return NAMED_STARTS[start](problem)
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
    """Find the minimum of the free energy on a line that descent from `start` reaches.

    Parameters
    ----------
    x : array_like of shape (n_points,)
        Strictly increasing positions, at least 3.
    y : array_like of shape (n_points,)
        Target: one draw of y(x), or its mean if `variance` is given.
    rho, gamma : float
        The regularisation, each strictly between 0 and 1.
    density : array_like of shape (n_points,), "points" or None, default=None
        Density of the points; see `chain`.
    variance : array_like of shape (n_points,) or None, default=None
        Known variance of the target: F is then the average over all draws.
    start : {"flat", "mean first"} or (mean, precision), default="flat"
        Where the descent begins.
    tol : float, default=1e-10
        Relative residual at which the descent ends.
    max_steps : int, default=500
        Most steps to take.

    Returns
    -------
    Solution
        Fields, energy and status; the status is runaway where descent from this start diverges.

    Examples
    --------
    >>> import numpy as np
    >>> from heteroscope import field
    >>> x = np.linspace(-1, 1, 64)
    >>> y = np.sin(3 * x) + np.random.default_rng(0).normal(size=64)
    >>> str(field.solve(x, y, rho=0.5, gamma=0.5).status)
    'converged'
    """
    problem = state(chain(x, density), y, rho, gamma, variance)
    return minimise(problem, start_fields(problem, start), tol=tol, max_steps=max_steps)


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
    """Find the minimum of the free energy on a table: a mean and a precision for every row.

    Parameters
    ----------
    X : array_like of shape (n_rows, n_features)
        Features, scaled so that Euclidean distances make sense.
    y : array_like of shape (n_rows,)
        Target.
    rho, gamma : float
        The regularisation, each strictly between 0 and 1.
    n_neighbors : int, default=10
        Nearest neighbours that each distinct row is joined to.
    start : {"flat", "mean first"} or (mean, precision), default="flat"
        Where the descent begins; a pair holds one value for each distinct row.
    tol : float, default=1e-8
        Relative residual at which the descent ends.
    max_steps : int, default=500
        Most steps to take.

    Returns
    -------
    Solution
        Fields at every row, energy and status.

    See Also
    --------
    solve : The same for points on a line.
    """
    rows = table(X, y, n_neighbors)
    problem = state(rows.lattice, rows.y, rho, gamma, rows.variance)
    solution = minimise(problem, start_fields(problem, start), tol=tol, max_steps=max_steps)
    return solution._replace(mean=solution.mean[rows.point_of_row], precision=solution.precision[rows.point_of_row])


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
    """Find the distinct minima of one cell, from the named starts and from the solutions of neighbouring cells.

    Parameters
    ----------
    x : array_like of shape (n_points,)
        Strictly increasing positions, at least 3.
    y : array_like of shape (n_points,)
        Target: one draw of y(x).
    rho, gamma : float
        The cell, each value strictly between 0 and 1.
    density : array_like of shape (n_points,), "points" or None, default=None
        Density of the points; see `chain`.
    reach : float, default=1.0
        Distance of the four neighbours, in logit rho and in logit gamma.
    tol : float, default=1e-10
        Relative residual at which a descent ends.
    max_steps : int, default=500
        Most steps of a descent.

    Returns
    -------
    list of Solution
        The minima, lowest energy first; empty if every start runs away.
    """
    lattice = chain(x, density)
    cell = state(lattice, y, rho, gamma)
    neighbours = [
        state(lattice, y, float(expit(logit(rho) + reach * up)), float(expit(logit(gamma) + reach * right)))
        for up, right in _NEIGHBOUR_STEPS
    ]
    starts = [named(cell) for named in NAMED_STARTS.values()]
    starts += [
        minimise(neighbour, named(neighbour), tol, max_steps).fields
        for neighbour in neighbours
        for named in NAMED_STARTS.values()
    ]
    found: list[Solution] = []
    for start in starts:
        solution = minimise(cell, start, tol, max_steps)
        if solution.status is Status.CONVERGED and all(are_different(solution.fields, one.fields) for one in found):
            found.append(solution)
    return sorted(found, key=lambda solution: solution.energy)

"""Solve the field theory over a grid of (rho, gamma): independent cells, in one process or several."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
from jaxtyping import Float, Shaped
from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from heteroscope.core import InputError, Progress
from heteroscope.field.descent import Solution, minimise
from heteroscope.field.lattices import Lattice, chain
from heteroscope.field.problem import Problem, state
from heteroscope.field.solver import Start, start_fields

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_all(
    function: Callable[[Task], Result], tasks: Sequence[Task], n_jobs: int, progress: Progress | None
) -> list[Result]:
    """Return [function(task) for task in tasks], computed by `n_jobs` processes.

    `progress(done, total)` is called as results arrive, in order. joblib's `parallel_config` moves the tasks to a
    cluster.
    """
    results: list[Result] = []
    for result in Parallel(n_jobs=n_jobs, return_as="generator")(delayed(function)(task) for task in tasks):
        results.append(result)
        if progress is not None:
            progress(len(results), len(tasks))
    return results


Values = Sequence[float] | Float[np.ndarray, "_"]


class GridSolution(NamedTuple):
    """The solutions of every cell of a grid.

    Attributes
    ----------
    rhos : ndarray of shape (n_rhos,)
        Values of rho.
    gammas : ndarray of shape (n_gammas,)
        Values of gamma.
    mean, precision : ndarray of shape (n_rhos, n_gammas, n_points)
        The fields.
    energy, residual : ndarray of shape (n_rhos, n_gammas)
        Free energy, and relative residual of the stationarity conditions.
    status : ndarray of str of shape (n_rhos, n_gammas)
        How each descent ended, in the words of `Status`.
    """

    rhos: Float[np.ndarray, " rho"]
    gammas: Float[np.ndarray, " gamma"]
    mean: Float[np.ndarray, "rho gamma point"]
    precision: Float[np.ndarray, "rho gamma point"]
    energy: Float[np.ndarray, "rho gamma"]
    residual: Float[np.ndarray, "rho gamma"]
    status: Shaped[np.ndarray, "rho gamma"]


def solve_grid(
    x: ArrayLike,
    y: ArrayLike,
    rhos: Values,
    gammas: Values,
    *,
    density: ArrayLike | None = None,
    variance: ArrayLike | None = None,
    start: Start = "flat",
    tol: float = 1e-10,
    max_steps: int = 500,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> GridSolution:
    """Solve every cell of a grid on a line, each from the same start.

    Parameters
    ----------
    x : array_like of shape (n_points,)
        Strictly increasing positions, at least 3.
    y : array_like of shape (n_points,)
        Target.
    rhos, gammas : sequence of float
        Values of the grid, each strictly between 0 and 1.
    density : array_like of shape (n_points,), "points" or None, default=None
        Density of the points; see `chain`.
    variance : array_like of shape (n_points,) or None, default=None
        Known variance of the target.
    start : {"flat", "mean first"} or (mean, precision), default="flat"
        Where each descent begins.
    tol : float, default=1e-10
        Relative residual at which a descent ends.
    max_steps : int, default=500
        Most steps of a descent.
    n_jobs : int, default=1
        Number of processes.
    progress : callable or None, default=None
        Called as progress(done, total) with numbers of finished values of rho.

    Returns
    -------
    GridSolution
        The solutions of all cells.

    See Also
    --------
    solve : One cell.
    """
    lattice = chain(x, density)
    return solve_cells(
        lattice,
        y,
        rhos,
        gammas,
        variance=variance,
        start=start,
        tol=tol,
        max_steps=max_steps,
        n_jobs=n_jobs,
        progress=progress,
    )


def solve_cells(
    lattice: Lattice,
    y: ArrayLike,
    rhos: Values,
    gammas: Values,
    *,
    variance: ArrayLike | None = None,
    start: Start = "flat",
    tol: float = 1e-10,
    max_steps: int = 500,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> GridSolution:
    """Solve every cell of a grid on any lattice, each from the same start.

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph of points.
    y : array_like of shape (n_points,)
        Target.
    rhos, gammas : sequence of float
        Values of the grid, each strictly between 0 and 1.
    variance : array_like of shape (n_points,) or None, default=None
        Known variance of the target.
    start : {"flat", "mean first"} or (mean, precision), default="flat"
        Where each descent begins.
    tol : float, default=1e-10
        Relative residual at which a descent ends.
    max_steps : int, default=500
        Most steps of a descent.
    n_jobs : int, default=1
        Number of processes.
    progress : callable or None, default=None
        Called as progress(done, total) with numbers of finished values of rho.

    Returns
    -------
    GridSolution
        The solutions of all cells.
    """
    if len(rhos) == 0 or len(gammas) == 0:
        raise InputError("rhos and gammas must each hold at least one value; leave them out for the paper's grid")
    rows = [[state(lattice, y, float(rho), float(gamma), variance) for gamma in gammas] for rho in rhos]
    solve_row = partial(_solve_row, start=start, tol=tol, max_steps=max_steps)
    return stack_solutions(rhos, gammas, run_all(solve_row, rows, n_jobs, progress))


def stack_solutions(rhos: Values, gammas: Values, rows: list[list[Solution]]) -> GridSolution:
    """Stack the solutions rows[i][j] at rho i and gamma j into one array for each of their fields."""

    def gather(name: str, dtype: type = float) -> np.ndarray:
        return np.array([[getattr(solution, name) for solution in row] for row in rows], dtype=dtype)

    return GridSolution(
        rhos=np.asarray(rhos, dtype=float),
        gammas=np.asarray(gammas, dtype=float),
        mean=gather("mean"),
        precision=gather("precision"),
        energy=gather("energy"),
        residual=gather("residual"),
        status=gather("status", str),
    )


def _solve_row(row: list[Problem], start: Start, tol: float, max_steps: int) -> list[Solution]:
    """Solve all cells of one rho."""
    return [minimise(problem, start_fields(problem, start), tol, max_steps) for problem in row]

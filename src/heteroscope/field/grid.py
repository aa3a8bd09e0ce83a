"""The field theory over a grid of (rho, gamma): independent cells, in one process or several."""

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
from heteroscope.field.solver import Start, begin

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_all(
    function: Callable[[Task], Result], tasks: Sequence[Task], n_jobs: int, progress: Progress | None
) -> list[Result]:
    """[function(task) for task in tasks]; `progress(done, total)` is called as results arrive, in order."""
    results: list[Result] = []
    for result in Parallel(n_jobs=n_jobs, return_as="generator")(delayed(function)(task) for task in tasks):
        results.append(result)
        if progress is not None:
            progress(len(results), len(tasks))
    return results


Values = Sequence[float] | Float[np.ndarray, "_"]


class GridSolution(NamedTuple):
    """What `Solution` holds, for every cell of a grid; `status` holds the words of `Status`."""

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
    """`solve` at every (rho, gamma), each cell from the same start; `progress(done, total)` counts values of rho."""
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
    """The same on any lattice."""
    if len(rhos) == 0 or len(gammas) == 0:
        raise InputError("rhos and gammas must each hold at least one value; leave them out for the paper's grid")
    rows = [[state(lattice, y, float(rho), float(gamma), variance) for gamma in gammas] for rho in rhos]
    solve_row = partial(_solve_row, start=start, tol=tol, max_steps=max_steps)
    return stack(rhos, gammas, run_all(solve_row, rows, n_jobs, progress))


def stack(rhos: Values, gammas: Values, rows: list[list[Solution]]) -> GridSolution:
    """One array for each field of the solutions, `rows[i][j]` being that at rho i and gamma j."""

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
    return [minimise(problem, begin(problem, start), tol, max_steps) for problem in row]

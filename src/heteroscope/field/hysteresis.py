"""Sweeping rho up and down: each cell starts from its neighbour's fields, and two minima make two diagrams.

A runaway has no fields to go on from. Its neighbour starts where finite training would have stopped it: at a flat
precision, `ceiling` times that of the flat field, with the best mean for it. Without a ceiling it would not come back:
a high enough precision runs away at every rho.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool
from numpy.typing import ArrayLike

from heteroscope.core import InputError, Status
from heteroscope.field.checking import state
from heteroscope.field.descent import Solution, apart, minimise
from heteroscope.field.grid import GridSolution, Values, stack
from heteroscope.field.lattices import chain
from heteroscope.field.parallel import Progress, run_all
from heteroscope.field.problem import Fields, Problem
from heteroscope.field.solver import flat
from heteroscope.field.steps import best_mean


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

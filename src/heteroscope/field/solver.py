"""Where a descent begins; the free energy has several minima, and the start decides which one is found."""

import numpy as np

from heteroscope.core import InputError
from heteroscope.field.lattice import inner
from heteroscope.field.problem import Fields, Problem
from heteroscope.field.steps import best_mean

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

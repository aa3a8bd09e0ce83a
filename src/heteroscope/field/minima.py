"""Every distinct minimum of one cell that its starts find: flat, mean first, and the solutions of its neighbours."""

from numpy.typing import ArrayLike
from scipy.special import expit, logit

from heteroscope.core import Status
from heteroscope.field.checking import state
from heteroscope.field.descent import Solution, apart, minimise
from heteroscope.field.lattices import chain
from heteroscope.field.solver import NAMED

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

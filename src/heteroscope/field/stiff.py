"""The fold where the precision is too stiff to bend: as gamma -> 0 it has a closed form up to one number.

    2 alpha q R(q) = 1,    R(q) = weighted mean square of (q W + K)^-1 K y

A constant precision l = 2 alpha q leaves those residuals, and stationarity makes 1 / l their mean square. As alpha
falls the solution moves along the rising parts of q R(q), jumps where a higher one follows, and ends at the highest.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize_scalar

from heteroscope.field.lattice import Field, inner
from heteroscope.field.lattices import Chain
from heteroscope.field.problem import Fields

_PER_DECADE = 16  # values of q: each mode adds a bump to q R(q) that is more than a decade wide


class StiffFold(NamedTuple):
    """Where the solution of constant precision ends, the jumps before that, and how much the precision would bend."""

    logit_rho: float
    fields: Fields
    jumps: Float[np.ndarray, " jump"]
    bend: float  # largest difference of the precision over its value, to first order in 1 / beta


def stiff_fold(lattice: Chain, y: Field, gamma: float) -> StiffFold:
    """The fold of a constant precision; it is that of the theory as far as `bend` is small."""
    ends = _rising_ends(lattice, y)
    alphas = np.array([0.5 / _worth(lattice, y, q) for q in ends])
    alpha, q = float(alphas[-1]), ends[-1]
    residual = _residual(lattice, y, q)
    precision = 2.0 * alpha * q
    # K d = w (1 / precision - residual^2) / (4 beta), summed up from the left twice
    pull = np.cumsum(lattice.weights * (1.0 / precision - residual**2))[:-1] / (4.0 * alpha * (1.0 - gamma) / gamma)
    bend = float(np.ptp(np.cumsum(np.append(0.0, pull / lattice.stiffness)))) / precision
    logit_rhos = np.log(gamma) - np.log(alphas)  # alpha = gamma (1 - rho) / rho
    return StiffFold(float(logit_rhos[-1]), Fields(y + residual, np.full_like(y, precision)), logit_rhos[:-1], bend)


def _rising_ends(lattice: Chain, y: Field) -> list[float]:
    """Every q at which q R(q) is higher than ever before and falls behind it: all maxima lie between the modes of K."""
    slowest = 1.0 / (lattice.weights.sum() * np.sum(1.0 / lattice.stiffness))
    fastest = 2.0 * float(np.max(lattice.degree() / lattice.weights))
    n_values = int(_PER_DECADE * np.log10(fastest / slowest)) + 4
    log_q = np.linspace(np.log(slowest / 2), np.log(2 * fastest), n_values)
    worths = np.array([_worth(lattice, y, q) for q in np.exp(log_q)])
    ends = []
    for k in range(1, n_values - 1):
        if worths[k] >= worths[: k + 2].max():
            bounds = (log_q[k - 1], log_q[k + 1])
            best = minimize_scalar(
                lambda t: -_worth(lattice, y, np.exp(t)), bounds=bounds, method="bounded", options={"xatol": 1e-6}
            )
            ends.append(float(np.exp(best.x)))
    return ends


def _worth(lattice: Chain, y: Field, q: float) -> float:
    """q R(q)."""
    return q * inner(lattice.weights, _residual(lattice, y, q) ** 2) / len(y)


def _residual(lattice: Chain, y: Field, q: float) -> Field:
    """mean - y = -(q W + K)^-1 K y."""
    return -lattice.solve(q * lattice.weights, 1.0, lattice.laplacian(y))

"""The free energy of a mean and a precision field, its derivatives, and the stationarity conditions.

    F = sum_i w_i/2 [precision_i ((mean_i - y_i)^2 + v_i) - log precision_i] + alpha m'K m + beta l'K l

with m = mean, l = precision, and F = L / rho for the paper's L. `v` is zero for one draw of y(x); with the noise's
mean in y and its variance in v, F is the average over all draws.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from heteroscope.core import InputError, alpha_beta, logits
from heteroscope.field.lattices import Field, Lattice, inner


class Problem(NamedTuple):
    """Points, target, the two penalties and the known variance of the target (zero for a single draw)."""

    lattice: Lattice
    y: Field
    alpha: float
    beta: float
    variance: Field


class Fields(NamedTuple):
    """A mean and a precision at every point; also a direction or a gradient in that space."""

    mean: Field
    precision: Field

    def plus(self, step: float, direction: "Fields") -> "Fields":
        """self + step * direction."""
        return Fields(self.mean + step * direction.mean, self.precision + step * direction.precision)

    def times(self, factor: "Fields | float") -> "Fields":
        """Both fields times a number, or each times its own factor at every point."""
        by_mean, by_precision = factor if isinstance(factor, Fields) else (factor, factor)
        return Fields(by_mean * self.mean, by_precision * self.precision)

    def dot(self, other: "Fields") -> float:
        """The Euclidean inner product."""
        return inner(self.mean, other.mean) + inner(self.precision, other.precision)


class Equations(NamedTuple):
    """The paper's pair of PDEs as left side minus right side, and the size of that relative to their terms."""

    mean: Field
    precision: Field
    relative: float


def energy(problem: Problem, fields: Fields) -> float:
    """F, the free energy divided by rho."""
    lattice, (mean, precision) = problem.lattice, fields
    squares = (mean - problem.y) ** 2 + problem.variance
    likelihood = 0.5 * inner(lattice.weights, precision * squares - np.log(precision))
    return likelihood + problem.alpha * lattice.dirichlet(mean) + problem.beta * lattice.dirichlet(precision)


def equations(problem: Problem, fields: Fields, tail: Fields | None = None) -> Equations:
    """precision r + (2 alpha / w) K mean and r^2 + v - 1/precision + (4 beta / w) K precision, with r = mean - y.

    `tail` holds digits of the fields beyond float64: curvatures of nearly flat fields would be lost to rounding.
    """
    lattice = problem.lattice
    mean_curvature, precision_curvature = lattice.laplacian(fields.mean), lattice.laplacian(fields.precision)
    residual = fields.mean - problem.y
    if tail is not None:
        mean_curvature += lattice.laplacian(tail.mean)
        precision_curvature += lattice.laplacian(tail.precision)
        residual += tail.mean
    pull = fields.precision * residual
    bend = 2.0 * problem.alpha / lattice.weights * mean_curvature
    squares = residual**2 + problem.variance
    inverse = 1.0 / fields.precision
    stretch = 4.0 * problem.beta / lattice.weights * precision_curvature
    mean, precision = pull + bend, squares - inverse + stretch
    relative = max(
        _relative(lattice.weights, mean, (pull, bend)),
        _relative(lattice.weights, precision, (squares, inverse, stretch)),
    )
    return Equations(mean, precision, relative)


def _relative(weights: Field, total: Field, terms: tuple[Field, ...]) -> float:
    """|total| / sum of |terms|, in the norm weighted by the points."""
    scale = sum(np.sqrt(inner(weights, term**2)) for term in terms)
    return float(np.sqrt(inner(weights, total**2)) / scale) if scale > 0 else 0.0


def gradient(problem: Problem, conditions: Equations) -> Fields:
    """(dF/dmean, dF/dprecision) = (w, w/2) times the two equations."""
    weights = problem.lattice.weights
    return Fields(weights * conditions.mean, 0.5 * weights * conditions.precision)


class Hessian(NamedTuple):
    """[[d1 + s1 K, c], [c, d2 + s2 K]]: diagonals d, coupling c and scales s of the Laplacian."""

    diagonals: tuple[Field, Field]
    coupling: Field
    scales: tuple[float, float]


def hessian(problem: Problem, fields: Fields) -> Hessian:
    """d = (w precision, w / (2 precision^2)), c = w (mean - y), s = (2 alpha, 2 beta)."""
    weights = problem.lattice.weights
    return Hessian(
        (weights * fields.precision, 0.5 * weights / fields.precision**2),
        weights * (fields.mean - problem.y),
        (2.0 * problem.alpha, 2.0 * problem.beta),
    )


def hessian_product(problem: Problem, fields: Fields, direction: Fields) -> Fields:
    """H d."""
    (first, second), coupling, (by_mean, by_precision) = hessian(problem, fields)
    laplacian = problem.lattice.laplacian
    return Fields(
        first * direction.mean + by_mean * laplacian(direction.mean) + coupling * direction.precision,
        second * direction.precision + by_precision * laplacian(direction.precision) + coupling * direction.mean,
    )


def runaway_bound(problem: Problem) -> float:
    """c^2 with c = max |2 alpha K y| / w: a minimum of F has min precision <= c^2, so none is ahead of a higher one.

    With the mean at its best, |mean - y| <= c / min precision (maximum principle), so above c^2 the precision equation
    fails where the precision is lowest, and each exact alternation multiplies that lowest value by at least
    min precision / c^2, for ever. A target of known variance never runs away: its likelihood bounds the precision.
    """
    if problem.variance.any():
        return np.inf
    pull = 2.0 * problem.alpha * problem.lattice.laplacian(problem.y) / problem.lattice.weights
    return float(np.max(np.abs(pull))) ** 2


def state(lattice: Lattice, y: ArrayLike, rho: float, gamma: float, variance: ArrayLike | None = None) -> Problem:
    """The problem on any lattice, with float64 alpha and beta; `variance` is for an average over all draws of y."""
    alpha, beta = alpha_beta(*logits(rho, gamma))
    target = _check_target(lattice, y)
    spread = np.zeros_like(target) if variance is None else np.asarray(variance, dtype=float)
    if spread.shape != target.shape or not np.all(np.isfinite(spread) & (spread >= 0)):
        raise InputError("variance must hold one finite number >= 0 for each y, or be None for a single draw of y")
    if not spread.any() and np.ptp(target) == 0:
        raise InputError("y is constant, so its precision has no finite value; give a target that varies")
    return Problem(lattice, target, float(alpha), float(beta), spread)


def _check_target(lattice: Lattice, y: ArrayLike) -> Field:
    """`y` as float64, one finite number for each point."""
    values = np.asarray(y, dtype=float)
    if values.shape != lattice.weights.shape:
        raise InputError(
            f"y has shape {values.shape}, but there are {len(lattice.weights)} points; give one y for each x"
        )
    if not np.all(np.isfinite(values)):
        raise InputError("y contains NaN or infinity; drop those points from x and y")
    return values

"""Define the free energy of a mean field and a precision field, its derivatives, and the stationarity conditions.

    F = sum_i w_i/2 [precision_i ((mean_i - y_i)^2 + v_i) - log precision_i] + alpha m'K m + beta l'K l

with m = mean, l = precision, and F = L / rho for the paper's L. The variance v is zero for one draw of y(x). If y holds
the mean of the noisy target and v its variance, F is the average over all draws.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from heteroscope.core import InputError, alpha_beta, logits
from heteroscope.field.lattices import Field, Lattice, inner


class Problem(NamedTuple):
    """Points, target, the two penalties and the known variance of the target.

    Attributes
    ----------
    lattice : Lattice
        The points, their weights and their Laplacian K.
    y : ndarray of shape (n_points,)
        The target.
    alpha, beta : float
        Penalties of the mean and of the precision, for a likelihood of weight one.
    variance : ndarray of shape (n_points,)
        Known variance of the target; zero for a single draw.
    """

    lattice: Lattice
    y: Field
    alpha: float
    beta: float
    variance: Field


class Fields(NamedTuple):
    """A mean and a precision at every point; also a direction or a gradient in the space of such pairs.

    Attributes
    ----------
    mean, precision : ndarray of shape (n_points,)
        The two fields.
    """

    mean: Field
    precision: Field

    def plus(self, step: float, direction: "Fields") -> "Fields":
        """Return self + step * direction.

        Parameters
        ----------
        step : float
            Factor of the direction.
        direction : Fields
            What is added.

        Returns
        -------
        Fields
            The sum.
        """
        return Fields(self.mean + step * direction.mean, self.precision + step * direction.precision)

    def times(self, factor: "Fields | float") -> "Fields":
        """Multiply both fields by a number, or each by its own factor at every point.

        Parameters
        ----------
        factor : Fields or float
            The number, or the factors of the mean and of the precision.

        Returns
        -------
        Fields
            The product.
        """
        by_mean, by_precision = factor if isinstance(factor, Fields) else (factor, factor)
        return Fields(by_mean * self.mean, by_precision * self.precision)

    def dot(self, other: "Fields") -> float:
        """Return the Euclidean inner product.

        Parameters
        ----------
        other : Fields
            The other factor.

        Returns
        -------
        float
            The sum of the products over both fields and all points.
        """
        return inner(self.mean, other.mean) + inner(self.precision, other.precision)


class Equations(NamedTuple):
    """Left side minus right side of the paper's two partial differential equations.

    Attributes
    ----------
    mean, precision : ndarray of shape (n_points,)
        Residual of the equation of the mean and of that of the precision.
    relative : float
        The larger norm of the two residuals, relative to the norms of the equation's terms.
    """

    mean: Field
    precision: Field
    relative: float


def energy(problem: Problem, fields: Fields) -> float:
    """Return F, the free energy divided by rho.

    Parameters
    ----------
    problem : Problem
        Points, target and penalties.
    fields : Fields
        Mean and precision; every precision is positive.

    Returns
    -------
    float
        The value of F.
    """
    lattice, (mean, precision) = problem.lattice, fields
    squares = (mean - problem.y) ** 2 + problem.variance
    likelihood = 0.5 * inner(lattice.weights, precision * squares - np.log(precision))
    return likelihood + problem.alpha * lattice.dirichlet(mean) + problem.beta * lattice.dirichlet(precision)


def equations(problem: Problem, fields: Fields, tail: Fields | None = None) -> Equations:
    """Return the residuals of the stationarity conditions.

        mean:       precision r + (2 alpha / w) K mean                      with r = mean - y
        precision:  r^2 + v - 1/precision + (4 beta / w) K precision

    Parameters
    ----------
    problem : Problem
        Points, target and penalties.
    fields : Fields
        Mean and precision.
    tail : Fields or None, default=None
        Digits of the fields beyond float64. Without them, rounding would hide the curvature of nearly flat fields.

    Returns
    -------
    Equations
        Both residuals, and their size relative to the terms of the equations.
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
    """Return |total| / sum of |terms| in the norm weighted by the points."""
    scale = sum(np.sqrt(inner(weights, term**2)) for term in terms)
    return float(np.sqrt(inner(weights, total**2)) / scale) if scale > 0 else 0.0


def gradient(problem: Problem, conditions: Equations) -> Fields:
    """Return the gradient of F: (w, w/2) times the residuals of the two equations.

    Parameters
    ----------
    problem : Problem
        Points, target and penalties.
    conditions : Equations
        What `equations` returns at the fields.

    Returns
    -------
    Fields
        (dF/dmean, dF/dprecision).
    """
    weights = problem.lattice.weights
    return Fields(weights * conditions.mean, 0.5 * weights * conditions.precision)


class Hessian(NamedTuple):
    """The matrix [[d1 + s1 K, c], [c, d2 + s2 K]]: diagonals d, coupling c and scales s of the Laplacian."""

    diagonals: tuple[Field, Field]
    coupling: Field
    scales: tuple[float, float]


def hessian(problem: Problem, fields: Fields) -> Hessian:
    """Return the Hessian of F: d = (w precision, w / (2 precision^2)), c = w (mean - y), s = (2 alpha, 2 beta)."""
    weights = problem.lattice.weights
    return Hessian(
        (weights * fields.precision, 0.5 * weights / fields.precision**2),
        weights * (fields.mean - problem.y),
        (2.0 * problem.alpha, 2.0 * problem.beta),
    )


def hessian_product(problem: Problem, fields: Fields, direction: Fields) -> Fields:
    """Return the Hessian of F times a direction.

    Parameters
    ----------
    problem : Problem
        Points, target and penalties.
    fields : Fields
        Where the Hessian is taken.
    direction : Fields
        What it is applied to.

    Returns
    -------
    Fields
        The product.
    """
    (first, second), coupling, (by_mean, by_precision) = hessian(problem, fields)
    laplacian = problem.lattice.laplacian
    return Fields(
        first * direction.mean + by_mean * laplacian(direction.mean) + coupling * direction.precision,
        second * direction.precision + by_precision * laplacian(direction.precision) + coupling * direction.mean,
    )


def runaway_bound(problem: Problem) -> float:
    """Return c^2 with c = max |2 alpha K y| / w: no minimum of F has a lowest precision above it.

    For the best mean, |mean - y| <= c / min precision (maximum principle). So above c^2 the precision equation fails
    where the precision is lowest, and each exact alternation multiplies that lowest value by at least min precision /
    c^2, without end.

    Parameters
    ----------
    problem : Problem
        Points, target and penalties.

    Returns
    -------
    float
        The bound; infinity for a target of known variance, whose likelihood bounds the precision.
    """
    if problem.variance.any():
        return np.inf
    pull = 2.0 * problem.alpha * problem.lattice.laplacian(problem.y) / problem.lattice.weights
    return float(np.max(np.abs(pull))) ** 2


def state(lattice: Lattice, y: ArrayLike, rho: float, gamma: float, variance: ArrayLike | None = None) -> Problem:
    """Check a target and return its problem at (rho, gamma).

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph of points.
    y : array_like of shape (n_points,)
        The target.
    rho, gamma : float
        The regularisation, each strictly between 0 and 1.
    variance : array_like of shape (n_points,) or None, default=None
        Known variance of the target: F is then the average over all draws of y. None means a single draw.

    Returns
    -------
    Problem
        The problem, with alpha and beta in float64.
    """
    alpha, beta = alpha_beta(*logits(rho, gamma))
    target = _check_target(lattice, y)
    spread = np.zeros_like(target) if variance is None else np.asarray(variance, dtype=float)
    if spread.shape != target.shape or not np.all(np.isfinite(spread) & (spread >= 0)):
        raise InputError("variance must hold one finite number >= 0 for each y, or be None for a single draw of y")
    if not spread.any() and np.ptp(target) == 0:
        raise InputError("y is constant, so its precision has no finite value; give a target that varies")
    return Problem(lattice, target, float(alpha), float(beta), spread)


def problem_at(problem: Problem, logit_rho: float, gamma: float) -> Problem:
    """Return the problem with the penalties of another (rho, gamma).

    Parameters
    ----------
    problem : Problem
        Points and target.
    logit_rho : float
        The new rho as a logit, so that no digit of 1 - rho is lost.
    gamma : float
        The new gamma, strictly between 0 and 1.

    Returns
    -------
    Problem
        The same points and target.
    """
    alpha, beta = alpha_beta(logit_rho, logits(0.5, gamma)[1])
    return problem._replace(alpha=float(alpha), beta=float(beta))


def _check_target(lattice: Lattice, y: ArrayLike) -> Field:
    """Return `y` as float64, or raise unless it holds one finite number for each point."""
    values = np.asarray(y, dtype=float)
    if values.shape != lattice.weights.shape:
        raise InputError(
            f"y has shape {values.shape}, but there are {len(lattice.weights)} points; give one y for each x"
        )
    if not np.all(np.isfinite(values)):
        raise InputError("y contains NaN or infinity; drop those points from x and y")
    return values

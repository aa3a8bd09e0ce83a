"""Choose the penalties of the field theory from the training rows alone: by leaving out rows, or by the evidence.

At a constant precision the best mean is linear in the target. In the modes K u_k = lambda_k W u_k, with q = precision /
(2 alpha) and the power m of the Laplacian,

    f_k = s_k y_k,    s_k = q / (q + lambda_k^m),    residual without row i = (y_i - f_i) / (1 - S_ii)

which is exact, S_ii = w_i/n sum_k s_k u_ik^2. The log evidence at the best noise sigma^2 is, up to a constant,

    -1/2 [(n - 1) log sigma^2 + sum_{k>=1} log(1 + q / lambda_k^m)],
    sigma^2 = n/(n - 1) sum_{k>=1} y_k^2 / (1 + q / lambda_k^m)

The precision then follows the squared residuals of the rows left out, by the theory's own equation; beta is chosen by
leaving out rows again, to first order. More than one feature needs a power m > d/2, or spikes at the rows cost nothing
(docs/field.md); the penalty of the slopes that belongs to the chosen mean is, for any m,

    alpha = -1/2 dv/dE / noise,    v = residual variance,    E = f'K f / n,    noise = that of rows left out

which is noise^-1 / (2 q) for m = 1.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.core import InputError
from heteroscope.field.bayesian.algebra import Algebra, algebra
from heteroscope.field.boundaries import Modes, modes
from heteroscope.field.lattices import Field, Lattice, inner
from heteroscope.field.problem import Fields, Problem, hessian, state

CRITERIA = ("leave one out", "evidence")
_LOG_STEP = 0.5  # between values of log q
_SHARES = (1e-4, 0.999)  # of the target's variance that a mean may leave: between memorising and flat
_LOG_BETAS = np.arange(-10.0, 10.1, 1.0)
_LEAST_NOISE = 1e-8  # of a target that rows determine exactly
_FLAT = 0.05  # sd of log precision from which on it varies, as in the labels of phases
_LEAST_GAIN = 1e-3  # nats a row by which a precision that varies must beat the constant one
_NEWTON_STEPS, _SETTLED = 60, 1e-9


class PenaltyChoice(NamedTuple):
    """The penalties that a criterion chooses, and the theory's solution there.

    Attributes
    ----------
    alpha, beta : float
        Penalties of the slopes of mean and precision, for an average NLL of weight one.
    mean_energy, precision_energy : float
        Dirichlet energies f'K f / n of both fields.
    varies : bool
        Whether a precision that varies predicts the rows left out better. Otherwise beta and the energy are those where
        the precision is about to vary.
    power : int
        The power of the Laplacian of the mean.
    noise : float
        Variance of the residuals of rows left out.
    """

    alpha: float
    beta: float
    mean_energy: float
    precision_energy: float
    varies: bool
    power: int
    noise: float


class LeftOut(NamedTuple):
    """The theory's predictions of each point from all the others.

    Attributes
    ----------
    mean, precision : ndarray of shape (n_points,)
        Both fields at a point, without the point itself.
    nll : float
        Average NLL of the points under them, without its constant; infinite where a point's own term holds the minimum.
    """

    mean: Field
    precision: Field
    nll: float


def leave_one_out(problem: Problem, fields: Fields) -> LeftOut:
    """Predict each point from all the others by one Newton step: exact where F is quadratic.

        z_without = z + (C^-1 - h)^-1 g,    z = (mean, log precision),    C = the point's 2 x 2 block of H^-1

    g and h are the gradient and the Hessian of the point's own term of the likelihood.

    Parameters
    ----------
    problem : Problem
        Points, target and penalties, on a chain or on a graph of at most 2,000 points.
    fields : Fields
        A minimum of F.

    Returns
    -------
    LeftOut
        Both fields at each point without that point, and the average NLL.
    """
    factor = algebra(problem.lattice).pair(hessian(problem, fields))
    if factor is None:
        raise InputError("the fields are no minimum of the free energy: give those that the solver has found")
    (mean, precision), weights = fields, problem.lattice.weights
    residual = mean - problem.y
    squares = residual**2 + problem.variance
    # in log precision the blocks of H^-1 are those of the precision divided by it, since F has no slope there
    a, c, b = factor.variances()
    b, c = b / precision, c / precision**2
    determinant = a * c - b * b
    by_mean = c / determinant - weights * precision
    by_precision = a / determinant - 0.5 * weights * precision * squares
    coupling = -b / determinant - weights * precision * residual
    first, second = weights * precision * residual, 0.5 * weights * (precision * squares - 1.0)
    rest = by_mean * by_precision - coupling**2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        changed = mean + (by_precision * first - coupling * second) / rest
        without = precision * np.exp((by_mean * second - coupling * first) / rest)
        own = 0.5 * (without * ((changed - problem.y) ** 2 + problem.variance) - np.log(without))
    holds = bool(np.all((by_mean > 0) & (rest > 0) & np.isfinite(own)))
    return LeftOut(changed, without, inner(weights, own) / float(weights.sum()) if holds else np.inf)


def choose_penalties(
    lattice: Lattice,
    y: Field,
    variance: Field | None = None,
    *,
    criterion: str = "leave one out",
    powers: tuple[int, ...] = (1,),
) -> PenaltyChoice:
    """Choose (alpha, beta) without training anything.

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph of at most 2,000 points, of standardised inputs.
    y : ndarray of shape (n_points,)
        Standardised target.
    variance : ndarray of shape (n_points,) or None, default=None
        Known variance of the target, such as that of equal rows of a table.
    criterion : {"leave one out", "evidence"}, default="leave one out"
        What the mean's penalty is chosen by.
    powers : tuple of int, default=(1,)
        Powers of the Laplacian to choose from.

    Returns
    -------
    PenaltyChoice
        The penalties and the theory's solution there.
    """
    if criterion not in CRITERIA:
        raise InputError(f"criterion must be one of {', '.join(CRITERIA)}, got {criterion!r}")
    problem = state(lattice, y, 0.5, 0.5, variance)
    found = modes(lattice)
    curves = [_Curve.of(found, problem, power) for power in powers]
    scored = [(curve.loss(log_q, criterion), log_q, curve) for curve in curves for log_q in curve.inside()]
    if not scored:
        raise InputError("no mean between flat and memorising: standardise inputs and target")
    _, log_q, curve = min(scored, key=lambda one: one[0])
    squares = curve.left_out(log_q)
    noise = max(inner(lattice.weights, squares) / len(y), _LEAST_NOISE)
    alpha, mean_energy = curve.penalty(log_q, noise)
    beta, precision_energy, varies = _choose_beta(lattice, squares, algebra(lattice))
    return PenaltyChoice(alpha, beta, mean_energy, precision_energy, varies, curve.power, noise)


class _Curve(NamedTuple):
    """All linear means of one power of the Laplacian, one for each log q."""

    found: Modes
    stiff: Float[np.ndarray, " mode"]  # lambda^m in units of a typical one
    coefficients: Float[np.ndarray, " mode"]
    problem: Problem
    power: int

    @classmethod
    def of(cls, found: Modes, problem: Problem, power: int) -> "_Curve":
        typical = float(np.median(found.values[1:]))
        return cls(found, (found.values / typical) ** power, found.coefficients(problem.y), problem, power)

    def inside(self) -> Float[np.ndarray, " value"]:
        """Return the values of log q between memorising and flat."""
        positive = self.stiff[1:]
        ends = np.log(positive.min()) - 8.0, np.log(positive.max()) + 8.0
        log_qs = np.arange(*ends, _LOG_STEP)
        spread = np.sum(self.coefficients[1:] ** 2)
        left = np.array([np.sum(((1.0 - self._kept(one)) * self.coefficients) ** 2) for one in log_qs]) / spread
        return log_qs[(left > _SHARES[0]) & (left < _SHARES[1])]

    def loss(self, log_q: float, criterion: str) -> float:
        """Return what is minimised: NLL of rows left out at the best constant precision, or minus the log evidence."""
        n = len(self.coefficients)
        if criterion == "leave one out":
            return 0.5 * float(np.log(inner(self.found.weights, self.left_out(log_q)) / n))
        growth = 1.0 + np.exp(log_q) / self.stiff[1:]
        noise = n / (n - 1) * np.sum(self.coefficients[1:] ** 2 / growth)
        return float(0.5 * ((n - 1) * np.log(noise) + np.sum(np.log(growth))))

    def left_out(self, log_q: float) -> Field:
        """Return the expected squared residual of each point without itself."""
        kept = self._kept(log_q)
        weights, vectors = self.found.weights, self.found.vectors
        own = weights / len(kept) * (vectors**2 @ kept)
        residual = (self.problem.y - vectors @ (kept * self.coefficients)) / np.maximum(1.0 - own, 1e-9)
        squares: Field = residual**2 + self.problem.variance
        return squares

    def penalty(self, log_q: float, noise: float) -> tuple[float, float]:
        """Return alpha = -1/2 dv/dE / noise, from the slope of the curve of residual variance over energy, and E."""
        kept, values = self._kept(log_q), self.found.values
        change = kept * (1.0 - kept)  # d kept / d log q
        squares = self.coefficients**2
        falls, rises = np.sum((1.0 - kept) * change * squares), np.sum(values * kept * change * squares)
        return float(falls / (2.0 * noise * rises)), float(np.sum(values * kept**2 * squares))

    def _kept(self, log_q: float) -> Float[np.ndarray, " mode"]:
        q = np.exp(log_q)
        return q / (q + self.stiff)


def _choose_beta(lattice: Lattice, squares: Field, matrices: Algebra) -> tuple[float, float, bool]:
    """Choose beta for the squared residuals of rows left out; return it, the energy, and whether the precision varies.

    The free energy of the precision, sum w/2 (l s - log l) + beta l'K l, is convex.
    """
    weights, n = lattice.weights, len(squares)
    constant = np.full(n, n / inner(weights, squares))
    tried: list[tuple[float, float, float]] = []
    at_onset: tuple[float, float] | None = None
    precision = constant
    for beta in np.exp(_LOG_BETAS[::-1]):
        precision = _precision_at(lattice, squares, float(beta), precision)
        curvature = 0.5 * weights / precision**2
        block = matrices.smooth(curvature[None], 2.0 * float(beta), np.zeros((1, n))).variance[0] / precision**2
        left = 1.0 / block - 0.5 * weights * precision * squares
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            without = precision * np.exp(0.5 * weights * (precision * squares - 1.0) / left)
            own = 0.5 * (without * squares - np.log(without))
        holds = np.all(left > 0) and np.all(np.isfinite(own))
        loss = inner(weights, own) / n if holds else np.inf
        tried.append((loss, float(beta), lattice.dirichlet(precision) / n))
        if at_onset is None and float(np.std(np.log(precision))) >= _FLAT:
            at_onset = tried[-1][1:]
    best = min(tried)
    if best[0] < 0.5 * (1.0 - np.log(constant[0])) - _LEAST_GAIN:
        return best[1], best[2], True
    return *(at_onset or tried[-1][1:]), False


def _precision_at(lattice: Lattice, squares: Field, beta: float, start: Field) -> Field:
    """Descend by damped Newton steps to the best precision for these squared residuals."""
    weights, precision = lattice.weights, start
    for _ in range(_NEWTON_STEPS):
        slope = 0.5 * weights * (squares - 1.0 / precision) + 2.0 * beta * lattice.laplacian(precision)
        step = lattice.solve(0.5 * weights / precision**2, 2.0 * beta, -slope) / precision
        precision = precision * (1.0 + step / (1.0 + max(0.0, float(np.max(-step)))))
        if float(np.max(np.abs(step))) < _SETTLED:
            break
    return precision

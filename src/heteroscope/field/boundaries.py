"""Locate the boundaries of the phases in closed form: linear response about the flat fields, on chains and graphs.

With s^2 the variance of y, W the weights, r = mean - y at the flat precision 1 / s^2, and (lambda_k, u_k) the modes of
K u = lambda W u with u_j'W u_k = n delta_jk:

    R(q) = (1/n) sum_k (lambda_k / (q + lambda_k))^2 y_k^2,    q = precision / (2 alpha)

A constant precision leaves the residuals' mean square R(q), and stationarity makes it 1 / precision, so q belongs to
alpha = 1 / (2 q R(q)). For one draw the flat fields are not stationary: U_I -> S is a crossover, and its place is where
a threshold is met.

- Mean onset: R(q) = share s^2; or the std of the mean reaches ratio s,
  sum_{k >= 1} (q / (q + lambda_k))^2 y_k^2 = ratio^2 s^2.
- Precision onset, c_k the modes of r^2: delta_k = -c_k / (s^4 + 4 beta lambda_k) for k >= 1; beta where the std of log
  precision, s^2 sqrt(sum delta_k^2 / n), reaches `spread`.
- The two meet in the corner of U_I.
- A flat state of constant precision is a minimum where
  1 / (2 precision^2) + 2 beta K - diag(r) (precision W + 2 alpha K)^-1 diag(r) > 0.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.special import expit

from heteroscope.core import InputError
from heteroscope.field.lattices import Field, Lattice, inner

MOST_DENSE = 3000  # points up to which all modes are computed
N_PROBES = 64  # random vectors of Hutchinson's estimate, on larger lattices


class Onsets(NamedTuple):
    """The corner of U_I, and with it both of its boundaries.

    Attributes
    ----------
    alpha : float
        The mean leaves the flat state where alpha is smaller.
    beta : float
        The precision leaves the flat state where beta is smaller.
    """

    alpha: float
    beta: float

    @property
    def corner(self) -> tuple[float, float]:
        """Return (rho, gamma) of the corner of U_I: 1 / (1 + alpha + beta), alpha / (alpha + beta)."""
        return 1.0 / (1.0 + self.alpha + self.beta), self.alpha / (self.alpha + self.beta)

    def boundary(self, gammas: Field) -> tuple[Field, Field]:
        """Return rho of the mean's and of the precision's onset at each gamma.

        Parameters
        ----------
        gammas : ndarray of shape (n_gammas,)
            Values of gamma.

        Returns
        -------
        tuple of two ndarrays of shape (n_gammas,)
            logit rho = log gamma - log alpha, and logit rho = log(1 - gamma) - log beta; U_I is below both.
        """
        gammas = np.asarray(gammas, dtype=float)
        return expit(np.log(gammas) - np.log(self.alpha)), expit(np.log1p(-gammas) - np.log(self.beta))


class Modes(NamedTuple):
    """All modes of a lattice.

    Attributes
    ----------
    values : ndarray of shape (n_points,)
        lambda_k, in rising order; the first is zero.
    vectors : ndarray of shape (n_points, n_points)
        Column k is u_k, with u_j'W u_k = n delta_jk.
    weights : ndarray of shape (n_points,)
        W.
    """

    values: Float[np.ndarray, " mode"]
    vectors: Float[np.ndarray, "point mode"]
    weights: Field

    def coefficients(self, values: Field) -> Float[np.ndarray, " mode"]:
        """Return f_k = u_k'W f / n, so that (1/n) f'W f = sum_k f_k^2.

        Parameters
        ----------
        values : ndarray of shape (n_points,)
            A field f.

        Returns
        -------
        ndarray of shape (n_points,)
            The coefficients.
        """
        return self.vectors.T @ (self.weights * values) / len(values)


def modes(lattice: Lattice) -> Modes:
    """Return all modes of a lattice of at most 3,000 points, by a dense eigendecomposition.

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph.

    Returns
    -------
    Modes
        Eigenvalues and vectors of K u = lambda W u.
    """
    n = len(lattice.weights)
    if n > MOST_DENSE:
        raise InputError(f"all modes of {n} points are too many: use at most {MOST_DENSE}, or `residual_share`")
    scale = 1.0 / np.sqrt(lattice.weights)
    dense = np.array([lattice.laplacian(unit) for unit in np.eye(n)])
    values, vectors = eigh(scale[:, None] * (dense + dense.T) / 2.0 * scale)
    values[0] = 0.0
    return Modes(np.maximum(values, 0.0), np.sqrt(n) * scale[:, None] * vectors, lattice.weights)


def residual_share(lattice: Lattice, y: Field, q: float) -> float:
    """Return R(q) / s^2, the share of the target's variance that the best mean leaves, by one solve.

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph of any size.
    y : ndarray of shape (n_points,)
        Target.
    q : float
        precision / (2 alpha).

    Returns
    -------
    float
        Between 0 for q -> infinity and 1 for q -> 0.
    """
    return _mean_square(lattice, _residual(lattice, y, q)) / _variance(lattice, y)


def white_noise_share(lattice: Lattice, q: float, seed: int = 0) -> float:
    """Return the average of R(q) / s^2 over white noise: (1/n) tr (K (q W + K)^-1)^2, by Hutchinson's estimate.

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph of any size.
    q : float
        precision / (2 alpha).
    seed : int, default=0
        Seed of the random signs.

    Returns
    -------
    float
        The average over random vectors of signs, whose error falls as 1 / sqrt(n).
    """
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], size=(N_PROBES, len(lattice.weights)))
    return float(np.mean([_mean_square(lattice, _residual(lattice, y, q)) for y in signs]))


def mean_onset(lattice: Lattice, y: Field, *, share: float | None = None, ratio: float | None = None) -> float:
    """Return the largest alpha at which the mean is no longer flat, at a constant precision.

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph of any size.
    y : ndarray of shape (n_points,)
        Target.
    share : float or None, default=None
        The mean counts as flat while its residuals keep more than this share of the target's variance.
    ratio : float or None, default=None
        Or: while its standard deviation is below this multiple of the target's.

    Returns
    -------
    float
        alpha = 1 / (2 q R(q)).
    """
    if (share is None) == (ratio is None):
        raise InputError("give either share, of the variance that residuals keep, or ratio, of the mean's std to y's")
    threshold = share if share is not None else ratio
    if threshold is None or not 0.0 < threshold < 1.0:
        raise InputError(f"the threshold must lie strictly between 0 and 1, got {threshold}")
    spread = _variance(lattice, y)

    def excess(log_q: float) -> float:
        residual = _residual(lattice, y, np.exp(log_q))
        if share is not None:
            return share - _mean_square(lattice, residual) / spread
        mean = y + residual
        average = inner(lattice.weights, mean) / len(y)
        return _mean_square(lattice, mean - average) / spread - threshold**2

    low, high = -10.0, 10.0
    while excess(low) > 0.0:
        low -= 5.0
    while excess(high) < 0.0:
        high += 5.0
    q = float(np.exp(brentq(excess, low, high, xtol=1e-10)))
    return 1.0 / (2.0 * q * _mean_square(lattice, _residual(lattice, y, q)))


def precision_onset(lattice: Lattice, y: Field, *, spread: float = 0.05, steps: int = 60) -> float:
    """Return the largest beta at which the precision is no longer flat, beside a flat mean.

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph of any size: one solve for each step of the search.
    y : ndarray of shape (n_points,)
        Target.
    spread : float, default=0.05
        The precision counts as flat while the standard deviation of its logarithm is smaller.
    steps : int, default=60
        Most steps of the search for beta.

    Returns
    -------
    float
        beta, by linear response: (s^4 + 4 beta K / W) delta = -(r^2 - s^2).
    """
    n, weights = len(y), lattice.weights
    variance = _variance(lattice, y)
    squares = (y - inner(weights, y) / n) ** 2 - variance

    def excess(log_beta: float) -> float:
        change = lattice.solve(variance**2 * weights, 4.0 * float(np.exp(log_beta)), -weights * squares)
        return variance * np.sqrt(_mean_square(lattice, change)) - spread

    low, high = -20.0, 10.0
    if excess(low) < 0.0:
        raise InputError("the precision never varies by so much in linear response: give a smaller spread")
    while excess(high) > 0.0:
        high += 5.0
    return float(np.exp(brentq(excess, low, high, xtol=1e-10, maxiter=steps)))


def flat_onsets(lattice: Lattice, y: Field, *, share: float = 0.95, spread: float = 0.05) -> Onsets:
    """Return the corner of U_I, with the thresholds that define a flat mean and a flat precision.

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph.
    y : ndarray of shape (n_points,)
        Target.
    share : float, default=0.95
        See `mean_onset`.
    spread : float, default=0.05
        See `precision_onset`.

    Returns
    -------
    Onsets
        alpha and beta of the corner; the boundaries follow from them.
    """
    return Onsets(mean_onset(lattice, y, share=share), precision_onset(lattice, y, spread=spread))


def flat_stability(lattice: Lattice, mean: Field, precision: float, y: Field, alpha: float, beta: float) -> float:
    """Return the smallest eigenvalue of the precision's Hessian at a constant precision, the mean relaxed.

        1 / (2 precision^2) W + 2 beta K - diag(W r) (precision W + 2 alpha K)^-1 diag(W r)

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph of at most 3,000 points.
    mean : ndarray of shape (n_points,)
        The mean.
    precision : float
        The constant precision.
    y : ndarray of shape (n_points,)
        Target.
    alpha, beta : float
        The penalties.

    Returns
    -------
    float
        Positive where the state is a minimum.
    """
    n = len(y)
    if n > MOST_DENSE:
        raise InputError(f"{n} points are too many for a dense Hessian: use at most {MOST_DENSE}")
    dense = np.array([lattice.laplacian(unit) for unit in np.eye(n)])
    pull = lattice.weights * (mean - y)
    inverse = np.linalg.inv(precision * np.diag(lattice.weights) + 2.0 * alpha * dense)
    schur = np.diag(0.5 * lattice.weights / precision**2) + 2.0 * beta * dense - pull[:, None] * inverse * pull
    return float(np.linalg.eigvalsh((schur + schur.T) / 2.0)[0])


#: Largest value of a R / s^2 for white noise on an infinite chain.
_CHAIN_MAXIMUM = 0.4749937


def white_noise_fold(h: float, variance: float = 1.0) -> float:
    """Return alpha of the fold of white noise on an even chain at a constant precision: 1.0526 h^2 / s^2.

    With a = q h^2, R / s^2 = 1 - 2 sqrt(a / (a + 4)) + (a + 2) sqrt(a) / (a + 4)^(3/2), and a R / s^2 has its maximum,
    0.47499, at a = 2.9154. Only alpha / h^2 and beta / h^2 enter, so the folds of all gammas move by log 4 in logit rho
    when the points double.

    Parameters
    ----------
    h : float
        Spacing of the points.
    variance : float, default=1.0
        s^2.

    Returns
    -------
    float
        alpha = h^2 / (2 s^2 max a R / s^2).
    """
    return h**2 / (2.0 * variance * _CHAIN_MAXIMUM)


def chain_noise_share(a: float) -> float:
    """Return R / s^2 of white noise on an infinite even chain at a = q h^2.

    Parameters
    ----------
    a : float
        precision h^2 / (2 alpha).

    Returns
    -------
    float
        1 - 2 sqrt(a / (a + 4)) + (a + 2) sqrt(a) / (a + 4)^(3/2).
    """
    return float(1.0 - 2.0 * np.sqrt(a / (a + 4.0)) + (a + 2.0) * np.sqrt(a) / (a + 4.0) ** 1.5)


def _residual(lattice: Lattice, y: Field, q: float) -> Field:
    """Return mean - y = -(q W + K)^-1 K y."""
    return -lattice.solve(q * lattice.weights, 1.0, lattice.laplacian(y))


def _mean_square(lattice: Lattice, values: Field) -> float:
    """Return the weighted mean of f^2."""
    return inner(lattice.weights * values, values) / len(values)


def _variance(lattice: Lattice, y: Field) -> float:
    """Return the weighted variance of y."""
    return _mean_square(lattice, y - inner(lattice.weights, y) / len(y))

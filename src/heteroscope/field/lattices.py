"""Define what the field theory needs of its points, and the chain: points on a line.

    K f = sum over neighbours j of k_ij (f_i - f_j),    f'K f = sum over edges of k_ij (f_i - f_j)^2

A chain and the nearest-neighbour graph of a table's rows (`graphs.py`) both offer weights, the Laplacian K and two
linear solves, so every formula and the solver are written once. No edge leaves the set of points: that is the natural
boundary condition.

The chain is the finite-volume Laplacian of an even or uneven grid with a density p, and its solves are banded:

    w_i = c p_i cell_i,    k_i = c (p_i + p_{i+1}) / (2 h_i),    c such that the w_i sum to the number of points

On an even grid with a uniform density w = 1 and k = 1 / h^2: each point counts once in the likelihood, and each
difference between neighbours once in the Dirichlet energy. Cells reach half way to both neighbours. The outermost cells
are symmetric about their point, so the natural boundary lies half a spacing outside.
"""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dgbsv, dpbsv, dptsv

from heteroscope.core import InputError

Field = Float[np.ndarray, " point"]


def inner(one: Float[np.ndarray, " n"], other: Float[np.ndarray, " n"]) -> float:
    """Return sum_i a_i b_i by NumPy's pairwise sum; BLAS would start its threads for each of these short products."""
    return total(one * other)


def total(field: Float[np.ndarray, " n"]) -> float:
    """Return sum_i f_i; `f.sum()` would spend as long on its way to this function as on a short sum."""
    return float(np.add.reduce(field))


@runtime_checkable
class Lattice(Protocol):
    """Points with weights w_i that sum to their number, and edges with stiffnesses k_ij."""

    @property
    def weights(self) -> Field:
        """Weight of each point in the likelihood; 1 for every point of an even grid with a uniform density."""

    def reweighted(self, weights: Field) -> "Lattice":
        """Return the same points and edges with other weights."""

    def laplacian(self, field: Field) -> Field:
        """Return K f, from differences along edges, so that a constant gives exactly zero."""

    def dirichlet(self, field: Field) -> float:
        """Return f'K f, the weighted sum of squared gradients."""

    def solve(self, diagonal: Field, scale: float, right: Field) -> Field:
        """Return the f with diagonal * f + scale * K f = right, for a positive diagonal."""

    def solve_pair(
        self, diagonals: tuple[Field, Field], coupling: Field, scales: tuple[float, float], right: tuple[Field, Field]
    ) -> tuple[Field, Field] | None:
        """Solve d1 f + s1 K f + c g = right1 and c f + d2 g + s2 K g = right2; return None unless positive definite."""


# Factor of the diagonal, a few units in the last place: it keeps rounding from making a stiff chain indefinite. The
# error is a constant field, since K maps constants to zero; each solve corrects it from the sum of its rows.
DIAGONAL_MARGIN = 1.0 + 8.0 * np.finfo(float).eps


def correct_constants(
    diagonals: tuple[Field, Field], coupling: Field, right: tuple[Field, Field], solution: tuple[Field, Field]
) -> tuple[Field, Field] | None:
    """Add to both fields the constants that make the sums of their rows exact; None unless positive definite."""
    first, second = solution
    a, b, c = total(diagonals[0]), total(coupling), total(diagonals[1])
    determinant = a * c - b * b
    if determinant <= 0.0:
        return None
    missing_first = total(right[0]) - inner(diagonals[0], first) - inner(coupling, second)
    missing_second = total(right[1]) - inner(coupling, first) - inner(diagonals[1], second)
    return (
        first + (c * missing_first - b * missing_second) / determinant,
        second + (a * missing_second - b * missing_first) / determinant,
    )


class Chain(NamedTuple):
    """Points on a line, joined to their neighbours.

    Attributes
    ----------
    weights : ndarray of shape (n_points,)
        Weight of each point in the likelihood.
    stiffness : ndarray of shape (n_points - 1,)
        Stiffness of the edge between each point and the next.
    """

    weights: Field
    stiffness: Float[np.ndarray, " edge"]

    def reweighted(self, weights: Field) -> "Chain":
        """Return the same points and edges with other weights."""
        return self._replace(weights=weights)

    def laplacian(self, field: Field) -> Field:
        """Return K f: (K f)_i = k_{i-1} (f_i - f_{i-1}) - k_i (f_{i+1} - f_i)."""
        flux = self.stiffness * (field[1:] - field[:-1])
        result = np.empty_like(field)
        result[0], result[-1] = -flux[0], flux[-1]
        np.subtract(flux[:-1], flux[1:], out=result[1:-1])
        return result

    def dirichlet(self, field: Field) -> float:
        """Return sum_i k_i (f_{i+1} - f_i)^2."""
        return inner(self.stiffness, (field[1:] - field[:-1]) ** 2)

    def degree(self) -> Field:
        """Return the diagonal of K."""
        result = np.empty_like(self.weights)
        result[0], result[-1] = self.stiffness[0], self.stiffness[-1]
        np.add(self.stiffness[:-1], self.stiffness[1:], out=result[1:-1])
        return result

    def solve(self, diagonal: Field, scale: float, right: Field) -> Field:
        """Return (diag + scale K)^-1 right: a tridiagonal Cholesky factorisation, O(n), then correct the constant."""
        on_diagonal = diagonal + (DIAGONAL_MARGIN * scale) * self.degree()
        *_, solution, info = dptsv(on_diagonal, -scale * self.stiffness, right, overwrite_d=1, overwrite_e=1)
        if info:
            raise ArithmeticError(f"the tridiagonal system is not positive definite at row {info}")
        return solution + (total(right) - inner(diagonal, solution)) / total(diagonal)

    def solve_pair(
        self, diagonals: tuple[Field, Field], coupling: Field, scales: tuple[float, float], right: tuple[Field, Field]
    ) -> tuple[Field, Field] | None:
        """Solve for both fields, unknowns interleaved so that the bandwidth is 2; then correct both constants."""
        bands = self.pair_bands(diagonals, coupling, scales)
        bands[0] *= DIAGONAL_MARGIN
        *_, solution, info = dpbsv(bands, interleave(*right), lower=1, overwrite_ab=1, overwrite_b=1)
        if info:
            return None
        return correct_constants(diagonals, coupling, right, (solution[0::2], solution[1::2]))

    def solve_indefinite_pair(
        self,
        diagonals: tuple[Field, Field],
        coupling: Field,
        scales: tuple[float, float],
        right: Float[np.ndarray, "unknown column"],
    ) -> Float[np.ndarray, "unknown column"]:
        """Solve the same system for several right sides, at a minimum or at a saddle.

        Cholesky's factorisation takes a third of the time of an LU with row exchanges, which a saddle needs.
        """
        lower = self.pair_bands(diagonals, coupling, scales)
        *_, solution, info = dpbsv(lower, right, lower=1)
        if not info:
            return solution
        bands = np.zeros((7, lower.shape[1]), order="F")
        bands[4:] = lower
        bands[3, 1:] = lower[1, :-1]
        bands[2, 2:] = lower[2, :-2]
        *_, solution, info = dgbsv(2, 2, bands, right, overwrite_ab=1)
        if info:
            raise ArithmeticError(f"the Hessian is exactly singular at unknown {info}")
        return solution

    def pair_bands(
        self, diagonals: tuple[Field, Field], coupling: Field, scales: tuple[float, float]
    ) -> Float[np.ndarray, "3 unknown"]:
        """Return the lower bands of the matrix of both fields, unknowns interleaved."""
        degree = self.degree()
        bands = np.zeros((3, 2 * len(degree)), order="F")
        for offset, (diagonal, scale) in enumerate(zip(diagonals, scales, strict=True)):
            bands[0, offset::2] = diagonal + scale * degree
            bands[2, offset:-2:2] = -scale * self.stiffness
        bands[1, 0::2] = coupling
        return bands


def interleave(first: Field, second: Field) -> Float[np.ndarray, " unknown"]:
    """Return (f_0, g_0, f_1, g_1, ...)."""
    result = np.empty(2 * len(first))
    result[0::2], result[1::2] = first, second
    return result


def chain(x: ArrayLike, density: ArrayLike | None = None) -> Chain:
    """Return the chain of points on a line.

    Parameters
    ----------
    x : array_like of shape (n_points,)
        Strictly increasing positions, at least 3.
    density : array_like of shape (n_points,), "points" or None, default=None
        Density p at the points, on any scale. None is a uniform density. "points" takes p ~ 1 / cell, the estimate
        under which every point has the same weight: use it for a sample.

    Returns
    -------
    Chain
        Weights of the points and stiffnesses of the edges.
    """
    points = np.asarray(x, dtype=float)
    spacing = _check_increasing(points)
    cell = np.concatenate(([spacing[0]], (spacing[:-1] + spacing[1:]) / 2, [spacing[-1]]))
    if isinstance(density, str):
        if density != "points":
            raise InputError(f"density={density!r} is not known; use None for uniform, 'points', or an array like x")
        return Chain(np.ones_like(points), 1.0 / spacing**2)
    values = np.ones_like(points) if density is None else np.asarray(density, dtype=float)
    if values.shape != points.shape or not np.all(np.isfinite(values) & (values > 0)):
        raise InputError("density must hold one positive finite number for each x; give p(x) at the points, any scale")
    scale = len(points) / inner(values, cell)
    return Chain(scale * values * cell, scale * (values[:-1] + values[1:]) / (2 * spacing))


def _check_increasing(x: np.ndarray) -> Float[np.ndarray, " edge"]:
    """Return the spacings of `x`, or raise an error that says why `x` is no grid."""
    if x.ndim != 1 or len(x) < 3:
        raise InputError(f"x must be a line of at least 3 points, got shape {x.shape}; a field needs neighbours")
    if not np.all(np.isfinite(x)):
        raise InputError("x contains NaN or infinity; drop those points")
    spacing = np.diff(x)
    if np.any(spacing < 0):
        raise InputError("x is not sorted; sort x and y together, for example by numpy.argsort(x)")
    if np.any(spacing == 0):
        raise InputError("x contains the same point twice; average the repeated points' y, or use field.solve_graph")
    return spacing

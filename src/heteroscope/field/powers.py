"""Penalise powers of the Laplacian, which a continuum limit needs in more than one dimension.

In d dimensions a spike of width h costs h^(d-2) of Dirichlet energy, or 1 / log(1/h) for d = 2: nothing, as h -> 0.
With enough rows the mean passes through every one of them for free, and the good phase has no limit. A penalty of order
m makes functions continuous where 2 m > d:

    K_m = K (1 + W^-1 K / kappa^2)^(m-1),    lambda -> lambda (1 + lambda / kappa^2)^(m-1)

Constants stay free, and modes with lambda < kappa^2 keep their penalty, so alpha and beta keep their meaning. All
formulas hold with the new eigenvalues. K_m is dense in practice, so its solves are dense, too. Small lattices are
solved densely whatever the power: that takes a fixed time, however stiff an edge between nearly equal rows is.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from heteroscope.core import InputError
from heteroscope.field.lattices import DIAGONAL_MARGIN, Field, Lattice, correct_constants, inner

MOST_POINTS = 3000  # of a dense matrix of two fields, 288 MB
DENSE_UP_TO = 400  # points up to which a dense solve is faster than conjugate gradients


class DenseLattice(NamedTuple):
    """A lattice whose penalty is K_m, with dense solves.

    Attributes
    ----------
    base : Lattice
        The lattice of K.
    power : int
        m.
    kappa : float
        Modes with lambda > kappa^2 get stiffer.
    matrix : ndarray of shape (n_points, n_points)
        K_m.
    """

    base: Lattice
    power: int
    kappa: float
    matrix: Float[np.ndarray, "point point"]

    @property
    def weights(self) -> Field:
        """Weight of each point in the likelihood."""
        return self.base.weights

    def reweighted(self, weights: Field) -> "DenseLattice":
        """Return the same points and edges with other weights."""
        return self._replace(base=self.base.reweighted(weights))

    def laplacian(self, field: Field) -> Field:
        """Return K_m f, from differences along edges, so that a constant gives exactly zero."""
        return _apply(self.base, self.power, self.kappa, field)

    def dirichlet(self, field: Field) -> float:
        """Return f'K_m f."""
        return max(0.0, inner(field - field.mean(), self.laplacian(field)))

    def solve(self, diagonal: Field, scale: float, right: Field) -> Field:
        """Return (diag + scale K_m)^-1 right by Cholesky's factorisation, then correct the constant."""
        matrix = scale * self.matrix
        matrix[np.diag_indices_from(matrix)] = diagonal + DIAGONAL_MARGIN * scale * self.matrix.diagonal()
        solution = cho_solve(cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False), right)
        return solution + (right.sum() - inner(diagonal, solution)) / diagonal.sum()

    def solve_pair(
        self, diagonals: tuple[Field, Field], coupling: Field, scales: tuple[float, float], right: tuple[Field, Field]
    ) -> tuple[Field, Field] | None:
        """Solve for both fields at once by Cholesky's factorisation; return None unless positive definite."""
        n = len(coupling)
        matrix = np.zeros((2 * n, 2 * n), order="F")
        for k, (diagonal, scale) in enumerate(zip(diagonals, scales, strict=True)):
            block = slice(k * n, (k + 1) * n)
            matrix[block, block] = scale * self.matrix
            on_diagonal = np.arange(k * n, (k + 1) * n)
            matrix[on_diagonal, on_diagonal] = DIAGONAL_MARGIN * (diagonal + scale * self.matrix.diagonal())
        matrix[np.arange(n, 2 * n), np.arange(n)] = coupling
        try:
            factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None
        solution = cho_solve(factor, np.concatenate(right))
        return correct_constants(diagonals, coupling, right, (solution[:n], solution[n:]))


def stiffened(lattice: Lattice, power: int, length: float = 1.0) -> Lattice:
    """Return the lattice with the penalty K_m instead of K.

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph of points.
    power : int
        m; 1 is K itself. In d dimensions a continuum limit needs 2 m > d.
    length : float, default=1.0
        1 / kappa, in units of the features: faster changes than over this length get stiffer.

    Returns
    -------
    Lattice
        The lattice, which solvers use as any other.
    """
    if power < 1 or int(power) != power or not length > 0:
        raise InputError(f"power must be an integer of at least 1 and length positive, got {power} and {length:g}")
    n = len(lattice.weights)
    if power == 1 and n > DENSE_UP_TO:
        return lattice
    if n > MOST_POINTS:
        raise InputError(f"a power of the Laplacian is dense: at most {MOST_POINTS} points, got {n}; use power=1")
    columns = [_apply(lattice, int(power), 1.0 / length, unit) for unit in np.eye(n)]
    matrix = np.array(columns)
    return DenseLattice(lattice, int(power), 1.0 / length, (matrix + matrix.T) / 2.0)


def _apply(lattice: Lattice, power: int, kappa: float, field: Field) -> Field:
    """Return K (1 + W^-1 K / kappa^2)^(power - 1) f."""
    result = lattice.laplacian(field)
    for _ in range(power - 1):
        result = result + lattice.laplacian(result / lattice.weights) / kappa**2
    return result

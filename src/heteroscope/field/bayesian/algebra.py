"""Define the linear algebra that every posterior needs, and give it for chains (banded) and for graphs (dense).

Three kinds of matrices occur, with K the Laplacian:

    one field      diag(pull) + scale K                        the mean for a known precision
    both fields    [[d1 + s1 K, c], [c, d2 + s2 K]]            the Hessian of the free energy
    a mass         diag(d) + scale J K J, with J diagonal      the preconditioner of the samplers

All cost O(n) on a chain. Diagonals of inverses come from two eliminations that meet at each point: with the pivots D of
the elimination from the left and D' of that from the right, (A^-1)_ii = 1 / (D_i + D'_i - A_ii). For both fields the
pivots are 2 x 2 blocks and written as parallel sums, which need no subtraction:

    E_i = C_i + (E_{i-1}^-1 + S_{i-1}^-1)^-1,    S_i = diag(s1 k_i, s2 k_i),    (A^-1)_ii = (E_i + E'_i - C_i)^-1
"""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpbtrf, dpttrf, dpttrs, dtbtrs

from heteroscope.core import InputError
from heteroscope.field.graphs import Graph
from heteroscope.field.lattices import DIAGONAL_MARGIN, Chain, Field, Lattice
from heteroscope.field.problem import Hessian

Rows = Float[np.ndarray, "row point"]
LARGEST_GRAPH = 2000  # points; a dense matrix of both fields then takes 128 MB


class Smooth(NamedTuple):
    """The Gaussian of one field for each row: its mean, pointwise variance, and log det of its precision matrix."""

    mean: Rows
    variance: Rows
    log_det: Float[np.ndarray, " row"]


@runtime_checkable
class PairFactor(Protocol):
    """A factorised matrix of both fields."""

    @property
    def log_det(self) -> float:
        """Logarithm of the determinant."""

    def variances(self) -> tuple[Field, Field, Field]:
        """Return the pointwise variances of both fields and their covariance, from the inverse."""

    def draw(self, normals: Float[np.ndarray, "row unknown"]) -> tuple[Rows, Rows]:
        """Turn standard normals into draws with the inverse as covariance."""


@runtime_checkable
class MassFactor(Protocol):
    """A factorised mass matrix M."""

    @property
    def log_det(self) -> float:
        """Logarithm of the determinant."""

    def momenta(self, normals: Rows) -> Rows:
        """Turn standard normals into draws with covariance M."""

    def velocities(self, momenta: Rows) -> Rows:
        """Return M^-1 times each row."""

    def squared_lengths(self, rows: Rows) -> Float[np.ndarray, " row"]:
        """Return x'M x of each row x."""


@runtime_checkable
class Algebra(Protocol):
    """What posteriors need of a lattice."""

    @property
    def lattice(self) -> Lattice:
        """The points."""

    @property
    def log_det_laplacian(self) -> float:
        """Log of the product of the non-zero eigenvalues of K, divided by the number of points."""

    def degree(self) -> Field:
        """Return the diagonal of K."""

    def laplacian(self, fields: Rows) -> Rows:
        """Return K times each row."""

    def smooth(self, pull: Rows, scale: float, right: Rows) -> Smooth:
        """Return A^-1 right, diag A^-1 and log det A for A = diag(pull) + scale K, for each row."""

    def draw(self, pull: Rows, scale: float, rng: np.random.Generator) -> Rows:
        """Draw from N(0, (diag(pull) + scale K)^-1), once for each row."""

    def pair(self, hessian: Hessian) -> PairFactor | None:
        """Factorise a matrix of both fields; return None unless it is positive definite."""

    def mass(self, diagonal: Field, factor: Field, scale: float) -> MassFactor:
        """Factorise diag(diagonal) + scale J K J with J = diag(factor)."""

    def rough(self, scale: float, n_draws: int, rng: np.random.Generator) -> Rows:
        """Draw fields of weighted mean zero with density exp(-scale f'K f / 2)."""


def algebra(lattice: Lattice) -> Algebra:
    """Return the banded algebra of a chain, or the dense one of a graph that is small enough."""
    if isinstance(lattice, Chain):
        return ChainAlgebra(lattice)
    if not isinstance(lattice, Graph):
        raise InputError(f"posteriors are known for chains and graphs, got {type(lattice).__name__}")
    if len(lattice.weights) > LARGEST_GRAPH:
        raise InputError(
            f"the posterior of a graph is dense, and {len(lattice.weights)} distinct rows are more than "
            f"{LARGEST_GRAPH}; draw a subset of the rows"
        )
    return DenseAlgebra(lattice, _dense_laplacian(lattice))


class ChainAlgebra(NamedTuple):
    """Banded matrices of a chain; rows are glued into one long matrix, so that LAPACK is called once for all."""

    lattice: Chain

    @property
    def log_det_laplacian(self) -> float:
        """Matrix-tree theorem: the sum of log k."""
        return float(np.sum(np.log(self.lattice.stiffness)))

    def degree(self) -> Field:
        """Return the diagonal of K."""
        return self.lattice.degree()

    def laplacian(self, fields: Rows) -> Rows:
        """Return K times each row."""
        flux = self.lattice.stiffness * np.diff(fields)
        result = np.zeros_like(fields)
        result[:, :-1] -= flux
        result[:, 1:] += flux
        return result

    def smooth(self, pull: Rows, scale: float, right: Rows) -> Smooth:
        """Eliminate from both sides; correct each mean by the sum of its equations, as `Chain.solve` does."""
        diagonal, off = self._glue(pull, scale)
        pivots, factor = _factorise(diagonal, off)
        backward, _ = _factorise(diagonal[::-1], off[::-1])
        solution = _unwrap(dpttrs(pivots, factor, right.ravel())).reshape(right.shape)
        solution += ((right - pull * solution).sum(axis=1) / pull.sum(axis=1))[:, None]
        inverse = np.maximum(pivots + backward[::-1] - diagonal, pull.ravel())
        return Smooth(solution, (1.0 / inverse).reshape(pull.shape), np.log(pivots).reshape(pull.shape).sum(axis=1))

    def draw(self, pull: Rows, scale: float, rng: np.random.Generator) -> Rows:
        """Solve for a random right side whose covariance is the matrix itself."""
        right = np.sqrt(pull) * rng.standard_normal(pull.shape)
        flux = np.sqrt(scale * self.lattice.stiffness) * rng.standard_normal((len(pull), pull.shape[1] - 1))
        right[:, :-1] -= flux
        right[:, 1:] += flux
        pivots, factor = _factorise(*self._glue(pull, scale))
        return _unwrap(dpttrs(pivots, factor, right.ravel())).reshape(pull.shape)

    def pair(self, hessian: Hessian) -> "BandedPair | None":
        """Factorise the band of interleaved unknowns."""
        bands = self.lattice.pair_bands(hessian.diagonals, hessian.coupling, hessian.scales)
        bands[0] *= DIAGONAL_MARGIN
        factor, info = dpbtrf(bands, lower=1)
        return None if info else BandedPair(factor, hessian, self.lattice.stiffness)

    def mass(self, diagonal: Field, factor: Field, scale: float) -> "BandedMass":
        """Factorise a tridiagonal matrix."""
        degree, stiffness = self.lattice.degree(), self.lattice.stiffness
        return BandedMass(
            *_factorise(diagonal + scale * degree * factor**2, -scale * stiffness * factor[:-1] * factor[1:])
        )

    def rough(self, scale: float, n_draws: int, rng: np.random.Generator) -> Rows:
        """Sum independent differences between neighbours."""
        steps = rng.standard_normal((n_draws, len(self.lattice.stiffness))) / np.sqrt(scale * self.lattice.stiffness)
        walk = np.concatenate((np.zeros((n_draws, 1)), np.cumsum(steps, axis=1)), axis=1)
        return walk - np.average(walk, axis=1, weights=self.lattice.weights)[:, None]

    def _glue(self, pull: Rows, scale: float) -> tuple[Float[np.ndarray, " long"], Float[np.ndarray, " long_less_one"]]:
        """Return diagonal and off-diagonal of the long matrix of all rows."""
        off = np.zeros(pull.shape)
        off[:, :-1] = -scale * self.lattice.stiffness
        return (pull + DIAGONAL_MARGIN * scale * self.lattice.degree()).ravel(), off.ravel()[:-1]


class BandedPair(NamedTuple):
    """The banded Cholesky factor of a matrix of both fields on a chain."""

    factor: Float[np.ndarray, "3 unknown"]
    hessian: Hessian
    stiffness: Float[np.ndarray, " edge"]

    @property
    def log_det(self) -> float:
        """Twice the sum of the logs of the factor's diagonal."""
        return float(2.0 * np.sum(np.log(self.factor[0])))

    def variances(self) -> tuple[Field, Field, Field]:
        """Meet two eliminations of 2 x 2 blocks at each point."""
        (first, second), coupling, scales = self.hessian
        columns = (first.tolist(), coupling.tolist(), second.tolist())
        edges = ((scales[0] * self.stiffness).tolist(), (scales[1] * self.stiffness).tolist())
        left = _parallel_sums(*columns, *edges)
        right = _parallel_sums(*(column[::-1] for column in columns), *(edge[::-1] for edge in edges))[:, ::-1]
        a, b, c = left + right + np.array([first, coupling, second])
        determinant = a * c - b * b
        return c / determinant, a / determinant, -b / determinant

    def draw(self, normals: Float[np.ndarray, "row unknown"]) -> tuple[Rows, Rows]:
        """Solve L' x = z."""
        solution = _unwrap(dtbtrs(self.factor, normals.T, uplo="L", trans="T")).T
        return solution[:, 0::2], solution[:, 1::2]


def _parallel_sums(
    first: list[float], coupling: list[float], second: list[float], by_first: list[float], by_second: list[float]
) -> Float[np.ndarray, "3 point"]:
    """Return what the points to the left add to each point's block: (E^-1 + S^-1)^-1 of the point before.

    Plain floats: one pass over the chain costs less than a few calls of NumPy for each point.
    """
    x = y = z = 0.0
    xs, ys, zs = [x], [y], [z]
    for a, b, c, s, t in zip(first[:-1], coupling[:-1], second[:-1], by_first, by_second, strict=True):
        a, b, c = a + x, b + y, c + z
        # (E^-1 + S^-1)^-1 = E (E + S)^-1 S
        p, q = a + s, c + t
        determinant = p * q - b * b
        x = s * (a * q - b * b) / determinant
        y = s * t * b / determinant
        z = t * (c * p - b * b) / determinant
        xs.append(x)
        ys.append(y)
        zs.append(z)
    return np.array([xs, ys, zs])


class BandedMass(NamedTuple):
    """A tridiagonal mass matrix as L D L'."""

    pivots: Field
    factor: Float[np.ndarray, " edge"]

    @property
    def log_det(self) -> float:
        """The sum of the logs of the pivots."""
        return float(np.sum(np.log(self.pivots)))

    def momenta(self, normals: Rows) -> Rows:
        """Return L D^1/2 z."""
        scaled = normals * np.sqrt(self.pivots)
        result = scaled.copy()
        result[:, 1:] += self.factor * scaled[:, :-1]
        return result

    def velocities(self, momenta: Rows) -> Rows:
        """Return M^-1 times each row."""
        return _unwrap(dpttrs(self.pivots, self.factor, momenta.T)).T

    def squared_lengths(self, rows: Rows) -> Float[np.ndarray, " row"]:
        """Return the weighted sum of squares of L'x."""
        parts = rows.copy()
        parts[:, :-1] += self.factor * rows[:, 1:]
        return np.sum(self.pivots * parts**2, axis=1)


class DenseAlgebra(NamedTuple):
    """Dense matrices of a graph."""

    lattice: Graph
    matrix: Float[np.ndarray, "point point"]

    @property
    def log_det_laplacian(self) -> float:
        """The eigenvalue zero is replaced by n before the determinant is taken."""
        n = len(self.matrix)
        return float(np.linalg.slogdet(self.matrix + 1.0)[1]) - 2.0 * float(np.log(n))

    def degree(self) -> Field:
        """Return the diagonal of K."""
        return np.diag(self.matrix)

    def laplacian(self, fields: Rows) -> Rows:
        """Return K times each row."""
        return fields @ self.matrix

    def smooth(self, pull: Rows, scale: float, right: Rows) -> Smooth:
        """Invert the matrix of each row."""
        factors = [self._factor(one, scale) for one in pull]
        inverses = [cho_solve((factor, True), np.eye(len(self.matrix))) for factor in factors]
        return Smooth(
            np.array([inverse @ one for inverse, one in zip(inverses, right, strict=True)]),
            np.array([np.diag(inverse) for inverse in inverses]),
            np.array([2.0 * np.sum(np.log(np.diag(factor))) for factor in factors]),
        )

    def draw(self, pull: Rows, scale: float, rng: np.random.Generator) -> Rows:
        """Solve L' x = z for each row."""
        return np.array(
            [
                solve_triangular(self._factor(one, scale), rng.standard_normal(len(one)), trans="T", lower=True)
                for one in pull
            ]
        )

    def pair(self, hessian: Hessian) -> "DensePair | None":
        """Factorise the matrix of both fields, first field first."""
        (first, second), coupling, scales = hessian
        corner = np.diag(coupling)
        whole = np.block(
            [[np.diag(first) + scales[0] * self.matrix, corner], [corner, np.diag(second) + scales[1] * self.matrix]]
        )
        try:
            return DensePair(cholesky(whole, lower=True))
        except LinAlgError:
            return None

    def mass(self, diagonal: Field, factor: Field, scale: float) -> "DenseMass":
        """Factorise the matrix."""
        return DenseMass(cholesky(np.diag(diagonal) + scale * factor[:, None] * self.matrix * factor, lower=True))

    def rough(self, scale: float, n_draws: int, rng: np.random.Generator) -> Rows:
        """Draw in the eigenvectors of K but the constant."""
        values, vectors = np.linalg.eigh(self.matrix)
        parts = rng.standard_normal((n_draws, len(values) - 1)) / np.sqrt(scale * values[1:])
        fields = parts @ vectors[:, 1:].T
        return fields - np.average(fields, axis=1, weights=self.lattice.weights)[:, None]

    def _factor(self, pull: Field, scale: float) -> Float[np.ndarray, "point point"]:
        return cholesky(np.diag(pull) + scale * self.matrix, lower=True)


class DensePair(NamedTuple):
    """The Cholesky factor of a dense matrix of both fields."""

    factor: Float[np.ndarray, "unknown unknown"]

    @property
    def log_det(self) -> float:
        """Twice the sum of the logs of the factor's diagonal."""
        return float(2.0 * np.sum(np.log(np.diag(self.factor))))

    def variances(self) -> tuple[Field, Field, Field]:
        """Read the inverse."""
        inverse = cho_solve((self.factor, True), np.eye(len(self.factor)))
        n = len(inverse) // 2
        return np.diag(inverse)[:n], np.diag(inverse)[n:], np.diag(inverse[:n, n:])

    def draw(self, normals: Float[np.ndarray, "row unknown"]) -> tuple[Rows, Rows]:
        """Solve L' x = z."""
        solution = solve_triangular(self.factor, normals.T, trans="T", lower=True).T
        n = len(self.factor) // 2
        return solution[:, :n], solution[:, n:]


class DenseMass(NamedTuple):
    """The Cholesky factor of a dense mass matrix."""

    factor: Float[np.ndarray, "point point"]

    @property
    def log_det(self) -> float:
        """Twice the sum of the logs of the factor's diagonal."""
        return float(2.0 * np.sum(np.log(np.diag(self.factor))))

    def momenta(self, normals: Rows) -> Rows:
        """Return L z."""
        return normals @ self.factor.T

    def velocities(self, momenta: Rows) -> Rows:
        """Return M^-1 times each row."""
        return cho_solve((self.factor, True), momenta.T).T

    def squared_lengths(self, rows: Rows) -> Float[np.ndarray, " row"]:
        """Return the sum of squares of L'x."""
        return np.sum((rows @ self.factor) ** 2, axis=1)


def _dense_laplacian(graph: Graph) -> Float[np.ndarray, "point point"]:
    """Return K as a matrix."""
    matrix = np.diag(graph.degree())
    first, second = graph.edges.T
    matrix[first, second] -= graph.stiffness
    matrix[second, first] -= graph.stiffness
    return matrix


def _factorise(
    diagonal: Float[np.ndarray, " n"], off: Float[np.ndarray, " m"]
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " m"]]:
    """Return D and the unit bidiagonal L of a tridiagonal L D L'."""
    pivots, factor, info = dpttrf(diagonal, off)
    if info:
        raise ArithmeticError(f"a tridiagonal matrix is not positive definite at row {info}")
    return pivots, factor


def _unwrap(result: tuple[np.ndarray, int]) -> np.ndarray:
    """Return the solution of a LAPACK call; it reports only wrong arguments."""
    return result[0]

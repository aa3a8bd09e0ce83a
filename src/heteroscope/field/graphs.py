"""Points joined by any edges: the graph Laplacian, and its solves by preconditioned conjugate gradients.

    (K f)_i = sum over the edges of i of k_ij (f_i - f_j)

A chain is the special case of n - 1 edges in a row, which the preconditioner solves exactly.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from scipy.sparse import block_array, coo_array, csc_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.sparse.linalg import SuperLU, splu
from scipy.spatial import cKDTree

from heteroscope.core import InputError
from heteroscope.field.lattices import Field, inner

Stack = Float[np.ndarray, "field point"]
Blocks = Float[np.ndarray, "field field point"]
Operator = Callable[[Stack], Stack]

_TOLERANCE = 1e-6  # Newton repeats the solve with an exact residual, and gains as many digits each time
_STEPS = 1000


def solve_deflated(apply: Operator, precondition: Operator, blocks: Blocks, right: Stack) -> Stack | None:
    """A^-1 right, or None once A shows that it is not positive definite; truncated after `_STEPS`."""
    coarse = blocks.sum(axis=-1)
    if coarse[0, 0] <= 0.0 or np.linalg.det(coarse) <= 0.0:
        return None

    def search(residual: Stack) -> Stack:
        guess = precondition(residual)
        return guess - np.linalg.solve(coarse, np.einsum("klp,lp->k", blocks, guess))[:, None]

    constants = np.linalg.solve(coarse, right.sum(axis=-1))
    solution = np.zeros_like(right) + constants[:, None]
    residual = right - np.einsum("klp,l->kp", blocks, constants)
    direction = search(residual)
    size = float(np.sum(residual * direction))
    enough = _TOLERANCE**2 * abs(float(np.sum(right * precondition(right))))
    for _ in range(_STEPS):
        if abs(size) <= enough:
            break
        image = apply(direction)
        curvature = float(np.sum(direction * image))
        if curvature <= 0.0 or size < 0.0:
            return None
        solution += size / curvature * direction
        residual -= size / curvature * image
        residual -= residual.mean(axis=-1, keepdims=True)  # zero but for rounding
        ahead = search(residual)
        size, before = float(np.sum(residual * ahead)), size
        direction = ahead + size / before * direction
    return solution


Edges = Int[np.ndarray, "edge 2"]


class Graph(NamedTuple):
    """Weights of the points; ends and stiffness of every edge, those of the stiffest spanning tree first."""

    weights: Field
    edges: Edges
    stiffness: Float[np.ndarray, " edge"]

    @classmethod
    def of(cls, weights: Field, edges: Edges, stiffness: Float[np.ndarray, " edge"]) -> "Graph":
        """A connected graph with its edges in the order that the solver needs."""
        n = len(weights)
        lengths = coo_array((1.0 / stiffness, edges.T), shape=(n, n))
        in_tree = minimum_spanning_tree(lengths).astype(bool)
        order = np.argsort(~in_tree.tocsr()[edges[:, 0], edges[:, 1]].astype(bool), kind="stable")
        return cls(weights, edges[order], stiffness[order])

    def laplacian(self, field: Field) -> Field:
        """(K f)_i = sum over the edges of i of k_ij (f_i - f_j)."""
        first, second = self.edges.T
        flux = self.stiffness * (field[first] - field[second])
        return np.bincount(first, flux, len(field)) - np.bincount(second, flux, len(field))

    def dirichlet(self, field: Field) -> float:
        """sum over edges of k_ij (f_i - f_j)^2."""
        first, second = self.edges.T
        return inner(self.stiffness, (field[first] - field[second]) ** 2)

    def degree(self) -> Field:
        """The diagonal of K."""
        n = len(self.weights)
        return np.bincount(self.edges[:, 0], self.stiffness, n) + np.bincount(self.edges[:, 1], self.stiffness, n)

    def solve(self, diagonal: Field, scale: float, right: Field) -> Field:
        """(diag + scale K)^-1 right by conjugate gradients."""
        solution = self._solve(diagonal[None, None], np.array([scale]), right[None])
        if solution is None:
            raise ArithmeticError("the system of one field is not positive definite: its diagonal must be positive")
        return solution[0]

    def solve_pair(
        self, diagonals: tuple[Field, Field], coupling: Field, scales: tuple[float, float], right: tuple[Field, Field]
    ) -> tuple[Field, Field] | None:
        """Both fields at once by conjugate gradients; negative curvature gives None."""
        blocks = np.array([[diagonals[0], coupling], [coupling, diagonals[1]]])
        solution = self._solve(blocks, np.array(scales), np.array(right))
        return None if solution is None else (solution[0], solution[1])

    def _solve(
        self,
        blocks: Float[np.ndarray, "field field point"],
        scales: Float[np.ndarray, " field"],
        right: Float[np.ndarray, "field point"],
    ) -> Float[np.ndarray, "field point"] | None:
        couplings = self._couplings(len(self.edges))
        node_blocks = blocks.copy()
        for k, scale in enumerate(scales):
            node_blocks[k, k] += scale * self.degree()
        factor = _factorise(node_blocks, scales, self._couplings(len(self.weights) - 1))

        def apply(fields: Float[np.ndarray, "field point"]) -> Float[np.ndarray, "field point"]:
            return np.einsum("klp,lp->kp", node_blocks, fields) - scales[:, None] * (couplings @ fields.T).T

        def precondition(fields: Float[np.ndarray, "field point"]) -> Float[np.ndarray, "field point"]:
            return factor.solve(fields.ravel()).reshape(fields.shape)

        return solve_deflated(apply, precondition, blocks, right)

    def _couplings(self, n_edges: int) -> csr_array:
        """The symmetric matrix of the first edges' stiffnesses."""
        (first, second), n = self.edges[:n_edges].T, len(self.weights)
        rows, columns = np.concatenate((first, second)), np.concatenate((second, first))
        return csr_array(coo_array((np.tile(self.stiffness[:n_edges], 2), (rows, columns)), shape=(n, n)))


def _factorise(
    node_blocks: Float[np.ndarray, "field field point"], scales: Float[np.ndarray, " field"], couplings: csr_array
) -> SuperLU:
    """The factors of the node blocks less the tree's couplings: a tree has an order of elimination without fill."""
    rows = [
        [diags_array(block) - scale * couplings if k == j else diags_array(block) for j, block in enumerate(row)]
        for k, (row, scale) in enumerate(zip(node_blocks, scales, strict=True))
    ]
    return splu(
        csc_array(block_array(rows)), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )


class Table(NamedTuple):
    """A table's distinct rows as a graph: mean and variance of the target over equal rows, and where each row went."""

    lattice: Graph
    y: Field
    variance: Field
    place: Int[np.ndarray, " row"]


def table(X: ArrayLike, y: ArrayLike, n_neighbors: int = 10) -> Table:
    """Equal rows merged, which the free energy allows exactly: their number is the weight, their spread the variance.

    Scale the features first: distances are Euclidean. Islands of the graph are tied to the nearest row outside.
    """
    features, target = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    _check_table(features, target, n_neighbors)
    points, place, count = np.unique(features, axis=0, return_inverse=True, return_counts=True)
    if len(points) == 1:
        raise InputError("all rows of X are equal, so there are no neighbours; give features that vary")
    average = np.bincount(place, target) / count
    variance = np.bincount(place, (target - average[place]) ** 2) / count
    edges = _connected(points, _neighbours(points, n_neighbors))
    squares = np.sum((points[edges[:, 0]] - points[edges[:, 1]]) ** 2, axis=1)
    scale = points.shape[1] * (len(points) - 1) / len(edges)
    weights = count * (len(points) / len(features))
    return Table(Graph.of(weights, edges, scale / squares), average, variance, place)


def _check_table(features: np.ndarray, target: np.ndarray, n_neighbors: int) -> None:
    if features.ndim != 2 or target.shape != features.shape[:1] or len(target) < 3:
        raise InputError(
            f"X must be (rows, features) and y (rows,), 3 rows or more; got {features.shape} and {target.shape}"
        )
    if not np.all(np.isfinite(features)) or not np.all(np.isfinite(target)):
        raise InputError("X or y contains NaN or infinity; drop those rows")
    if not 1 <= n_neighbors < len(features):
        raise InputError(f"n_neighbors must lie between 1 and the number of rows less one, got {n_neighbors}")


def _neighbours(points: Float[np.ndarray, "point feature"], n_neighbors: int) -> Edges:
    """Each point and its nearest ones, each pair once."""
    nearest = np.asarray(cKDTree(points).query(points, min(n_neighbors + 1, len(points)))[1])[:, 1:]
    first = np.repeat(np.arange(len(points)), nearest.shape[1])
    return np.unique(np.sort(np.column_stack((first, nearest.ravel())), axis=1), axis=0)


def _connected(points: Float[np.ndarray, "point feature"], edges: Edges) -> Int[np.ndarray, "more 2"]:
    """The edges and, for every island but the largest, its shortest tie to the rest, until all is one."""
    while True:
        matrix = coo_array((np.ones(len(edges)), edges.T), shape=(len(points), len(points)))
        n_islands, island = connected_components(matrix, directed=False)
        if n_islands == 1:
            return edges
        ties = [_tie(points, island == k) for k in range(n_islands) if k != np.bincount(island).argmax()]
        edges = np.unique(np.sort(np.concatenate((edges, ties)), axis=1), axis=0)


def _tie(points: Float[np.ndarray, "point feature"], inside: np.ndarray) -> tuple[int, int]:
    members, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    distance, nearest = map(np.asarray, cKDTree(points[others]).query(points[members]))
    best = int(np.argmin(distance))
    return int(members[best]), int(others[nearest[best]])

"""Define points joined by any edges: the graph Laplacian, its solves, and the nearest-neighbour graph of a table.

    (K f)_i = sum over the edges of i of k_ij (f_i - f_j)

A chain is the special case of n - 1 edges in a row. Solves use conjugate gradients for one field or for two:

    A = diag(a_kl) + s_k K on the diagonal blocks;   A e_k = a_k for the constant e_k of field k, since K e_k = 0

Constants are where a stiff graph is worst conditioned, so they are solved exactly beforehand and the search is kept
A-orthogonal to them (deflation). The preconditioner keeps A's diagonal blocks at every point and its entries along the
stiffest spanning tree. A tree factorises without fill, holds the stiff edges between nearly equal rows, and is exact
for a chain.

A table with d features and n distinct rows is the theory in more than one dimension:

    k_ij = d (n - 1) / (n_edges |x_i - x_j|^2)

so that f'K f / (n - 1) is the squared slope of a linear f when neighbours lie evenly in all directions. A chain of even
spacing is the special case d = 1, n_edges = n - 1, k = 1 / h^2.
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
from heteroscope.field.lattices import Field, Lattice, inner

Stack = Float[np.ndarray, "field point"]
Blocks = Float[np.ndarray, "field field point"]
Operator = Callable[[Stack], Stack]

_TOLERANCE = 1e-6  # relative; each Newton step starts from an exact residual and gains six more digits
_MAX_STEPS = 1000  # of conjugate gradients; a truncated solution still is a descent direction


def solve_deflated(apply: Operator, precondition: Operator, blocks: Blocks, right: Stack) -> Stack | None:
    """Return A^-1 right, or None if A turns out not to be positive definite; stop after `_MAX_STEPS`."""
    coarse = blocks.sum(axis=-1)
    if coarse[0, 0] <= 0.0 or np.linalg.det(coarse) <= 0.0:
        return None

    def search(residual: Stack) -> Stack:
        preconditioned = precondition(residual)
        return preconditioned - np.linalg.solve(coarse, np.einsum("klp,lp->k", blocks, preconditioned))[:, None]

    constants = np.linalg.solve(coarse, right.sum(axis=-1))
    solution = np.zeros_like(right) + constants[:, None]
    residual = right - np.einsum("klp,l->kp", blocks, constants)
    direction = search(residual)
    size = float(np.sum(residual * direction))
    target_size = _TOLERANCE**2 * abs(float(np.sum(right * precondition(right))))
    for _ in range(_MAX_STEPS):
        if abs(size) <= target_size:
            break
        image = apply(direction)
        curvature = float(np.sum(direction * image))
        if curvature <= 0.0 or size < 0.0:
            return None
        solution += size / curvature * direction
        residual -= size / curvature * image
        residual -= residual.mean(axis=-1, keepdims=True)  # zero up to rounding
        preconditioned = search(residual)
        size, previous_size = float(np.sum(residual * preconditioned)), size
        direction = preconditioned + size / previous_size * direction
    return solution


Edges = Int[np.ndarray, "edge 2"]


class Graph(NamedTuple):
    """Points joined by any edges.

    Attributes
    ----------
    weights : ndarray of shape (n_points,)
        Weight of each point in the likelihood.
    edges : ndarray of shape (n_edges, 2)
        The two points of each edge; the edges of the stiffest spanning tree come first.
    stiffness : ndarray of shape (n_edges,)
        Stiffness of each edge.
    """

    weights: Field
    edges: Edges
    stiffness: Float[np.ndarray, " edge"]

    @classmethod
    def of(cls, weights: Field, edges: Edges, stiffness: Float[np.ndarray, " edge"]) -> "Graph":
        """Return a connected graph with its edges in the order that the solver needs.

        Parameters
        ----------
        weights : ndarray of shape (n_points,)
            Weight of each point.
        edges : ndarray of shape (n_edges, 2)
            The two points of each edge, in any order.
        stiffness : ndarray of shape (n_edges,)
            Stiffness of each edge.

        Returns
        -------
        Graph
            The graph.
        """
        n = len(weights)
        ends: Edges = edges.astype(np.int32)  # older releases of scipy.sparse.csgraph take 32-bit indices only
        lengths = coo_array((1.0 / stiffness, ends.T), shape=(n, n))
        in_tree = minimum_spanning_tree(lengths).astype(bool)
        order = np.argsort(~in_tree.tocsr()[edges[:, 0], edges[:, 1]].astype(bool), kind="stable")
        return cls(weights, edges[order], stiffness[order])

    def reweighted(self, weights: Field) -> "Graph":
        """Return the same points and edges with other weights."""
        return self._replace(weights=weights)

    def laplacian(self, field: Field) -> Field:
        """Return K f: (K f)_i = sum over the edges of i of k_ij (f_i - f_j)."""
        first, second = self.edges.T
        flux = self.stiffness * (field[first] - field[second])
        return np.bincount(first, flux, len(field)) - np.bincount(second, flux, len(field))

    def dirichlet(self, field: Field) -> float:
        """Return the sum over edges of k_ij (f_i - f_j)^2."""
        first, second = self.edges.T
        return inner(self.stiffness, (field[first] - field[second]) ** 2)

    def degree(self) -> Field:
        """Return the diagonal of K."""
        n = len(self.weights)
        return np.bincount(self.edges[:, 0], self.stiffness, n) + np.bincount(self.edges[:, 1], self.stiffness, n)

    def solve(self, diagonal: Field, scale: float, right: Field) -> Field:
        """Return (diag + scale K)^-1 right by conjugate gradients."""
        solution = self._solve(diagonal[None, None], np.array([scale]), right[None])
        if solution is None:
            raise ArithmeticError("the system of one field is not positive definite: its diagonal must be positive")
        return solution[0]

    def solve_pair(
        self, diagonals: tuple[Field, Field], coupling: Field, scales: tuple[float, float], right: tuple[Field, Field]
    ) -> tuple[Field, Field] | None:
        """Solve for both fields at once by conjugate gradients; return None if the curvature is negative."""
        blocks = np.array([[diagonals[0], coupling], [coupling, diagonals[1]]])
        solution = self._solve(blocks, np.array(scales), np.array(right))
        return None if solution is None else (solution[0], solution[1])

    def _solve(
        self,
        blocks: Float[np.ndarray, "field field point"],
        scales: Float[np.ndarray, " field"],
        right: Float[np.ndarray, "field point"],
    ) -> Float[np.ndarray, "field point"] | None:
        """Solve for one field or two: blocks[k, l] couples fields k and l at each point."""
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
        """Return the symmetric matrix of the stiffnesses of the first `n_edges` edges."""
        (first, second), n = self.edges[:n_edges].T, len(self.weights)
        rows, columns = np.concatenate((first, second)), np.concatenate((second, first))
        return csr_array(coo_array((np.tile(self.stiffness[:n_edges], 2), (rows, columns)), shape=(n, n)))


def _factorise(
    node_blocks: Float[np.ndarray, "field field point"], scales: Float[np.ndarray, " field"], couplings: csr_array
) -> SuperLU:
    """Factorise the node blocks minus the couplings of the tree; a tree can be eliminated without fill."""
    rows = [
        [diags_array(block) - scale * couplings if k == j else diags_array(block) for j, block in enumerate(row)]
        for k, (row, scale) in enumerate(zip(node_blocks, scales, strict=True))
    ]
    return splu(
        csc_array(block_array(rows)), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )


class Table(NamedTuple):
    """The distinct rows of a table as a graph.

    Attributes
    ----------
    lattice : Graph
        One point per distinct row, joined to its nearest neighbours.
    y, variance : ndarray of shape (n_points,)
        Mean and variance of the target over equal rows.
    point_of_row : ndarray of shape (n_rows,)
        The point that stands for each row of the table.
    points : ndarray of shape (n_points, n_features)
        Features of each point.
    n_neighbors : int
        Nearest neighbours that each point was joined to.
    """

    lattice: Lattice
    y: Field
    variance: Field
    point_of_row: Int[np.ndarray, " row"]
    points: Float[np.ndarray, "point feature"]
    n_neighbors: int

    def extension(self, X: ArrayLike) -> csr_array:
        """Return the matrix that extends a field to new rows: f* = sum_j k_j f_j / sum_j k_j, k_j = 1 / distance^2.

        A new row that were joined to its nearest neighbours without a target of its own would have this value: it is
        the harmonic extension, the least Dirichlet energy for the given field. A new row that equals a point takes
        that point's value.

        Parameters
        ----------
        X : array_like of shape (n_new, n_features)
            New rows, scaled as the table's rows were.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_new, n_points)
            Weights that are not negative and sum to one in each row.
        """
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != self.points.shape[1] or not np.all(np.isfinite(rows)):
            raise InputError(f"new rows must be finite and have the table's {self.points.shape[1]} features")
        found = cKDTree(self.points).query(rows, np.arange(1, min(self.n_neighbors, len(self.points)) + 1))
        distance, nearest = map(np.asarray, found)
        equal = distance[:, :1] == 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = np.where(equal, distance == 0.0, (distance[:, :1] / distance) ** 2)
        weight = weight / weight.sum(axis=1, keepdims=True)
        starts = np.arange(len(rows) + 1) * nearest.shape[1]
        return csr_array((weight.ravel(), nearest.ravel(), starts), shape=(len(rows), len(self.points)))


def table(X: ArrayLike, y: ArrayLike, n_neighbors: int = 10) -> Table:
    """Merge equal rows of a table and join the distinct rows to their nearest neighbours.

    Merging is exact: in the free energy the number of equal rows is a weight, and the spread of their targets a
    variance. Separate parts of the graph are joined by the shortest edge between them.

    Parameters
    ----------
    X : array_like of shape (n_rows, n_features)
        Features. Scale them first: distances are Euclidean.
    y : array_like of shape (n_rows,)
        Target.
    n_neighbors : int, default=10
        Nearest neighbours that each distinct row is joined to.

    Returns
    -------
    Table
        The graph, and the target's mean and variance at its points.
    """
    features, target = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    _check_table(features, target, n_neighbors)
    points, point_of_row, count = np.unique(features, axis=0, return_inverse=True, return_counts=True)
    if len(points) == 1:
        raise InputError("all rows of X are equal, so there are no neighbours; give features that vary")
    average = np.bincount(point_of_row, target) / count
    variance = np.bincount(point_of_row, (target - average[point_of_row]) ** 2) / count
    edges = _connect(points, _neighbours(points, n_neighbors))
    squares = np.sum((points[edges[:, 0]] - points[edges[:, 1]]) ** 2, axis=1)
    scale = points.shape[1] * (len(points) - 1) / len(edges)
    weights = count * (len(points) / len(features))
    return Table(Graph.of(weights, edges, scale / squares), average, variance, point_of_row, points, n_neighbors)


def _check_table(features: np.ndarray, target: np.ndarray, n_neighbors: int) -> None:
    """Raise unless the table has rows, features and a target that can be used."""
    if features.ndim != 2 or target.shape != features.shape[:1] or len(target) < 3:
        raise InputError(
            f"X must be (rows, features) and y (rows,), 3 rows or more; got {features.shape} and {target.shape}"
        )
    if not np.all(np.isfinite(features)) or not np.all(np.isfinite(target)):
        raise InputError("X or y contains NaN or infinity; drop those rows")
    if not 1 <= n_neighbors < len(features):
        raise InputError(f"n_neighbors must lie between 1 and the number of rows less one, got {n_neighbors}")


def _neighbours(points: Float[np.ndarray, "point feature"], n_neighbors: int) -> Edges:
    """Return the edges from each point to its nearest ones, each pair once."""
    nearest = np.asarray(cKDTree(points).query(points, min(n_neighbors + 1, len(points)))[1])[:, 1:]
    first = np.repeat(np.arange(len(points)), nearest.shape[1])
    return np.unique(np.sort(np.column_stack((first, nearest.ravel())), axis=1), axis=0)


def _connect(points: Float[np.ndarray, "point feature"], edges: Edges) -> Int[np.ndarray, "more 2"]:
    """Add the shortest edge from every part but the largest to the rest, until the graph is connected."""
    while True:
        matrix = coo_array((np.ones(len(edges)), edges.T), shape=(len(points), len(points)))
        n_parts, part = connected_components(matrix, directed=False)
        if n_parts == 1:
            return edges
        links = [_shortest_link(points, part == k) for k in range(n_parts) if k != np.bincount(part).argmax()]
        edges = np.unique(np.sort(np.concatenate((edges, links)), axis=1), axis=0)


def _shortest_link(points: Float[np.ndarray, "point feature"], inside: np.ndarray) -> tuple[int, int]:
    """Return the closest pair of a point inside and a point outside."""
    members, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    distance, nearest = map(np.asarray, cKDTree(points[others]).query(points[members]))
    best = int(np.argmin(distance))
    return int(members[best]), int(others[nearest[best]])

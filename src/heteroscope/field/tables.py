"""The field theory in more than one dimension: the Dirichlet energy on a nearest-neighbour graph of a table's rows.

    k_ij = d (n - 1) / (n_edges |x_i - x_j|^2)   for d features and n distinct rows

so that f'K f / (n - 1) is the squared slope of a linear f when neighbours lie in all directions alike; a chain of even
spacing is the special case d = 1, n_edges = n - 1, k = 1 / h^2.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from heteroscope.core import InputError
from heteroscope.field.checking import state
from heteroscope.field.descent import Solution, minimise
from heteroscope.field.graphs import Edges, Graph
from heteroscope.field.lattice import Field
from heteroscope.field.solver import Start, begin


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


def solve_graph(
    X: ArrayLike,
    y: ArrayLike,
    rho: float,
    gamma: float,
    *,
    n_neighbors: int = 10,
    start: Start = "flat",
    tol: float = 1e-8,
    max_steps: int = 500,
) -> Solution:
    """`solve` for a table of features: mean and precision at every row; `n_neighbors` edges a row at least."""
    rows = table(X, y, n_neighbors)
    problem = state(rows.lattice, rows.y, rho, gamma, rows.variance)
    solution = minimise(problem, begin(problem, start), tol=tol, max_steps=max_steps)
    return solution._replace(mean=solution.mean[rows.place], precision=solution.precision[rows.place])


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

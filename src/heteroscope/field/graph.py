"""Points joined by any edges: the graph Laplacian, and its solves by preconditioned conjugate gradients.

    (K f)_i = sum over the edges of i of k_ij (f_i - f_j)

A chain is the special case of n - 1 edges in a row, which the preconditioner solves exactly.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import block_array, coo_array, csc_array, csr_array, diags_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.sparse.linalg import SuperLU, splu

from heteroscope.field.conjugate import solve_deflated
from heteroscope.field.lattice import Field, inner

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
        ends: Edges = edges.astype(np.int32)  # older releases of scipy.sparse.csgraph take no other indices
        lengths = coo_array((1.0 / stiffness, ends.T), shape=(n, n))
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

"""What the field theory needs to know of its points: their weights, their Laplacian, and two linear solves.

    K f = sum over neighbours j of k_ij (f_i - f_j),    f'K f = sum over edges of k_ij (f_i - f_j)^2

A chain of points on a line and a nearest-neighbour graph of a table's rows both offer this, so every formula and the
solver are written once. No edge leaves the set of points: that is the natural boundary condition.
"""

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

Field = Float[np.ndarray, " point"]


def inner(one: Float[np.ndarray, " n"], other: Float[np.ndarray, " n"]) -> float:
    """sum_i a_i b_i by numpy's pairwise sum; BLAS would wake its threads for each of these short products."""
    return float(np.sum(one * other))


@runtime_checkable
class Lattice(Protocol):
    """Points with weights w_i that sum to their number, and edges with stiffnesses k_ij."""

    @property
    def weights(self) -> Field:
        """How much each point counts in the likelihood; one each on an even grid with a uniform density."""

    def laplacian(self, field: Field) -> Field:
        """K f, from differences along edges, so that a constant gives exactly zero."""

    def dirichlet(self, field: Field) -> float:
        """f'K f, the weighted sum of squared gradients."""

    def solve(self, diagonal: Field, scale: float, right: Field) -> Field:
        """The f with diagonal * f + scale * K f = right, for a positive diagonal."""

    def solve_pair(
        self, diagonals: tuple[Field, Field], coupling: Field, scales: tuple[float, float], right: tuple[Field, Field]
    ) -> tuple[Field, Field] | None:
        """(f, g) with d1 f + s1 K f + c g = right1 and c f + d2 g + s2 K g = right2; None unless positive definite."""

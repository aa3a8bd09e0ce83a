"""Conjugate gradients for one or two fields on a graph, with the constants solved exactly beforehand.

    A = diag(a_kl) + s_k K on the diagonal blocks;   A e_k = a_k for the constant e_k of field k, since K e_k = 0

Constants are where a stiff graph is worst conditioned; the search is kept A-orthogonal to them (deflation). The
preconditioner keeps A's diagonal blocks at every point and its entries along a spanning tree, and so factorises without
fill: it knows the stiffest edges, between nearly equal rows, and solves a chain exactly.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

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

"""Laplace's approximation of a network with the two natural parameters of a Gaussian as its outputs.

log evidence = log p(y | w*) - sum_k prior_k |w*_k - centre|^2 / 2 + sum_k count_k log(prior_k) / 2
               - log det(H + prior) / 2,        H = sum_i weight_i J_i^T F_i J_i

w* is the mode, J_i the Jacobian of both outputs and F_i their Fisher information at row i: H is the generalised
Gauss-Newton matrix. It is kept as one matrix ("full"), or as one Kronecker product per hidden layer and one matrix for
the output layers ("kronecker"). Everything here is in double precision and outside the training program.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import expit

from heteroscope.data import Batch
from heteroscope.networks import ACTIVATIONS, PRECISION_FLOOR, UNIT_PRECISION_BIAS, Network, Params

CURVATURES = ("full", "kronecker")
FULL_WEIGHTS = 1000  # "auto" keeps H full up to so many weights: it takes 8 MB, and a fraction of a second to invert
PRIOR_RANGE = (1e-6, 1e6)  # prior precisions that are searched
_BLOCK = 1000  # rows whose Jacobians are in memory at once

#: Prior precision of hidden layers and first output layer, and of the second output layer.
Priors = Float[np.ndarray, "2"]


class NetworkPass(NamedTuple):
    """A pass of rows through a network, forward and back.

    `inputs` are each layer's inputs with a one for the bias, `slopes` the derivatives of both outputs by each hidden
    layer's sum before the activation, and `outputs` the two outputs.
    """

    inputs: tuple[Float[np.ndarray, "point _"], ...]
    slopes: tuple[Float[np.ndarray, "point 2 _"], ...]
    outputs: Float[np.ndarray, "point 2"]

    def precision(self) -> Float[np.ndarray, " point"]:
        """Return softplus of the second output."""
        return np.logaddexp(0.0, self.outputs[:, 1]) + PRECISION_FLOOR

    def mean(self) -> Float[np.ndarray, " point"]:
        """Return first output / precision."""
        return self.outputs[:, 0] / self.precision()

    def mean_slope(self) -> Float[np.ndarray, "point 2"]:
        """Return the derivatives of the mean by both outputs."""
        precision = self.precision()
        return np.stack([1.0 / precision, -self.mean() / precision * expit(self.outputs[:, 1])], axis=1)

    def fisher(self) -> Float[np.ndarray, "point 2 2"]:
        """Return the Fisher information of the outputs: [[1, -m s], [-m s, (m^2 + 1 / (2 p)) s^2]] / p.

        m and p are mean and precision, s is the derivative of the precision by its output.
        """
        mean, precision, slope = self.mean(), self.precision(), expit(self.outputs[:, 1])
        cross = -mean * slope
        second = (mean**2 + 0.5 / precision) * slope**2
        rows = [np.stack([np.ones_like(mean), cross], 1), np.stack([cross, second], 1)]
        return np.stack(rows, 1) / precision[:, None, None]


def pass_through(params: Params, x: Float[np.ndarray, "point feature"], activation: str) -> NetworkPass:
    """Pass rows forward and back through a network with a shared trunk, in double precision."""
    function = ACTIVATIONS[activation]
    derivative = jax.vmap(jax.grad(lambda value: function(value)))
    hidden = np.asarray(x, np.float64)
    inputs, bends = [_with_one(hidden)], []
    for layer in params.mean[:-1]:
        before = hidden @ np.asarray(layer.weight, np.float64) + np.asarray(layer.bias, np.float64)
        single = before.astype(np.float32)
        bends.append(np.asarray(derivative(single.ravel()), np.float64).reshape(before.shape))
        hidden = np.asarray(function(jnp.asarray(single)), np.float64)
        inputs.append(_with_one(hidden))
    heads = [network[-1] for network in params]
    weight = np.concatenate([np.asarray(head.weight, np.float64) for head in heads], axis=1)
    outputs = hidden @ weight + np.concatenate([np.asarray(head.bias, np.float64) for head in heads])
    slopes: list[np.ndarray] = []
    back = np.broadcast_to(weight.T, (len(hidden), *weight.T.shape))
    for number in reversed(range(len(bends))):
        slope = back * bends[number][:, None, :]
        slopes.insert(0, slope)
        back = slope @ np.asarray(params.mean[number].weight, np.float64).T
    return NetworkPass(tuple(inputs), tuple(slopes), outputs)


class Dense(NamedTuple):
    """A full block of H, and which of the two priors each of its weights has."""

    matrix: Float[np.ndarray, "weight weight"]
    prior: Int[np.ndarray, " weight"]

    def log_det(self, priors: Priors) -> float:
        """Return log det(H + prior)."""
        return float(np.linalg.slogdet(self.matrix + np.diag(priors[self.prior]))[1])

    def arrays(self, priors: Priors) -> dict[str, np.ndarray]:
        """Return what predictions need: the covariance."""
        factor = cho_factor(self.matrix + np.diag(priors[self.prior]), lower=True)
        return {"covariance": cho_solve(factor, np.eye(len(self.matrix)))}


class Kronecker(NamedTuple):
    """A hidden layer's block of H: (average of inputs inputs^T) x (sum of slopes F slopes^T).

    Both factors are kept as eigenvalues and eigenvectors.
    """

    input_values: Float[np.ndarray, " input"]
    input_vectors: Float[np.ndarray, "input input"]
    slope_values: Float[np.ndarray, " unit"]
    slope_vectors: Float[np.ndarray, "unit unit"]

    def log_det(self, priors: Priors) -> float:
        """Return log det(H + prior)."""
        return float(np.sum(np.log(np.outer(self.input_values, self.slope_values) + priors[0])))

    def arrays(self, priors: Priors) -> dict[str, np.ndarray]:
        """Return what predictions need: the eigenvectors, and the variance along each pair of them."""
        return {
            "input_vectors": self.input_vectors,
            "slope_vectors": self.slope_vectors,
            "variance": 1.0 / (np.outer(self.input_values, self.slope_values) + priors[0]),
        }


class Laplace(NamedTuple):
    """A mode with the curvature around it: all that the evidence of the priors depends on."""

    blocks: tuple[Dense | Kronecker, ...]
    log_likelihood: float
    counts: Float[np.ndarray, "2"]
    squared_norms: Float[np.ndarray, "2"]

    def log_evidence(self, priors: Priors) -> float:
        """Return the log evidence by the formula at the head of this file."""
        penalty = 0.5 * np.sum(priors * self.squared_norms) - 0.5 * np.sum(self.counts * np.log(priors))
        return float(self.log_likelihood - penalty - 0.5 * sum(block.log_det(priors) for block in self.blocks))

    def best_priors(self, priors: Priors) -> Priors:
        """Return the priors of highest evidence around this mode; the search starts at the given ones."""

        def loss(logs: np.ndarray) -> float:
            return -self.log_evidence(np.exp(logs))

        low, high = (float(end) for end in np.log(PRIOR_RANGE))
        return np.exp(minimize(loss, np.log(priors), method="L-BFGS-B", bounds=[(low, high)] * 2).x)

    def arrays(self, priors: Priors) -> dict[str, np.ndarray]:
        """Return the posterior for `mean_variance`: `0.covariance`, or `0.input_vectors`, ... for each layer."""
        return {
            f"{number}.{name}": array
            for number, block in enumerate(self.blocks)
            for name, array in block.arrays(priors).items()
        }


def resolve_curvature(curvature: str, params: Params) -> str:
    """Return the curvature, and for "auto": full up to `FULL_WEIGHTS` weights, Kronecker beyond."""
    if curvature != "auto":
        return curvature
    return "full" if _counts(params).sum() <= FULL_WEIGHTS else "kronecker"


def approximate(params: Params, batch: Batch, activation: str, curvature: str) -> Laplace:
    """Return Laplace's approximation around `params`, a mode for the standardised rows of `batch`."""
    points = pass_through(params, np.asarray(batch.x), activation)
    y, weight = np.asarray(batch.y, np.float64), np.asarray(batch.weight, np.float64)
    precision = points.precision()
    each = 0.5 * (np.log(precision) - precision * (y - points.mean()) ** 2 - np.log(2 * np.pi))
    fisher = weight[:, None, None] * points.fisher()
    blocks = _full(points, fisher) if curvature == "full" else _kronecker(points, fisher, weight)
    return Laplace(blocks, float(weight @ each), _counts(params), _squared_norms(params))


def mean_variance(arrays: dict[str, np.ndarray], points: NetworkPass) -> Float[np.ndarray, " point"]:
    """Return d^T (H + prior)^-1 d per row, with d the gradient of the mean by all weights: the variance of the mean."""
    slope = points.mean_slope()
    head = slope[:, :, None] * points.inputs[-1][:, None, :]
    hidden = [np.einsum("nk,nku->nu", slope, part) for part in points.slopes]
    if "0.input_vectors" not in arrays and points.slopes:
        parts = [
            (a[:, :, None] * b[:, None, :]).reshape(len(a), -1) for a, b in zip(points.inputs, hidden, strict=False)
        ]
        return _quadratic(np.concatenate([*parts, head.reshape(len(head), -1)], axis=1), arrays["0.covariance"])
    total = _quadratic(head.reshape(len(head), -1), arrays[f"{len(hidden)}.covariance"])
    for number, (a, b) in enumerate(zip(points.inputs, hidden, strict=False)):
        along, across = (
            (part @ arrays[f"{number}.{name}_vectors"]) ** 2 for part, name in ((a, "input"), (b, "slope"))
        )
        total = total + np.sum((along @ arrays[f"{number}.variance"]) * across, axis=1)
    return total


def _full(points: NetworkPass, fisher: Float[np.ndarray, "point 2 2"]) -> tuple[Dense]:
    """Return H as one block."""
    n_trunk = sum(a.shape[1] * b.shape[2] for a, b in zip(points.inputs, points.slopes, strict=False))
    n_head = points.inputs[-1].shape[1]
    matrix = np.zeros((n_trunk + 2 * n_head, n_trunk + 2 * n_head))
    for first in range(0, len(fisher), _BLOCK):
        rows = slice(first, first + _BLOCK)
        jacobian = _jacobian(points, rows)
        matrix += np.einsum("nkp,nkq->pq", jacobian, np.einsum("nkl,nlq->nkq", fisher[rows], jacobian), optimize=True)
    return (Dense(matrix, np.repeat([0, 1], [n_trunk + n_head, n_head])),)


def _jacobian(points: NetworkPass, rows: slice) -> Float[np.ndarray, "point 2 weight"]:
    """Return derivatives of both outputs by the weights and biases of hidden layers, first and second output layer."""
    parts = [
        (a[rows, None, :, None] * b[rows, :, None, :]).reshape(len(a[rows]), 2, -1)
        for a, b in zip(points.inputs, points.slopes, strict=False)
    ]
    last = points.inputs[-1][rows]
    heads = np.einsum("kl,nh->nklh", np.eye(2), last).reshape(len(last), 2, -1)
    return np.concatenate([*parts, heads], axis=2)


def _kronecker(
    points: NetworkPass, fisher: Float[np.ndarray, "point 2 2"], weight: np.ndarray
) -> tuple[Dense | Kronecker, ...]:
    """Return one Kronecker block for each hidden layer and a full block for the output layers."""
    blocks: list[Dense | Kronecker] = []
    for a, b in zip(points.inputs, points.slopes, strict=False):
        inputs = np.linalg.eigh((a * weight[:, None]).T @ a / weight.sum())
        slopes = np.linalg.eigh(np.einsum("nku,nkl,nlv->uv", b, fisher, b, optimize=True))
        blocks.append(Kronecker(np.maximum(inputs[0], 0.0), inputs[1], np.maximum(slopes[0], 0.0), slopes[1]))
    last = points.inputs[-1]
    head = np.einsum("nkl,ni,nj->kilj", fisher, last, last, optimize=True).reshape(2 * last.shape[1], -1)
    return (*blocks, Dense(head, np.repeat([0, 1], last.shape[1])))


def _quadratic(rows: Float[np.ndarray, "point weight"], matrix: Float[np.ndarray, "weight weight"]) -> np.ndarray:
    return np.sum((rows @ matrix) * rows, axis=1)


def _with_one(values: Float[np.ndarray, "point _"]) -> Float[np.ndarray, "point _"]:
    return np.column_stack([values, np.ones(len(values))])


def _counts(params: Params) -> Float[np.ndarray, "2"]:
    """Return how many weights and biases have each of the two priors."""
    return np.array([_size(params.mean), _size(params.precision[-1:])], float)


def _size(layers: Network) -> int:
    return sum(part.size for layer in layers for part in layer)


def _squared_norms(params: Params) -> Float[np.ndarray, "2"]:
    """Return |weights and biases|^2 of the first network and of the second output layer, centred at unit precision."""
    second = params.precision[-1]
    first = sum(float(np.sum(np.square(part, dtype=np.float64))) for layer in params.mean for part in layer)
    offset = np.asarray(second.bias, np.float64) - UNIT_PRECISION_BIAS
    return np.array([first, np.sum(np.square(second.weight, dtype=np.float64)) + np.sum(offset**2)])

"""Between the rounds of a diagram every cell takes over the model of its seed that is best by the cell's own objective.

    objective of cell i with model j = likelihood_j + alpha_i |mean weights_j|^2 + beta_i |precision weights_j|^2

Three numbers of each model decide. Where the precision is constant only alpha counts, so that all cells of one alpha
try to solve one problem, from one start and with other rounding. Training is chaotic, and the best of them serves all.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float, Int

from heteroscope.core import alpha_beta
from heteroscope.diagrams.measuring import evaluate
from heteroscope.diagrams.sources import DiagramRows
from heteroscope.networks import PRECISION_FLOOR, Architecture, Network, Params, init_params
from heteroscope.training import Fit


def summarise_round(fits: Sequence[Fit], data: DiagramRows, activation: str, mean_alone: bool) -> dict[str, np.ndarray]:
    """What a round leaves to the next of a tile's models: weights in one vector, what they are worth, their steps.

    After a round of the mean alone the precision still is as it started: the best constant one stands for it.
    """
    return {
        "weights": np.stack([np.asarray(ravel_pytree(fit.params)[0], np.float32) for fit in fits]),
        "worth": np.array([_worth(fit.params, data, activation, mean_alone) for fit in fits]),
        "steps": np.array([fit.steps for fit in fits], np.int32),
    }


def _worth(params: Params, data: DiagramRows, activation: str, mean_alone: bool) -> tuple[float, float, float]:
    seen = evaluate(params, data.inputs["train"], activation)
    residual = seen.mean - data.targets["train"]
    if mean_alone:
        return 0.5 * (1.0 + np.log(np.mean(residual**2) + PRECISION_FLOOR)), _norm(params.mean), 0.0
    likelihood = np.mean(0.5 * (residual / seen.std) ** 2 + np.log(seen.std))
    return float(likelihood), _norm(params.mean), _norm(params.precision)


def _norm(network: Network) -> float:
    return float(sum(np.sum(np.asarray(layer.weight, np.float64) ** 2) for layer in network))


def best_models(
    worth: Float[np.ndarray, "model 3"],
    logit_rho: Float[np.ndarray, " model"],
    logit_gamma: Float[np.ndarray, " model"],
    keep_zero_means: bool = False,
) -> Int[np.ndarray, " model"]:
    """For each cell the number of the model with the lowest objective there, the first of equal ones.

    All constant models are equal, so that a diagram's many flat cells share one. With `keep_zero_means` a cell whose
    mean has weights of zero is given no other: from a small start, whether zero is left is what a diagram asks.
    """
    likelihood, *norms = worth.T
    closed = np.outer(norms[0] == 0, norms[0] != 0) & keep_zero_means
    best = []
    penalties: Any = alpha_beta(logit_rho, logit_gamma)
    for alpha, beta, out_of_reach in zip(*penalties, closed, strict=True):
        with np.errstate(over="ignore", invalid="ignore"):
            objective = likelihood + alpha * norms[0] + beta * norms[1]
        best.append(np.argmin(np.where(np.isnan(objective) | out_of_reach, np.inf, objective)))
    return np.array(best)


def weights_to_params(architecture: Architecture) -> tuple[int, Callable[[Any], Params]]:
    """How many weights and biases a model has, and the way back from one vector of them to its networks."""
    flat, restore = ravel_pytree(init_params(0, architecture))

    def to_params(weights: Any) -> Params:
        params: Params = restore(weights)
        return Params(*(tuple(type(layer)(*map(np.asarray, layer)) for layer in network) for network in params))

    return len(flat), to_params

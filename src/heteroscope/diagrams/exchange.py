"""Choose, between the rounds of a diagram, the model with which each cell continues.

    objective of cell i with model j = likelihood_j + alpha_i |mean weights_j|^2 + beta_i |precision weights_j|^2

or with the average squared gradients, if those are the penalty. Three numbers of each model decide. Where the precision
is constant only alpha counts, so all cells of one alpha solve the same problem from the same start, with different
rounding. Training is chaotic, and the best result serves them all.
"""

from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float, Int

from heteroscope.core import alpha_beta
from heteroscope.diagrams.measuring import evaluate
from heteroscope.diagrams.sources import DiagramRows
from heteroscope.networks import PRECISION_FLOOR, Architecture, Network, Params, init_params
from heteroscope.training import Fit, Recipe


def summarise_round(fits: Sequence[Fit], data: DiagramRows, recipe: Recipe) -> dict[str, np.ndarray]:
    """Return what the next round needs of a tile's models: weights in one vector, objective terms and steps.

    After a round that trains the mean only, the precision is still at its start; the best constant precision replaces
    it in the objective terms.
    """
    return {
        "weights": np.stack([np.asarray(ravel_pytree(fit.params)[0], np.float32) for fit in fits]),
        "objective_terms": np.array([_objective_terms(fit.params, data, recipe) for fit in fits]),
        "steps": np.array([fit.steps for fit in fits], np.int32),
    }


def _objective_terms(params: Params, data: DiagramRows, recipe: Recipe) -> tuple[float, float, float]:
    """Return the likelihood and what is penalised of the mean's and of the precision's network."""
    outputs = evaluate(params, data.inputs["train"], recipe.architecture.activation)
    if recipe.penalises_gradients:
        sizes = outputs.mean_energy, outputs.precision_energy
    else:
        sizes = _squared_weights(params.mean), _squared_weights(params.precision)
    residual = outputs.mean - data.targets["train"]
    if not any("precision" in stage.trains for stage in recipe.stages):
        return 0.5 * (1.0 + np.log(np.mean(residual**2) + PRECISION_FLOOR)), sizes[0], 0.0
    likelihood = np.mean(0.5 * (residual / outputs.std) ** 2 + np.log(outputs.std))
    return float(likelihood), *sizes


def _squared_weights(network: Network) -> float:
    """Return the sum of all squared weights, without the biases."""
    return float(sum(np.sum(np.asarray(layer.weight, np.float64) ** 2) for layer in network))


def best_models(
    objective_terms: Float[np.ndarray, "model 3"],
    logit_rho: Float[np.ndarray, " model"],
    logit_gamma: Float[np.ndarray, " model"],
    keep_zero_means: bool = False,
) -> Int[np.ndarray, " model"]:
    """Return for each cell the index of the model with the lowest objective there, the first of equal ones.

    All constant models are equal, so the many flat cells of a diagram share one. With `keep_zero_means`, a cell whose
    mean has zero weights keeps a mean of zero: from a small start, a diagram shows where the mean leaves zero by
    itself.
    """
    likelihood, mean_squares, precision_squares = objective_terms.T
    excluded = np.outer(mean_squares == 0, mean_squares != 0) & keep_zero_means
    best = []
    alphas, betas = (np.asarray(penalty) for penalty in alpha_beta(logit_rho, logit_gamma))
    for alpha, beta, excluded_models in zip(alphas, betas, excluded, strict=True):
        with np.errstate(over="ignore", invalid="ignore"):
            objective = likelihood + alpha * mean_squares + beta * precision_squares
        best.append(np.argmin(np.where(np.isnan(objective) | excluded_models, np.inf, objective)))
    return np.array(best)


def weights_to_params(architecture: Architecture) -> tuple[int, Callable[[np.ndarray], Params]]:
    """Return the number of weights and biases of a model, and a function from one vector of them to its networks."""
    flat, restore = ravel_pytree(init_params(0, architecture))

    def to_params(weights: np.ndarray) -> Params:
        params: Params = restore(jnp.asarray(weights))
        return Params(*(tuple(type(layer)(*map(np.asarray, layer)) for layer in network) for network in params))

    return len(flat), to_params

"""The objectives that one model minimises: the joint one at (rho, gamma), and those that train one network alone.

    L = rho * (1/2N) sum_i [precision_i (mean_i - y_i)^2 - log precision_i]
        + (1 - rho) * [gamma |mean weights|^2 + (1 - gamma) |precision weights|^2]

Only weights are penalised, not biases, so that a strong penalty leads to the constant model. w are the rows' weights,
which average to one; the factors of the three terms are `Strengths`. `GradientPenalty` replaces both penalties by those
of the field theory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import jax.numpy as jnp
from jaxtyping import Array, Float

from heteroscope.core import Strengths
from heteroscope.data import Batch
from heteroscope.networks.architecture import PRECISION_FLOOR, Network, Params
from heteroscope.networks.model import AnyArray, input_gradients, predict_mean, predict_precision

FIRST_VARIANCE = 0.01  # added to the variance of residuals in `first_mean_objective`; scaled targets have variance one


class Terms(NamedTuple):
    """The two parts of an objective, which is their sum."""

    likelihood: Float[Array, ""]
    penalty: Float[Array, ""]


#: Parameters, rows, strengths of the three terms and the name of the activation to the terms of the objective.
Objective: TypeAlias = Callable[[Params, Batch, Strengths, str], Terms]


@dataclass(frozen=True)
class GradientPenalty:
    """The likelihood of another objective, with the squared input gradients of its networks as penalty.

        (1 - rho) gamma mean[w |grad mean|^2] + (1 - rho)(1 - gamma) mean[w |grad precision|^2]

    The gradients are exact, at the rows of the batch, in standardised inputs. This is the penalty of the field theory:
    both average the likelihood and the squared slopes over the rows, so that rho and gamma mean the same. Hashable, so
    that it can be compiled in.
    """

    objective: Objective
    networks: tuple[str, ...] = ("mean", "precision")  # that are trained, and so penalised

    def __call__(self, params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
        """Return the likelihood and the penalty of the gradients."""
        mean, precision = input_gradients(params, batch.x, activation)
        parts = {"mean": (strengths.mean_penalty, mean), "precision": (strengths.precision_penalty, precision)}
        penalties = (
            factor * jnp.mean(batch.weight * jnp.sum(gradient**2, axis=1))
            for name, (factor, gradient) in parts.items()
            if name in self.networks
        )
        likelihood = self.objective(params, batch, strengths, activation).likelihood
        return Terms(likelihood, penalty=sum(penalties, start=jnp.zeros(())))


def gaussian_nll(
    mean: Float[Array, " point"], precision: Float[Array, " point"], y: Float[AnyArray, " point"]
) -> Float[Array, " point"]:
    """Return (precision (mean - y)^2 - log precision) / 2 per row: the NLL without its constant, log(2 pi) / 2."""
    return 0.5 * (precision * (mean - y) ** 2 - jnp.log(precision))


def weight_norm(network: Network) -> Float[Array, ""]:
    """Return |weights|^2 of a network, without biases."""
    return sum((jnp.sum(layer.weight**2) for layer in network), start=jnp.zeros(()))


def joint_objective(params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
    """Return rho mean[w nll] + (1 - rho) gamma |mean weights|^2 + (1 - rho)(1 - gamma) |precision weights|^2."""
    mean = predict_mean(params, batch.x, activation)
    precision = predict_precision(params, batch.x, activation)
    return Terms(
        likelihood=strengths.likelihood * jnp.mean(batch.weight * gaussian_nll(mean, precision, batch.y)),
        penalty=strengths.mean_penalty * weight_norm(params.mean)
        + strengths.precision_penalty * weight_norm(params.precision),
    )


def mean_objective(params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
    """Return rho mean[w (mean - y)^2 / 2] + (1 - rho) gamma |mean weights|^2: the joint objective at precision one."""
    mean = predict_mean(params, batch.x, activation)
    return Terms(
        likelihood=strengths.likelihood * jnp.mean(batch.weight * 0.5 * (mean - batch.y) ** 2),
        penalty=strengths.mean_penalty * weight_norm(params.mean),
    )


def mean_alone_objective(
    params: Params, batch: Batch, strengths: Strengths, activation: str, floor: float = PRECISION_FLOOR
) -> Terms:
    """Return rho (1 + log(mean[w (mean - y)^2] + floor)) / 2 + the penalty of the mean.

    This is the joint objective at the best constant precision.
    """
    mean = predict_mean(params, batch.x, activation)
    variance = jnp.mean(batch.weight * (mean - batch.y) ** 2)
    return Terms(
        likelihood=strengths.likelihood * 0.5 * (1.0 + jnp.log(variance + floor)),
        penalty=strengths.mean_penalty * weight_norm(params.mean),
    )


def first_mean_objective(params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
    """Return `mean_alone_objective` with a floor of 0.01.

    Without noise in the targets the logarithm would be unbounded, and its gradient would grow without limit.
    """
    return mean_alone_objective(params, batch, strengths, activation, floor=FIRST_VARIANCE)


def precision_alone_objective(params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
    """Return rho mean[w nll] + the penalty of the precision, at the best constant mean, sum w p y / sum w p."""
    precision = predict_precision(params, batch.x, activation)
    share = batch.weight * precision
    mean = jnp.full_like(precision, jnp.sum(share * batch.y) / jnp.sum(share))
    return Terms(
        likelihood=strengths.likelihood * jnp.mean(batch.weight * gaussian_nll(mean, precision, batch.y)),
        penalty=strengths.precision_penalty * weight_norm(params.precision),
    )

"""What one model minimises: the (rho, gamma) objective, and the squared error that its mean is fitted to first.

    L = rho * (1/2N) sum_i [precision_i (mean_i - y_i)^2 - log precision_i]
        + (1 - rho) * [gamma |mean weights|^2 + (1 - gamma) |precision weights|^2]

Only weights are penalised; biases are free, so that a strong penalty leaves the constant model.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import jax.numpy as jnp
from jaxtyping import Array, Float

from heteroscope.core import Strengths
from heteroscope.data import Batch
from heteroscope.networks.model import PRECISION_FLOOR, AnyArray, Network, Params, predict_mean, predict_precision

FIRST_VARIANCE = 0.01  # of "fast": added to the residuals' while the mean is alone; targets have variance one


class Terms(NamedTuple):
    """The two parts of an objective, which is their sum."""

    likelihood: Float[Array, ""]
    penalty: Float[Array, ""]


Objective: TypeAlias = Callable[[Params, Batch, Strengths, str], Terms]


def gaussian_nll(
    mean: Float[Array, " point"], precision: Float[Array, " point"], y: Float[AnyArray, " point"]
) -> Float[Array, " point"]:
    """(precision (mean - y)^2 - log precision) / 2 a row: the negative log likelihood up to log(2 pi) / 2."""
    return 0.5 * (precision * (mean - y) ** 2 - jnp.log(precision))


def weight_norm(network: Network) -> Float[Array, ""]:
    """|weights|^2 of a network, biases left out."""
    return sum((jnp.sum(layer.weight**2) for layer in network), start=jnp.zeros(()))


def joint_objective(params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
    """rho mean[w nll] + (1 - rho) gamma |mean weights|^2 + (1 - rho)(1 - gamma) |precision weights|^2."""
    mean = predict_mean(params, batch.x, activation)
    precision = predict_precision(params, batch.x, activation)
    return Terms(
        likelihood=strengths.likelihood * jnp.mean(batch.weight * gaussian_nll(mean, precision, batch.y)),
        penalty=strengths.mean_penalty * weight_norm(params.mean)
        + strengths.precision_penalty * weight_norm(params.precision),
    )


def mean_objective(params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
    """rho mean[w (mean - y)^2 / 2] + (1 - rho) gamma |mean weights|^2: the joint objective at precision one."""
    mean = predict_mean(params, batch.x, activation)
    return Terms(
        likelihood=strengths.likelihood * jnp.mean(batch.weight * 0.5 * (mean - batch.y) ** 2),
        penalty=strengths.mean_penalty * weight_norm(params.mean),
    )


def mean_alone_objective(
    params: Params, batch: Batch, strengths: Strengths, activation: str, floor: float = PRECISION_FLOOR
) -> Terms:
    """rho (1 + log mean[w (mean - y)^2]) / 2 + the mean's penalty: the joint one at the best constant precision."""
    mean = predict_mean(params, batch.x, activation)
    variance = jnp.mean(batch.weight * (mean - batch.y) ** 2)
    return Terms(
        likelihood=strengths.likelihood * 0.5 * (1.0 + jnp.log(variance + floor)),
        penalty=strengths.mean_penalty * weight_norm(params.mean),
    )


def first_mean_objective(params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
    """The same with a floor: where targets have no noise the logarithm has no end, and steps would grow too long."""
    return mean_alone_objective(params, batch, strengths, activation, floor=FIRST_VARIANCE)


def precision_alone_objective(params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
    """rho mean[w nll] + the precision's penalty at the best constant mean, sum w p y / sum w p."""
    precision = predict_precision(params, batch.x, activation)
    share = batch.weight * precision
    mean = jnp.full_like(precision, jnp.sum(share * batch.y) / jnp.sum(share))
    return Terms(
        likelihood=strengths.likelihood * jnp.mean(batch.weight * gaussian_nll(mean, precision, batch.y)),
        penalty=strengths.precision_penalty * weight_norm(params.precision),
    )

"""What the baselines minimise: the Gaussian likelihood, each row weighed by its own variance or not, and weight decay.

L = (1/N) sum_i [variance_i^beta]_fixed nll_i + weight_decay * (|mean weights|^2 + |variance weights|^2)
"""

import math
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.lax import stop_gradient

from heteroscope.baselines.heads import Head, variance_head
from heteroscope.core import InputError, Strengths, logits_from_alpha_beta
from heteroscope.data import Batch
from heteroscope.networks import Params, Terms, gaussian_nll, predict_mean, predict_precision, weight_norm


@dataclass(frozen=True)
class BetaNLL:
    """mean[w variance^beta nll], no gradient flowing through variance^beta; beta = 0 is maximum likelihood.

    The mean's gradient is (mean - y) variance^(beta - 1): at beta = 1 that of the squared error, whatever the variance.
    A record rather than a closure, so that equal settings share one compiled program.
    """

    beta: float = 0.0
    head: Head = variance_head

    def __call__(self, params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
        """The objective of one model, divided as `joint_objective` is into likelihood and penalty."""
        mean = predict_mean(params, batch.x, activation)
        precision = self.head(predict_precision(params, batch.x, activation))
        row_weight = batch.weight * stop_gradient(precision**-self.beta)
        return Terms(
            likelihood=strengths.likelihood * jnp.mean(row_weight * gaussian_nll(mean, precision, batch.y)),
            penalty=strengths.mean_penalty * weight_norm(params.mean)
            + strengths.precision_penalty * weight_norm(params.precision),
        )


def decay_logits(weight_decay: Any) -> tuple[float, float]:
    """The logits of (rho, gamma) at which a likelihood of weight one has this penalty on both networks.

    Weight decay is the line gamma = 1/2 of the phase diagram, and none at all its end rho = 1.
    """
    number = isinstance(weight_decay, int | float | np.number) and not isinstance(weight_decay, bool)
    if not number or not 0 <= weight_decay < math.inf:
        raise InputError(f'weight_decay must be "auto" or a number of at least 0, got {weight_decay!r}')
    if weight_decay == 0:
        return math.inf, 0.0
    logit_rho, logit_gamma = logits_from_alpha_beta(float(weight_decay), float(weight_decay))
    return float(logit_rho), float(logit_gamma)

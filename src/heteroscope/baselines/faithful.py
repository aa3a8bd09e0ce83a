"""Faithful heteroskedastic regression (Stirn et al. 2023): a variance that costs the mean nothing."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jax.lax import stop_gradient

from heteroscope.baselines.base import BaselineRegressor
from heteroscope.baselines.second_network import Head, check_trunk, second_output, share_trunk, variance_head
from heteroscope.core import Strengths
from heteroscope.data import Batch
from heteroscope.networks import Objective, Params, Terms, gaussian_nll, predict_mean, to_positive, weight_norm


@dataclass(frozen=True)
class Faithful:
    """mean[w ((mean - y)^2 / 2 + nll([mean], variance))], no gradient flowing through the bracket.

    A shared trunk hears of the squared error only: to the variance its features are given numbers.
    """

    trunk: str = "shared"
    head: Head = variance_head

    def __call__(self, params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
        """The objective of one model, divided as `joint_objective` is into likelihood and penalty."""
        mean = predict_mean(params, batch.x, activation)
        source = params._replace(mean=stop_gradient(params.mean))
        precision = self.head(to_positive(second_output(source, batch.x, activation, self.trunk)))
        loss = 0.5 * (mean - batch.y) ** 2 + gaussian_nll(stop_gradient(mean), precision, batch.y)
        second = params.precision[-1:] if self.trunk == "shared" else params.precision
        return Terms(
            likelihood=strengths.likelihood * jnp.mean(batch.weight * loss),
            penalty=strengths.mean_penalty * weight_norm(params.mean)
            + strengths.precision_penalty * weight_norm(second),
        )


@dataclass(eq=False, repr=False)
class FaithfulRegressor(BaselineRegressor):
    """The mean of least squares, min (1/N) sum_i (mean_i - y_i)^2 / 2, with the variance that fits its residuals.

    Parameters
    ----------
    trunk : "shared": one stack of hidden layers, which the mean alone trains, and an output layer each; "separate":
        two networks.
    weight_decay, held_out, max_steps, hidden, activation, start, batch_size, n_jobs, random_state, verbose : as in
        `MLERegressor`, as are the attributes.
    """

    trunk: Any = "shared"

    def objective(self) -> Objective:
        """Squared error for the mean, likelihood for the variance."""
        return Faithful(check_trunk(self.trunk), self.head)

    def completed(self, params: Params) -> Params:
        """A shared trunk stands in both networks."""
        return share_trunk(params) if self.trunk == "shared" else params

"""Faithful heteroskedastic regression (Stirn et al. 2023): the mean of least squares, then the variance around it."""

from dataclasses import dataclass

import jax.numpy as jnp
from jax.lax import stop_gradient

from heteroscope.baselines.base import BaselineRegressor
from heteroscope.baselines.second_network import Head, check_trunk, second_output, share_trunk, variance_head
from heteroscope.core import Strengths
from heteroscope.data import Batch
from heteroscope.networks import Objective, Params, Terms, gaussian_nll, predict_mean, to_positive, weight_norm


@dataclass(frozen=True)
class Faithful:
    """The objective mean[w ((mean - y)^2 / 2 + nll([mean], variance))], with no gradient through the bracket.

    Only the squared error trains a shared trunk: the output layer of the variance takes its features as constants.
    """

    trunk: str = "shared"
    head: Head = variance_head

    def __call__(self, params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
        """Return likelihood and penalty of one model."""
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
    """Faithful regression: the mean of least squares, and a variance that fits its residuals.

    mean: min (1/N) sum_i (mean_i - y_i)^2 / 2,    variance: maximum likelihood at that mean. Fitting the variance does
    not change the mean.

    Parameters
    ----------
    trunk : {"shared", "separate"}, default="shared"
        "shared": the mean and the variance are two output layers on the same hidden layers, which only the mean
        trains. "separate": two networks.
    held_out, hidden, activation, start, max_steps, batch_size, n_jobs, random_state, verbose, weight_decay
        As in `MLERegressor`, as are the attributes.
    """

    trunk: str = "shared"

    def objective(self) -> Objective:
        """Return the squared error of the mean plus the likelihood of the variance."""
        return Faithful(check_trunk(self.trunk), self.head)

    def for_prediction(self, params: Params) -> Params:
        """Return both networks complete: with a shared trunk, the mean network's hidden layers in both."""
        return share_trunk(params) if self.trunk == "shared" else params

"""What the baselines minimise: the Gaussian likelihood, each row weighed by its own variance or not, and weight decay.

L = (1/N) sum_i [variance_i^beta]_fixed nll_i + weight_decay * (|mean weights|^2 + |variance weights|^2)
"""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.lax import stop_gradient

from heteroscope.baselines.base import BaselineRegressor
from heteroscope.baselines.second_network import Head, variance_head
from heteroscope.core import Identity, InputError, Strengths
from heteroscope.data import Batch
from heteroscope.networks import Objective, Params, Terms, gaussian_nll, predict_mean, predict_precision, weight_norm


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


class MLERegressor(BaselineRegressor):
    """min (1/N) sum_i [log variance_i + (y_i - mean_i)^2 / variance_i] / 2 + weight_decay |weights|^2.

    Without weight decay there is no minimum (the mean meets the rows, the variance goes to zero); `weight_decay=0` is
    the plain method nevertheless, stopped after max_steps.

    Parameters
    ----------
    weight_decay : the penalty on both networks' weights; "auto" chooses it on held-out rows, and with it whether to
        stop after a quarter of max_steps.
    held_out : share of the rows for that choice, and for the held-out score behind `phase_`; with a number for
        weight_decay, 0 saves its time.
    max_steps : steps of a model that is not stopped early.
    hidden, activation, start, batch_size, n_jobs, random_state, verbose : as in `HeteroskedasticRegressor`.

    Attributes
    ----------
    weight_decay_, n_iter_ : weight decay and steps that were chosen. `trials_` : each candidate with its held-out NLL,
    a dictionary of columns. `phase_`, `status_`, `observables_` : as in `HeteroskedasticRegressor`.
    """

    takes_streams = True

    def objective(self) -> Objective:
        """The negative log likelihood."""
        return BetaNLL(0.0, self.head)

    def declared(self) -> Identity:
        """The likelihood is beta-NLL at beta = 0."""
        return {"name": "beta-nll", "beta": 0.0}


@dataclass(eq=False, repr=False)
class BetaNLLRegressor(BaselineRegressor):
    """min (1/N) sum_i [variance_i^beta]_fixed nll_i: the likelihood with each row weighed by its own variance^beta.

    Under plain likelihood the mean's gradient is divided by the variance: where the mean is still wrong the variance
    grows, and the mean stops learning. beta = 0 is `MLERegressor`; beta = 1 gives the mean the gradient of the squared
    error. The authors recommend 0.5.

    Parameters
    ----------
    beta : from 0 to 1.
    weight_decay, held_out, max_steps, hidden, activation, start, batch_size, n_jobs, random_state, verbose : as in
        `MLERegressor`, as are the attributes.
    """

    beta: Any = 0.5

    takes_streams = True

    def objective(self) -> Objective:
        """The likelihood weighed by variance^beta."""
        number = isinstance(self.beta, int | float | np.number) and not isinstance(self.beta, bool)
        if not number or not 0 <= self.beta <= 1:
            raise InputError(f"beta must be a number from 0 (likelihood) to 1 (squared error), got {self.beta!r}")
        return BetaNLL(float(self.beta), self.head)

    def declared(self) -> Identity:
        """beta-NLL and its beta."""
        return {"name": "beta-nll", "beta": self.beta}

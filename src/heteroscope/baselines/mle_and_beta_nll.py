"""Maximum likelihood (Nix & Weigend 1994) and beta-NLL (Seitzer, Tavakoli, Antic & Martius 2022).

L = (1/N) sum_i [variance_i^beta] nll_i + weight_decay * (|mean weights|^2 + |variance weights|^2)

No gradient flows through the bracket. beta = 0 is maximum likelihood.
"""

from dataclasses import dataclass

import jax.numpy as jnp
from jax.lax import stop_gradient

from heteroscope.baselines.base import BaselineRegressor, Number, is_number
from heteroscope.baselines.second_network import Head, variance_head
from heteroscope.core import Identity, InputError, Strengths
from heteroscope.data import Batch
from heteroscope.networks import Objective, Params, Terms, gaussian_nll, predict_mean, predict_precision, weight_norm


@dataclass(frozen=True)
class BetaNLL:
    """The objective mean[w variance^beta nll], with no gradient through variance^beta.

    The gradient by the mean is (mean - y) variance^(beta - 1): at beta = 1 that of the squared error, whatever the
    variance is. A frozen dataclass rather than a closure, so that equal settings share one compiled program.
    """

    beta: float = 0.0
    head: Head = variance_head

    def __call__(self, params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
        """Return likelihood and penalty of one model."""
        mean = predict_mean(params, batch.x, activation)
        precision = self.head(predict_precision(params, batch.x, activation))
        row_weight = batch.weight * stop_gradient(precision**-self.beta)
        return Terms(
            likelihood=strengths.likelihood * jnp.mean(row_weight * gaussian_nll(mean, precision, batch.y)),
            penalty=strengths.mean_penalty * weight_norm(params.mean)
            + strengths.precision_penalty * weight_norm(params.precision),
        )


class MLERegressor(BaselineRegressor):
    """Maximum likelihood: min (1/N) sum_i [log variance_i + (y_i - mean_i)^2 / variance_i] / 2 + decay |weights|^2.

    Without weight decay there is no minimum: the mean reaches the targets and the variance goes to zero.
    `weight_decay=0` is that plain method, stopped after max_steps.

    Parameters
    ----------
    held_out : float, default=0.2
        Share of the rows on which weight decay and steps are chosen, and from which the held-out score behind `phase_`
        comes. With a number for weight_decay, 0 saves this training.
    hidden : sequence of int, default=(64, 64, 64)
        Sizes of the hidden layers, the same for both networks.
    activation : {"silu", "gelu", "tanh", "leaky_relu", "relu"}, default="silu"
        The activation of the hidden layers.
    start : "he" or float, default="he"
        How weights start: He's rule, or the standard deviation of all weights and biases.
    max_steps : int or "auto", default="auto"
        Steps of a training that is not stopped early; "auto" depends on the number of rows, as in
        `HeteroskedasticRegressor`.
    batch_size : int, "auto" or None, default="auto"
        Rows per step; None is all rows, "auto" as in `HeteroskedasticRegressor`.
    n_jobs : int, default=None
        Number of processes, as in scikit-learn: None is one, -1 is one for each core.
    random_state : int or RandomState, default=None
        Seed of the held-out rows, the starts and the batches.
    verbose : int, default=0
        1 shows a progress bar.
    weight_decay : float or "auto", default="auto"
        The penalty on the squared weights of both networks. "auto" chooses it on held-out rows, together with the
        number of steps: max_steps or a quarter of it.

    Attributes
    ----------
    weight_decay_ : float
        The weight decay of the fit.
    n_iter_ : int
        The number of steps of the fit.
    trials_ : dict of str to ndarray
        One column each for `steps`, `weight_decay` and `held_out_nll` of every candidate.
    phase_ : str
        One of U_I, U_II, O_I, O_II and S.
    status_ : tuple of Status
        How the training of each member ended.
    observables_ : Observables
        The numbers behind the phase.

    See Also
    --------
    BetaNLLRegressor : The same likelihood with rows weighed by their variance.
    MLEEnsembleRegressor : Several such models as one Gaussian.
    """

    takes_streams = True

    def objective(self) -> Objective:
        """Return the negative log likelihood."""
        return BetaNLL(0.0, self.head)

    def objective_identity(self) -> Identity:
        """Return the identity of beta-NLL at beta = 0, which is maximum likelihood: stored runs of both match."""
        return {"name": "beta-nll", "beta": 0.0}


@dataclass(eq=False, repr=False)
class BetaNLLRegressor(BaselineRegressor):
    """beta-NLL: min (1/N) sum_i [variance_i^beta] nll_i, with no gradient through the bracket.

    Under plain likelihood the gradient of the mean is divided by the variance: where the mean is still wrong the
    variance grows, and the mean stops learning. The weight variance^beta restores that gradient.

    Parameters
    ----------
    beta : float, default=0.5
        From 0, which is `MLERegressor`, to 1, which gives the mean the gradient of the squared error. The authors
        recommend 0.5.
    held_out, hidden, activation, start, max_steps, batch_size, n_jobs, random_state, verbose, weight_decay
        As in `MLERegressor`, as are the attributes.

    See Also
    --------
    MLERegressor : Maximum likelihood; describes the other parameters and the attributes.
    """

    beta: Number = 0.5

    takes_streams = True

    def objective(self) -> Objective:
        """Return the likelihood with each row weighed by variance^beta."""
        if not is_number(self.beta) or not 0 <= self.beta <= 1:
            raise InputError(f"beta must be a number from 0 (likelihood) to 1 (squared error), got {self.beta!r}")
        return BetaNLL(float(self.beta), self.head)

    def objective_identity(self) -> Identity:
        """Return the identity of beta-NLL with its beta."""
        return {"name": "beta-nll", "beta": self.beta}

"""Maximum likelihood (Nix & Weigend 1994): mean and variance networks under the Gaussian likelihood."""

from heteroscope.baselines.base import BaselineRegressor
from heteroscope.baselines.mle_and_beta_nll import BetaNLL
from heteroscope.core import Identity
from heteroscope.networks import Objective


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

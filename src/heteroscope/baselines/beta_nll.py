"""beta-NLL (Seitzer, Tavakoli, Antic & Martius 2022): rows of large variance are not given up on."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from heteroscope.baselines.base import BaselineRegressor
from heteroscope.baselines.mle_and_beta_nll import BetaNLL
from heteroscope.core import Identity, InputError
from heteroscope.networks import Objective


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

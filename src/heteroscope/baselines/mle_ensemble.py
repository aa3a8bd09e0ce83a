"""Deep ensembles (Lakshminarayanan, Pritzel & Blundell 2017): likelihood from several starts, as one Gaussian."""

from typing import Any

from heteroscope import defaults
from heteroscope.baselines.mle import MLERegressor
from heteroscope.estimators import positive_integer


class MLEEnsembleRegressor(MLERegressor):
    """mean = average of means, variance = average of (std^2 + mean^2) - mean^2, over members of plain likelihood.

    The members see the same rows and differ in their starts and batches. The weight decay is chosen by the held-out
    likelihood of two members together, which stand a weaker penalty than one alone.

    Parameters
    ----------
    n_members : models in the ensemble.
    weight_decay, held_out, max_steps, hidden, activation, start, batch_size, n_jobs, random_state, verbose : as in
        `MLERegressor`, as are the attributes.
    """

    def __init__(
        self,
        n_members: Any = 6,
        *,
        weight_decay: Any = "auto",
        held_out: Any = 0.2,
        hidden: Any = defaults.HIDDEN,
        activation: Any = defaults.ACTIVATION,
        start: Any = "he",
        max_steps: Any = defaults.SEARCH_STEPS,
        batch_size: Any = "auto",
        n_jobs: Any = None,
        random_state: Any = None,
        verbose: Any = 0,
    ) -> None:
        super().__init__(
            weight_decay=weight_decay,
            held_out=held_out,
            hidden=hidden,
            activation=activation,
            start=start,
            max_steps=max_steps,
            batch_size=batch_size,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.n_members = n_members

    def members_wanted(self) -> int:
        """`n_members`."""
        return positive_integer("n_members", self.n_members)

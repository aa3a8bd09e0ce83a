"""Deep ensembles (Lakshminarayanan, Pritzel & Blundell 2017): likelihood from several starts, as one Gaussian."""

from dataclasses import dataclass
from typing import Any

from heteroscope.baselines.mle import MLERegressor
from heteroscope.core import check_positive_integer


@dataclass(eq=False, repr=False)
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

    n_members: Any = 6

    def members_wanted(self) -> int:
        """`n_members`."""
        return check_positive_integer("n_members", self.n_members)

"""Permutation importance: what drives the mean and what drives the std, each by the score that it loses.

The values of one input are shuffled between rows, and mean and std are predicted again. Then

    mean:  score(y, mean of the shuffled rows, std of the rows as they are) - score(y, mean, std)
    std:   score(y, mean of the rows as they are, std of the shuffled rows) - score(y, mean, std)
    both:  score(y, mean and std of the shuffled rows) - score(y, mean, std)

is how much worse the forecasts become without what the input says of the mean, of the std, or of both. Mean and std are
those of the logarithm if the networks predict it; the scores are of the target.
"""

from typing import Literal, TypeAlias

import numpy as np
import xarray as xr
from jaxtyping import Float

from heteroscope.distributions import metrics
from heteroscope.explanation.inputs import Inputs
from heteroscope.explanation.target_units import target_forecast
from heteroscope.networks import FittedEnsemble

#: The score that is lost: in the units of the target, or in nats per row.
Score: TypeAlias = Literal["crps", "nll"]
DRIVEN = ("mean", "std", "both")
REPEATS = 5  # shuffles of each input
MOST_ROWS, FEWEST_ROWS = 1000, 100  # rows that are predicted for each shuffle
ROWS_TIMES_INPUTS = 20_000  # bounds the time: about five seconds for an ensemble of five


def permutation_importance(
    ensemble: FittedEnsemble, inputs: Inputs, n_repeats: int = REPEATS, random_state: int = 0
) -> xr.Dataset:
    """Compute how much worse forecasts become when an input is shuffled, for the mean, the std and both.

    Columns that belong to one input, such as the categories of a text column, are shuffled together. Two inputs that
    say the same share their importance: each alone may look unimportant.

    Parameters
    ----------
    ensemble : FittedEnsemble
        The model, from its method `ensemble`.
    inputs : Inputs
        The rows; a part of them if there are many.
    n_repeats : int, default=5
        Shuffles of each input.
    random_state : int, default=0
        Seed of the shuffles.

    Returns
    -------
    xarray.Dataset
        `crps` (in the units of the target) and `nll` (nats per row): the loss of score along `driven` ("mean", "std",
        "both"), `input` and `repeat`. Attributes: `n_rows`, and `crps` and `nll` without shuffling.
    """
    n = int(np.clip(ROWS_TIMES_INPUTS // max(1, len(inputs.names)), FEWEST_ROWS, MOST_ROWS))
    rows, random = inputs.take(n), np.random.default_rng(random_state)
    plain = ensemble.predict(rows.x)
    base = _scores(ensemble, rows, plain.mean, plain.std)
    lost = np.empty((2, len(DRIVEN), len(rows.names), n_repeats))
    for place, columns in enumerate(rows.groups.values()):
        for repeat in range(n_repeats):
            shuffled = rows.x.copy()
            shuffled[:, columns] = shuffled[random.permutation(len(shuffled))][:, columns]
            other = ensemble.predict(shuffled)
            pairs = (other.mean, plain.std), (plain.mean, other.std), (other.mean, other.std)
            for k, (mean, std) in enumerate(pairs):
                lost[:, k, place, repeat] = np.subtract(_scores(ensemble, rows, mean, std), base)
    dims = ("driven", "input", "repeat")
    return xr.Dataset(
        {"crps": (dims, lost[0]), "nll": (dims, lost[1])},
        {"driven": list(DRIVEN), "input": rows.names},
        {"n_rows": len(rows.y), "crps": base[0], "nll": base[1]},
    )


def _scores(
    ensemble: FittedEnsemble, rows: Inputs, mean: Float[np.ndarray, " row"], std: Float[np.ndarray, " row"]
) -> tuple[float, float]:
    """Return CRPS and NLL."""
    forecast = target_forecast(ensemble, mean, std)
    return (
        metrics.crps(rows.y, forecast, sample_weight=rows.weight),
        metrics.nll(rows.y, forecast, sample_weight=rows.weight),
    )

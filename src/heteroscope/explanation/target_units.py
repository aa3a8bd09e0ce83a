"""From the units of the networks to those of the target: they differ if the networks predict logarithms."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from heteroscope.distributions import exponentiated, frozen
from heteroscope.networks import FittedEnsemble, Prediction

if TYPE_CHECKING:
    from scipy.stats.distributions import rv_frozen


def target_moments(
    ensemble: FittedEnsemble, mean: Float[np.ndarray, "..."], std: Float[np.ndarray, "..."]
) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    """Return mean and std of the target, given those of what the networks predict."""
    if not ensemble.lognormal:
        return mean, std
    flat = Prediction(np.ravel(mean), np.ravel(std), np.ravel(std), np.zeros(std.size))
    found = exponentiated(flat, ensemble.scaling.y_scale)
    return found.mean.reshape(mean.shape), found.std.reshape(mean.shape)


def target_forecast(
    ensemble: FittedEnsemble, mean: Float[np.ndarray, " row"], std: Float[np.ndarray, " row"]
) -> "rv_frozen":
    """Return the predicted distributions of the target, given mean and std of what the networks predict."""
    return frozen(*target_moments(ensemble, mean, std), ensemble.df, ensemble.lognormal)

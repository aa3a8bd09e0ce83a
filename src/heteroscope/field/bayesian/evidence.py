"""Estimate the evidence from samples.

Bridge sampling (Meng and Wong 1996) compares the samples with draws of a Gaussian that has the sampler's mass matrix,
around the average of the first half of the samples:

    r = E_q[p / (s_1 p / r + s_2 q)] / E_p[q / (s_1 p / r + s_2 q)],  iterated;  s = shares of both kinds of draws

The Gaussian is an ever worse match as points are added. The standard error says when it no longer serves.
"""

import numpy as np
from jaxtyping import Float
from scipy.special import expit

from heteroscope.field.bayesian.level_prior import log_prior_constant
from heteroscope.field.bayesian.sampling import Chains

_ROUNDS = 100


def bridge_evidence(chains: Chains, rng: np.random.Generator) -> tuple[float, float]:
    """Return the log evidence and its standard error, with that of the prior's constant."""
    density, mass = chains.sampler.density, chains.sampler.mass
    target, n = density.target, len(chains.sampler.centre)
    half = chains.precision.shape[1] // 2
    z = density.softplus.inverse(chains.precision)
    centre = z[:, :half].mean(axis=(0, 1))
    kept, log_kept = z[:, half:].reshape(-1, n), chains.log_density[:, half:].ravel()
    normals = rng.standard_normal(kept.shape)
    drawn = density.softplus.clip(centre + mass.velocities(mass.momenta(normals)))
    with np.errstate(all="ignore"):  # draws far out may overflow; they have no weight
        log_drawn = -np.nan_to_num(density.at(drawn).potential, nan=np.inf, posinf=np.inf)
    scale = 0.5 * mass.log_det - 0.5 * n * np.log(2.0 * np.pi)
    by_samples = log_kept - (scale - 0.5 * mass.squared_lengths(kept - centre))
    by_draws = log_drawn - (scale - 0.5 * np.sum(normals**2, axis=1))
    log_ratio, error = _bridge(by_samples, by_draws)
    constant, constant_error = log_prior_constant(target)
    units = 0.5 * np.log(2.0 * np.pi) * (n - target.weights.sum())
    return float(constant + units + log_ratio), float(np.hypot(error, constant_error))


def _bridge(by_samples: Float[np.ndarray, " n"], by_draws: Float[np.ndarray, " m"]) -> tuple[float, float]:
    """Return the log of the ratio of constants, and its standard error for independent samples.

    Arguments are log(p / q) at samples of p and at draws of q, in equal numbers.
    """
    log_ratio = float(np.median(by_samples))
    for _ in range(_ROUNDS):
        upper = np.mean(expit(by_draws - log_ratio))
        lower = np.mean(expit(log_ratio - by_samples))
        if upper == 0.0 or lower == 0.0:
            return float("nan"), float("inf")
        log_ratio += float(np.log(upper / lower))
    parts = (expit(by_draws - log_ratio), expit(log_ratio - by_samples))
    return log_ratio, float(np.sqrt(sum(part.var() / part.mean() ** 2 / len(part) for part in parts)))

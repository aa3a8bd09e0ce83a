"""Hold a posterior: pointwise moments of both fields, what they predict, draws, the evidence and diagnostics."""

from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from heteroscope.core import InputError, Status
from heteroscope.field.bayesian.diagnostics import Diagnostics
from heteroscope.field.lattices import Chain, Field
from heteroscope.field.problem import Problem

DrawsOfField = Float[np.ndarray, "chain draw point"]


class Predictive(NamedTuple):
    """The predictive distribution of y at each point: std^2 = aleatoric^2 + epistemic^2.

    Attributes
    ----------
    mean, std : ndarray of shape (n_points,)
        Mean and standard deviation of a new y.
    aleatoric : ndarray of shape (n_points,)
        Std of the noise, the root of E[1 / precision].
    epistemic : ndarray of shape (n_points,)
        Posterior std of the mean field.
    """

    mean: Field
    std: Field
    aleatoric: Field
    epistemic: Field


class Samples(NamedTuple):
    """Draws of both fields from the posterior.

    Attributes
    ----------
    mean, precision : ndarray of shape (n_chains, n_draws, n_points)
        The draws. Those of an approximation are independent and form one chain.
    """

    mean: DrawsOfField
    precision: DrawsOfField


class Posterior(NamedTuple):
    """A posterior of both fields, as one of the methods of `posterior` finds it.

    Attributes
    ----------
    method : str
        "laplace", "variational", "hmc" or "langevin".
    status : Status
        Out of steps if the variational rounds did not end, or if an R-hat of a sampler is above 1.1.
    mean, mean_std : ndarray of shape (n_points,)
        Posterior mean and std of the mean field; of Laplace's approximation, its mode.
    precision, precision_std : ndarray of shape (n_points,)
        The same of the precision field.
    predictive : Predictive
        The distribution of a new y at each point, with its aleatoric and epistemic parts.
    samples : Samples
        Draws of both fields.
    log_evidence, log_evidence_error : float
        Log evidence and its standard error. NaN if less than a handful of draws of the prior are positive everywhere,
        or if bridge sampling fails.
    diagnostics : Diagnostics or None
        How well the chains of a sampler have mixed; None for an approximation.
    problem : Problem
        The points, the target and the penalties.
    x : ndarray of shape (n_points,) or None
        Positions on the line; None for a graph.
    """

    method: str
    status: Status
    mean: Field
    mean_std: Field
    precision: Field
    precision_std: Field
    predictive: Predictive
    samples: Samples
    log_evidence: float
    log_evidence_error: float
    diagnostics: Diagnostics | None
    problem: Problem
    x: Field | None

    def log_predictive_density(self, y: ArrayLike) -> Field:
        """Return the log density of new targets at the points, averaged over the draws.

        Parameters
        ----------
        y : array_like of shape (n_points,)
            New targets.

        Returns
        -------
        ndarray of shape (n_points,)
            log E[N(y; mean, 1 / precision)] of each target.
        """
        mean, precision = self.samples
        logs = 0.5 * (np.log(precision / (2.0 * np.pi)) - precision * (np.asarray(y, float) - mean) ** 2)
        return logsumexp(logs, axis=(0, 1)) - float(np.log(mean.shape[0] * mean.shape[1]))

    def predict(self, x: ArrayLike) -> Predictive:
        """Predict at other positions on the line.

        Between two points the mean is a Brownian bridge, whose variance is added to the epistemic part; outside of the
        data it is a random walk. The precision is interpolated linearly, and constant outside.

        Parameters
        ----------
        x : array_like of shape (n_new,)
            New positions.

        Returns
        -------
        Predictive
            The predictive distribution at each.
        """
        if self.x is None or not isinstance(self.problem.lattice, Chain):
            raise InputError("new positions are predicted on a line only; this posterior is that of a graph")
        new = np.asarray(x, dtype=float)
        flat_mean, flat_precision = (part.reshape(-1, part.shape[-1]) for part in self.samples)
        means = np.array([np.interp(new, self.x, draw) for draw in flat_mean])
        inverses = np.array([1.0 / np.interp(new, self.x, draw) for draw in flat_precision])
        wander = _wander(self.x, self.problem, new)
        return predictive(means.mean(axis=0), means.var(axis=0) + wander, inverses.mean(axis=0))

    def to_dataset(self) -> xr.Dataset:
        """Return the draws as a Dataset that ArviZ reads: dimensions chain, draw and point.

        Returns
        -------
        xarray.Dataset
            `mean` and `precision`; `x` is a coordinate of the points on a line.
        """
        dims = ("chain", "draw", "point")
        n_chains, n_draws, n_points = self.samples.mean.shape
        points = {} if self.x is None else {"x": ("point", self.x)}
        return xr.Dataset(
            {"mean": (dims, self.samples.mean), "precision": (dims, self.samples.precision)},
            coords={"chain": range(n_chains), "draw": range(n_draws), "point": range(n_points), **points},
            attrs={"inference_library": "heteroscope", "method": self.method},
        )


def predictive(mean: Field, mean_variance: Field, inverse_precision: Field) -> Predictive:
    """Combine the moments of both fields."""
    return Predictive(
        mean, np.sqrt(mean_variance + inverse_precision), np.sqrt(inverse_precision), np.sqrt(mean_variance)
    )


def _wander(x: Field, problem: Problem, new: Float[np.ndarray, " new"]) -> Float[np.ndarray, " new"]:
    """Return the variance of the mean at new positions for known values at the points."""
    lattice = problem.lattice
    assert isinstance(lattice, Chain)
    left = np.clip(np.searchsorted(x, new) - 1, 0, len(x) - 2)
    width = x[left + 1] - x[left]
    whole = 1.0 / (2.0 * problem.alpha * lattice.stiffness[left])
    share = (new - x[left]) / width
    return whole * np.where((share >= 0.0) & (share <= 1.0), share * (1.0 - share), np.maximum(-share, share - 1.0))

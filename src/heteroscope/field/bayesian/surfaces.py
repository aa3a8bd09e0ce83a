"""Find posteriors over a grid: of (rho, gamma) for a diagram, and of (alpha, beta) for a surface of evidences."""

from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from heteroscope.core import InputError, Progress, check_rho_gamma
from heteroscope.field.bayesian.posterior import Sampling, posterior_of
from heteroscope.field.bayesian.results import Posterior
from heteroscope.field.grid import Values, run_all
from heteroscope.field.lattices import Lattice, chain, inner
from heteroscope.field.problem import Problem, state

LevelPair = tuple[float, float] | None


class EvidenceSurface(NamedTuple):
    """Log evidence and held-out NLL over (alpha, beta).

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        Penalties of the mean.
    betas : ndarray of shape (n_betas,)
        Penalties of the precision.
    log_evidence, log_evidence_error : ndarray of shape (n_alphas, n_betas)
        Log evidence and its standard error; NaN where the prior's constant is not known.
    held_out_nll : ndarray of shape (n_alphas, n_betas)
        Average NLL of a second draw under the predictive distribution; NaN without a second draw.
    """

    alphas: Float[np.ndarray, " alpha"]
    betas: Float[np.ndarray, " beta"]
    log_evidence: Float[np.ndarray, "alpha beta"]
    log_evidence_error: Float[np.ndarray, "alpha beta"]
    held_out_nll: Float[np.ndarray, "alpha beta"]

    @property
    def best(self) -> tuple[float, float]:
        """Return the (alpha, beta) of the highest evidence."""
        i, j = np.unravel_index(np.nanargmax(self.log_evidence), self.log_evidence.shape)
        return float(self.alphas[i]), float(self.betas[j])


def evidence_surface(
    x: ArrayLike,
    y: ArrayLike,
    alphas: Values,
    betas: Values,
    *,
    y_test: ArrayLike | None = None,
    method: str = "variational",
    density: ArrayLike | None = None,
    level_prior: LevelPair = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> EvidenceSurface:
    """Compute the log evidence over (alpha, beta), to choose both without held-out rows or training.

    Parameters
    ----------
    x : array_like of shape (n_points,)
        Strictly increasing positions, at least 3.
    y : array_like of shape (n_points,)
        Target: one draw of y(x).
    alphas, betas : sequence of float
        Positive penalties of the mean and of the precision, for a likelihood of weight one.
    y_test : array_like of shape (n_points,) or None, default=None
        A second draw at the same points, for `held_out_nll`.
    method : {"laplace", "variational", "hmc", "langevin"}, default="variational"
        As in `posterior`.
    density : array_like of shape (n_points,), "points" or None, default=None
        Density of the points; see `chain`.
    level_prior : (shape, rate) or None, default=None
        As in `posterior`.
    n_jobs : int, default=1
        Number of processes.
    progress : callable or None, default=None
        Called as progress(done, total) with numbers of finished values of alpha.

    Returns
    -------
    EvidenceSurface
        Evidence and held-out NLL of every pair.
    """
    lattice = chain(x, density)
    rows, columns = _penalties("alphas", alphas), _penalties("betas", betas)
    plain = state(lattice, y, 0.5, 0.5)
    problems = [[plain._replace(alpha=float(a), beta=float(b)) for b in columns] for a in rows]
    solve = partial(_solve_row, method=method, level_prior=level_prior)
    found = run_all(solve, problems, n_jobs, progress)
    second = None if y_test is None else state(lattice, y_test, 0.5, 0.5).y

    def gather(name: str) -> Float[np.ndarray, "alpha beta"]:
        return np.array([[getattr(one, name) for one in row] for row in found])

    nll = np.full((len(rows), len(columns)), np.nan)
    if second is not None:
        nll = np.array([[held_out_nll(lattice, one, second) for one in row] for row in found])
    return EvidenceSurface(rows, columns, gather("log_evidence"), gather("log_evidence_error"), nll)


def solve_posteriors(
    lattice: Lattice,
    y: ArrayLike,
    rhos: Values,
    gammas: Values,
    *,
    method: str = "variational",
    level_prior: LevelPair = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[list[Posterior]]:
    """Find the posterior of every cell of a grid of (rho, gamma).

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph of points.
    y : array_like of shape (n_points,)
        Target.
    rhos, gammas : sequence of float
        Values of the grid, each strictly between 0 and 1.
    method : {"laplace", "variational", "hmc", "langevin"}, default="variational"
        As in `posterior`.
    level_prior : (shape, rate) or None, default=None
        As in `posterior`.
    n_jobs : int, default=1
        Number of processes.
    progress : callable or None, default=None
        Called as progress(done, total) with numbers of finished values of rho.

    Returns
    -------
    list of list of Posterior
        One list for each rho, with one posterior for each gamma.
    """
    cells = [[check_rho_gamma(float(rho), float(gamma)) for gamma in gammas] for rho in rhos]
    problems = [[state(lattice, y, *cell) for cell in row] for row in cells]
    return run_all(partial(_solve_row, method=method, level_prior=level_prior), problems, n_jobs, progress)


def held_out_nll(lattice: Lattice, found: Posterior, y: Float[np.ndarray, " point"]) -> float:
    """Return the average of minus the log predictive density of a second draw, weighted by the points."""
    return -inner(lattice.weights, found.log_predictive_density(y)) / len(y)


def _solve_row(row: list[Problem], method: str, level_prior: LevelPair) -> list[Posterior]:
    """Find the posteriors of all cells of one row."""
    return [posterior_of(problem, method, level_prior, Sampling(), None) for problem in row]


def _penalties(name: str, values: Values) -> Float[np.ndarray, " penalty"]:
    """Return the penalties sorted; raise unless all are positive."""
    found = np.unique(np.asarray(values, dtype=float))
    if not len(found) or not np.all(np.isfinite(found) & (found > 0.0)):
        raise InputError(f"{name} must hold at least one positive number, got {list(values)}")
    return found

"""Find the posterior of both fields at one (rho, gamma), on a line or on a table, by the method that is asked for."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from heteroscope.core import InputError, Status, check_positive_integer
from heteroscope.field.bayesian.algebra import algebra
from heteroscope.field.bayesian.diagnostics import Diagnostics, ess_bulk, ess_tail, r_hat
from heteroscope.field.bayesian.evidence import bridge_evidence
from heteroscope.field.bayesian.laplace import approximate_by_laplace
from heteroscope.field.bayesian.level_prior import FLAT_LEVEL, Target, check_level_prior
from heteroscope.field.bayesian.results import Posterior, Samples, predictive
from heteroscope.field.bayesian.sampling import Chains, prepare_sampler, run_chains
from heteroscope.field.bayesian.variational import approximate_variationally
from heteroscope.field.graphs import table
from heteroscope.field.lattices import Field, chain, inner
from heteroscope.field.problem import Problem, state
from heteroscope.field.solver import Start

_APPROXIMATE_DRAWS = 100  # independent draws of an approximation
_SAMPLED_DRAWS = 250  # draws of each chain of a sampler
_LARGEST_R_HAT = 1.1


class Sampling(NamedTuple):
    """The start of the descent, numbers of chains and draws, and the seed."""

    start: Start = "flat"
    n_chains: int = 4
    n_draws: int | None = None
    n_warmup: int = 200
    seed: int = 0


def posterior(
    x: ArrayLike,
    y: ArrayLike,
    rho: float,
    gamma: float,
    *,
    method: str = "laplace",
    density: ArrayLike | None = None,
    variance: ArrayLike | None = None,
    level_prior: tuple[float, float] | None = None,
    start: Start = "flat",
    n_chains: int = 4,
    n_draws: int | None = None,
    n_warmup: int = 200,
    seed: int = 0,
) -> Posterior:
    """Find the posterior of the mean field and the precision field on a line.

    The free energy is minus the log posterior density of (mean, precision), with a Gamma prior of the precision's
    level:

        log p = -F(mean, precision) + (shape - 1) log G(precision) - rate A(precision)

    G and A are the geometric and the arithmetic mean over the points.

    Parameters
    ----------
    x : array_like of shape (n_points,)
        Strictly increasing positions, at least 3.
    y : array_like of shape (n_points,)
        Target: one draw of y(x), or its mean if `variance` is given.
    rho, gamma : float
        The regularisation, each strictly between 0 and 1.
    method : {"laplace", "variational", "hmc", "langevin"}, default="laplace"
        A Gaussian at the mode; independent Gaussians of both fields; Hamiltonian or Langevin sampling.
    density : array_like of shape (n_points,), "points" or None, default=None
        Density of the points; see `chain`.
    variance : array_like of shape (n_points,) or None, default=None
        Known variance of the target: the likelihood is then the geometric average over all draws.
    level_prior : (shape, rate) or None, default=None
        Gamma prior of the level of the precision, with shape >= 1. None is (2, variance of y), under which the noise
        has the variance of y on average; (1, 0) is flat, improper, and only for "laplace".
    start : {"flat", "mean first"} or (mean, precision), default="flat"
        Where the descent to the mode begins ("laplace").
    n_chains : int, default=4
        Chains of a sampler, at least 2; they run side by side.
    n_draws : int or None, default=None
        Draws of each chain; None is 250 for a sampler, and 100 independent ones for an approximation.
    n_warmup : int, default=200
        Draws of each chain that adapt the sampler and are not kept.
    seed : int, default=0
        Seed of all draws.

    Returns
    -------
    Posterior
        Moments of both fields, the predictive distribution, draws, the log evidence and diagnostics.

    See Also
    --------
    solve : The minimum of the free energy, which is the mode for `level_prior=(1, 0)`.
    posterior_graph : The same on a table.

    Examples
    --------
    >>> import numpy as np
    >>> from heteroscope import field
    >>> x = np.linspace(-1, 1, 64)
    >>> y = np.sin(3 * x) + np.random.default_rng(0).normal(size=64)
    >>> found = field.posterior(x, y, rho=0.5, gamma=0.5, method="variational")
    >>> bool((found.predictive.std > found.predictive.epistemic).all())
    True
    """
    problem = state(chain(x, density), y, rho, gamma, variance)
    sampling = Sampling(start, n_chains, n_draws, n_warmup, seed)
    return posterior_of(problem, method, level_prior, sampling, np.asarray(x, dtype=float))


def posterior_graph(
    X: ArrayLike,
    y: ArrayLike,
    rho: float,
    gamma: float,
    *,
    n_neighbors: int = 10,
    method: str = "laplace",
    level_prior: tuple[float, float] | None = None,
    start: Start = "flat",
    n_chains: int = 4,
    n_draws: int | None = None,
    n_warmup: int = 200,
    seed: int = 0,
) -> Posterior:
    """Find the posterior of both fields on the nearest-neighbour graph of a table of at most 2,000 distinct rows.

    The matrices are dense: a sampler inverts one for each chain and step, so leave it to a few hundred rows.

    Parameters
    ----------
    X : array_like of shape (n_rows, n_features)
        Features, scaled so that Euclidean distances make sense.
    y : array_like of shape (n_rows,)
        Target.
    rho, gamma : float
        The regularisation, each strictly between 0 and 1.
    n_neighbors : int, default=10
        Nearest neighbours that each distinct row is joined to.
    method : {"laplace", "variational", "hmc", "langevin"}, default="laplace"
        As in `posterior`.
    level_prior : (shape, rate) or None, default=None
        As in `posterior`.
    start : {"flat", "mean first"} or (mean, precision), default="flat"
        As in `posterior`; a pair holds one value for each distinct row.
    n_chains : int, default=4
        Chains of a sampler.
    n_draws : int or None, default=None
        Draws of each chain.
    n_warmup : int, default=200
        Draws of each chain that are not kept.
    seed : int, default=0
        Seed of all draws.

    Returns
    -------
    Posterior
        As of `posterior`, with one point for each distinct row, in the order of `table(X, y).point_of_row`.
    """
    rows = table(X, y, n_neighbors)
    problem = state(rows.lattice, rows.y, rho, gamma, rows.variance)
    return posterior_of(problem, method, level_prior, Sampling(start, n_chains, n_draws, n_warmup, seed), None)


def posterior_of(
    problem: Problem, method: str, level_prior: tuple[float, float] | None, sampling: Sampling, x: Field | None
) -> Posterior:
    """Find the posterior of a problem."""
    if method not in _METHODS:
        raise InputError(f"method={method!r} is not known; use one of {', '.join(_METHODS)}")
    target = Target(algebra(problem.lattice), problem, check_level_prior(level_prior, _variance(problem)))
    if target.prior == FLAT_LEVEL and method != "laplace" and not problem.variance.any():
        raise InputError(
            f"method={method!r} needs a proper prior: under a flat one the posterior has no finite integral; "
            "give level_prior=(shape, rate) with rate > 0, or leave it out"
        )
    return _METHODS[method](target, sampling, x)


def _variance(problem: Problem) -> float:
    """Return the variance of the target."""
    weights = problem.lattice.weights / len(problem.y)
    return inner(weights, (problem.y - inner(weights, problem.y)) ** 2 + problem.variance)


def _laplace(target: Target, sampling: Sampling, x: Field | None) -> Posterior:
    """Return Laplace's approximation; its draws and E[1 / precision] are those of a Gaussian log precision."""
    found = approximate_by_laplace(target, sampling.start)
    mode, relative = found.mode, found.precision_variance / found.mode.precision**2
    n_draws = _number("n_draws", sampling.n_draws, _APPROXIMATE_DRAWS)
    normals = np.random.default_rng(sampling.seed).standard_normal((n_draws, 2 * len(mode.mean)))
    by_mean, by_precision = found.factor.draw(normals)
    return Posterior(
        "laplace",
        Status.CONVERGED,
        mode.mean,
        np.sqrt(found.mean_variance),
        mode.precision,
        np.sqrt(found.precision_variance),
        predictive(mode.mean, found.mean_variance, np.exp(0.5 * relative) / mode.precision),
        Samples((mode.mean + by_mean)[None], (mode.precision * np.exp(by_precision / mode.precision))[None]),
        found.log_evidence,
        found.log_evidence_error,
        None,
        target.problem,
        x,
    )


def _variational(target: Target, sampling: Sampling, x: Field | None) -> Posterior:
    """Return the variational approximation; its draws have a Gaussian log precision of the same mean and variance."""
    found, problem = approximate_variationally(target), target.problem
    n_draws = _number("n_draws", sampling.n_draws, _APPROXIMATE_DRAWS)
    rng = np.random.default_rng(sampling.seed)
    ones = np.ones((n_draws, 1))
    by_mean = target.algebra.draw(ones * target.weights * found.precision, 2.0 * problem.alpha, rng)
    by_precision = target.algebra.draw(ones * found.logs / found.precision**2, 2.0 * problem.beta, rng)
    shift = 0.5 * found.precision_variance / found.precision**2
    return Posterior(
        "variational",
        found.status,
        found.mean,
        np.sqrt(found.mean_variance),
        found.precision,
        np.sqrt(found.precision_variance),
        predictive(found.mean, found.mean_variance, found.logs / (target.logs * found.precision)),
        Samples((found.mean + by_mean)[None], (found.precision * np.exp(by_precision / found.precision - shift))[None]),
        found.log_evidence,
        found.log_evidence_error,
        None,
        problem,
        x,
    )


def _hmc(target: Target, sampling: Sampling, x: Field | None) -> Posterior:
    return _sample(target, sampling, x, "hmc")


def _langevin(target: Target, sampling: Sampling, x: Field | None) -> Posterior:
    return _sample(target, sampling, x, "langevin")


def _sample(target: Target, sampling: Sampling, x: Field | None, method: str) -> Posterior:
    """Run the chains from the variational approximation."""
    n_chains = check_positive_integer("n_chains", sampling.n_chains)
    n_warmup = check_positive_integer("n_warmup", sampling.n_warmup)
    n_draws = _number("n_draws", sampling.n_draws, _SAMPLED_DRAWS)
    if n_chains < 2 or n_draws < 8:
        raise InputError(f"R-hat compares chains: use n_chains >= 2 and n_draws >= 8, got {n_chains} and {n_draws}")
    rng = np.random.default_rng(sampling.seed)
    sampler = prepare_sampler(target, approximate_variationally(target).precision)
    chains = run_chains(sampler, method, n_chains, n_warmup, n_draws, rng)
    diagnostics = _diagnose(chains)
    mixed = bool(np.nanmax(diagnostics.r_hat) <= _LARGEST_R_HAT)
    evidence, error = bridge_evidence(chains, rng)
    inverse = np.mean(1.0 / chains.precision, axis=(0, 1))
    return Posterior(
        method,
        Status.CONVERGED if mixed else Status.OUT_OF_STEPS,
        chains.average_mean,
        np.sqrt(chains.mean_variance),
        chains.precision.mean(axis=(0, 1)),
        chains.precision.std(axis=(0, 1)),
        predictive(chains.average_mean, chains.mean_variance, inverse),
        Samples(chains.mean, chains.precision),
        evidence,
        error,
        diagnostics,
        target.problem,
        x,
    )


def _diagnose(chains: Chains) -> Diagnostics:
    fields = (chains.mean, chains.precision)
    return Diagnostics(
        chains.acceptance,
        chains.divergences,
        chains.leapfrogs,
        *(np.array([measure(one) for one in fields]) for measure in (r_hat, ess_bulk, ess_tail)),
    )


def _number(name: str, given: int | None, default: int) -> int:
    return default if given is None else check_positive_integer(name, given)


_METHODS: dict[str, Callable[[Target, Sampling, Field | None], Posterior]] = {
    "laplace": _laplace,
    "variational": _variational,
    "hmc": _hmc,
    "langevin": _langevin,
}

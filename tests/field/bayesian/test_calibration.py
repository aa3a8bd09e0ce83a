"""Simulation-based calibration: the rank of the truth among draws of its posterior is uniform over draws of the prior.

The prior of the level of the mean is flat, so the model does not change if the mean and y are shifted together: the
ranks have the same distribution at every level, and level zero stands for all.
"""

import numpy as np
import pytest
from scipy.stats import chisquare

from heteroscope import field
from heteroscope.field.bayesian.algebra import algebra
from heteroscope.field.bayesian.level_prior import LevelPrior, Target, draw_prior
from heteroscope.field.bayesian.sampling import prepare_sampler, run_chains
from tests.field.bayesian.oracles import penalties_to_cell

X = np.linspace(-1, 1, 6)
PRIOR = LevelPrior(2.0, 1.0)
ALPHA, BETA = 0.02, 0.01
N_BINS = 8
THINNING = {"hmc": 6, "langevin": 2}  # draws per draw that is ranked; a Langevin draw is 16 steps


def truths(n, rng):
    """Draw n pairs of fields and a target of each."""
    problem = field.state(field.chain(X), X, *penalties_to_cell(ALPHA, BETA))
    target = Target(algebra(problem.lattice), problem, PRIOR)
    mean, precision = draw_prior(target, n, rng)
    return target, mean, precision, mean + rng.standard_normal(mean.shape) / np.sqrt(precision)


def quantities(mean, precision):
    """What is ranked: a mean, a difference of means, a precision, and the level of all."""
    return np.stack((mean[..., 2], mean[..., 0] - mean[..., 5], precision[..., 3], np.log(precision).mean(axis=-1)))


def assert_uniform(ranks, n_draws):
    """Ranks from 0 to n_draws in N_BINS bins of equal size."""
    bins = ranks * N_BINS // (n_draws + 1)
    for one in bins:
        assert chisquare(np.bincount(one, minlength=N_BINS)).pvalue > 1e-4, np.bincount(one, minlength=N_BINS)


def ranks_of(n_truths, method, rng, spoil=1.0):
    """Sample the posteriors of all truths side by side: one chain each, thinned to independent draws."""
    target, mean, precision, y = truths(n_truths, rng)
    many = target._replace(problem=target.problem._replace(y=y))
    sampler = prepare_sampler(target, np.full(len(X), 1.5))
    sampler = sampler._replace(density=sampler.density._replace(target=many))
    chains = run_chains(sampler, method, n_truths, 40, THINNING[method] * (2 * N_BINS - 1), rng)
    drawn = quantities(*(part[:, :: THINNING[method]] for part in (chains.mean, spoil * chains.precision)))
    return (drawn < quantities(mean, precision)[..., None]).sum(axis=-1)


@pytest.mark.parametrize("method", ["hmc", "langevin"])
def test_ranks_are_uniform(method):
    assert_uniform(ranks_of(400, method, np.random.default_rng(1)), 2 * N_BINS - 1)


def test_a_wrong_sampler_is_found():
    with pytest.raises(AssertionError):
        assert_uniform(ranks_of(400, "hmc", np.random.default_rng(1), spoil=1.15), 2 * N_BINS - 1)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("method", ["hmc", "langevin"])
def test_ranks_are_uniform_over_whole_runs(method):
    """The same through `posterior`, with its warm-up and its mass matrix."""
    rng = np.random.default_rng(2)
    _, mean, precision, y = truths(400, rng)
    cell, n_draws = penalties_to_cell(ALPHA, BETA), 2 * N_BINS - 1
    ranks = []
    for k in range(400):
        found = field.posterior(
            X, y[k], *cell, method=method, level_prior=PRIOR, n_draws=40 * n_draws, n_chains=2, seed=k
        )
        drawn = quantities(found.samples.mean[0, ::40], found.samples.precision[0, ::40])
        ranks.append((drawn < quantities(mean[k], precision[k])[:, None]).sum(axis=-1))
    assert_uniform(np.array(ranks).T, n_draws)

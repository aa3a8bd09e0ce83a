"""Sample the posterior of (mean, log precision) by Hamiltonian or Langevin dynamics, preconditioned by the band.

The mean is Gaussian once the precision l is known, so it is integrated out and drawn exactly afterwards. What is left,
with S = (diag(w l) + 2 alpha K)^-1 and m its mean, is

    U(l) = sum_i (b_i l_i - a_i log l_i) + beta l'K l
           + sum_i w_i/2 l_i (m_i - y_i)^2 + alpha m'K m + 1/2 log det(diag(w l) + 2 alpha K)
    dU/dl_i = b_i - a_i / l_i + 2 beta (K l)_i + w_i/2 ((m_i - y_i)^2 + S_ii)

Both cost O(n) on a chain. Sampled is z with l = c log(1 + exp(z / c)): the log of the precision where l is small, and
the precision itself where it is large beside c, since a stiff penalty ties neighbours by their differences and not by
their ratios. c_i is the std of l_i for fixed neighbours. The Jacobian is J = 1 / (1 + exp(-z / c)). The mass matrix is
the curvature at the variational fit, without what the mean takes up of each point's information (its leverage
w l S_ii). That keeps it a band:

    M = diag((a - w l S_ii / 2) J^2 / l^2 + J (1 - J) / c^2) + 2 beta J K J
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import expit

from heteroscope.field.bayesian.algebra import MassFactor, Rows
from heteroscope.field.bayesian.level_prior import Target
from heteroscope.field.lattices import Field

Stack = Float[np.ndarray, "*row point"]

_ACCEPTANCE = {"hmc": 0.8, "langevin": 0.6}  # aimed at while the step is adapted; the optima for many unknowns
_MEAN_LENGTH = 2.0  # of a Hamiltonian trajectory, in units in which the curvature is one; a quarter of a turn is 1.6
_MOST_LEAPFROGS = 256
_LANGEVIN_THINNING = 16  # Langevin steps per kept draw
_FURTHEST = 600.0  # -z / c beyond which exp(-z / c) overflows
_LARGEST = 1e100  # instead of an infinite z
_DIVERGENCE = 1000.0  # error of the energy from which a trajectory counts as divergent


class Softplus(NamedTuple):
    """The map from z to precisions."""

    scale: Field

    def precision(self, z: Stack) -> Stack:
        """Return c log(1 + exp(z / c))."""
        return self.scale * np.logaddexp(0.0, z / self.scale)

    def jacobian(self, z: Stack) -> Stack:
        """Return the derivative of the precision by z."""
        return expit(z / self.scale)

    def clip(self, z: Stack) -> Stack:
        """Keep a divergent trajectory, which will be rejected, within the range of floats."""
        return np.maximum(np.nan_to_num(z, posinf=_LARGEST), -_FURTHEST * self.scale)

    def inverse(self, precision: Stack) -> Stack:
        """Return the z of a precision."""
        return precision + self.scale * np.log(-np.expm1(-precision / self.scale))


class Moment(NamedTuple):
    """One position of every chain: z, its precision, potential and slope, and the Gaussian of the mean there."""

    z: Rows
    precision: Rows
    potential: Float[np.ndarray, " chain"]
    slope: Rows
    mean: Rows
    variance: Rows


class Chains(NamedTuple):
    """What the sampler returns: draws of both fields, exact moments of the mean given those precisions, diagnostics."""

    mean: Float[np.ndarray, "chain draw point"]
    precision: Float[np.ndarray, "chain draw point"]
    average_mean: Field
    mean_variance: Field
    log_density: Float[np.ndarray, "chain draw"]
    acceptance: float
    leapfrogs: float
    divergences: int
    sampler: "Sampler"


class Density(NamedTuple):
    """The density of z."""

    target: Target
    softplus: Softplus

    def at(self, z: Rows) -> Moment:
        """Return the potential of z and its slope, with the log of the Jacobian."""
        target, problem = self.target, self.target.problem
        precision, jacobian = self.softplus.precision(z), self.softplus.jacobian(z)
        pull = target.weights * precision
        mean, variance, log_det = target.algebra.smooth(pull, 2.0 * problem.alpha, pull * problem.y)
        residual = mean - problem.y
        bent, curved = target.algebra.laplacian(mean), target.algebra.laplacian(precision)
        by_point = (
            target.pulls * precision
            - target.logs * np.log(precision)
            + problem.beta * precision * curved
            + 0.5 * pull * residual**2
            + problem.alpha * mean * bent
            - np.log(jacobian)
        )
        slope = (
            target.pulls
            - target.logs / precision
            + 2.0 * problem.beta * curved
            + 0.5 * target.weights * (residual**2 + variance)
        )
        by_z = jacobian * slope - (1.0 - jacobian) / self.softplus.scale
        return Moment(z, precision, by_point.sum(axis=1) + 0.5 * log_det, by_z, mean, variance)


class Sampler(NamedTuple):
    """The density, the preconditioner and the centre of the starts."""

    density: Density
    mass: MassFactor
    centre: Field


def prepare_sampler(target: Target, precision: Field) -> Sampler:
    """Return the sampler whose coordinates and mass matrix fit the posterior around these precisions."""
    problem = target.problem
    pull = target.weights * precision
    variance = target.algebra.smooth(pull[None], 2.0 * problem.alpha, np.zeros((1, len(pull)))).variance[0]
    stiff = 2.0 * problem.beta * target.algebra.degree()
    softplus = Softplus((target.logs / precision**2 + stiff) ** -0.5)
    z = softplus.inverse(precision)
    jacobian = softplus.jacobian(z)
    left = np.maximum(target.logs - 0.5 * pull * variance, target.weights / len(z))
    diagonal = left * (jacobian / precision) ** 2 + jacobian * (1.0 - jacobian) / softplus.scale**2
    mass = target.algebra.mass(diagonal, jacobian, 2.0 * problem.beta)
    return Sampler(Density(target, softplus), mass, z)


def run_chains(
    sampler: Sampler, method: str, n_chains: int, n_warmup: int, n_draws: int, rng: np.random.Generator
) -> Chains:
    """Run all chains side by side: adapt during warm-up, then keep `n_draws` of each chain.

    The step is adapted all the time, the coordinates and the mass matrix after each of the first two quarters.
    """
    target, shape = sampler.density.target, (n_chains, len(sampler.centre))
    start = sampler.centre + sampler.mass.velocities(sampler.mass.momenta(rng.standard_normal(shape)))
    now = sampler.density.at(start)
    step = shape[1] ** -0.25
    for n_steps in (n_warmup // 4, n_warmup // 4):
        now, step, typical = _warm_up(sampler, method, now, step, n_steps, rng)
        sampler = prepare_sampler(target, typical)
        now = sampler.density.at(sampler.density.softplus.inverse(now.precision))
    now, step, _ = _warm_up(sampler, method, now, step, n_warmup - 2 * (n_warmup // 4), rng)
    means, precisions = np.empty((n_draws, *shape)), np.empty((n_draws, *shape))
    centre, shift, square, variance = now.mean.mean(axis=0), *np.zeros((3, shape[1]))
    log_density, chances = np.empty((n_draws, n_chains)), np.empty((n_draws, n_chains))
    leapfrogs = divergences = 0
    for k in range(n_draws):
        now, chances[k], used, diverged = _transition(sampler, method, now, step, rng)
        leapfrogs, divergences = leapfrogs + used, divergences + diverged
        noise = target.algebra.draw(target.weights * now.precision, 2.0 * target.problem.alpha, rng)
        means[k], precisions[k] = now.mean + noise, now.precision
        shift += (now.mean - centre).mean(axis=0) / n_draws
        square += ((now.mean - centre) ** 2).mean(axis=0) / n_draws
        variance += now.variance.mean(axis=0) / n_draws
        log_density[k] = -now.potential
    return Chains(
        means.swapaxes(0, 1),
        precisions.swapaxes(0, 1),
        centre + shift,
        variance + square - shift**2,
        log_density.T,
        float(chances.mean()),
        leapfrogs / n_draws,
        divergences,
        sampler,
    )


def _warm_up(
    sampler: Sampler, method: str, now: Moment, step: float, n_steps: int, rng: np.random.Generator
) -> tuple[Moment, float, Field]:
    """Adapt the step; return the last position, the step, and the geometric mean of the precisions seen."""
    adaptation = StepSize(step, _ACCEPTANCE[method])
    logs = np.zeros(now.z.shape[1])
    for _ in range(n_steps):
        now, chance, _, _ = _transition(sampler, method, now, adaptation.step, rng)
        adaptation = adaptation.after(float(chance.mean()))
        logs += np.log(now.precision).mean(axis=0) / n_steps
    return now, adaptation.average, np.exp(logs)


def _transition(
    sampler: Sampler, method: str, now: Moment, step: float, rng: np.random.Generator
) -> tuple[Moment, Float[np.ndarray, " chain"], int, int]:
    """Return the next position of every chain, the chances of acceptance, leapfrog steps and divergences."""
    if method == "hmc":
        size = step * rng.uniform(0.8, 1.2)
        count = max(1, min(_MOST_LEAPFROGS, round(rng.uniform(0.5, 1.5) * _MEAN_LENGTH / size)))
        moment, chance, diverged = _trajectory(sampler, now, size, count, rng)
        return moment, chance, count, diverged
    chances, divergences = [], 0
    for _ in range(_LANGEVIN_THINNING):
        now, chance, diverged = _trajectory(sampler, now, step, 1, rng)
        chances.append(chance)
        divergences += diverged
    return now, np.mean(chances, axis=0), _LANGEVIN_THINNING, divergences


def _trajectory(
    sampler: Sampler, now: Moment, step: float, count: int, rng: np.random.Generator
) -> tuple[Moment, Float[np.ndarray, " chain"], int]:
    """Follow `count` leapfrog steps from fresh momenta; accept or reject each chain on its own."""
    momenta = sampler.mass.momenta(rng.standard_normal(now.z.shape))
    velocities = sampler.mass.velocities(momenta)
    energy = now.potential + 0.5 * np.sum(momenta * velocities, axis=1)
    here = now
    with np.errstate(all="ignore"):  # a divergent trajectory overflows, and is rejected
        for _ in range(count):
            momenta = momenta - 0.5 * step * here.slope
            here = sampler.density.at(sampler.density.softplus.clip(here.z + step * sampler.mass.velocities(momenta)))
            momenta = momenta - 0.5 * step * here.slope
        velocities = sampler.mass.velocities(momenta)
        error = here.potential + 0.5 * np.sum(momenta * velocities, axis=1) - energy
    error = np.where(np.isfinite(error), error, np.inf)
    chance = np.exp(-np.maximum(error, 0.0))
    accepted = rng.random(len(error)) < chance
    chosen = [
        np.where(accepted.reshape(-1, *[1] * (new.ndim - 1)), new, old) for new, old in zip(here, now, strict=True)
    ]
    return Moment(*chosen), chance, int(np.sum(error > _DIVERGENCE))


class StepSize(NamedTuple):
    """Nesterov's dual averaging of the log step, as Hoffman and Gelman use it."""

    first: float
    goal: float
    log_step: float | None = None
    log_average: float = 0.0
    shortfall: float = 0.0
    n_steps: int = 0

    @property
    def step(self) -> float:
        """The step to try next."""
        return self.first if self.log_step is None else float(np.exp(self.log_step))

    @property
    def average(self) -> float:
        """The step to keep after the warm-up."""
        return float(np.exp(self.log_average)) if self.n_steps else self.first

    def after(self, chance: float) -> "StepSize":
        """Return the state after a transition with this chance of acceptance."""
        n_steps = self.n_steps + 1
        shortfall = (1.0 - 1.0 / (n_steps + 10.0)) * self.shortfall + (self.goal - chance) / (n_steps + 10.0)
        log_step = float(np.log(10.0 * self.first)) - np.sqrt(n_steps) / 0.05 * shortfall
        weight = n_steps**-0.75
        log_average = weight * log_step + (1.0 - weight) * self.log_average
        return self._replace(log_step=log_step, log_average=log_average, shortfall=shortfall, n_steps=n_steps)

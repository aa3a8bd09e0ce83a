"""Variational variance (Stirn & Knowles 2020): a Gamma posterior of every row's precision, by a network.

bound = E_q log N(y; mean, 1 / precision) - KL(q || p),    q = Gamma(shape(x), shape(x) scale(x)^2),
p(precision) = (1/J) sum_j Gamma(a_j, b_j), a fixed prior
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import digamma, gammaln, logsumexp
from jaxtyping import Array, Float

from heteroscope.baselines.student_t_and_variational import StudentRegressor, gamma_of, second_outputs
from heteroscope.core import InputError, Strengths
from heteroscope.data import Batch
from heteroscope.networks import Objective, Params, Terms, gaussian_nll, predict_mean, weight_norm

GammaPrior = tuple[tuple[float, float], ...]

#: (shape, rate) of the default's components: precisions shape / rate from 2^-3 to 2^13 times 1 / (variance of y). They
#: overlap, so that all sizes of noise between are about equally likely and a posterior can move from one to the next.
PRIOR: GammaPrior = tuple((shape, shape / 2.0**level) for shape, level in product((1.0, 2.0, 4.0), range(-3, 14)))


def gamma_kl(
    shape: Float[Array, "..."], rate: Float[Array, "..."], prior_shape: Any, prior_rate: Any
) -> Float[Array, "..."]:
    """KL(Gamma(s, r) || Gamma(a, b)) = (s - a) psi(s) - log G(s) + log G(a) + a log(r / b) + s (b - r) / r."""
    return (
        (shape - prior_shape) * digamma(shape)
        - gammaln(shape)
        + gammaln(prior_shape)
        + prior_shape * jnp.log(rate / prior_rate)
        + shape * (prior_rate - rate) / rate
    )


@dataclass(frozen=True)
class VariationalBound:
    """mean[w (nll(mean, 1 / scale^2) + (log shape - psi(shape)) / 2 - log (1/J) sum_j exp(-KL_j))].

    The last term is at least KL(q || p), by Jensen's inequality, so the bound stays a bound.
    """

    prior: GammaPrior = PRIOR

    def __call__(self, params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
        """The objective of one model, divided as `joint_objective` is into likelihood and penalty."""
        squared_scale, shape = gamma_of(second_outputs(params, jnp.asarray(batch.x), activation))
        mean = predict_mean(params, batch.x, activation)
        expected_nll = gaussian_nll(mean, 1.0 / squared_scale, batch.y) + 0.5 * (jnp.log(shape) - digamma(shape))
        prior_shape, prior_rate = (np.array(part, np.float32)[None, :] for part in zip(*self.prior, strict=True))
        each = gamma_kl(shape[:, None], (shape * squared_scale)[:, None], prior_shape, prior_rate)
        divergence = float(np.log(len(self.prior))) - logsumexp(-each, axis=1)
        return Terms(
            likelihood=strengths.likelihood * jnp.mean(batch.weight * (expected_nll + divergence)),
            penalty=strengths.mean_penalty * weight_norm(params.mean)
            + strengths.precision_penalty * weight_norm(params.precision),
        )


@dataclass(eq=False, repr=False)
class VariationalVarianceRegressor(StudentRegressor):
    """max (1/N) sum_i E_q log N(y_i; mean_i, 1 / precision) - KL(q_i || p): variance by variational inference.

    The posterior of a row's precision is a Gamma and the forecast a Student-t. Its degrees of freedom tell how sure
    prior and rows are of the precision; `StudentTRegressor` fits them to the tails of the noise instead.

    Parameters
    ----------
    prior : pairs (shape, rate) of the prior's components, for a target of variance one; None takes 51 of them, which
        together leave the size of the noise open.
    weight_decay, held_out, max_steps, hidden, activation, start, batch_size, n_jobs, random_state, verbose : as in
        `MLERegressor`, as are the attributes.
    """

    prior: Any = None

    def objective(self) -> Objective:
        """Minus the bound."""
        return VariationalBound(self._prior())

    def _prior(self) -> GammaPrior:
        if self.prior is None:
            return PRIOR
        try:
            pairs = tuple((float(shape), float(rate)) for shape, rate in self.prior)
        except (TypeError, ValueError):
            pairs = ()
        if not pairs or not all(0 < number < np.inf for pair in pairs for number in pair):
            raise InputError(f"prior must be pairs of a positive shape and rate such as [(2, 0.1)], got {self.prior!r}")
        return pairs

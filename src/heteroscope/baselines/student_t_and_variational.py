"""Student-t forecasts: the precision has a Gamma distribution, given by the second network's first two outputs.

scale^2 = o_1,    shape = 1 + o_2,    precision ~ Gamma(shape, rate = shape * scale^2)

Integrated out it leaves a Student-t with df = 2 shape > 2, so that there is a std: scale sqrt(shape / (shape - 1)).
"""

from abc import ABC
from dataclasses import dataclass
from itertools import product
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import digamma, gammaln, logsumexp
from jaxtyping import Array, Float
from scipy import stats
from sklearn.utils.validation import check_is_fitted, validate_data

from heteroscope.baselines.base import BaselineRegressor
from heteroscope.core import InputError, Strengths
from heteroscope.data import Batch, Scaling
from heteroscope.distributions import student_t as student
from heteroscope.estimators import MemberMoments
from heteroscope.networks import (
    Objective,
    Params,
    Terms,
    apply_layer,
    apply_trunk,
    gaussian_nll,
    member_outputs,
    predict_mean,
    to_positive,
    weight_norm,
)

MIN_SHAPE = 1.0


def second_outputs(params: Params, x: Float[Array, "point feature"], activation: str) -> Float[Array, "point output"]:
    """All outputs of the second network, as they are."""
    return apply_layer(params.precision[-1], apply_trunk(params.precision, x, activation))


def gamma_of(outputs: Float[Array, "point output"]) -> tuple[Float[Array, " point"], Float[Array, " point"]]:
    """scale^2 and shape of every row, from the first two outputs."""
    return to_positive(outputs[:, 0]), MIN_SHAPE + to_positive(outputs[:, 1])


def student_nll(
    residual: Float[Array, " point"], squared_scale: Float[Array, " point"], shape: Float[Array, " point"]
) -> Float[Array, " point"]:
    """log(2 pi shape scale^2) / 2 + log G(shape) - log G(shape + 1/2) + (shape + 1/2) log(1 + r^2 / (2 shape scale^2)).

    G is the Gamma function: minus the log density of a Student-t with 2 shape degrees of freedom.
    """
    spread = 2.0 * shape * squared_scale
    normaliser = 0.5 * jnp.log(jnp.pi * spread) + gammaln(shape) - gammaln(shape + 0.5)
    return normaliser + (shape + 0.5) * jnp.log1p(residual**2 / spread)


@dataclass(frozen=True)
class StudentT:
    """mean[w student_nll]: the likelihood with the precision integrated out; `networks` are those that it penalises."""

    networks: tuple[str, ...] = ("mean", "precision")

    def __call__(self, params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
        """The objective of one model, divided as `joint_objective` is into likelihood and penalty."""
        squared_scale, shape = gamma_of(second_outputs(params, jnp.asarray(batch.x), activation))
        residual = predict_mean(params, batch.x, activation) - batch.y
        penalties = {"mean": strengths.mean_penalty, "precision": strengths.precision_penalty}
        return Terms(
            likelihood=strengths.likelihood * jnp.mean(batch.weight * student_nll(residual, squared_scale, shape)),
            penalty=sum(
                (penalties[name] * weight_norm(getattr(params, name)) for name in self.networks), start=jnp.zeros(())
            ),
        )


class StudentRegressor(BaselineRegressor, ABC):
    """A baseline whose forecast is a Student-t a row, from one model."""

    def outputs_wanted(self) -> int:
        """scale^2 and shape."""
        return 2

    def pred_dist(self, X: Any) -> Any:
        """The predictive distribution as a frozen `scipy.stats.t`, one entry a row."""
        mean, std = self.predict(X, return_std=True)
        df = self.degrees_of_freedom(X)
        return stats.t(df=df, loc=mean, scale=student.scale(df, std))

    def degrees_of_freedom(self, X: Any) -> Float[np.ndarray, " point"]:
        """2 shape of every row: the fewer, the less sure the model is of the noise there."""
        check_is_fitted(self)
        return self._degrees(self.members_, validate_data(self, X, dtype=np.float64, reset=False), self.scaling_)

    def _degrees(
        self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling
    ) -> Float[np.ndarray, " point"]:
        _, outputs = member_outputs(members, x, scaling, self.activation)
        return 2.0 * (MIN_SHAPE + outputs[0, :, 1])

    def _predict_members(
        self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling
    ) -> MemberMoments:
        mean, outputs = member_outputs(members, x, scaling, self.activation)
        df = 2.0 * (MIN_SHAPE + outputs[:, :, 1])
        return mean, student.std(df, scaling.y_scale * np.sqrt(outputs[:, :, 0]))

    def _forecast(self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling) -> Any:
        mean, std = self._predict_members(members, x, scaling)
        df = self._degrees(members, x, scaling)
        return stats.t(df=df, loc=mean[0], scale=student.scale(df, std[0]))


class StudentTRegressor(StudentRegressor):
    """min (1/N) sum_i -log t(y_i; df_i, mean_i, scale_i) + weight_decay |weights|^2: likelihood with heavy tails.

    The precision of a row is Gamma distributed and integrated out (Takahashi et al. 2018), so that an outlier bends
    the tails and not the mean. `degrees_of_freedom(X)` says how heavy they are; there are always more than two.

    Parameters
    ----------
    weight_decay, held_out, max_steps, hidden, activation, start, batch_size, n_jobs, random_state, verbose : as in
        `MLERegressor`, as are the attributes.
    """

    def objective(self) -> Objective:
        """The negative log likelihood of a Student-t."""
        return StudentT()


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

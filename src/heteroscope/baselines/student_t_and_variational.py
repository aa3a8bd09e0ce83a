"""Student-t forecasts: Student-t likelihood (Takahashi et al. 2018) and variational variance (Stirn & Knowles 2020).

The second network has two outputs o_1 and o_2, which give each row's precision a Gamma distribution:

scale^2 = o_1,    shape = 1 + o_2,    precision ~ Gamma(shape, rate = shape * scale^2)

With the precision integrated out, the forecast is a Student-t with df = 2 shape > 2, so that it has a standard
deviation: std = scale sqrt(shape / (shape - 1)).
"""

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import digamma, gammaln, logsumexp
from jaxtyping import Array, Float
from scipy import stats
from sklearn.utils.validation import check_is_fitted, validate_data

from heteroscope.baselines.base import BaselineRegressor, FrozenDistribution, Number
from heteroscope.core import InputError, Strengths
from heteroscope.data import Batch, Scaling
from heteroscope.distributions import student_t as student
from heteroscope.estimators import Inputs, MemberMoments
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

MIN_SHAPE = 1.0  # a Student-t has a standard deviation if its shape, df / 2, is above 1


def second_outputs(params: Params, x: Float[Array, "point feature"], activation: str) -> Float[Array, "point output"]:
    """Return all outputs of the second network before they are made positive."""
    return apply_layer(params.precision[-1], apply_trunk(params.precision, x, activation))


def scale_and_shape(outputs: Float[Array, "point output"]) -> tuple[Float[Array, " point"], Float[Array, " point"]]:
    """Return scale^2 and shape of each row from the two outputs."""
    return to_positive(outputs[:, 0]), MIN_SHAPE + to_positive(outputs[:, 1])


def student_nll(
    residual: Float[Array, " point"], squared_scale: Float[Array, " point"], shape: Float[Array, " point"]
) -> Float[Array, " point"]:
    """Return minus the log density of a Student-t with 2 shape degrees of freedom at each residual r.

    log(2 pi shape scale^2) / 2 + log G(shape) - log G(shape + 1/2) + (shape + 1/2) log(1 + r^2 / (2 shape scale^2)),
    where G is the Gamma function.
    """
    spread = 2.0 * shape * squared_scale
    normaliser = 0.5 * jnp.log(jnp.pi * spread) + gammaln(shape) - gammaln(shape + 0.5)
    return normaliser + (shape + 0.5) * jnp.log1p(residual**2 / spread)


@dataclass(frozen=True)
class StudentT:
    """The objective mean[w student_nll] plus the penalty on the weights of `networks`."""

    networks: tuple[str, ...] = ("mean", "precision")

    def __call__(self, params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
        """Return likelihood and penalty of one model."""
        squared_scale, shape = scale_and_shape(second_outputs(params, jnp.asarray(batch.x), activation))
        residual = predict_mean(params, batch.x, activation) - batch.y
        penalties = {"mean": strengths.mean_penalty, "precision": strengths.precision_penalty}
        return Terms(
            likelihood=strengths.likelihood * jnp.mean(batch.weight * student_nll(residual, squared_scale, shape)),
            penalty=sum(
                (penalties[name] * weight_norm(getattr(params, name)) for name in self.networks), start=jnp.zeros(())
            ),
        )


class StudentRegressor(BaselineRegressor, ABC):
    """Base of the baselines whose forecast is a Student-t per row, from one model."""

    n_second_outputs = 2  # scale^2 and shape

    def pred_dist(self, X: Inputs) -> FrozenDistribution:
        """Return the predictive distribution.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The inputs.

        Returns
        -------
        scipy.stats.t
            A frozen distribution with one entry per row.
        """
        mean, std = self.predict(X, return_std=True)
        df = self.degrees_of_freedom(X)
        return stats.t(df=df, loc=mean, scale=student.scale(df, std))

    def degrees_of_freedom(self, X: Inputs) -> Float[np.ndarray, " point"]:
        """Return the degrees of freedom of each row's Student-t, 2 shape: few mean heavy tails.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The inputs.

        Returns
        -------
        ndarray of shape (n_rows,)
            Numbers above 2.
        """
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

    def _forecast(self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling) -> FrozenDistribution:
        mean, std = self._predict_members(members, x, scaling)
        df = self._degrees(members, x, scaling)
        return stats.t(df=df, loc=mean[0], scale=student.scale(df, std[0]))


class StudentTRegressor(StudentRegressor):
    """Student-t likelihood: min (1/N) sum_i -log t(y_i; df_i, mean_i, scale_i) + weight_decay |weights|^2.

    The precision of each row has a Gamma distribution and is integrated out, so that an outlier makes the tails
    heavier instead of moving the mean. `degrees_of_freedom(X)` tells how heavy the tails are.

    Parameters
    ----------
    held_out, hidden, activation, start, max_steps, batch_size, n_jobs, random_state, verbose, weight_decay
        As in `MLERegressor`, as are the attributes.
    """

    def objective(self) -> Objective:
        """Return the negative log likelihood of a Student-t."""
        return StudentT()


GammaPrior = tuple[tuple[float, float], ...]

#: (shape, rate) of the 51 components of the default prior: precisions shape / rate from 2^-3 to 2^13 times
#: 1 / (variance of y). They overlap, so that all sizes of noise in between are about equally likely and a posterior can
#: move from one component to the next.
PRIOR: GammaPrior = tuple((shape, shape / 2.0**level) for shape, level in product((1.0, 2.0, 4.0), range(-3, 14)))


def gamma_kl(
    shape: Float[Array, "..."],
    rate: Float[Array, "..."],
    prior_shape: Float[np.ndarray, "..."] | float,
    prior_rate: Float[np.ndarray, "..."] | float,
) -> Float[Array, "..."]:
    """Return KL(Gamma(s, r) || Gamma(a, b)) for shape s, rate r, prior shape a and prior rate b.

    (s - a) psi(s) - log G(s) + log G(a) + a log(r / b) + s (b - r) / r, where G is the Gamma function and psi the
    derivative of its logarithm.
    """
    return (
        (shape - prior_shape) * digamma(shape)
        - gammaln(shape)
        + gammaln(prior_shape)
        + prior_shape * jnp.log(rate / prior_rate)
        + shape * (prior_rate - rate) / rate
    )


@dataclass(frozen=True)
class VariationalBound:
    """The objective mean[w (nll(mean, 1 / scale^2) + (log shape - psi(shape)) / 2 - log (1/J) sum_j exp(-KL_j))].

    It is minus a lower bound of the log evidence, E_q log N(y; mean, 1 / precision) - KL(q || p), with the posterior
    q = Gamma(shape(x), rate = shape(x) scale(x)^2) and the fixed prior p = (1/J) sum_j Gamma(a_j, b_j). KL_j is the
    divergence from component j. The last term is at least KL(q || p) by Jensen's inequality, so it is still a bound.
    """

    prior: GammaPrior = PRIOR

    def __call__(self, params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
        """Return likelihood and penalty of one model."""
        squared_scale, shape = scale_and_shape(second_outputs(params, jnp.asarray(batch.x), activation))
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
    """Variational variance: max (1/N) sum_i E_q log N(y_i; mean_i, 1 / precision) - KL(q_i || p).

    The posterior q of each row's precision is a Gamma distribution, so the forecast is a Student-t. Its degrees of
    freedom say how certain the precision is; those of `StudentTRegressor` are fitted to the tails of the noise.

    Parameters
    ----------
    prior : sequence of (shape, rate), default=None
        Components of the prior of the precision, for a target of variance one. None takes 51 components that together
        allow a wide range of noise.
    held_out, hidden, activation, start, max_steps, batch_size, n_jobs, random_state, verbose, weight_decay
        As in `MLERegressor`, as are the attributes.
    """

    prior: Sequence[tuple[Number, Number]] | None = None

    def objective(self) -> Objective:
        """Return minus the bound."""
        return VariationalBound(self._prior())

    def _prior(self) -> GammaPrior:
        """Return the components of the prior as floats; raise an `InputError` for anything else."""
        if self.prior is None:
            return PRIOR
        try:
            pairs = tuple((float(shape), float(rate)) for shape, rate in self.prior)
        except (TypeError, ValueError):
            pairs = ()
        if not pairs or not all(0 < number < np.inf for pair in pairs for number in pair):
            raise InputError(f"prior must be pairs of a positive shape and rate such as [(2, 0.1)], got {self.prior!r}")
        return pairs

"""Natural parameters with Laplace's approximation and empirical Bayes (Immer, Palumbo, Marx & Vogt 2023).

Two outputs on one trunk give f = mean * precision and the precision. Train to the mode of the posterior of the weights,
approximate the evidence around it, improve the priors, and repeat.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from heteroscope.baselines.base import TrainedRegressor
from heteroscope.baselines.laplace_approximation import (
    CURVATURES,
    Laplace,
    Priors,
    approximate,
    mean_variance,
    pass_through,
    resolve_curvature,
)
from heteroscope.baselines.second_network import second_output, share_trunk
from heteroscope.core import (
    InputError,
    Status,
    Strengths,
    check_positive_integer,
    logits_from_alpha_beta,
    progress_bar,
    resolve_max_steps,
)
from heteroscope.data import Batch, Rows, Scaling, Stream
from heteroscope.estimators import NETWORK_FIELDS, FieldKind, FittedFields, MemberMoments, member_seeds, refuse_stream
from heteroscope.networks import (
    UNIT_PRECISION_BIAS,
    Layer,
    Network,
    Objective,
    Params,
    Prediction,
    Terms,
    gaussian_nll,
    member_outputs,
    moment_match,
    padded_blocks,
    predict_mean,
    stack_members,
    to_positive,
)
from heteroscope.phases import HeldOut, observe_held_out
from heteroscope.search import Fold, held_out_fold
from heteroscope.training import Fit, Job, Recipe


def natural_objective(params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
    """Return mean[w (precision y^2 - 2 f y + f^2 / precision - log precision) / 2] + penalty |weights and biases|^2.

    f = mean * precision and -precision / 2 are the natural parameters of a Gaussian. The penalty is a Gaussian prior,
    so it includes the biases; that of the precision is centred at the value that makes the precision 1.
    """
    precision = to_positive(second_output(params, batch.x, activation, "shared"))
    mean = predict_mean(params, batch.x, activation) / precision
    last = params.precision[-1]
    centred = (Layer(last.weight, last.bias - UNIT_PRECISION_BIAS),)
    return Terms(
        likelihood=strengths.likelihood * jnp.mean(batch.weight * gaussian_nll(mean, precision, batch.y)),
        penalty=strengths.mean_penalty * _squared(params.mean) + strengths.precision_penalty * _squared(centred),
    )


def _squared(network: Network) -> Float[Array, ""]:
    """Return the sum of all squared weights and biases."""
    return sum((jnp.sum(part**2) for layer in network for part in layer), start=jnp.zeros(()))


class PriorRound(NamedTuple):
    """One round: the priors, the mode trained under them, and Laplace's approximation (None if it is not finite)."""

    priors: Priors
    fit: Fit
    approximation: Laplace | None

    def log_evidence(self) -> float:
        """Return the log evidence of the priors of this round; -inf without an approximation."""
        return -np.inf if self.approximation is None else self.approximation.log_evidence(self.priors)

    def posterior(self) -> dict[str, np.ndarray]:
        """Return the covariance of the weights in the form that `mean_variance` takes."""
        return {} if self.approximation is None else self.approximation.arrays(self.priors)


@dataclass(eq=False, repr=False)
class NaturalLaplaceRegressor(TrainedRegressor):
    """Natural parameters with Laplace: std^2 = 1 / precision + d^T (H + prior)^-1 d.

    The first term is the noise; the second is the uncertainty of the mean, with d the gradient of the mean by the
    weights. `predict_parts` returns both. The network gives the natural parameters of a Gaussian, mean * precision and
    precision. Its weights have a Gaussian prior: one precision for the hidden layers and the first output layer, one
    for the second output layer. Both are chosen by the evidence, without held-out rows.

    Parameters
    ----------
    held_out : float, default=0.2
        Share of the rows held out from one more model, whose score on them is used for `phase_`; 0 trains none.
    hidden, activation, start, max_steps, batch_size, n_jobs, random_state, verbose
        As in `MLERegressor`.
    curvature : {"auto", "full", "kronecker"}, default="auto"
        H as a full matrix or as Kronecker products; "auto" is full up to 1,000 weights.
    rounds : int, default=5
        How often a model is trained and its priors are improved; the model of highest evidence is kept.

    Attributes
    ----------
    prior_precisions_ : tuple of float
        Prior precision of hidden layers and first output layer, and of the second output layer.
    log_evidence_ : float
        Log evidence of these priors, for the standardised target.
    trials_ : dict of str to ndarray
        One column each for `first_prior`, `second_prior` and `log_evidence` of every round.
    arrays_ : dict of str to ndarray
        The covariance of the weights.
    n_iter_, phase_, status_, observables_
        As in `MLERegressor`; there is no `weight_decay_`.
    """

    curvature: str = "auto"
    rounds: int = 5

    fitted_fields: ClassVar[FittedFields] = {
        **NETWORK_FIELDS,
        "prior_precisions_": FieldKind.NUMBERS,
        "log_evidence_": FieldKind.NUMBER,
        "trials_": FieldKind.COLUMNS,
        "arrays_": FieldKind.NAMED_ARRAYS,
    }

    def objective(self) -> Objective:
        """Return minus the log posterior density of the weights."""
        return natural_objective

    def for_prediction(self, params: Params) -> Params:
        """Return both networks complete, the mean network's hidden layers in both."""
        return share_trunk(params)

    def fit(
        self, X: ArrayLike | Stream, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> "NaturalLaplaceRegressor":
        """Train a model and improve its priors by the evidence, `rounds` times; keep the model of highest evidence.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The inputs; a stream is refused.
        y : array-like of shape (n_rows,)
            The target.
        sample_weight : array-like of shape (n_rows,), default=None
            One weight >= 0 per row; None weighs all rows equally.

        Returns
        -------
        NaturalLaplaceRegressor
            The fitted estimator itself.
        """
        if self.curvature not in ("auto", *CURVATURES):
            raise InputError(f"curvature must be auto, {' or '.join(CURVATURES)}, got {self.curvature!r}")
        rounds = check_positive_integer("rounds", self.rounds)
        refuse_stream(self, X)
        _, rows = self._check_fit_input(X, y, sample_weight)
        random = check_random_state(self.random_state)
        fold = held_out_fold(self.held_out, rows, random)
        (seed,) = member_seeds(random, 1)
        recipe = self._recipe(rows, resolve_max_steps(self.max_steps, len(rows.y)))
        self.scaling_ = rows.scaling()
        priors, found = np.ones(2), list[PriorRound]()
        with progress_bar("fitting", bool(self.verbose)) as progress:
            for number in range(rounds):
                if found:
                    if found[-1].approximation is None:
                        break
                    priors = found[-1].approximation.best_priors(priors)
                found.append(self._round(rows, self.scaling_, priors, seed, recipe))
                if progress:
                    progress(number + 1, rounds)
        evidence = [round_.log_evidence() for round_ in found]
        best = found[int(np.argmax(evidence))]
        self._keep_members([best.fit])
        self.prior_precisions_ = tuple(float(prior) for prior in best.priors)
        self.log_evidence_ = max(evidence)
        self.arrays_ = best.posterior()
        self.trials_ = {
            "first_prior": np.array([round_.priors[0] for round_ in found]),
            "second_prior": np.array([round_.priors[1] for round_ in found]),
            "log_evidence": np.array(evidence),
        }
        self._observe(rows, None if fold is None else self._observe_held_out(fold, best.priors, seed, recipe))
        return self

    def _combine(self, x: Float[np.ndarray, "point feature"]) -> Prediction:
        """Return the prediction with noise as aleatoric and the uncertainty of the weights as epistemic std."""
        return self._add_weight_uncertainty(super()._combine(x), self._only_member(), self.arrays_, x, self.scaling_)

    def _round(self, rows: Rows, scaling: Scaling, priors: Priors, seed: int, recipe: Recipe) -> PriorRound:
        """Train a model under these priors and approximate its posterior."""
        logit_rho, logit_gamma = logits_from_alpha_beta(*(priors / (2.0 * rows.weight.sum())))
        job = Job(float(logit_rho), float(logit_gamma), seed)
        (fit,) = self._train(rows, scaling, [job], recipe, None)
        if fit.status == Status.NOT_FINITE:
            return PriorRound(priors, fit, None)
        kind = resolve_curvature(self.curvature, fit.params)
        return PriorRound(priors, fit, approximate(fit.params, rows.batch(scaling), self.activation, kind))

    def _observe_held_out(self, fold: Fold, priors: Priors, seed: int, recipe: Recipe) -> HeldOut:
        """Return what the held-out rows say of one more model: infinitely bad if it did not stay finite."""
        held, training = fold.held, fold.training
        scaling = training.scaling()
        judged = self._round(training, scaling, priors, seed, recipe)
        if judged.approximation is None:
            return HeldOut(np.inf, np.inf, -np.inf)
        noise = moment_match(*self._predict_members(stack_members([judged.fit.params]), held.x, scaling))
        full = self._add_weight_uncertainty(noise, judged.fit.params, judged.posterior(), held.x, scaling)
        return observe_held_out(held.y, full.mean, full.std, training.y, held.weight, training.weight)

    def _add_weight_uncertainty(
        self, noise: Prediction, params: Params, arrays: dict[str, np.ndarray], x: np.ndarray, scaling: Scaling
    ) -> Prediction:
        """Return the prediction with the std of the mean that the covariance of the weights implies."""
        variance = np.concatenate(
            [
                mean_variance(arrays, pass_through(params, block, self.activation))[:n_rows]
                for block, n_rows in padded_blocks(scaling.inputs(x))
            ]
        )
        epistemic = scaling.y_scale * np.sqrt(variance)
        return noise._replace(std=np.hypot(noise.aleatoric, epistemic), epistemic=epistemic)

    def _only_member(self) -> Params:
        """Return the networks of the one member, without the axis of members."""
        return Params(*(tuple(Layer(*(part[0] for part in layer)) for layer in net) for net in self.members_))

    def _predict_members(
        self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling
    ) -> MemberMoments:
        output, outputs = member_outputs(members, x, scaling, self.activation)
        precision = outputs[:, :, 0]
        mean = (output - scaling.y_centre) / precision + scaling.y_centre
        return mean, scaling.y_scale / np.sqrt(precision)

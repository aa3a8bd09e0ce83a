"""Natural parameters with Laplace's approximation and empirical Bayes (Immer, Palumbo, Marx & Vogt 2023)."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sklearn.utils import check_random_state

from heteroscope.baselines.base import TrainedRegressor
from heteroscope.baselines.laplace_approximation import (
    CURVATURES,
    Laplace,
    Priors,
    approximate,
    choose_curvature,
    mean_variance,
    visit,
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
from heteroscope.data import Batch, Rows, Scaling
from heteroscope.distributions import squared_score
from heteroscope.estimators import MemberMoments, member_seeds, refuse_stream
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
from heteroscope.search import Fold, held_out_fold
from heteroscope.training import Fit, Job, Recipe


def natural_objective(params: Params, batch: Batch, strengths: Strengths, activation: str) -> Terms:
    """mean[w (precision y^2 - 2 f y + f^2 / precision - log precision) / 2] + |all weights and biases|^2.

    f = mean * precision and -precision / 2 are the natural parameters, two outputs of one trunk. Biases are penalised
    too, as a prior must be; the precision's around the value that makes it one.
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
    return sum((jnp.sum(part**2) for layer in network for part in layer), start=jnp.zeros(()))


class Round(NamedTuple):
    """A mode that was trained under a pair of priors, and what Laplace says of it if its numbers stayed finite."""

    priors: Priors
    fit: Fit
    around: Laplace | None

    def log_evidence(self) -> float:
        """Of the priors that it was trained under."""
        return -np.inf if self.around is None else self.around.log_evidence(self.priors)

    def posterior(self) -> dict[str, np.ndarray]:
        """The covariance of the weights, as `mean_variance` takes it."""
        return {} if self.around is None else self.around.arrays(self.priors)


@dataclass(eq=False, repr=False)
class NaturalLaplaceRegressor(TrainedRegressor):
    """std^2 = 1 / precision (noise) + d^T (H + prior)^-1 d (what the rows leave open), d the mean's gradient.

    The network gives the natural parameters of a Gaussian, mean * precision and precision. Its weights have a Gaussian
    prior, one precision for the trunk and the first output and one for the second, both chosen by the evidence: no
    rows are held out for it. `predict_parts` tells noise and ignorance apart.

    Parameters
    ----------
    curvature : "full", "kronecker", or "auto": full up to 1,000 weights, Kronecker products beyond.
    rounds : how often a model is trained and its priors are improved; the model of highest evidence is kept.
    held_out : share of the rows kept from one more model that tells for `phase_` whether the std holds; 0 for none.
    max_steps, hidden, activation, start, batch_size, n_jobs, random_state, verbose : as in `MLERegressor`.

    Attributes
    ----------
    prior_precisions_ : of trunk and first output, and of the second output. `log_evidence_` : of the standardised
    target. `trials_` : both for every round. The others as in `MLERegressor`; there is no `weight_decay_`.
    """

    curvature: Any = "auto"
    rounds: Any = 5

    keeps_arrays = True

    def objective(self) -> Objective:
        """Minus the log posterior density of the weights."""
        return natural_objective

    def completed(self, params: Params) -> Params:
        """The trunk stands in both networks."""
        return share_trunk(params)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "NaturalLaplaceRegressor":
        """Train, improve the priors by the evidence around the mode, and again; keep the model of highest evidence."""
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
        priors, found = np.ones(2), list[Round]()
        with progress_bar("fitting", bool(self.verbose)) as progress:
            for number in range(rounds):
                if found:
                    if found[-1].around is None:
                        break
                    priors = found[-1].around.best_priors(priors)
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
        self._observe(rows, None if fold is None else self._held_out_score(fold, best.priors, seed, recipe))
        return self

    def _combine(self, x: Float[np.ndarray, "point feature"]) -> Prediction:
        """The std's two parts are noise and what the rows leave open."""
        return self._with_ignorance(super()._combine(x), self._only_member(), self.arrays_, x, self.scaling_)

    def _round(self, rows: Rows, scaling: Scaling, priors: Priors, seed: int, recipe: Recipe) -> Round:
        """A model trained under these priors, and the curvature around it."""
        logit_rho, logit_gamma = logits_from_alpha_beta(*(priors / (2.0 * rows.weight.sum())))
        job = Job(float(logit_rho), float(logit_gamma), seed)
        (fit,) = self._train(rows, scaling, [job], recipe, None)
        if fit.status == Status.NOT_FINITE:
            return Round(priors, fit, None)
        kind = choose_curvature(self.curvature, fit.params)
        return Round(priors, fit, approximate(fit.params, rows.batch(scaling), self.activation, kind))

    def _held_out_score(self, fold: Fold, priors: Priors, seed: int, recipe: Recipe) -> float:
        """`squared_score` of rows that one more model has not seen; infinite if it did not stay finite."""
        held, scaling = fold.held, fold.training.scaling()
        judge = self._round(fold.training, scaling, priors, seed, recipe)
        if judge.around is None:
            return np.inf
        noise = moment_match(*self._predict_members(stack_members([judge.fit.params]), held.x, scaling))
        full = self._with_ignorance(noise, judge.fit.params, judge.posterior(), held.x, scaling)
        return squared_score(held.y, full.mean, full.std, sample_weight=held.weight)

    def _with_ignorance(
        self, noise: Prediction, params: Params, arrays: dict[str, np.ndarray], x: np.ndarray, scaling: Scaling
    ) -> Prediction:
        variance = np.concatenate(
            [
                mean_variance(arrays, visit(params, block, self.activation))[:n_rows]
                for block, n_rows in padded_blocks(scaling.inputs(x))
            ]
        )
        epistemic = scaling.y_scale * np.sqrt(variance)
        return noise._replace(std=np.hypot(noise.aleatoric, epistemic), epistemic=epistemic)

    def _only_member(self) -> Params:
        return Params(*(tuple(Layer(*(part[0] for part in layer)) for layer in net) for net in self.members_))

    def _predict_members(
        self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling
    ) -> MemberMoments:
        output, outputs = member_outputs(members, x, scaling, self.activation)
        precision = outputs[:, :, 0]
        mean = (output - scaling.y_centre) / precision + scaling.y_centre
        return mean, scaling.y_scale / np.sqrt(precision)

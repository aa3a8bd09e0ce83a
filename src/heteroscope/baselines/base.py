"""What the baselines share: training, prediction, the choice of a weight decay, and the hooks that a method overrides.

Maximum likelihood has no minimum: without a penalty, or after long training, it overfits. So `BaselineRegressor` tries
several weight decays and lengths of training on held-out rows, then fits all rows with the best of them.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeGuard

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.utils import check_random_state

from heteroscope.baselines.second_network import Head, variance_head
from heteroscope.core import (
    Identity,
    InputError,
    Progress,
    Status,
    defaults,
    logits_from_alpha_beta,
    progress_bar,
    resolve_batch_size,
    resolve_max_steps,
)
from heteroscope.data import Rows, Scaling, Stream
from heteroscope.distributions import metrics, squared_score
from heteroscope.estimators import (
    NETWORK_FIELDS,
    FieldKind,
    FittedFields,
    MemberMoments,
    StreamRegressor,
    member_seeds,
    refuse_store,
    refuse_stream,
)
from heteroscope.networks import Architecture, Objective, Params, member_outputs, moment_match, stack_members
from heteroscope.phases import HeldOut, observe_held_out
from heteroscope.search import Fold, check_share, held_out_fold, stream_fold
from heteroscope.training import (
    Fit,
    Job,
    Recipe,
    Stage,
    Task,
    cosine_adam,
    refuse_with_stream,
    stable_peak_rate,
    train,
)

#: Candidates of weight_decay="auto". They are dense from 0.01 to 0.3, where tables of a few hundred rows have their
#: best; 0 and small ones are for large tables.
DECAYS = (0.0, 1e-4, 1e-3, 1e-2, 3e-2, 7e-2, 1.5e-1, 3e-1)
#: A training is a runaway if mean precision r^2 over its rows is smaller: the mean has outrun the std.
RUNAWAY_SCORE = 0.05
#: Each candidate is trained for each of these shares of max_steps: the shorter training is early stopping.
STEP_SHARES = (0.25, 1.0)
#: How many members of an ensemble are trained to judge a candidate: two show how much members disagree.
TRIAL_MEMBERS = 2

#: Anything that `numpy.random.RandomState` can be made from, as in scikit-learn.
RandomSeed: TypeAlias = int | np.integer | np.random.RandomState | None
#: A number that a user gives: beartype, unlike mypy, does not take an int for a float.
Number: TypeAlias = float | int
#: A frozen distribution of `scipy.stats` with one entry per row; its class is private to scipy.
FrozenDistribution: TypeAlias = Any


@dataclass(eq=False, repr=False)
class TrainedRegressor(StreamRegressor, ABC):
    """A regressor that trains networks under the objective of its method.

    Its parameters are fields of a dataclass, so that the generated `__init__` only stores them, as scikit-learn wants.
    A subclass gives `objective` and `fit`, and overrides what its method does in another way.
    """

    _: KW_ONLY
    held_out: Number = 0.2
    hidden: Sequence[int] = defaults.HIDDEN
    activation: str = defaults.ACTIVATION
    start: str | Number = "he"
    max_steps: int | str = defaults.SEARCH_STEPS
    batch_size: int | str | None = "auto"
    n_jobs: int | None = None
    random_state: RandomSeed = None
    verbose: int = 0

    fitted_fields: ClassVar[FittedFields] = NETWORK_FIELDS
    #: Turns the positive output of the second network into a precision.
    head: ClassVar[Head] = staticmethod(variance_head)
    #: Whether `fit` accepts a stream.
    takes_streams: ClassVar[bool] = False

    @abstractmethod
    def objective(self) -> Objective:
        """Return the function that one model minimises; it must be picklable and hashable by value."""

    def objective_identity(self) -> Identity:
        """Return a declared name and the settings of the objective, by which a run on a stream is resumed."""
        raise NotImplementedError(f"{type(self).__name__} takes no streams")

    def stages(self, steps: int) -> tuple[Stage, ...]:
        """Return the stages of a training of `steps` steps: by default one stage that trains both networks."""
        return (Stage(self.objective(), ("mean", "precision"), cosine_adam(steps, stable_peak_rate(self.hidden))),)

    def member_count(self) -> int:
        """Return how many models with different starts are moment-matched into one Gaussian."""
        return 1

    def for_prediction(self, params: Params) -> Params:
        """Return the networks of a trained model in the form that predictions read."""
        return params

    def _recipe(self, rows: Rows, steps: int) -> Recipe:
        # retires=False: the rules by which a model stops early are about the objective of `HeteroskedasticRegressor`.
        batch_size = resolve_batch_size(self.batch_size, len(rows.y))
        return Recipe(self._architecture(rows), self.stages(steps), batch_size, retires=False)

    def _architecture(self, rows: Rows) -> Architecture:
        return super()._architecture(rows)._replace(outputs=self.n_second_outputs)

    def _train(
        self, rows: Rows, scaling: Scaling, jobs: Sequence[Job], recipe: Recipe, progress: Progress | None
    ) -> list[Fit]:
        """Train one model per job; return the fits, ready for predictions and with a status by this method's head."""
        fits = train([Task(rows.batch(scaling), jobs)], recipe, n_jobs=self.n_jobs, progress=progress)[0]
        fits = [fit._replace(params=self.for_prediction(fit.params)) for fit in fits]
        return [fit._replace(status=self._status(fit, rows, scaling)) for fit in fits]

    def _status(self, fit: Fit, rows: Rows, scaling: Scaling) -> Status:
        """Return not finite, runaway or out of steps; never converged, since there may be no minimum to converge to."""
        if fit.status == Status.NOT_FINITE:
            return fit.status
        (mean,), (std,) = self._predict_members(stack_members([fit.params]), rows.x, scaling)
        score = squared_score(rows.y, mean, std, sample_weight=rows.weight)
        return Status.RUNAWAY if score < RUNAWAY_SCORE else Status.OUT_OF_STEPS

    def _predict_members(
        self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling
    ) -> MemberMoments:
        """Return mean and std of each member; the head turns the second network's output into a precision."""
        mean, outputs = member_outputs(members, x, scaling, self.activation)
        return mean, scaling.y_scale / np.sqrt(self.head(outputs[:, :, 0]))

    def _forecast(self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling) -> FrozenDistribution:
        """Return the distribution that these members, which need not be kept, predict for each row."""
        prediction = moment_match(*self._predict_members(members, x, scaling))
        return stats.norm(prediction.mean, prediction.std)


class Trial(NamedTuple):
    """A candidate of the choice; once it is judged, with the NLL of its forecast and what held-out rows say of it."""

    steps: int
    weight_decay: Number
    nll: float = np.nan
    held_out: HeldOut | None = None


@dataclass(eq=False, repr=False)
class BaselineRegressor(TrainedRegressor):
    """A regressor that minimises the objective of its method plus weight_decay |weights|^2.

    The base of most baselines, and of your own: a subclass gives `objective`. `MLERegressor` describes all parameters
    and attributes.
    """

    _: KW_ONLY
    weight_decay: Number | str = "auto"

    fitted_fields: ClassVar[FittedFields] = {
        **NETWORK_FIELDS,
        "weight_decay_": FieldKind.NUMBER,
        "trials_": FieldKind.COLUMNS,
    }

    def fit(
        self,
        X: ArrayLike | Stream,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        store: str | Path | None = None,
    ) -> "BaselineRegressor":
        """Choose weight decay and steps on held-out rows if weight_decay is "auto", then fit all rows with them.

        On a stream all candidates train for max_steps, side by side on each batch, and the best one's models are kept:
        the held-out rows are so few that training again on all rows would change little.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), or Stream
            The inputs. A stream brings its own target; `takes_streams` says which methods accept one.
        y : array-like of shape (n_rows,), default=None
            The target; None for a stream.
        sample_weight : array-like of shape (n_rows,), default=None
            One weight >= 0 per row; None weighs all rows equally.
        store : str or Path, default=None
            For a stream: a folder that keeps the progress, so that a killed run can be resumed.

        Returns
        -------
        BaselineRegressor
            The fitted estimator itself.
        """
        if isinstance(X, Stream):
            refuse_with_stream(y, sample_weight)
            if not self.takes_streams:
                refuse_stream(self, X)
            return self._fit_stream(X, store)
        refuse_store(store)
        n_members = self.member_count()
        _, rows = self._check_fit_input(X, y, sample_weight)
        candidates = self._candidates(resolve_max_steps(self.max_steps, len(rows.y)))
        recipes = {trial.steps: self._recipe(rows, trial.steps) for trial in candidates}
        random = check_random_state(self.random_state)
        fold = held_out_fold(self.held_out, rows, random)
        if fold is None and len(candidates) > 1:
            raise InputError(
                'weight_decay="auto" is chosen on held-out rows, and there are none: bring more rows, set held_out '
                "above 0, or give weight_decay as a number"
            )
        seeds = member_seeds(random, n_members)
        n_trials = 0 if fold is None else len(candidates) * len(seeds[:TRIAL_MEMBERS])
        with progress_bar("fitting", bool(self.verbose)) as progress:
            counted = _ProgressOfParts(progress, n_trials + n_members)
            trials = [] if fold is None else self._try(fold, candidates, seeds[:TRIAL_MEMBERS], recipes, counted)
            best = min(trials or candidates, key=lambda trial: trial.nll)
            self.scaling_ = rows.scaling()
            jobs = [Job(*decay_logits(best.weight_decay), seed) for seed in seeds]
            fits = self._train(rows, self.scaling_, jobs, recipes[best.steps], counted.after(n_trials))
        self._keep_members(fits)
        self._keep_trials(trials, best)
        self._observe(rows, best.held_out)
        return self

    def _fit_stream(self, stream: Stream, store: str | Path | None) -> "BaselineRegressor":
        """Train every weight decay side by side on each batch and keep the models of the best by held-out rows."""
        steps = resolve_max_steps(self.max_steps, stream.n_rows)
        candidates = [trial for trial in self._candidates(steps) if trial.steps == steps]
        *seeds, order_seed = member_seeds(self.random_state, self.member_count() + 1)
        trial_seeds = seeds[:TRIAL_MEMBERS] if len(candidates) > 1 else seeds
        run = self._start_stream_run(stream, check_share(self.held_out), order_seed, store)
        fold, scaling = stream_fold(run), run.order.scaling
        if not len(fold.held.y) and len(candidates) > 1:
            raise InputError(
                'weight_decay="auto" is chosen on held-out rows: set held_out above 0, or give weight_decay as a number'
            )
        architecture = self._architecture(run.survey.sample)
        recipe = Recipe(architecture, self.stages(steps), run.order.batch_size, retires=False)
        jobs = [Job(*decay_logits(trial.weight_decay), seed) for trial in candidates for seed in trial_seeds]
        method = {**self.objective_identity(), "weight_decay": [trial.weight_decay for trial in candidates]}
        fits = run.train("trials", method, jobs, recipe, self._predict_members)
        groups = _in_groups(fits, len(trial_seeds))
        trials = candidates
        if len(fold.held.y):
            trials = [self._judged(trial, group, fold, scaling) for trial, group in zip(trials, groups, strict=True)]
        best = run.choose(method, jobs, recipe, lambda: min(range(len(trials)), key=lambda k: trials[k].nll))
        members = groups[best]
        if other_seeds := seeds[len(trial_seeds) :]:
            others = [Job(*decay_logits(trials[best].weight_decay), seed) for seed in other_seeds]
            chosen = {**method, "chosen": best}
            members = members + run.train("members", chosen, others, recipe, self._predict_members)
        self._keep_members([fit._replace(status=self._status(fit, run.survey.sample, scaling)) for fit in members])
        self._keep_trials(trials, trials[best])
        self._observe(run.survey.sample, trials[best].held_out)
        return self

    def _keep_trials(self, trials: Sequence[Trial], best: Trial) -> None:
        """Set `weight_decay_` and `trials_`."""
        self.weight_decay_ = float(best.weight_decay)
        self.trials_ = {
            "steps": np.array([trial.steps for trial in trials], int),
            "weight_decay": np.array([trial.weight_decay for trial in trials], float),
            "held_out_nll": np.array([trial.nll for trial in trials], float),
        }

    def _candidates(self, steps: int) -> list[Trial]:
        """Return all pairs of steps and weight decay to try, or the one pair that the parameters give."""
        if isinstance(self.weight_decay, str) and self.weight_decay == "auto":
            lengths = dict.fromkeys(max(1, round(share * steps)) for share in STEP_SHARES)
            return [Trial(length, decay) for length in lengths for decay in DECAYS]
        return [Trial(steps, check_weight_decay(self.weight_decay))]

    def _try(
        self,
        fold: Fold,
        candidates: Sequence[Trial],
        seeds: Sequence[int],
        recipes: dict[int, Recipe],
        progress: "_ProgressOfParts",
    ) -> list[Trial]:
        """Train each candidate on the fold's training rows, those of equal length together; judge it on the others."""
        scaling = fold.training.scaling()
        trials: list[Trial] = []
        for steps, recipe in recipes.items():
            same = [trial for trial in candidates if trial.steps == steps]
            jobs = [Job(*decay_logits(trial.weight_decay), seed) for trial in same for seed in seeds]
            fits = self._train(fold.training, scaling, jobs, recipe, progress.after(len(trials) * len(seeds)))
            groups = _in_groups(fits, len(seeds))
            trials += [self._judged(trial, group, fold, scaling) for trial, group in zip(same, groups, strict=True)]
        return trials

    def _judged(self, trial: Trial, fits: Sequence[Fit], fold: Fold, scaling: Scaling) -> Trial:
        """Return the trial with its scores on held-out rows: infinitely bad if no fit stayed finite."""
        held, training = fold.held, fold.training
        members = [fit.params for fit in fits if fit.status != Status.NOT_FINITE]
        if not members:
            return trial._replace(nll=np.inf, held_out=HeldOut(np.inf, np.inf, -np.inf))
        forecast = self._forecast(stack_members(members), held.x, scaling)
        nll = metrics.nll(held.y, forecast, sample_weight=held.weight)
        moments = forecast.mean(), forecast.std()
        held_out = observe_held_out(held.y, *moments, training.y, held.weight, training.weight)
        return trial._replace(nll=nll if np.isfinite(nll) else np.inf, held_out=held_out)


def check_weight_decay(weight_decay: object) -> Number:
    """Return the weight decay as it is given; raise an `InputError` if it is no number of at least 0."""
    if not is_number(weight_decay) or not 0 <= weight_decay < math.inf:
        raise InputError(f'weight_decay must be "auto" or a number of at least 0, got {weight_decay!r}')
    return weight_decay


def decay_logits(weight_decay: Number) -> tuple[float, float]:
    """Return (logit rho, logit gamma) at which penalty / likelihood is `weight_decay` for both networks.

    Weight decay is the line gamma = 1/2 of the phase diagram; a weight decay of 0 is its end rho = 1.
    """
    if weight_decay == 0:
        return math.inf, 0.0
    logit_rho, logit_gamma = logits_from_alpha_beta(float(weight_decay), float(weight_decay))
    return float(logit_rho), float(logit_gamma)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a parameter is a number; True and False are none."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _in_groups(fits: list[Fit], size: int) -> list[list[Fit]]:
    return [fits[first : first + size] for first in range(0, len(fits), size)]


class _ProgressOfParts(NamedTuple):
    """A progress bar over several trainings, each of which counts from zero."""

    progress: Progress | None
    total: int

    def after(self, offset: int) -> Progress | None:
        """Return a progress function for the training that begins after `offset` models."""
        progress = self.progress
        return (lambda done, _: progress(offset + done, self.total)) if progress else None

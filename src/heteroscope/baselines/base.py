"""What every method that is trained here shares: engine, networks, prediction, and the hooks that tell them apart."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats
from sklearn.utils import check_random_state

from heteroscope.baselines.second_network import variance_head
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
from heteroscope.estimators import GaussianRegressor, MemberMoments, member_seeds, refuse_store, refuse_stream
from heteroscope.networks import Architecture, Objective, Params, member_outputs, moment_match, stack_members
from heteroscope.phases import RUNAWAY_SCORE
from heteroscope.search import Fold, check_share, held_out_fold
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


@dataclass(eq=False, repr=False)
class TrainedRegressor(GaussianRegressor, ABC):
    """A regressor that minimises the objective of its method; its parameters are fields, and `__init__` only stores.

    Subclasses say which objective, what their head is, and how `fit` chooses what is left to choose.
    """

    _: KW_ONLY
    held_out: Any = 0.2
    hidden: Any = defaults.HIDDEN
    activation: Any = defaults.ACTIVATION
    start: Any = "he"
    max_steps: Any = defaults.SEARCH_STEPS
    batch_size: Any = "auto"
    n_jobs: Any = None
    random_state: Any = None
    verbose: Any = 0

    #: What the second network stands for.
    head = staticmethod(variance_head)
    #: Whether `fit` takes a stream.
    takes_streams = False
    #: Whether a fit leaves `arrays_`, by name, beside the networks.
    keeps_arrays = False

    @abstractmethod
    def objective(self) -> Objective:
        """What one model minimises; it must be hashable by value and picklable."""

    def declared(self) -> Identity:
        """The objective by a name of its own and its settings: what a method that takes streams is resumed by."""
        raise NotImplementedError(f"{type(self).__name__} takes no streams")

    def stages(self, steps: int) -> tuple[Stage, ...]:
        """How `steps` steps are spent: both networks at once under `objective`, unless a method says otherwise."""
        return (Stage(self.objective(), ("mean", "precision"), cosine_adam(steps, stable_peak_rate(self.hidden))),)

    def outputs_wanted(self) -> int:
        """How many numbers the second network gives a row."""
        return 1

    def members_wanted(self) -> int:
        """How many models with different starts are moment-matched into one Gaussian."""
        return 1

    def completed(self, params: Params) -> Params:
        """The networks of a trained model as predictions read them."""
        return params

    def _recipe(self, rows: Rows, steps: int) -> Recipe:
        # Models run every step: the rules by which the engine retires a model are about its own objective and head.
        batch_size = resolve_batch_size(self.batch_size, len(rows.y))
        return Recipe(self._architecture(rows), self.stages(steps), batch_size, retires=False)

    def _architecture(self, rows: Rows) -> Architecture:
        return super()._architecture(rows)._replace(outputs=self.outputs_wanted())

    def _train(
        self, rows: Rows, scaling: Scaling, jobs: Sequence[Job], recipe: Recipe, progress: Progress | None
    ) -> list[Fit]:
        """The engine's fits, with a status that reads the second network as this method's head does."""
        fits = train([Task(rows.batch(scaling), jobs)], recipe, n_jobs=self.n_jobs, progress=progress)[0]
        fits = [fit._replace(params=self.completed(fit.params)) for fit in fits]
        return [fit._replace(status=self._status(fit, rows, scaling)) for fit in fits]

    def _status(self, fit: Fit, rows: Rows, scaling: Scaling) -> Status:
        """How a training ended; "converged" is never said, since without a penalty there is nothing to converge to."""
        if fit.status == Status.NOT_FINITE:
            return fit.status
        (mean,), (std,) = self._predict_members(stack_members([fit.params]), rows.x, scaling)
        score = squared_score(rows.y, mean, std, sample_weight=rows.weight)
        return Status.RUNAWAY if score < RUNAWAY_SCORE else Status.OUT_OF_STEPS

    def _predict_members(
        self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling
    ) -> MemberMoments:
        """Mean and std of every member, the second network read by the head."""
        mean, outputs = member_outputs(members, x, scaling, self.activation)
        return mean, scaling.y_scale / np.sqrt(self.head(outputs[:, :, 0]))

    def _forecast(self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling) -> Any:
        """The predictive rule: the distribution of every row that members not yet kept would predict."""
        prediction = moment_match(*self._predict_members(members, x, scaling))
        return stats.norm(prediction.mean, prediction.std)


#: Candidates of weight_decay="auto": dense where tables of a few hundred rows have their best, 0 and little for large
#: ones; each is trained for every share of max_steps, so that stopping early is a choice too.
DECAYS = (0.0, 1e-4, 1e-3, 1e-2, 3e-2, 7e-2, 1.5e-1, 3e-1)
STEP_SHARES = (0.25, 1.0)
TRIAL_MEMBERS = 2  # members by which an ensemble's candidates are judged: enough to show what disagreement adds


class Trial(NamedTuple):
    """A candidate, judged on held-out rows: their average NLL and squared score (residual / std)^2."""

    steps: int
    weight_decay: float
    nll: float = np.nan
    squared_score: float | None = None


@dataclass(eq=False, repr=False)
class BaselineRegressor(TrainedRegressor):
    """A regressor that minimises the objective of its method and a penalty on all weights; subclasses say which."""

    _: KW_ONLY
    weight_decay: Any = "auto"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, store: Any = None) -> "BaselineRegressor":
        """Choose weight decay and steps on held-out rows if weight_decay is "auto", then fit all rows with them.

        X may be a stream, which brings its own target; `store`, a folder, then keeps what a killed run has done.
        """
        if isinstance(X, Stream):
            refuse_with_stream(y, sample_weight)
            if not self.takes_streams:
                refuse_stream(self, X)
            return self._fit_stream(X, store)
        refuse_store(store)
        n_members = self.members_wanted()
        _, rows = self._check_fit_input(X, y, sample_weight)
        candidates = self._candidates(resolve_max_steps(self.max_steps, len(rows.y)))
        recipes = {trial.steps: self._recipe(rows, trial.steps) for trial in candidates}
        random = check_random_state(self.random_state)
        fold = held_out_fold(self.held_out, rows, random)
        if fold is None and len(candidates) > 1:
            raise InputError(
                'weight_decay="auto" is chosen on held-out rows, and none are left to hold out: bring more rows, set '
                "held_out above 0, or give weight_decay as a number"
            )
        seeds = member_seeds(random, n_members)
        n_trials = 0 if fold is None else len(candidates) * len(seeds[:TRIAL_MEMBERS])
        with progress_bar("fitting", bool(self.verbose)) as progress:
            counted = _Counted(progress, n_trials + n_members)
            trials = [] if fold is None else self._try(fold, candidates, seeds[:TRIAL_MEMBERS], recipes, counted)
            best = min(trials or candidates, key=lambda trial: trial.nll)
            self.scaling_ = rows.scaling()
            jobs = [Job(*decay_logits(best.weight_decay), seed) for seed in seeds]
            fits = self._train(rows, self.scaling_, jobs, recipes[best.steps], counted.after(n_trials))
        self._keep_members(fits)
        self._keep_trials(trials, best)
        self._observe(rows, best.squared_score)
        return self

    def _fit_stream(self, stream: Stream, store: Any) -> "BaselineRegressor":
        """Train every candidate at full length side by side on each batch; keep the best by held-out rows."""
        steps = resolve_max_steps(self.max_steps, stream.n_rows)
        candidates = [trial for trial in self._candidates(steps) if trial.steps == steps]
        *seeds, order = member_seeds(self.random_state, self.members_wanted() + 1)
        trial_seeds = seeds[:TRIAL_MEMBERS] if len(candidates) > 1 else seeds
        ground = self._ground(stream, check_share(self.held_out), order, store)
        held, scaling = ground.survey.held, ground.order.scaling
        if not len(held.y) and len(candidates) > 1:
            raise InputError('weight_decay="auto" is chosen on held-out rows: set held_out above 0, or give a number')
        architecture = self._architecture(ground.survey.sample)
        recipe = Recipe(architecture, self.stages(candidates[0].steps), ground.order.batch_size, retires=False)
        jobs = [Job(*decay_logits(trial.weight_decay), seed) for trial in candidates for seed in trial_seeds]
        method = {**self.declared(), "weight_decay": [trial.weight_decay for trial in candidates]}
        fits = ground.train("trials", method, jobs, recipe, self._predict_members)
        groups = [fits[first : first + len(trial_seeds)] for first in range(0, len(fits), len(trial_seeds))]
        trials = list(candidates)
        if len(held.y):
            trials = [
                self._judged(trial, group, held, scaling) for trial, group in zip(candidates, groups, strict=True)
            ]
        best = ground.choose(method, jobs, recipe, lambda: min(range(len(trials)), key=lambda k: trials[k].nll))
        members = groups[best]
        if rest := seeds[len(trial_seeds) :]:
            point = decay_logits(trials[best].weight_decay)
            more = [Job(*point, seed) for seed in rest]
            members = members + ground.train("members", {**method, "chosen": best}, more, recipe, self._predict_members)
        self._keep_members([fit._replace(status=self._status(fit, ground.survey.sample, scaling)) for fit in members])
        self._keep_trials(trials, trials[best])
        self._observe(ground.survey.sample, trials[best].squared_score)
        return self

    def _keep_trials(self, trials: Sequence[Trial], best: Trial) -> None:
        self.weight_decay_ = float(best.weight_decay)
        self.trials_ = {
            "steps": np.array([trial.steps for trial in trials], int),
            "weight_decay": np.array([trial.weight_decay for trial in trials], float),
            "held_out_nll": np.array([trial.nll for trial in trials], float),
        }

    def _candidates(self, steps: int) -> list[Trial]:
        """What is tried, or the one point that the parameters name."""
        if isinstance(self.weight_decay, str) and self.weight_decay == "auto":
            lengths = dict.fromkeys(max(1, round(share * steps)) for share in STEP_SHARES)
            return [Trial(length, decay) for length in lengths for decay in DECAYS]
        decay_logits(self.weight_decay)  # refuses what is no weight decay before anything is trained
        return [Trial(steps, self.weight_decay)]

    def _try(
        self,
        fold: Fold,
        candidates: Sequence[Trial],
        seeds: Sequence[int],
        recipes: dict[int, Recipe],
        counted: "_Counted",
    ) -> list[Trial]:
        """Every candidate on the fold's training rows, those of equal length side by side, judged on held-out rows."""
        scaling = fold.training.scaling()
        trials: list[Trial] = []
        for steps, recipe in recipes.items():
            same = [trial for trial in candidates if trial.steps == steps]
            jobs = [Job(*decay_logits(trial.weight_decay), seed) for trial in same for seed in seeds]
            fits = self._train(fold.training, scaling, jobs, recipe, counted.after(len(trials) * len(seeds)))
            groups = [fits[first : first + len(seeds)] for first in range(0, len(fits), len(seeds))]
            trials += [
                self._judged(trial, group, fold.held, scaling) for trial, group in zip(same, groups, strict=True)
            ]
        return trials

    def _judged(self, trial: Trial, fits: Sequence[Fit], held: Rows, scaling: Scaling) -> Trial:
        members = [fit.params for fit in fits if fit.status != Status.NOT_FINITE]
        if not members:
            return trial._replace(nll=np.inf, squared_score=np.inf)
        forecast = self._forecast(stack_members(members), held.x, scaling)
        nll = metrics.nll(held.y, forecast, sample_weight=held.weight)
        score = metrics.squared_score(held.y, forecast, sample_weight=held.weight)
        return trial._replace(nll=nll if np.isfinite(nll) else np.inf, squared_score=score)


class _Counted(NamedTuple):
    """The progress of one round of models as that of all rounds."""

    progress: Progress | None
    total: int

    def after(self, offset: int) -> Progress | None:
        progress = self.progress
        return (lambda done, _: progress(offset + done, self.total)) if progress else None


def decay_logits(weight_decay: Any) -> tuple[float, float]:
    """The logits of (rho, gamma) at which a likelihood of weight one has this penalty on both networks.

    Weight decay is the line gamma = 1/2 of the phase diagram, and none at all its end rho = 1.
    """
    number = isinstance(weight_decay, int | float | np.number) and not isinstance(weight_decay, bool)
    if not number or not 0 <= weight_decay < math.inf:
        raise InputError(f'weight_decay must be "auto" or a number of at least 0, got {weight_decay!r}')
    if weight_decay == 0:
        return math.inf, 0.0
    logit_rho, logit_gamma = logits_from_alpha_beta(float(weight_decay), float(weight_decay))
    return float(logit_rho), float(logit_gamma)

"""The baselines that have a weight decay: it and the number of steps are chosen on held-out rows.

Maximum likelihood has no minimum: without a penalty, or if it is trained for long, it overfits. So a careful user tries
several weight decays and stops early; then all rows are fitted with the choice.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from heteroscope.baselines.mle_and_beta_nll import decay_logits
from heteroscope.baselines.streamed import fit_to_stream
from heteroscope.baselines.trained import TrainedRegressor
from heteroscope.core import InputError, Progress, Status, progress_bar, resolve_max_steps
from heteroscope.data import Rows, Scaling, Stream
from heteroscope.distributions import metrics
from heteroscope.estimators import member_seeds, refuse_store, refuse_stream
from heteroscope.networks import stack_members
from heteroscope.search import Fold, held_out_fold
from heteroscope.training import Fit, Job, Recipe, refuse_with_stream

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
            steps = resolve_max_steps(self.max_steps, X.n_rows)
            full_length = [trial for trial in self._candidates(steps) if trial.steps == steps]
            return fit_to_stream(self, X, full_length, TRIAL_MEMBERS, store)
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

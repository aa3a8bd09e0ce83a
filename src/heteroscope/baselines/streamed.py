"""A baseline on a stream: every candidate's weight decay side by side on each batch, the best by held-out rows kept.

Nothing is fitted anew: what is held out of a stream is so little that the winner's models are the members already.
"""

from collections.abc import Sequence
from typing import Any

from heteroscope.baselines.objectives import decay_logits
from heteroscope.core import InputError
from heteroscope.data import Stream
from heteroscope.estimators import member_seeds
from heteroscope.search import check_share
from heteroscope.training import Fit, Job, Recipe, StreamRun


def fit_to_stream(model: Any, stream: Stream, candidates: Sequence[Any], n_trial_members: int, store: Any) -> Any:
    """Fit a `BaselineRegressor`; each candidate is judged by `n_trial_members` models, and the winner gets the rest."""
    *seeds, order = member_seeds(model.random_state, model.members_wanted() + 1)
    trial_seeds = seeds[:n_trial_members] if len(candidates) > 1 else seeds
    ground = model._start_stream_run(stream, check_share(model.held_out), order, store)
    held, scaling = ground.survey.held, ground.order.scaling
    if not len(held.y) and len(candidates) > 1:
        raise InputError('weight_decay="auto" is chosen on held-out rows: set held_out above 0, or give a number')
    architecture = model._architecture(ground.survey.sample)
    recipe = Recipe(architecture, model.stages(candidates[0].steps), ground.order.batch_size, retires=False)
    jobs = [Job(*decay_logits(trial.weight_decay), seed) for trial in candidates for seed in trial_seeds]
    method = {**model.declared(), "weight_decay": [trial.weight_decay for trial in candidates]}
    fits = ground.train("trials", method, jobs, recipe, model._predict_members)
    groups = [fits[first : first + len(trial_seeds)] for first in range(0, len(fits), len(trial_seeds))]
    trials = list(candidates)
    if len(held.y):
        trials = [model._judged(trial, group, held, scaling) for trial, group in zip(candidates, groups, strict=True)]
    best = ground.choose(method, jobs, recipe, lambda: min(range(len(trials)), key=lambda k: trials[k].nll))
    members = groups[best]
    if rest := seeds[len(trial_seeds) :]:
        point = decay_logits(trials[best].weight_decay)
        more = [Job(*point, seed) for seed in rest]
        members = members + ground.train("members", {**method, "chosen": best}, more, recipe, model._predict_members)
    model._keep_members([_with_status(model, fit, ground) for fit in members])
    model._keep_trials(trials, trials[best])
    model._observe(ground.survey.sample, trials[best].squared_score)
    return model


def _with_status(model: Any, fit: Fit, ground: StreamRun) -> Fit:
    return fit._replace(status=model._status(fit, ground.survey.sample, ground.order.scaling))

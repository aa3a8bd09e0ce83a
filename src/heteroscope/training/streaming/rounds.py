"""Train many models on one stream in rounds: each worker trains a group of models, then models are evaluated.

The numbers do not depend on where rounds are cut: the order of the rows depends on the seed alone, and models settle,
collapse or are dropped at steps that depend on the number of steps alone.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs

from heteroscope.core import Identity, InputError, Progress, exclusive_folder
from heteroscope.data import RowOrder, refuse_changed_files
from heteroscope.distributions import metrics
from heteroscope.training.inspection import Inspection, is_settled
from heteroscope.training.recipes import Recipe
from heteroscope.training.steps import Job, ModelState, init_model, lanes, with_new_optimiser
from heteroscope.training.streaming.checkpoint import StreamState, load_state, run_identity, save_state
from heteroscope.training.streaming.worker import RoundEvaluation, RoundOutcome, StreamRound, train_group
from heteroscope.training.tile import FIRST_INSPECTION, Fit, make_fit
from heteroscope.training.workers import run_tasks, until_done

ROUND_SECONDS = 30.0  # target length of a round: the most that a lost worker costs
CHECKPOINT_SECONDS = 120.0  # time between checkpoints
EVALUATIONS = 8  # a stage has at least so many evaluations, evenly spaced
FIRST_DROP = 3  # no point is dropped before 3 / 8 of the last stage
NEARLY = 0.9  # a point that has come so far from the constant model's NLL to the best point's is not dropped


class StreamTraining(NamedTuple):
    """What is trained, on which rows in which order, and how it is evaluated."""

    order: RowOrder
    jobs: Sequence[Job]
    recipe: Recipe
    evaluation: RoundEvaluation
    drop_losing: bool = False  # the jobs are points of one line: stop training points that can no longer win


def train_on_stream(
    training: StreamTraining,
    *,
    n_jobs: int | None = None,
    in_workers: bool = True,
    checkpoint: Path | None = None,
    method: Identity | None = None,
    progress: Progress | None = None,
) -> list[Fit]:
    """Train every job; return the fits in the order of the jobs.

    Parameters
    ----------
    training : what is trained, on which rows.
    n_jobs : number of workers; they and the backend follow joblib.
    in_workers : train in worker processes; False in a process that is a worker itself.
    checkpoint : a file from which a stopped run is resumed, to the same result.
    method : declares what the jobs minimise and at which points; the checkpoint's settings contain it.
    progress : called with the steps done and the steps of all stages.
    """
    recipe = training.recipe
    settings = run_identity(training.order, training.jobs, recipe, method or {})
    with nullcontext() if checkpoint is None else exclusive_folder(checkpoint.parent):
        start = _first_state(training)
        if checkpoint is not None:
            start = load_state(checkpoint, settings, start)
        state = start
        saved = time.monotonic()
        for state in _train_rounds(training, start, n_jobs, in_workers):
            if progress:
                progress(_steps_before(recipe, state.stage) + state.done, recipe.steps)
            is_over = state.stage == len(recipe.stages)
            if checkpoint is not None and (is_over or time.monotonic() - saved >= CHECKPOINT_SECONDS):
                save_state(checkpoint, settings, state)
                saved = time.monotonic()
    return [_fit(*one) for one in zip(state.models, state.inspections, state.steps, strict=True)]


def _first_state(training: StreamTraining) -> StreamState:
    """Return the state before the first step."""
    n = len(training.jobs)
    models = [init_model(job, training.recipe) for job in training.jobs]
    return StreamState(0, 0, models, [None] * n, [0] * n, [False] * n, [False] * n, [[] for _ in range(n)])


def _steps_before(recipe: Recipe, stage: int) -> int:
    """Return the number of steps of all stages before that one."""
    return sum(part.steps for part in recipe.stages[:stage])


def _train_rounds(
    training: StreamTraining, state: StreamState, n_jobs: int | None, in_workers: bool
) -> Iterator[StreamState]:
    """Yield the state after each round, until the last stage is over."""
    stamps = training.order.stream.stamps()
    steps_per_round = float(FIRST_INSPECTION)
    while state.stage < len(training.recipe.stages):
        stage = training.recipe.stages[state.stage]
        active = _active(state)
        evaluated_at = next(step for step in evaluation_steps(stage.steps) if step > state.done)
        stop = min(evaluated_at, state.done + max(1, int(steps_per_round)))
        if active:
            refuse_changed_files(stamps, training.order.stream)
            first = _steps_before(training.recipe, state.stage) + state.done
            evaluation = training.evaluation if stop == evaluated_at else None
            task = StreamRound(training.order, training.recipe, stage, first, stop - state.done, evaluation)
            began = time.monotonic()
            models = [state.models[k] for k in active]
            if in_workers:
                outcome = _train_groups(task, models, n_jobs)
            else:
                outcome = _raise_error(train_group(0, task, models)[1])
            steps_per_round = ROUND_SECONDS * task.n_steps / max(time.monotonic() - began, 1e-3)
            state = _with_outcome(state, active, outcome, task)
        else:
            stop = stage.steps
        state = state._replace(done=stop)
        if stop == evaluated_at and training.drop_losing:
            state = _drop_losing_points(training, state)
        if stop == stage.steps:
            state = _next_stage(training.recipe, state)
        yield state


def evaluation_steps(steps: int) -> list[int]:
    """Return the steps of a stage at which models are evaluated: doublings at first, then every eighth, and the end."""
    part = max(FIRST_INSPECTION, -(-steps // EVALUATIONS))
    doublings = [FIRST_INSPECTION * 2**k for k in range(64) if FIRST_INSPECTION * 2**k < part]
    return [*(step for step in doublings if step < steps), *range(part, steps, part), steps]


def _active(state: StreamState) -> list[int]:
    """Return the indices of the models that take further steps in this stage."""
    return [k for k in range(len(state.models)) if not (state.settled[k] or state.dropped[k])]


def _next_stage(recipe: Recipe, state: StreamState) -> StreamState:
    """Return the state at the beginning of the next stage, or past the last one."""
    number = state.stage + 1
    if number == len(recipe.stages):
        return state._replace(stage=number, done=0)
    models = [with_new_optimiser(model, recipe.stages[number]) for model in state.models]
    not_finite = [inspection is not None and not inspection.finite for inspection in state.inspections]
    return state._replace(stage=number, done=0, models=models, settled=not_finite)


def _train_groups(task: StreamRound, models: list[ModelState], n_jobs: int | None) -> RoundOutcome:
    """Train all models for one round, one group per worker; train the group of a lost worker again."""
    width = lanes(task.recipe)
    n_groups = min(effective_n_jobs(n_jobs), -(-len(models) // width))
    size = -(-len(models) // (n_groups * width)) * width
    groups = [models[first : first + size] for first in range(0, len(models), size)]
    outcomes: dict[int, RoundOutcome] = {}

    def train_missing() -> None:
        calls = [(index, task, group) for index, group in enumerate(groups) if index not in outcomes]
        outcomes.update(run_tasks(train_group, calls, n_jobs))

    until_done(train_missing, lambda: len(outcomes), len(groups))
    parts = [_raise_error(outcomes[index]) for index in range(len(groups))]
    return RoundOutcome(
        [model for part in parts for model in part.models],
        [inspection for part in parts for inspection in part.inspections],
        [nll for part in parts for nll in part.held_out_nll],
    )


def _raise_error(outcome: RoundOutcome) -> RoundOutcome:
    """Return the outcome, or raise the error that it reports."""
    if outcome.error is not None:
        raise InputError(outcome.error)
    return outcome


def _with_outcome(state: StreamState, active: list[int], outcome: RoundOutcome, task: StreamRound) -> StreamState:
    """Return the state with the outcome of a round for the active models."""
    models, inspections, steps = list(state.models), list(state.inspections), list(state.steps)
    settled, held_out_nll = list(state.settled), [list(curve) for curve in state.held_out_nll]
    for place, k in enumerate(active):
        models[k] = outcome.models[place]
        steps[k] += task.n_steps
        if outcome.inspections:
            inspection = inspections[k] = outcome.inspections[place]
            settled[k] = is_settled(inspection) if task.recipe.retires else not inspection.finite
            if "precision" in task.stage.trains:
                held_out_nll[k].append(outcome.held_out_nll[place])
    return state._replace(
        models=models, inspections=inspections, steps=steps, settled=settled, held_out_nll=held_out_nll
    )


def _drop_losing_points(training: StreamTraining, state: StreamState) -> StreamState:
    """Drop the points of a line that are far from the best and too slow to reach it.

    gap > gain since the last evaluation * evaluations left,    and
    gap > (1 - NEARLY) * (NLL of the constant model - NLL of the best point)

    The best point and its two neighbours stay, so that the choice among them compares complete trainings.
    """
    stage = training.recipe.stages[state.stage]
    evaluations_left = (stage.steps - state.done) / -(-stage.steps // EVALUATIONS)
    if state.stage + 1 < len(training.recipe.stages) or state.done < FIRST_DROP / EVALUATIONS * stage.steps:
        return state
    last = np.array([curve[-1] if curve else np.inf for curve in state.held_out_nll])
    best = int(np.argmin(last))
    scaling, y = training.order.scaling, training.evaluation.held_out.y
    constant = metrics.nll(y, np.full(len(y), scaling.y_centre), np.full(len(y), scaling.y_scale))
    dropped = list(state.dropped)
    for k in _active(state):
        curve = state.held_out_nll[k]
        if abs(k - best) <= 1 or len(curve) < 2:
            continue
        gap, gain = last[k] - last[best], max(curve[-2] - curve[-1], 0.0)
        dropped[k] = bool(gap > gain * evaluations_left and gap > (1 - NEARLY) * (constant - last[best]))
    return state._replace(dropped=dropped)


def _fit(model: ModelState, inspection: Inspection | None, steps: int) -> Fit:
    if inspection is None:
        raise AssertionError("every model is inspected at the end of its first stage")
    return make_fit(model, inspection, steps)

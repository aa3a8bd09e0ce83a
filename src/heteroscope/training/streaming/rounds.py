"""Train many models on one stream in rounds: groups of models to workers, a look at each model when a round ends.

Where rounds are cut changes nothing in the numbers: rows come in an order that depends on the seed alone, and what is
done at a look (settling, collapsing, dropping) happens at steps that depend on the number of steps alone.
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
from heteroscope.training.inspection import Inspection, settled
from heteroscope.training.recipes import Recipe
from heteroscope.training.streaming.checkpoint import State, describe, load, save
from heteroscope.training.streaming.worker import Judges, Outcome, StreamRound, advance_group
from heteroscope.training.tile import FIRST_CHECK, Fit, Job, Model, enter_stage, fit_of, lanes, start_model
from heteroscope.training.workers import run_tasks, until_done

ROUND_SECONDS = 30.0  # how long a round should take: a worker that is lost costs no more
CHECKPOINT_SECONDS = 120.0
LOOKS = 8  # at least that many times a stage is every model looked at
FIRST_DROP = 3  # of the eighths of the last stage, before which no point is given up
NEARLY = 0.9  # of the way from the constant model to the best point: who has come so far is not hopeless


class Plan(NamedTuple):
    """What is trained, on which rows in which order, and how it is judged.

    With `drops`, the jobs are points of one line, and those that cannot win any more are left behind.
    """

    order: RowOrder
    jobs: Sequence[Job]
    recipe: Recipe
    judging: Judges
    drops: bool = False


def train_on_stream(
    plan: Plan,
    *,
    n_jobs: int | None = None,
    in_workers: bool = True,
    checkpoint: Path | None = None,
    method: Identity | None = None,
    progress: Progress | None = None,
) -> list[Fit]:
    """Every job's fit. With `checkpoint`, a file, a run that was stopped goes on from it, to the same result.

    `method` declares what the jobs minimise and at which points, for the checkpoint, which knows the rest by itself.
    `progress` is told steps, of all stages. Where workers are follows joblib, as everywhere; a process that is a worker
    itself does all by itself.
    """
    settings = describe(plan.order, plan.jobs, plan.recipe, method or {})
    total = _steps_before(plan.recipe, len(plan.recipe.stages))
    with nullcontext() if checkpoint is None else exclusive_folder(checkpoint.parent):
        start = state = _beginning(plan) if checkpoint is None else load(checkpoint, settings, _beginning(plan))
        saved = time.monotonic()
        for state in _rounds(plan, start, n_jobs, in_workers):
            if progress:
                progress(_steps_before(plan.recipe, state.stage) + state.done, total)
            over = state.stage == len(plan.recipe.stages)
            if checkpoint is not None and (over or time.monotonic() - saved >= CHECKPOINT_SECONDS):
                save(checkpoint, settings, state)
                saved = time.monotonic()
    return [_fit(*one) for one in zip(state.models, state.found, state.steps, strict=True)]


def _beginning(plan: Plan) -> State:
    n = len(plan.jobs)
    models = [enter_stage(start_model(job, plan.recipe), plan.recipe.stages[0]) for job in plan.jobs]
    return State(0, 0, models, [None] * n, [0] * n, [False] * n, [False] * n, [[] for _ in range(n)])


def _steps_before(recipe: Recipe, stage: int) -> int:
    return sum(part.solver.steps for part in recipe.stages[:stage])


def _rounds(plan: Plan, state: State, n_jobs: int | None, in_workers: bool) -> Iterator[State]:
    """The state after each round, until the last stage is over."""
    stamps = plan.order.stream.stamps()
    pace = float(FIRST_CHECK)
    while state.stage < len(plan.recipe.stages):
        stage = plan.recipe.stages[state.stage]
        active = _active(state)
        look = next(mark for mark in inspection_steps(stage.solver.steps) if mark > state.done)
        stop = min(look, state.done + max(1, int(pace)))
        if active:
            refuse_changed_files(stamps, plan.order.stream)
            first = _steps_before(plan.recipe, state.stage) + state.done
            judging = plan.judging if stop == look else None
            task = StreamRound(plan.order, plan.recipe, stage, first, stop - state.done, judging)
            began = time.monotonic()
            models = [state.models[k] for k in active]
            outcome = _shared_out(task, models, n_jobs) if in_workers else _checked(advance_group(0, task, models)[1])
            pace = ROUND_SECONDS * task.n_steps / max(time.monotonic() - began, 1e-3)
            state = _with_outcome(state, active, outcome, task)
        else:
            stop = stage.solver.steps
        state = state._replace(done=stop)
        if stop == look and plan.drops:
            state = _without_hopeless(plan, state)
        if stop == stage.solver.steps:
            state = _next_stage(plan, state)
        yield state


def inspection_steps(steps: int) -> list[int]:
    """The steps of a stage at which models are looked at: doublings at first, then every eighth, and the end."""
    part = max(FIRST_CHECK, -(-steps // LOOKS))
    doublings = [FIRST_CHECK * 2**k for k in range(64) if FIRST_CHECK * 2**k < part]
    return [*(mark for mark in doublings if mark < steps), *range(part, steps, part), steps]


def _active(state: State) -> list[int]:
    return [k for k in range(len(state.models)) if not (state.resting[k] or state.dropped[k])]


def _next_stage(plan: Plan, state: State) -> State:
    number = state.stage + 1
    if number == len(plan.recipe.stages):
        return state._replace(stage=number, done=0)
    models = [enter_stage(model, plan.recipe.stages[number]) for model in state.models]
    broken = [found is not None and not found.finite for found in state.found]
    return state._replace(stage=number, done=0, models=models, resting=broken)


def _shared_out(task: StreamRound, models: list[Model], n_jobs: int | None) -> Outcome:
    """The models of all groups after the round, one group a worker; a worker that is lost costs one more try."""
    width = lanes(task.recipe)
    n_groups = min(effective_n_jobs(n_jobs), -(-len(models) // width))
    size = -(-len(models) // (n_groups * width)) * width
    groups = [models[first : first + size] for first in range(0, len(models), size)]
    outcomes: dict[int, Outcome] = {}

    def advance_rest() -> None:
        calls = [(index, task, group) for index, group in enumerate(groups) if index not in outcomes]
        outcomes.update(run_tasks(advance_group, calls, n_jobs))

    until_done(advance_rest, lambda: len(outcomes), len(groups))
    parts = [_checked(outcomes[index]) for index in range(len(groups))]
    return Outcome(
        [model for part in parts for model in part.models],
        [found for part in parts for found in part.found],
        [nll for part in parts for nll in part.nll],
    )


def _checked(outcome: Outcome) -> Outcome:
    if outcome.error is not None:
        raise InputError(outcome.error)
    return outcome


def _with_outcome(state: State, active: list[int], outcome: Outcome, task: StreamRound) -> State:
    models, found, steps = list(state.models), list(state.found), list(state.steps)
    resting, curves = list(state.resting), [list(curve) for curve in state.curves]
    for place, k in enumerate(active):
        models[k] = outcome.models[place]
        steps[k] += task.n_steps
        if outcome.found:
            seen = found[k] = outcome.found[place]
            resting[k] = settled(seen) if task.recipe.retires else not seen.finite
            if "precision" in task.stage.trains:
                curves[k].append(outcome.nll[place])
    return state._replace(models=models, found=found, steps=steps, resting=resting, curves=curves)


def _without_hopeless(plan: Plan, state: State) -> State:
    """Leave behind the points that cannot win: far from the best, and too slow to reach it even at their present pace.

    gap > gain at the last look * looks to come,    and less than NEARLY of the way from the constant model to the best

    The best point and its two neighbours stay, so that the choice among them sees whole curves.
    """
    stage = plan.recipe.stages[state.stage]
    to_come = (stage.solver.steps - state.done) / -(-stage.solver.steps // LOOKS)
    if state.stage + 1 < len(plan.recipe.stages) or state.done < FIRST_DROP / LOOKS * stage.solver.steps:
        return state
    last = np.array([curve[-1] if curve else np.inf for curve in state.curves])
    best = int(np.argmin(last))
    scaling, held = plan.order.scaling, plan.judging.held
    constant = metrics.nll(held.y, np.full(len(held.y), scaling.y_centre), np.full(len(held.y), scaling.y_scale))
    dropped = list(state.dropped)
    for k in _active(state):
        curve = state.curves[k]
        if abs(k - best) <= 1 or len(curve) < 2:
            continue
        gap, gain = last[k] - last[best], max(curve[-2] - curve[-1], 0.0)
        dropped[k] = bool(gap > gain * to_come and gap > (1 - NEARLY) * (constant - last[best]))
    return state._replace(dropped=dropped)


def _fit(model: Model, found: Inspection | None, steps: int) -> Fit:
    if found is None:
        raise AssertionError("every model is looked at when its first stage ends")
    return fit_of(model, found, steps)

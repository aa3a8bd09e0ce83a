"""What one worker does in a round: read its own copy of the stream from one step to another, with a group of models."""

from collections.abc import Callable
from contextlib import closing
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from heteroscope.core import InputError
from heteroscope.data import Batch, RowOrder, Rows, Scaling, read_ahead, read_chunks
from heteroscope.distributions import metrics
from heteroscope.networks import Params, stack_members
from heteroscope.training.inspection import Inspection
from heteroscope.training.recipes import Recipe, Stage
from heteroscope.training.streaming.advance import Model, advance_on, one_by_one, side_by_side
from heteroscope.training.tile import inspect_tile_model
from heteroscope.training.workers import prepare_worker

Moments = tuple[Float[np.ndarray, "member point"], Float[np.ndarray, "member point"]]
PredictMembers = Callable[[Params, Float[np.ndarray, "point feature"], Scaling], Moments]  # members to means and stds


class Judges(NamedTuple):
    """What models are looked at with between rounds: a sample of training rows, rows held out, how a std is read."""

    sample: Rows
    held: Rows
    read: PredictMembers


class StreamRound(NamedTuple):
    """What all groups of a round share; `judging` is None where nothing is looked at when it ends."""

    order: RowOrder
    recipe: Recipe
    stage: Stage
    first_batch: int
    n_steps: int
    judging: Judges | None


class Outcome(NamedTuple):
    """A group after its round: its models, what was found and their held-out NLL, or what went wrong in one line."""

    models: list[Model]
    found: list[Inspection]
    nll: list[float]
    error: str | None = None


def advance_group(index: int, task: StreamRound, models: list[Model]) -> tuple[int, Outcome]:
    """One group's round; an error about the data comes back as data, since clusters wrap exceptions in their own."""
    prepare_worker()
    try:
        trained = _trained(task, models) if task.n_steps else models
        if task.judging is None:
            return index, Outcome(trained, [], [])
        return index, _judged(task, trained, task.judging)
    except InputError as error:
        return index, Outcome([], [], [], str(error))


def _trained(task: StreamRound, models: list[Model]) -> list[Model]:
    groups = side_by_side(models, task.recipe)
    left = task.n_steps
    with closing(read_ahead(read_chunks(task.order, task.first_batch))) as reader:
        while left:
            chunk, n_steps = next(reader), min(left, task.order.chunk_batches)
            groups = [advance_on(group, chunk, n_steps, task.stage, task.recipe) for group in groups]
            jax.block_until_ready(groups)
            left -= n_steps
    return one_by_one(groups, len(models), task.recipe)


def _judged(task: StreamRound, models: list[Model], judging: Judges) -> Outcome:
    sample = Batch(*(np.asarray(part, np.float32) for part in judging.sample.batch(task.order.scaling)))
    seen = [jax.device_get(inspect_tile_model(model, sample, sample, task.stage, task.recipe)) for model in models]
    judged = len(judging.held.y) > 0 and "precision" in task.stage.trains
    nll = [held_nll(model.params, task.order.scaling, judging) if judged else np.nan for model, _ in seen]
    return Outcome([model for model, _ in seen], [found for _, found in seen], nll)


def held_nll(params: Params, scaling: Scaling, judging: Judges) -> float:
    """The average negative log likelihood of the held-out rows; infinite if it is not a number."""
    mean, std = judging.read(stack_members([params]), judging.held.x, scaling)
    with np.errstate(all="ignore"):
        found = metrics.nll(judging.held.y, mean[0], std[0])
    return found if np.isfinite(found) else np.inf

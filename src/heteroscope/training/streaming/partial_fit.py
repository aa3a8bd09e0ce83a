"""Steps on rows that the caller brings, a call at a time, along the schedule of the whole training."""

from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from heteroscope.core import InputError
from heteroscope.data import MOST_BATCHES, Batch, Chunk, Rows, Scaling
from heteroscope.training.recipes import Recipe
from heteroscope.training.streaming.advance import Model, advance_on, one_by_one, side_by_side
from heteroscope.training.tile import Fit, Job, enter_stage, fit_of, inspect_tile_model, start_model


class Partial(NamedTuple):
    """A training in the middle: its models, the stage they are in and the steps done there.

    A weight is counted in units of the average one of the first call.
    """

    recipe: Recipe
    scaling: Scaling
    unit: float
    models: list[Model]
    stage: int = 0
    done: int = 0
    steps: int = 0


def begin_partial_fit(jobs: list[Job], recipe: Recipe, scaling: Scaling, unit: float) -> Partial:
    """Models as their seeds make them, before the first step."""
    return Partial(recipe, scaling, unit, [enter_stage(start_model(job, recipe), recipe.stages[0]) for job in jobs])


def continue_partial_fit(partial: Partial, rows: Rows) -> Partial:
    """One step a batch of the rows, in the order they come in; the last batch may be a short one."""
    batches = _batches(_in_units(rows, partial.unit), partial.scaling, partial.recipe.batch_size or len(rows.y))
    left = sum(stage.solver.steps for stage in partial.recipe.stages) - partial.steps
    if batches.y.shape[0] > left:
        total = partial.steps + left
        raise InputError(
            f"{partial.steps:,} of max_steps={total:,} are done and these rows need {batches.y.shape[0]:,} more: the "
            "schedule ends there; begin a new model with a larger max_steps"
        )
    first = 0
    while first < batches.y.shape[0]:
        stage = partial.recipe.stages[partial.stage]
        n_steps = min(batches.y.shape[0] - first, stage.solver.steps - partial.done, MOST_BATCHES)
        chunk = _padded(Chunk(*(part[first : first + n_steps] for part in batches)))
        groups = side_by_side(partial.models, partial.recipe)
        groups = [advance_on(group, chunk, n_steps, stage, partial.recipe) for group in groups]
        models = one_by_one(groups, len(partial.models), partial.recipe)
        first += n_steps
        partial = partial._replace(models=models, done=partial.done + n_steps, steps=partial.steps + n_steps)
        if partial.done == stage.solver.steps and partial.stage + 1 < len(partial.recipe.stages):
            following = partial.recipe.stages[partial.stage + 1]
            models = [enter_stage(model, following) for model in models]
            partial = partial._replace(models=models, stage=partial.stage + 1, done=0)
    return partial


def partial_fits(partial: Partial, rows: Rows) -> list[Fit]:
    """Where the models stand, as the last rows show it; nothing about them is changed."""
    batch = _in_units(rows, partial.unit).batch(partial.scaling)
    sample = Batch(*(np.asarray(part, np.float32) for part in batch))
    stage, recipe = partial.recipe.stages[partial.stage], partial.recipe._replace(retires=False)
    found = [jax.device_get(inspect_tile_model(model, sample, sample, stage, recipe))[1] for model in partial.models]
    return [fit_of(model, one, partial.steps) for model, one in zip(partial.models, found, strict=True)]


def _in_units(rows: Rows, unit: float) -> Rows:
    return rows._replace(weight=rows.weight / unit)


def _batches(rows: Rows, scaling: Scaling, size: int) -> Chunk:
    """Full batches, and a short one at the end whose rows count for those that are missing."""
    n_batches = -(-len(rows.y) // size)
    missing = n_batches * size - len(rows.y)
    x, y, weight = rows.batch(scaling)

    def cut(values: Any, *shape: int) -> Float[np.ndarray, "..."]:
        padded = np.pad(values, [(0, missing), *[(0, 0)] * (values.ndim - 1)])
        return padded.reshape(n_batches, size, *shape).astype(np.float32)

    counted = cut(np.ones(len(y)))
    return Chunk(cut(x, x.shape[1]), cut(y), cut(weight) / counted.mean(axis=1, keepdims=True))


def _padded(chunk: Chunk) -> Chunk:
    """Batches that are not used, up to a power of two: few shapes have to be compiled."""
    missing = (1 << (chunk.y.shape[0] - 1).bit_length()) - chunk.y.shape[0]
    return Chunk(*(np.pad(part, [(0, missing), *[(0, 0)] * (part.ndim - 1)]) for part in chunk))

"""Train on rows that the caller passes in, call by call, along the schedule of the whole training."""

from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from heteroscope.core import InputError
from heteroscope.data import MOST_BATCHES, Batch, Chunk, Rows, Scaling
from heteroscope.training.compiled_programs import count_shape
from heteroscope.training.forking import refuse_after_fork
from heteroscope.training.recipes import Recipe
from heteroscope.training.steps import (
    Job,
    ModelState,
    init_model,
    stack_lanes,
    train_on_chunk,
    unstack_lanes,
    with_new_optimiser,
)
from heteroscope.training.tile import Fit, inspect_and_update, make_fit


class PartialFit(NamedTuple):
    """A training between two calls."""

    recipe: Recipe
    scaling: Scaling
    unit: float  # average sample weight of the first call; weights are divided by it
    models: list[ModelState]
    stage: int = 0  # number of the stage, counted from zero
    done: int = 0  # steps done in that stage
    steps: int = 0  # steps done in all stages


def begin_partial_fit(jobs: list[Job], recipe: Recipe, scaling: Scaling, unit: float) -> PartialFit:
    """Return models with the random weights of their seeds, before the first step."""
    refuse_after_fork()
    return PartialFit(recipe, scaling, unit, [init_model(job, recipe) for job in jobs])


def continue_partial_fit(partial: PartialFit, rows: Rows) -> PartialFit:
    """Take one step per batch of the rows, in the order of the rows; the last batch may be shorter."""
    refuse_after_fork()
    count_shape((rows.x.shape[1], partial.recipe.program))
    batches = _batches(_in_units(rows, partial.unit), partial.scaling, partial.recipe.batch_size or len(rows.y))
    left = partial.recipe.steps - partial.steps
    if batches.y.shape[0] > left:
        total = partial.steps + left
        raise InputError(
            f"{partial.steps:,} of max_steps={total:,} are done and these rows need {batches.y.shape[0]:,} more: the "
            "schedule ends there; begin a new model with a larger max_steps"
        )
    first = 0
    while first < batches.y.shape[0]:
        stage = partial.recipe.stages[partial.stage]
        n_steps = min(batches.y.shape[0] - first, stage.steps - partial.done, MOST_BATCHES)
        chunk = _padded(Chunk(*(part[first : first + n_steps] for part in batches)))
        groups = stack_lanes(partial.models, partial.recipe)
        groups = [train_on_chunk(group, chunk, n_steps, stage, partial.recipe) for group in groups]
        models = unstack_lanes(groups, len(partial.models), partial.recipe)
        first += n_steps
        partial = partial._replace(models=models, done=partial.done + n_steps, steps=partial.steps + n_steps)
        if partial.done == stage.steps and partial.stage + 1 < len(partial.recipe.stages):
            following = partial.recipe.stages[partial.stage + 1]
            models = [with_new_optimiser(model, following) for model in models]
            partial = partial._replace(models=models, stage=partial.stage + 1, done=0)
    return partial


def partial_fits(partial: PartialFit, rows: Rows) -> list[Fit]:
    """Return the models as they are now, inspected on the last rows; the training itself is not changed."""
    batch = _in_units(rows, partial.unit).batch(partial.scaling)
    sample = Batch(*(np.asarray(part, np.float32) for part in batch))
    stage, recipe = partial.recipe.stages[partial.stage], partial.recipe._replace(retires=False)
    inspections = [
        jax.device_get(inspect_and_update(model, sample, sample, stage, recipe))[1] for model in partial.models
    ]
    return [
        make_fit(model, inspection, partial.steps)
        for model, inspection in zip(partial.models, inspections, strict=True)
    ]


def _in_units(rows: Rows, unit: float) -> Rows:
    """Return the rows with their weights divided by `unit`."""
    return rows._replace(weight=rows.weight / unit)


def _batches(rows: Rows, scaling: Scaling, size: int) -> Chunk:
    """Cut rows into batches; in a short last batch the weights are raised to make up for the missing rows."""
    n_batches = -(-len(rows.y) // size)
    missing = n_batches * size - len(rows.y)
    x, y, weight = rows.batch(scaling)

    def cut(values: Any, *shape: int) -> Float[np.ndarray, "..."]:
        padded = np.pad(values, [(0, missing), *[(0, 0)] * (values.ndim - 1)])
        return padded.reshape(n_batches, size, *shape).astype(np.float32)

    counted = cut(np.ones(len(y)))
    return Chunk(cut(x, x.shape[1]), cut(y), cut(weight) / counted.mean(axis=1, keepdims=True))


def _padded(chunk: Chunk) -> Chunk:
    """Add unused batches up to a power of two, so that few shapes are compiled."""
    missing = (1 << (chunk.y.shape[0] - 1).bit_length()) - chunk.y.shape[0]
    return Chunk(*(np.pad(part, [(0, missing), *[(0, 0)] * (part.ndim - 1)]) for part in chunk))

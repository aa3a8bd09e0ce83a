"""Steps of several models on the same chunk of batches, `vmap` over a few lanes as a tile has them."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from heteroscope.data import Batch, Chunk
from heteroscope.training.recipes import Recipe, Stage
from heteroscope.training.tile import Model, lanes, take_steps


def side_by_side(models: Sequence[Model], recipe: Recipe) -> list[Model]:
    """The models as lane groups; a short group is filled with copies of its last model."""
    width = lanes(recipe)
    if width == 1:
        return list(models)
    groups = []
    for first in range(0, len(models), width):
        group = list(models[first : first + width])
        filled = group + [group[-1]] * (width - len(group))
        groups.append(jax.tree.map(lambda *leaves: np.stack(leaves), *filled))
    return groups


def one_by_one(groups: Sequence[Model], n_models: int, recipe: Recipe) -> list[Model]:
    """The models of lane groups, back from the device."""
    found = jax.device_get(list(groups))
    width = lanes(recipe)
    if width == 1:
        return list(found)
    return [jax.tree.map(lambda leaf, k=k: leaf[k % width], found[k // width]) for k in range(n_models)]


def advance_on(models: Model, chunk: Chunk, n_steps: int, stage: Stage, recipe: Recipe) -> Model:
    """A lane group, or a model by itself, after one step on each of the first `n_steps` batches of the chunk."""
    return _advance_program(models, chunk, n_steps, stage.program, recipe.program)


@partial(jax.jit, static_argnames=("stage", "recipe"))
def _advance_program(models: Model, chunk: Chunk, n_steps: Any, stage: Stage, recipe: Recipe) -> Model:
    def batch_at(step: Any, key: Any) -> tuple[Any, Batch]:
        return key, Batch(*(part[step] for part in chunk))

    def one(model: Model) -> Model:
        return take_steps(model, batch_at, n_steps, stage, recipe.architecture.activation)

    return one(models) if lanes(recipe) == 1 else jax.vmap(one)(models)

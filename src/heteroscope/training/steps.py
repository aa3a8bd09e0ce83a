"""Take training steps: one model's state, the compiled programs that advance it, and the rows of each step.

The mathematics is written for one model. On an accelerator a program trains several models side by side, one per lane.
The number of lanes depends on the shapes alone, and every lane computes the same operations, so the numbers of a model
do not depend on which or how many models share its program.
"""

import os
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, UInt32

from heteroscope.core import Strengths, strengths
from heteroscope.data import Batch, Chunk
from heteroscope.networks import Params, init_params
from heteroscope.training.adam import AdamState
from heteroscope.training.recipes import Recipe
from heteroscope.training.stages import Stage

ACCELERATOR_BYTES = 2**28  # memory for weights, gradients and moments of all lanes of an accelerator
MAX_LANES = 512  # of an accelerator
KEY_WORDS = 2  # 32-bit words in the state of JAX's random generator
_LEVEL = "xla_backend_optimization_level"
#: Compiler options: the same numbers at the same speed for part of the compile time, unless XLA_FLAGS set the level.
COMPILED_QUICKLY = {} if _LEVEL in os.environ.get("XLA_FLAGS", "") else {_LEVEL: 1}

BatchAt: TypeAlias = Callable[[Any, Any], tuple[Any, Batch]]  # (step, key) to (next key, rows of the step)
Tree = TypeVar("Tree")  # a model state, or another tree of arrays


class Job(NamedTuple):
    """One model to train: its point of the diagram, and the seed of its start and of its batches."""

    logit_rho: float
    logit_gamma: float
    seed: int


class ModelState(NamedTuple):
    """One model in training, or several stacked along a first axis of lanes."""

    params: Params
    optimiser_state: AdamState
    key: UInt32[Any, " word"]  # state of the generator that draws batches
    strengths: Strengths


def init_model(job: Job, recipe: Recipe) -> ModelState:
    """Return a model with the random weights of its seed, at the beginning of the first stage."""
    single = Strengths(*(np.float32(value) for value in strengths(job.logit_rho, job.logit_gamma)))
    key = np.array([0, job.seed], np.uint32)
    params, stage = init_params(job.seed, recipe.architecture), recipe.stages[0]
    return ModelState(params, _new_optimiser_state(params, stage), key, single)


def with_new_optimiser(model: ModelState, stage: Stage, position: int = 0) -> ModelState:
    """Return the model with a new optimiser state for the stage, `position` steps into its schedule."""
    return model._replace(optimiser_state=_new_optimiser_state(model.params, stage, position))


def _new_optimiser_state(params: Params, stage: Stage, position: int = 0) -> AdamState:
    n_variables = sum(leaf.size for leaf in jax.tree.leaves(stage.trained(params)))
    return stage.optimiser.init(np.zeros(n_variables, np.float32), position)


@lru_cache
def lanes(recipe: Recipe) -> int:
    """Return how many models one program trains side by side: one on a CPU, as many as fit the memory elsewhere.

    On a CPU several lanes were no faster per model for any network, and the last group would waste lanes.
    """
    if jax.default_backend() == "cpu":
        return 1
    shape = recipe.architecture
    n_weights = 2 * sum((n_in + 1) * n_out for n_in, n_out in pairwise((shape.n_features, *shape.hidden, 1)))
    return int(np.clip(ACCELERATOR_BYTES // (4 * 4 * n_weights), 1, MAX_LANES))


def stack_lanes(models: Sequence[ModelState], recipe: Recipe) -> list[ModelState]:
    """Return the models as stacked groups of one model per lane; copies of the last model fill a short group."""
    width = lanes(recipe)
    if width == 1:
        return list(models)
    groups = []
    for first in range(0, len(models), width):
        group = list(models[first : first + width])
        filled = group + [group[-1]] * (width - len(group))
        groups.append(jax.tree.map(lambda *leaves: np.stack(leaves), *filled))
    return groups


def unstack_lanes(groups: Sequence[Tree], n_models: int, recipe: Recipe) -> list[Tree]:
    """Return the models of stacked groups one by one, as NumPy arrays; the inverse of `stack_lanes`."""
    fetched = jax.device_get(list(groups))
    width = lanes(recipe)
    if width == 1:
        return list(fetched)
    return [jax.tree.map(lambda leaf, k=k: leaf[k % width], fetched[k // width]) for k in range(n_models)]


def map_lanes(function: Callable[[ModelState], Tree], models: ModelState, recipe: Recipe) -> Tree:
    """Return `function` of a single model, or of each lane of a group."""
    mapped: Callable[[ModelState], Tree] = function if lanes(recipe) == 1 else jax.vmap(function)
    return mapped(models)


def train_on_rows(models: ModelState, rows: Batch, n_steps: int, stage: Stage, recipe: Recipe) -> ModelState:
    """Return the model, or the lane group, after `n_steps` steps on batches that are drawn from the rows."""
    return rows_program(models, rows, n_steps, stage.program, recipe.program)


@partial(jax.jit, static_argnames=("stage", "recipe"), compiler_options=COMPILED_QUICKLY)
def rows_program(models: ModelState, rows: Batch, n_steps: Int[Array, ""], stage: Stage, recipe: Recipe) -> ModelState:
    """Compile what `train_on_rows` does."""
    n_real = count_real_rows(rows)

    def batch_at(_: Any, key: Any) -> tuple[Any, Batch]:
        return draw_batch(key, rows, n_real, recipe.batch_size, recipe.neighbours)

    def one(model: ModelState) -> ModelState:
        return take_steps(model, batch_at, n_steps, stage, recipe.architecture.activation)

    return map_lanes(one, models, recipe)


def train_on_chunk(models: ModelState, chunk: Chunk, n_steps: int, stage: Stage, recipe: Recipe) -> ModelState:
    """Return the model, or the lane group, after one step on each of the first `n_steps` batches of the chunk."""
    return _chunk_program(models, chunk, n_steps, stage.program, recipe.program)


@partial(jax.jit, static_argnames=("stage", "recipe"))
def _chunk_program(models: ModelState, chunk: Chunk, n_steps: Any, stage: Stage, recipe: Recipe) -> ModelState:
    def batch_at(step: Any, key: Any) -> tuple[Any, Batch]:
        return key, Batch(*(part[step] for part in chunk))

    def one(model: ModelState) -> ModelState:
        return take_steps(model, batch_at, n_steps, stage, recipe.architecture.activation)

    return map_lanes(one, models, recipe)


def take_steps(
    model: ModelState, batch_at: BatchAt, n_steps: Int[Any, ""] | int, stage: Stage, activation: str
) -> ModelState:
    """Return one model after `n_steps` steps of the stage's optimiser.

    The trained networks are one flat vector here, which compiles and runs fastest. `batch_at(step, key)` returns the
    next key and the rows of the step.
    """
    networks = stage.trained(model.params)
    flat, unravel = ravel_pytree(networks)
    factors = stage.relative_rates.factors(networks)
    relative = 1.0 if factors is None else ravel_pytree(factors)[0]

    def loss(flat: Float[Array, " variable"], batch: Batch) -> Float[Array, ""]:
        params = model.params._replace(**unravel(flat))
        return sum(stage.objective(params, batch, model.strengths, activation), start=jnp.zeros(()))

    def step(number: Any, carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        flat, state, key = carry
        key, batch = batch_at(number, key)
        flat, state = stage.optimiser.step(jax.grad(loss)(flat, batch), state, flat, relative)
        return flat, state, key

    flat, state, key = jax.lax.fori_loop(0, n_steps, step, (flat, model.optimiser_state, model.key))
    return model._replace(params=model.params._replace(**unravel(flat)), optimiser_state=state, key=key)


def draw_batch(
    key_data: Any, rows: Batch, n_real: Int[Any, ""] | int, batch_size: int | None, neighbours: int = 1
) -> tuple[Any, Batch]:
    """Return the next key, and all rows or random runs of `neighbours` consecutive rows, drawn with replacement.

    The first row follows the last one: every row is drawn equally often, so the gradient of a batch is unbiased.
    Padding, the rows from `n_real` on, is not drawn. The weights average to one over rows and padding together, so they
    are scaled. One call draws both the rows and the next key, because each call costs 0.2 s of compile time.
    """
    n_rows = rows.y.shape[0]
    if batch_size is None or batch_size >= n_rows:
        return key_data, rows
    n_runs = max(1, batch_size // neighbours)
    words = jax.random.bits(jax.random.wrap_key_data(key_data), (KEY_WORDS + n_runs,), "uint32")
    first = (words[KEY_WORDS:] % jnp.asarray(n_real, jnp.uint32)).astype(jnp.int32)
    chosen = ((first[:, None] + jnp.arange(neighbours)[None, :]) % n_real).ravel()
    drawn = Batch(*(part[chosen] for part in rows))
    return words[:KEY_WORDS], drawn._replace(weight=drawn.weight * (n_real / n_rows))


def count_real_rows(rows: Batch) -> Int[Any, ""]:
    """Return the number of rows before the padding, the rows of weight zero at the end."""
    return jnp.max(jnp.where(rows.weight > 0, jnp.arange(1, rows.y.shape[0] + 1), 0))

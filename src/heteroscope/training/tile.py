"""Train one tile of models on the same rows, in chunks of steps, until each is settled.

The lane width depends on the shapes alone, and every lane of a program computes the same operations, so a model's
numbers do not depend on which or how many models share its tile.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jax.stages import Lowered
from jaxtyping import Array, Float, Int

from heteroscope.core import Status, Strengths, strengths
from heteroscope.data import Batch
from heteroscope.networks import PRECISION_FLOOR, Params, constant_params, init_params
from heteroscope.training.inspection import Inspection, inspect_model, residual_gradient, settled, status_of, trained
from heteroscope.training.recipes import Recipe, Stage

FIRST_CHECK = 250  # steps before a model is first inspected; from then on at every doubling
INSPECTED_ROWS = 4096  # rows on which a model is inspected while it trains
ACCELERATOR_BYTES = 2**28  # for weights, gradients and moments of all lanes of an accelerator
MAX_LANES = 512
KEY_WORDS = 2  # of 32 bits: the state of JAX's generator
_LEVEL = "xla_backend_optimization_level"
#: The same numbers at the same speed for part of the compiler's time, unless XLA_FLAGS say what is wanted.
COMPILED_QUICKLY = {} if _LEVEL in os.environ.get("XLA_FLAGS", "") else {_LEVEL: 1}


class Job(NamedTuple):
    """One model to train: where it sits in the diagram and the seed of its start and of its batches."""

    logit_rho: float
    logit_gamma: float
    seed: int


class Fit(NamedTuple):
    """One trained model: its networks, how its training ended, and how far from stationary it is."""

    params: Params
    status: Status
    objective: float
    relative_gradient: float
    steps: int


class Model(NamedTuple):
    """What changes while a model trains, beside its own key and strengths."""

    params: Params
    solver_state: Any
    key: Any
    strengths: Strengths


def train_tile(rows: Batch, jobs: Sequence[Job], recipe: Recipe, starts: Sequence[Params] | None = None) -> list[Fit]:
    """Run every stage of the recipe for every job; where models retire, settled and broken ones leave a stage early.

    With `starts`, each job begins with networks that were trained before, and ends with those if it finds none better.
    """
    models = [start_model(job, recipe) for job in jobs]
    if starts is not None:
        models = [model._replace(params=start) for model, start in zip(models, starts, strict=True)]
    begun: dict[int, Fit] = {}
    found: dict[int, Inspection] = {}
    steps = [0] * len(jobs)
    for number, stage in enumerate(recipe.stages, 1):
        first = FIRST_CHECK if recipe.retires and not stage.patient else stage.solver.steps
        looks = number == len(recipe.stages) or stage.levels or (recipe.retires and stage.solver.steps >= first)
        own = [stage] * len(jobs)  # a model with a constant network goes on in a narrower stage of its own
        models = [enter_stage(model, stage) for model in models]
        active = [index for index in range(len(jobs)) if index not in found or found[index].finite]
        done = 0
        for chunk in _chunks(stage.solver.steps, first, looks_first=starts is not None and number == 1):
            done += chunk
            for common in dict.fromkeys(own[index] for index in active):
                members = [index for index in active if own[index] == common]
                advanced = _advance(models, members, rows, chunk, common, recipe, looks)
                for index, (model, inspection) in zip(members, advanced, strict=True):
                    models[index], steps[index] = model, steps[index] + chunk
                    if inspection is None:
                        continue
                    found[index], own[index] = inspection, _narrowed(common, inspection)
                    if own[index] != common:
                        models[index] = enter_stage(model, own[index], done)
                    if not chunk:
                        begun[index] = fit_of(model, inspection, 0)
            active = [index for index in active if index not in found or _goes_on(found[index], recipe)]
    fits = [fit_of(model, found[index], steps[index]) for index, model in enumerate(models)]
    fits = [_or_start(fit, begun.get(index)) for index, fit in enumerate(fits)]
    return [_or_constant(fit, rows) for fit in fits] if recipe.stages[-1].alone else fits


def _chunks(n_steps: int, first: int, looks_first: bool) -> Iterator[int]:
    """How many steps are taken between looks: `first`, then as many as all before; none before a first look."""
    if looks_first:
        yield 0
    done = 0
    while done < n_steps:
        chunk = min(max(first, done), n_steps - done)
        done += chunk
        yield chunk


def tile_programs(n_rows: int, recipe: Recipe) -> dict[str, Callable[[], Lowered]]:
    """What every tile of so many rows needs compiled, by a name that all processes give it: a look, and each stage."""
    rows, sample = (_unread(n, recipe) for n in (n_rows, min(n_rows, INSPECTED_ROWS)))
    models = [enter_stage(start_model(Job(0.0, 0.0, 0), recipe), stage) for stage in recipe.stages]
    compiled = [(model, stage.program, recipe.program) for model, stage in zip(models, recipe.stages, strict=True)]
    model, *last = compiled[-1]
    programs: dict[str, Callable[[], Lowered]] = {"look": partial(_look_program.lower, model, rows, sample, *last)}
    for number, (model, *stage) in enumerate(compiled):
        programs[f"steps {number}"] = partial(_advance_program.lower, model, rows, 1, *stage)
    return {f"{name} of {n_rows} rows, {recipe.architecture}": trace for name, trace in programs.items()}


def _unread(n_rows: int, recipe: Recipe) -> Batch:
    """Rows of which only the shape is known."""
    parts: list[Any] = [
        jax.ShapeDtypeStruct((n_rows, *more), np.float32) for more in ((recipe.architecture.n_features,), (), ())
    ]
    return Batch(*parts)


def _goes_on(found: Inspection, recipe: Recipe) -> bool:
    return not settled(found) if recipe.retires else bool(found.finite)


def _narrowed(stage: Stage, found: Inspection) -> Stage:
    """The stage without the network that has become constant, if there is one and the stage knows how."""
    if not stage.alone or found.constant_mean == found.constant_precision:
        return stage
    return stage.holding("mean" if found.constant_mean else "precision")


@lru_cache
def lanes(recipe: Recipe) -> int:
    """How many models one program trains side by side: one on a processor, as many as fit the memory elsewhere.

    On a processor a model by itself was as fast as its share of any group, whatever the network, and wastes no lane.
    """
    if jax.default_backend() == "cpu":
        return 1
    shape = recipe.architecture
    n_weights = 2 * sum((n_in + 1) * n_out for n_in, n_out in pairwise((shape.n_features, *shape.hidden, 1)))
    return int(np.clip(ACCELERATOR_BYTES // (4 * 4 * n_weights), 1, MAX_LANES))


def start_model(job: Job, recipe: Recipe) -> Model:
    """A model as its seed makes it, with no solver yet."""
    single = Strengths(*(np.float32(value) for value in strengths(job.logit_rho, job.logit_gamma)))
    key = np.array([0, job.seed], np.uint32)
    return Model(init_params(job.seed, recipe.architecture), None, key, single)


def enter_stage(model: Model, stage: Stage, position: int = 0) -> Model:
    """The model with a fresh solver, `position` steps into the stage's schedule."""
    n_variables = sum(leaf.size for leaf in jax.tree.leaves(trained(model.params, stage)))
    return model._replace(solver_state=stage.solver.init(np.zeros(n_variables, np.float32), position))


def fit_of(model: Model, found: Inspection, steps: int) -> Fit:
    """What is told of a model once its training is over."""
    params = jax.device_get(model.params)
    return Fit(params, status_of(found), float(found.objective), residual_gradient(found), steps)


def _or_start(fit: Fit, begun: Fit | None) -> Fit:
    """The fit, or what it began with if that has the lower objective."""
    if begun is None or fit.objective <= begun.objective:
        return fit
    return begun._replace(steps=fit.steps)


def _or_constant(fit: Fit, rows: Batch) -> Fit:
    """The fit, or the constant model if its objective, (1 + log variance of y) / 2, is lower: both are minima."""
    level = np.mean(rows.weight * rows.y)
    objective = 0.5 * (1.0 + np.log(np.mean(rows.weight * (rows.y - level) ** 2) + PRECISION_FLOOR))
    if not fit.objective > objective:
        return fit
    params = jax.device_get(constant_params(fit.params, rows))
    return fit._replace(params=params, status=Status.CONVERGED, objective=float(objective), relative_gradient=0.0)


def _advance(
    models: list[Model], active: list[int], rows: Batch, n_steps: int, stage: Stage, recipe: Recipe, looks: bool
) -> Iterator[tuple[Model, Inspection | None]]:
    """The active models `n_steps` on, a lane group at a time; a short group is filled with copies of its last model."""
    width = lanes(recipe)
    inspected = _subsample(rows)
    for first in range(0, len(active), width):
        group = active[first : first + width]
        if width == 1:
            model = advance(models[group[0]], rows, n_steps, stage, recipe)
            model, found = inspect_tile_model(model, rows, inspected, stage, recipe) if looks else (model, None)
            yield model, jax.device_get(found)
            continue
        filled = [models[index] for index in group] + [models[group[-1]]] * (width - len(group))
        stacked = advance(jax.tree.map(lambda *leaves: np.stack(leaves), *filled), rows, n_steps, stage, recipe)
        look = jax.vmap(
            lambda model: inspect_tile_model(model, rows, inspected, stage, recipe) if looks else (model, None)
        )
        after = jax.device_get(look(stacked))
        for lane in range(len(group)):
            yield jax.tree.map(lambda leaf, lane=lane: leaf[lane], after)


def advance(models: Model, rows: Batch, n_steps: int, stage: Stage, recipe: Recipe) -> Model:
    """`n_steps` of one stage for a lane group, or for a model by itself, on batches that are drawn from the rows."""
    return _advance_program(models, rows, n_steps, stage.program, recipe.program)


def inspect_tile_model(
    model: Model, rows: Batch, sample: Batch, stage: Stage, recipe: Recipe
) -> tuple[Model, Inspection]:
    """What a sample of the rows shows of one model; networks that it shows to be collapsing are made constant."""
    return _look_program(model, rows, sample, stage.program, recipe.program)


@partial(jax.jit, static_argnames=("stage", "recipe"), compiler_options=COMPILED_QUICKLY)
def _advance_program(models: Model, rows: Batch, n_steps: Int[Array, ""], stage: Stage, recipe: Recipe) -> Model:
    n_real = _real_rows(rows)

    def batch_at(_: Any, key: Any) -> tuple[Any, Batch]:
        return _draw(key, rows, n_real, recipe.batch_size, recipe.neighbours)

    def one(model: Model) -> Model:
        return take_steps(model, batch_at, n_steps, stage, recipe.architecture.activation)

    return one(models) if lanes(recipe) == 1 else jax.vmap(one)(models)


@partial(jax.jit, static_argnames=("stage", "recipe"), compiler_options=COMPILED_QUICKLY)
def _look_program(model: Model, rows: Batch, sample: Batch, stage: Stage, recipe: Recipe) -> tuple[Model, Inspection]:
    activation = recipe.architecture.activation
    average = stage.solver.average_gradient(model.solver_state)
    params, found = inspect_model(
        stage, model.params, model.strengths, rows, sample, activation, average, moves=recipe.retires
    )
    return model._replace(params=params), found


def take_steps(
    model: Model, batch_at: Callable[[Any, Any], tuple[Any, Batch]], n_steps: Any, stage: Stage, activation: str
) -> Model:
    """The solver's steps on one flat vector of the trained networks' parameters, which compiles and runs fastest.

    `batch_at(step, key)` gives the key that is left and the rows of each step.
    """
    networks = trained(model.params, stage)
    flat, unravel = ravel_pytree(networks)
    rates = stage.relative_rates(networks)
    relative = 1.0 if rates is None else ravel_pytree(rates)[0]

    def loss(flat: Float[Array, " variable"], batch: Batch) -> Float[Array, ""]:
        params = model.params._replace(**unravel(flat))
        return sum(stage.objective(params, batch, model.strengths, activation), start=jnp.zeros(()))

    def step(number: Any, carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        flat, state, key = carry
        key, batch = batch_at(number, key)
        flat, state = stage.solver.step(jax.grad(loss)(flat, batch), state, flat, relative)
        return flat, state, key

    flat, state, key = jax.lax.fori_loop(0, n_steps, step, (flat, model.solver_state, model.key))
    return model._replace(params=model.params._replace(**unravel(flat)), solver_state=state, key=key)


def _draw(
    key_data: Any, rows: Batch, n_real: Int[Any, ""] | int, batch_size: int | None, neighbours: int = 1
) -> tuple[Any, Batch]:
    """All rows, or runs of neighbouring ones drawn at random with replacement; the last row's neighbour is the first.

    The rows are a ring, so that every row is drawn equally often and a batch's gradient is right on average. Rows that
    only fill up the table, from `n_real` on, are not drawn, and the weights, whose average counts them, are scaled.
    One call draws the rows and the next step's key: each call costs the compiler a fifth of a second.
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


def _real_rows(rows: Batch) -> Int[Any, ""]:
    """How many rows come before those of weight zero that fill up the end."""
    return jnp.max(jnp.where(rows.weight > 0, jnp.arange(1, rows.y.shape[0] + 1), 0))


def _subsample(rows: Batch) -> Batch:
    n_rows = rows.y.shape[0]
    if n_rows <= INSPECTED_ROWS:
        return rows
    n_real = int(_real_rows(rows))
    chosen = np.random.default_rng(0).choice(n_real, min(INSPECTED_ROWS, n_real), replace=False)
    sample = Batch(*(part[chosen] for part in rows))
    return sample._replace(weight=sample.weight * np.float32(n_real / n_rows))

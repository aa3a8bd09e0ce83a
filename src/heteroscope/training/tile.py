"""Train a tile: a few models on the same rows, stage by stage, each until it is settled or out of steps.

The numbers of a model do not depend on which or how many models share its tile.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.stages import Lowered

from heteroscope.core import Status
from heteroscope.data import Batch
from heteroscope.networks import PRECISION_FLOOR, Params, constant_params
from heteroscope.training.inspection import Inspection, final_status, inspect_model, is_settled, residual_gradient
from heteroscope.training.recipes import Recipe
from heteroscope.training.stages import InspectionTimes, NetworkName, PrecisionLevel, Stage
from heteroscope.training.steps import (
    COMPILED_QUICKLY,
    Job,
    ModelState,
    count_real_rows,
    init_model,
    map_lanes,
    rows_program,
    stack_lanes,
    train_on_rows,
    unstack_lanes,
    with_new_optimiser,
)

FIRST_INSPECTION = 250  # steps before a model is first inspected; after that at every doubling
INSPECTED_ROWS = 4096  # rows of the sample on which models are inspected


class Fit(NamedTuple):
    """One trained model: its networks, how its training ended, and how far from stationary it is."""

    params: Params
    status: Status
    objective: float  # divided by rho
    relative_gradient: float
    steps: int


@dataclass
class _Training:
    """One model of a tile and what is known of it so far."""

    model: ModelState
    stage: Stage  # the recipe's, or the one that holds a collapsed network of this model constant
    inspection: Inspection | None = None  # the last one
    steps: int = 0
    fit_at_start: Fit | None = None  # of networks that were trained before

    def enter(self, stage: Stage, position: int = 0) -> None:
        """Begin the stage, `position` steps into its schedule."""
        self.stage, self.model = stage, with_new_optimiser(self.model, stage, position)

    def fit(self) -> Fit:
        """Return the trained model."""
        if self.inspection is None:
            raise AssertionError("every model is inspected at the end of the last stage")
        return make_fit(self.model, self.inspection, self.steps)


def train_tile(rows: Batch, jobs: Sequence[Job], recipe: Recipe, starts: Sequence[Params] | None = None) -> list[Fit]:
    """Train a model for every job, stage by stage; return the fits in the order of the jobs.

    With `starts`, each job begins with networks that were trained before, and keeps them if it finds no lower
    objective.
    """
    trainings = [_Training(init_model(job, recipe), recipe.stages[0]) for job in jobs]
    if starts is not None:
        for training, start in zip(trainings, starts, strict=True):
            training.model = training.model._replace(params=start)
    for number, stage in enumerate(recipe.stages, 1):
        is_first, is_last = number == 1, number == len(recipe.stages)
        _train_stage(trainings, rows, stage, recipe, is_last, inspect_start=is_first and starts is not None)
    fits = [_lower_objective(training.fit(), training.fit_at_start) for training in trainings]
    if recipe.stages[-1].holds_collapsed:
        fits = [_constant_if_lower(fit, rows) for fit in fits]
    return fits


def _train_stage(
    trainings: list[_Training], rows: Batch, stage: Stage, recipe: Recipe, is_last: bool, inspect_start: bool
) -> None:
    """Train all models through one stage, in chunks of steps with an inspection after each chunk."""
    stops_early = recipe.retires and stage.inspected is InspectionTimes.WHILE_TRAINING
    first_chunk = FIRST_INSPECTION if stops_early else stage.steps
    needs_inspection = is_last or stage.precision_level is not PrecisionLevel.TRAINED
    inspects = needs_inspection or (recipe.retires and stage.steps >= first_chunk)
    for training in trainings:
        training.enter(stage)
    active = [training for training in trainings if training.inspection is None or training.inspection.finite]
    done = 0
    for n_steps in _chunks(stage.steps, first_chunk, inspect_start):
        done += n_steps
        stages = dict.fromkeys(training.stage for training in active)
        # All groups are made before the first trains: a model that changes its stage must not train this chunk twice.
        groups = {stage: [training for training in active if training.stage == stage] for stage in stages}
        for common_stage, group in groups.items():
            models = [training.model for training in group]
            after = _train_and_inspect(models, rows, n_steps, common_stage, recipe, inspects)
            for training, (model, inspection) in zip(group, after, strict=True):
                training.model, training.steps = model, training.steps + n_steps
                if inspection is None:
                    continue
                training.inspection = inspection
                if n_steps == 0:
                    training.fit_at_start = make_fit(model, inspection, 0)
                collapsed = _collapsed_network(inspection)
                if common_stage.holds_collapsed and collapsed is not None:
                    training.enter(common_stage.holding(collapsed), done)
        active = [training for training in active if _continues(training.inspection, recipe)]


def _chunks(n_steps: int, first: int, inspect_start: bool) -> Iterator[int]:
    """Yield the numbers of steps between inspections: `first`, then as many as all before; 0 to inspect the start."""
    if inspect_start:
        yield 0
    done = 0
    while done < n_steps:
        chunk = min(max(first, done), n_steps - done)
        done += chunk
        yield chunk


def _train_and_inspect(
    models: list[ModelState], rows: Batch, n_steps: int, stage: Stage, recipe: Recipe, inspects: bool
) -> list[tuple[ModelState, Inspection | None]]:
    """Return every model after `n_steps` steps, with its inspection if it `inspects`."""
    sample = _sample_rows(rows)
    groups: list[tuple[ModelState, Inspection | None]] = []
    for group in stack_lanes(models, recipe):
        trained = train_on_rows(group, rows, n_steps, stage, recipe)
        if inspects:
            inspect = partial(inspect_and_update, rows=rows, sample=sample, stage=stage, recipe=recipe)
            groups.append(map_lanes(inspect, trained, recipe))
        else:
            groups.append((trained, None))
    return unstack_lanes(groups, len(models), recipe)


def _collapsed_network(inspection: Inspection) -> NetworkName | None:
    """Return the name of the network that has become constant, if exactly one has."""
    if inspection.constant_mean == inspection.constant_precision:
        return None
    return "mean" if inspection.constant_mean else "precision"


def _continues(inspection: Inspection | None, recipe: Recipe) -> bool:
    """Return whether a model takes further steps in its stage."""
    if inspection is None:
        return True
    return not is_settled(inspection) if recipe.retires else bool(inspection.finite)


def inspect_and_update(
    model: ModelState, rows: Batch, sample: Batch, stage: Stage, recipe: Recipe
) -> tuple[ModelState, Inspection]:
    """Inspect one model on a sample of the rows; return it with collapsed networks replaced, and the inspection."""
    return _inspection_program(model, rows, sample, stage.program, recipe.program)


@partial(jax.jit, static_argnames=("stage", "recipe"), compiler_options=COMPILED_QUICKLY)
def _inspection_program(
    model: ModelState, rows: Batch, sample: Batch, stage: Stage, recipe: Recipe
) -> tuple[ModelState, Inspection]:
    activation = recipe.architecture.activation
    average = stage.optimiser.average_gradient(model.optimiser_state)
    params, inspection = inspect_model(
        stage, model.params, model.strengths, rows, sample, activation, average, moves=recipe.retires
    )
    return model._replace(params=params), inspection


def _sample_rows(rows: Batch) -> Batch:
    """Return at most `INSPECTED_ROWS` random rows, the same for every model."""
    n_rows = rows.y.shape[0]
    if n_rows <= INSPECTED_ROWS:
        return rows
    n_real = int(count_real_rows(rows))
    chosen = np.random.default_rng(0).choice(n_real, min(INSPECTED_ROWS, n_real), replace=False)
    sample = Batch(*(part[chosen] for part in rows))
    return sample._replace(weight=sample.weight * np.float32(n_real / n_rows))


def make_fit(model: ModelState, inspection: Inspection, steps: int) -> Fit:
    """Return the result of a training from its model, its last inspection and its number of steps."""
    params = jax.device_get(model.params)
    return Fit(params, final_status(inspection), float(inspection.objective), residual_gradient(inspection), steps)


def _lower_objective(fit: Fit, start: Fit | None) -> Fit:
    """Return the fit, or the one it started from if that has the lower objective."""
    if start is None or fit.objective <= start.objective:
        return fit
    return start._replace(steps=fit.steps)


def _constant_if_lower(fit: Fit, rows: Batch) -> Fit:
    """Return the fit, or the constant model if its objective, (1 + log variance of y) / 2, is lower."""
    level = np.mean(rows.weight * rows.y)
    objective = 0.5 * (1.0 + np.log(np.mean(rows.weight * (rows.y - level) ** 2) + PRECISION_FLOOR))
    if not fit.objective > objective:
        return fit
    params = jax.device_get(constant_params(fit.params, rows))
    return fit._replace(params=params, status=Status.CONVERGED, objective=float(objective), relative_gradient=0.0)


def tile_programs(n_rows: int, recipe: Recipe) -> dict[str, Callable[[], Lowered]]:
    """Return how to trace each program that tiles of `n_rows` rows need, by a name that is the same in all processes.

    There is one program for inspections, and one per stage for its steps.
    """
    rows, sample = (_rows_of_shape(n, recipe) for n in (n_rows, min(n_rows, INSPECTED_ROWS)))
    models = [with_new_optimiser(init_model(Job(0.0, 0.0, 0), recipe), stage) for stage in recipe.stages]
    compiled = [(model, stage.program, recipe.program) for model, stage in zip(models, recipe.stages, strict=True)]
    model, *last = compiled[-1]
    programs: dict[str, Callable[[], Lowered]] = {
        "inspection": partial(_inspection_program.lower, model, rows, sample, *last)
    }
    for number, (model, *stage) in enumerate(compiled):
        programs[f"steps {number}"] = partial(rows_program.lower, model, rows, 1, *stage)
    return {f"{name} of {n_rows} rows, {recipe.architecture}": trace for name, trace in programs.items()}


def _rows_of_shape(n_rows: int, recipe: Recipe) -> Batch:
    """Return rows of which only the shape is known, for tracing."""
    parts: list[Any] = [
        jax.ShapeDtypeStruct((n_rows, *more), np.float32) for more in ((recipe.architecture.n_features,), (), ())
    ]
    return Batch(*parts)

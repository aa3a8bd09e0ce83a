"""Train a group of models for one round: what a worker does with its own copy of the stream."""

from collections.abc import Callable
from contextlib import closing
from typing import NamedTuple, TypeAlias

import jax
import numpy as np
from jaxtyping import Float

from heteroscope.core import InputError
from heteroscope.data import Batch, RowOrder, Rows, Scaling, read_ahead, read_chunks
from heteroscope.distributions import metrics
from heteroscope.networks import Params, stack_members
from heteroscope.training.compiled_programs import count_shape
from heteroscope.training.inspection import Inspection
from heteroscope.training.recipes import Recipe
from heteroscope.training.stages import Stage
from heteroscope.training.steps import ModelState, stack_lanes, train_on_chunk, unstack_lanes
from heteroscope.training.tile import inspect_and_update
from heteroscope.training.workers import prepare_worker

#: Predict rows with every member: stacked members, features and scaling to means and stds in the target's units.
PredictMembers: TypeAlias = Callable[
    [Params, Float[np.ndarray, "point feature"], Scaling],
    tuple[Float[np.ndarray, "member point"], Float[np.ndarray, "member point"]],
]


class RoundEvaluation(NamedTuple):
    """What models are evaluated with between rounds."""

    sample: Rows  # training rows, for inspections
    held_out: Rows  # rows that no model trains on, for the NLL
    predict_members: PredictMembers


class StreamRound(NamedTuple):
    """One round of a stage, the same for all groups of models."""

    order: RowOrder
    recipe: Recipe
    stage: Stage
    first_batch: int
    n_steps: int
    evaluation: RoundEvaluation | None  # None: models are not evaluated at the end of the round


class RoundOutcome(NamedTuple):
    """A group of models after a round, or one line about what is wrong with the data."""

    models: list[ModelState]
    inspections: list[Inspection]  # empty if the models were not evaluated
    held_out_nll: list[float]  # as `inspections`; NaN where it cannot be computed
    error: str | None = None


def train_group(index: int, task: StreamRound, models: list[ModelState]) -> tuple[int, RoundOutcome]:
    """Train and evaluate one group for a round; return its index and outcome.

    An error about the data is returned, not raised: clusters wrap exceptions in their own.
    """
    prepare_worker()
    count_shape((task.order.stream.n_features, task.order.batch_size, task.recipe.program))
    try:
        trained = _train(task, models) if task.n_steps else models
        if task.evaluation is None:
            return index, RoundOutcome(trained, [], [])
        return index, _evaluate(task, trained, task.evaluation)
    except InputError as error:
        return index, RoundOutcome([], [], [], str(error))


def _train(task: StreamRound, models: list[ModelState]) -> list[ModelState]:
    """Return the models after the steps of the round."""
    groups = stack_lanes(models, task.recipe)
    left = task.n_steps
    with closing(read_ahead(read_chunks(task.order, task.first_batch))) as reader:
        while left:
            chunk, n_steps = next(reader), min(left, task.order.chunk_batches)
            groups = [train_on_chunk(group, chunk, n_steps, task.stage, task.recipe) for group in groups]
            jax.block_until_ready(groups)
            left -= n_steps
    return unstack_lanes(groups, len(models), task.recipe)


def _evaluate(task: StreamRound, models: list[ModelState], evaluation: RoundEvaluation) -> RoundOutcome:
    """Inspect every model on the sample, and score it on the rows held out once its precision is trained."""
    sample = Batch(*(np.asarray(part, np.float32) for part in evaluation.sample.batch(task.order.scaling)))
    inspected = [jax.device_get(inspect_and_update(model, sample, sample, task.stage, task.recipe)) for model in models]
    scored = len(evaluation.held_out.y) > 0 and "precision" in task.stage.trains
    nll = [
        held_out_nll(model.params, task.order.scaling, evaluation) if scored else float("nan") for model, _ in inspected
    ]
    return RoundOutcome([model for model, _ in inspected], [inspection for _, inspection in inspected], nll)


def held_out_nll(params: Params, scaling: Scaling, evaluation: RoundEvaluation) -> float:
    """Return the average negative log likelihood of the rows held out; infinity if it is not finite."""
    mean, std = evaluation.predict_members(stack_members([params]), evaluation.held_out.x, scaling)
    with np.errstate(all="ignore"):
        nll = metrics.nll(evaluation.held_out.y, mean[0], std[0])
    return nll if np.isfinite(nll) else float("inf")

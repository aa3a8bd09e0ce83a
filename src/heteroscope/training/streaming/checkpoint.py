"""Save the state of a run on a stream, and resume it under the same settings only."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from heteroscope.core import (
    REVISIONS,
    DamageError,
    Identity,
    InputError,
    Provenance,
    as_json,
    computed_with,
    read_sealed,
    read_sealed_arrays,
    refuse_other_settings,
    same_identity,
    warn_of_damage,
    warn_of_mixture,
    write_sealed,
    write_sealed_arrays,
)
from heteroscope.data import RowOrder
from heteroscope.training.inspection import Inspection
from heteroscope.training.recipes import Recipe
from heteroscope.training.steps import Job, ModelState


class StreamState(NamedTuple):
    """How far a run has come. The lists have one entry per model."""

    stage: int  # number of the stage, counted from zero
    done: int  # steps done in that stage
    models: list[ModelState]
    inspections: list[Inspection | None]  # the last one of each model
    steps: list[int]  # steps done in all stages
    settled: list[bool]  # takes no further step in this stage
    dropped: list[bool]  # takes no further step at all
    held_out_nll: list[list[float]]  # at each evaluation of a stage that trains the precision
    computed_with: tuple[Provenance, ...] = ()  # the versions and processors that have computed a part of it


def run_identity(order: RowOrder, jobs: Sequence[Job], recipe: Recipe, method: Identity) -> Identity:
    """Return what makes two runs the same: rows, networks, seeds and steps; `method` declares objectives and points."""
    return {
        "revision": REVISIONS["stream fits"],
        "data": order.stream.identity(),
        "training_blocks": len(order.blocks),
        "training_rows": sum(block.stop - block.first for block in order.blocks),
        "batch_size": order.batch_size,
        "seed": order.seed,
        "models": [job.seed for job in jobs],
        "network": recipe.architecture._asdict(),
        "steps": [stage.steps for stage in recipe.stages],
        "retires": recipe.retires,
        "method": method,
    }


def save_state(path: Path, settings: Identity, state: StreamState) -> None:
    """Replace the checkpoint at `path` by this state."""
    leaves = jax.tree.leaves(state.models)
    content = {
        "settings": as_json(settings),
        "stage": state.stage,
        "done": state.done,
        "found": [None if one is None else [float(value) for value in one] for one in state.inspections],
        "steps": state.steps,
        "resting": state.settled,
        "dropped": state.dropped,
        "curves": state.held_out_nll,
        "computed_with": _with_present(state.computed_with),
    }
    with _full_disk_in_one_line(path):
        write_sealed_arrays(path, content, {f"leaf{k}": np.asarray(leaf) for k, leaf in enumerate(leaves)})


@contextmanager
def _full_disk_in_one_line(path: Path) -> Iterator[None]:
    """Raise one line if the disk is full or cannot be written."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}); the checkpoint before it is kept: make room, and run the "
            "same again"
        ) from error


def load_state(path: Path, settings: Identity, beginning: StreamState) -> StreamState:
    """Return the state that `save_state` wrote to `path`, or the beginning if there is no such file or it is damaged.

    Warn if other versions or another processor computed a part of the state.
    """
    if not path.is_file():
        return beginning
    try:
        content, stored = read_sealed_arrays(path)
        cure = "use these again and restore the files, or name another folder"
        refuse_other_settings(path.parent, "a run", content["settings"], settings, cure)
        state = StreamState(
            content["stage"],
            content["done"],
            jax.tree.unflatten(jax.tree.structure(beginning.models), [stored[f"leaf{k}"] for k in range(len(stored))]),
            [None if one is None else _inspection(one) for one in content["found"]],
            content["steps"],
            content["resting"],
            content["dropped"],
            content["curves"],
            tuple(content["computed_with"]),
        )
    except (DamageError, KeyError, TypeError) as error:
        warn_of_damage(path, error, "this part of the run begins anew")
        return beginning
    warn_of_mixture(path, "parts", state.computed_with)
    return state


def remember_choice(path: Path | None, settings: Identity, choose: Callable[[], int]) -> int:
    """Return the choice that `path` holds for these settings; without one, return `choose()` and write it there.

    Trained models are chosen by scores, and a near tie may be decided the other way on another processor. A run that is
    resumed there must continue with the same model.
    """
    if path is None:
        return choose()
    if path.is_file():
        try:
            kept = read_sealed(path)
            if same_identity(kept["settings"], settings):
                return int(kept["chosen"])
        except (DamageError, KeyError, TypeError, ValueError) as error:
            warn_of_damage(path, error, "the choice is made anew")
    chosen = choose()
    with _full_disk_in_one_line(path):
        write_sealed(path, {"settings": as_json(settings), "chosen": chosen})
    return chosen


def _with_present(parts: Sequence[Provenance]) -> list[Provenance]:
    """Return what has computed a run so far, this process included, each once."""
    now = computed_with()
    return [*parts] if now in parts else [*parts, now]


def _inspection(values: list[float]) -> Inspection:
    """Return an inspection from the numbers of a checkpoint, in the types that an inspection has."""
    kinds = [np.float32] * 5 + [np.bool_] * 3
    parts: list[Any] = [kind(value) for kind, value in zip(kinds, values, strict=True)]
    return Inspection(*parts)

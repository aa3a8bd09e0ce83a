"""Save the state of a run on a stream, and resume it under the same settings only."""

import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from heteroscope.core import (
    REVISIONS,
    Identity,
    InputError,
    as_json,
    atomic_write,
    refuse_other_settings,
    same_identity,
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
    }
    arrays: dict[str, Any] = {f"leaf{k}": np.asarray(leaf) for k, leaf in enumerate(leaves)}
    with _atomic_checkpoint(path) as temporary, temporary.open("wb") as file:
        np.savez(file, plain=np.array(json.dumps(content)), **arrays)


@contextmanager
def _atomic_checkpoint(path: Path) -> Iterator[Path]:
    """Do `atomic_write`; raise one line if the disk is full or cannot be written."""
    try:
        with atomic_write(path) as temporary:
            yield temporary
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}); the checkpoint before it is kept: make room, and run the "
            "same again"
        ) from error


def load_state(path: Path, settings: Identity, beginning: StreamState) -> StreamState:
    """Return the state that `save_state` wrote to `path`, or the beginning if there is no such file."""
    if not path.is_file():
        return beginning
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            content = json.loads(str(stored["plain"]))
            leaves = [stored[f"leaf{k}"] for k in range(len(stored.files) - 1)]
        cure = "use these again and restore the files, or name another folder"
        refuse_other_settings(path.parent, "a run", content["settings"], settings, cure)
        structure = jax.tree.structure(beginning.models)
        return StreamState(
            content["stage"],
            content["done"],
            jax.tree.unflatten(structure, leaves),
            [None if one is None else _inspection(one) for one in content["found"]],
            content["steps"],
            content["resting"],
            content["dropped"],
            content["curves"],
        )
    except (KeyError, TypeError, OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is damaged ({error}): remove it, and the run begins anew") from error


def remember_choice(path: Path | None, settings: Identity, choose: Callable[[], int]) -> int:
    """Return the choice that `path` holds for these settings; without one, return `choose()` and write it there.

    Trained models are chosen by scores, and a near tie may be decided the other way on another processor. A run that is
    resumed there must continue with the same model.
    """
    if path is None:
        return choose()
    if path.is_file():
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            if same_identity(kept["settings"], settings):
                return int(kept["chosen"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path} is damaged ({error}): remove it, and the choice is made anew") from error
    chosen = choose()
    with _atomic_checkpoint(path) as temporary:
        temporary.write_text(json.dumps({"settings": as_json(settings), "chosen": chosen}), encoding="utf-8")
    return chosen


def _inspection(values: list[float]) -> Inspection:
    """Return an inspection from the numbers of a checkpoint, in the types that an inspection has."""
    kinds = [np.float32] * 5 + [np.bool_] * 3
    parts: list[Any] = [kind(value) for kind, value in zip(kinds, values, strict=True)]
    return Inspection(*parts)

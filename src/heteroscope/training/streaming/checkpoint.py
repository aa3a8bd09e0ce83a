"""A run on disk: where its models stand, written whole or not at all, taken up again only under the same settings."""

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
from heteroscope.training.tile import Job, Model


class State(NamedTuple):
    """Where a run stands: stage, steps done in it, and for each model what it is, was seen to be, and has scored."""

    stage: int
    done: int
    models: list[Model]
    found: list[Inspection | None]
    steps: list[int]
    resting: list[bool]  # settled for this stage
    dropped: list[bool]  # left behind for good
    curves: list[list[float]]  # held-out NLL at each look


def describe(order: RowOrder, jobs: Sequence[Job], recipe: Recipe, method: Identity) -> Identity:
    """What makes two runs the same: rows, networks, seeds and lengths; `method` declares objectives and points."""
    return {
        "revision": REVISIONS["stream fits"],
        "data": order.stream.identity(),
        "training_blocks": len(order.blocks),
        "training_rows": sum(block.stop - block.first for block in order.blocks),
        "batch_size": order.batch_size,
        "seed": order.seed,
        "models": [job.seed for job in jobs],
        "network": recipe.architecture._asdict(),
        "steps": [stage.solver.steps for stage in recipe.stages],
        "retires": recipe.retires,
        "method": method,
    }


def save(path: Path, settings: Identity, state: State) -> None:
    """Replace the checkpoint by this one."""
    leaves = jax.tree.leaves(state.models)
    content = {
        "settings": as_json(settings),
        "stage": state.stage,
        "done": state.done,
        "found": [None if one is None else [float(value) for value in one] for one in state.found],
        "steps": state.steps,
        "resting": state.resting,
        "dropped": state.dropped,
        "curves": state.curves,
    }
    arrays: dict[str, Any] = {f"leaf{k}": np.asarray(leaf) for k, leaf in enumerate(leaves)}
    with _written(path) as partial, partial.open("wb") as file:
        np.savez(file, plain=np.array(json.dumps(content)), **arrays)


@contextmanager
def _written(path: Path) -> Iterator[Path]:
    """`files.whole`, with one line for a disk that is full."""
    try:
        with atomic_write(path) as partial:
            yield partial
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}); the checkpoint before it is kept: make room, and run the "
            "same again"
        ) from error


def load(path: Path, settings: Identity, beginning: State) -> State:
    """The state that `save` wrote, or the beginning if there is none."""
    if not path.is_file():
        return beginning
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            content = json.loads(str(stored["plain"]))
            leaves = [stored[f"leaf{k}"] for k in range(len(stored.files) - 1)]
        cure = "use these again and restore the files, or name another folder"
        refuse_other_settings(path.parent, "a run", content["settings"], settings, cure)
        structure = jax.tree.structure(beginning.models)
        return State(
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


def kept_choice(path: Path | None, settings: Identity, choose: Callable[[], int]) -> int:
    """The number that an earlier run of these settings chose, or what `choose` says now, kept in that file.

    Trained models are chosen among by scores, and a near tie may fall the other way on another processor: a run that
    goes on there must go on with the same model.
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
    with _written(path) as partial:
        partial.write_text(json.dumps({"settings": as_json(settings), "chosen": chosen}), encoding="utf-8")
    return chosen


def _inspection(values: list[float]) -> Inspection:
    kinds = [np.float32] * 5 + [np.bool_] * 3
    parts: list[Any] = [kind(value) for kind, value in zip(kinds, values, strict=True)]
    return Inspection(*parts)

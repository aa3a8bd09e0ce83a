"""A run on disk: where its models stand, written whole or not at all, taken up again only under the same settings."""

import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from heteroscope.errors import InputError
from heteroscope.files import whole
from heteroscope.inspection import Inspection
from heteroscope.stages import Recipe
from heteroscope.streams.batches import Order
from heteroscope.tile import Job, Model


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


def describe(order: Order, jobs: Sequence[Job], recipe: Recipe) -> dict[str, Any]:
    """Everything that decides a run's numbers, as JSON has it."""
    stages = [re.sub(r" at 0x[0-9a-f]+", "", str(stage)) for stage in recipe.stages]
    return {
        "files": [list(stamp) for stamp in order.stream.stamps()],
        "target": order.stream.target_name,
        "features": order.stream.n_features,
        "held": _training_size(order),
        "batch_size": order.batch_size,
        "seed": order.seed,
        "models": [list(job) for job in jobs],
        "network": [str(part) for part in recipe.architecture],
        "stages": stages,
        "retires": recipe.retires,
    }


def _training_size(order: Order) -> list[int]:
    """Number of training blocks and of their rows."""
    return [len(order.blocks), sum(block.stop - block.first for block in order.blocks)]


def save(path: Path, settings: dict[str, Any], state: State) -> None:
    """Replace the checkpoint by this one."""
    leaves = jax.tree.leaves(state.models)
    plain = {
        "settings": settings,
        "stage": state.stage,
        "done": state.done,
        "found": [None if one is None else [float(value) for value in one] for one in state.found],
        "steps": state.steps,
        "resting": state.resting,
        "dropped": state.dropped,
        "curves": state.curves,
    }
    arrays: dict[str, Any] = {f"leaf{k}": np.asarray(leaf) for k, leaf in enumerate(leaves)}
    try:
        with whole(path) as partial, partial.open("wb") as file:
            np.savez(file, plain=np.array(json.dumps(plain)), **arrays)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}); the checkpoint before it is kept: make room, and run the "
            "same again"
        ) from error


def load(path: Path, settings: dict[str, Any], beginning: State) -> State:
    """The state that `save` wrote, or the beginning if there is none."""
    if not path.is_file():
        return beginning
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            plain = json.loads(str(stored["plain"]))
            leaves = [stored[f"leaf{k}"] for k in range(len(stored.files) - 1)]
        _refuse_other_settings(path, plain["settings"], settings)
        structure = jax.tree.structure(beginning.models)
        return State(
            plain["stage"],
            plain["done"],
            jax.tree.unflatten(structure, leaves),
            [None if one is None else _inspection(one) for one in plain["found"]],
            plain["steps"],
            plain["resting"],
            plain["dropped"],
            plain["curves"],
        )
    except (KeyError, TypeError, OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is damaged ({error}): remove it, and the run begins anew") from error


def _inspection(values: list[float]) -> Inspection:
    kinds = [np.float32] * 5 + [np.bool_] * 3
    parts: list[Any] = [kind(value) for kind, value in zip(kinds, values, strict=True)]
    return Inspection(*parts)


def _refuse_other_settings(path: Path, stored: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name, now in json.loads(json.dumps(wanted)).items():
        was: Any = stored.get(name)
        if was == now:
            continue
        if name == "files":
            changed = [new[0] for old, new in zip(was, now, strict=False) if old != new] or ["the list of files"]
            raise InputError(
                f"{changed[0]} has changed since the run in {path.parent} began: restore it, or name another folder"
            )
        raise InputError(
            f"{path.parent} holds a run with other settings ({name}): use these again, or name another folder"
        )

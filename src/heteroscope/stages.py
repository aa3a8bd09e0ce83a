"""How a model is trained, as data: a sequence of stages, each an objective, the networks it moves and a solver.

A method is a `Recipe`; the engine runs any of them, so that no method brings a loop of its own.
"""

from numbers import Integral
from typing import NamedTuple

from heteroscope.errors import InputError
from heteroscope.networks import Architecture
from heteroscope.objective import Objective, joint_objective, mean_objective
from heteroscope.solvers.adam import SCHEDULES, Adam, cosine_adam, paper_adam

FULL_BATCH_ROWS = 512  # up to here a step sees all rows; beyond, batches of AUTO_BATCH reach the same scores sooner
AUTO_BATCH = 256


class Stage(NamedTuple):
    """Minimise `objective` over the networks named in `trains` (fields of `Params`), the others held fixed."""

    objective: Objective
    trains: tuple[str, ...]
    solver: Adam


class Recipe(NamedTuple):
    """Everything that is the same for all models trained together; hashable, so that it can be compiled in.

    With `retires`, a model leaves a stage as soon as nothing is left to gain; without, it runs every step of it.
    """

    architecture: Architecture
    stages: tuple[Stage, ...]
    batch_size: int | None = None
    retires: bool = True


def mean_first_recipe(
    architecture: Architecture, max_steps: object, schedule: str = "cosine", batch_size: int | None = None
) -> Recipe:
    """The mean alone under squared error, then both networks; each stage has its share of `max_steps`.

    The paper's schedule splits 250,000 : 350,000 and its learning rate runs on across the two stages.
    """
    if isinstance(max_steps, bool) or not isinstance(max_steps, Integral) or max_steps < 2:
        raise InputError(f"max_steps must be an integer of at least 2, got {max_steps!r}")
    if schedule not in SCHEDULES:
        raise InputError(f"schedule must be one of {', '.join(SCHEDULES)}, got {schedule!r}")
    steps = int(max_steps)
    first = max(1, round(steps * 5 / 12))
    if schedule == "paper":
        cycle = max(2, steps // 12)
        solvers = paper_adam(first, cycle), paper_adam(steps - first, cycle, offset=first)
    else:
        solvers = cosine_adam(first), cosine_adam(steps - first)
    return Recipe(
        architecture,
        (Stage(mean_objective, ("mean",), solvers[0]), Stage(joint_objective, ("mean", "precision"), solvers[1])),
        batch_size,
    )


def batch_rows(wanted: object, n_rows: int) -> int | None:
    """How many rows a step sees: None for all of them, which "auto" takes up to FULL_BATCH_ROWS."""
    if wanted == "auto":
        return None if n_rows <= FULL_BATCH_ROWS else AUTO_BATCH
    if wanted is None:
        return None
    if isinstance(wanted, bool) or not isinstance(wanted, Integral) or wanted < 1:
        raise InputError(f'batch_size must be a positive integer, None or "auto", got {wanted!r}')
    return int(wanted)

"""About how long a recipe takes on two cores, from the arithmetic of its parts.

seconds = programs to compile * COMPILE + model-steps * operations of a step / RATE
"""

from collections.abc import Callable, Iterable
from functools import singledispatch
from itertools import pairwise
from typing import Any

from heteroscope import datasets
from heteroscope.core import (
    defaults,
    identity_key,
    resolve_batch_size,
    resolve_diagram_batch_size,
    resolve_diagram_steps,
)
from heteroscope.datasets import climsim
from heteroscope.paper.comparisons import Comparison, Searches, SolarFlux
from heteroscope.paper.parts import HysteresisSweep, Line, Networks, Theory
from heteroscope.paper.recipe import Exhibit, part_settings
from heteroscope.paper.scales import Scale
from heteroscope.training import UNINSPECTED_SHARES

COMPILE = 12.0  # seconds, of a network shape and a number of rows not seen before in the run
RATE = 1e11  # operations a second, as measured on two cores with 3 x 128 networks
SHARE = 0.3  # of its steps that a model of a diagram takes, many of which are flat
BATCH_SHARE = 0.4  # the same in batches
LINE_SHARE = 0.3  # of one of a line
STREAM_ROW = 4e-5  # seconds to write and survey a generated row of ClimSim's format
FIELD_CELL = 5e-6  # seconds a cell and point of the field theory


def seconds_together(recipes: Iterable[Exhibit], scale: Scale) -> float:
    """Of these recipes in one run: equal parts count once."""
    parts = {identity_key(part_settings(part)): part for one in recipes for part in one.parts(scale).values()}
    return sum((seconds(part) for part in parts.values()), start=1.0)


@singledispatch
def seconds(part: Any) -> float:
    """Of one part alone."""
    raise TypeError(f"how long {type(part).__name__} takes is not known")


@seconds.register
def _(part: Networks) -> float:
    n_models = len(part.rhos) * len(part.gamma_values) * part.n_seeds
    n_rows = len(datasets.load(part.data).y_train)
    in_batches = resolve_diagram_batch_size("auto", n_rows)
    steps = resolve_diagram_steps(part.max_steps, n_rows, in_batches, part.start)
    mean, both = (0.0, 0.0) if part.start == "he" else UNINSPECTED_SHARES
    share = BATCH_SHARE if in_batches else SHARE
    taken = steps * (mean / 2 + both + share * (1 - mean - both))  # in patience all of them, of the mean alone at first
    return COMPILE + n_models * taken * _operations(part.data, part.hidden, resolve_diagram_batch_size) / RATE


@seconds.register
def _(part: Line) -> float:
    steps = len(part.points) * part.n_seeds * LINE_SHARE * part.max_steps
    return COMPILE + steps * _operations(part.data, part.hidden, resolve_diagram_batch_size) / RATE


@seconds.register
def _(part: Comparison) -> float:
    search = dict(part.search)
    models = search["n_coarse"] + search["n_fine"] + defaults.FINALISTS * (search["cv"] - 1) + 1
    searched = 2 * models * search["max_steps"]
    steps = searched + 7 * part.fit_steps  # the ensemble has six members
    return 2 * COMPILE + part.n_runs * steps * _operations(part.data, part.hidden, resolve_batch_size) / RATE


@seconds.register
def _(part: Searches) -> float:
    search = dict(part.search)
    models = sum(part.n_points.values()) + 2 * (defaults.FINALISTS * (search["cv"] - 1) + 1)
    steps = part.n_runs * models * search["max_steps"]
    return COMPILE + steps * _operations(part.data, part.hidden, resolve_batch_size) / RATE


@seconds.register
def _(part: SolarFlux) -> float:
    n_models = 2 * part.n_points + 1 + 6  # two searches, beta-NLL and the ensemble's members
    n_rows = part.n_rows or climsim.N_ROWS["train"]
    work = n_models * part.max_steps * _of_a_step(len(climsim.INPUTS), part.hidden, part.batch_size) / RATE
    return 4 * COMPILE + part.n_runs * work + n_rows * STREAM_ROW


@seconds.register
def _(part: Theory) -> float:
    return len(part.grid) ** 2 * (part.points or 64) * FIELD_CELL


@seconds.register
def _(part: HysteresisSweep) -> float:
    return 2 * len(part.logit_rhos) * len(part.logit_gammas) * part.points * FIELD_CELL


def _operations(data: str, hidden: tuple[int, ...], seen: Callable[[Any, int], int | None]) -> float:
    """Of one step of both networks: two a weight and row forwards, four backwards."""
    split = datasets.load(data)
    n_rows, n_features = split.x_train.shape
    return _of_a_step(n_features, hidden, seen("auto", n_rows) or n_rows)


def _of_a_step(n_features: int, hidden: tuple[int, ...], n_rows: int) -> float:
    weights = 2 * sum(n_in * n_out for n_in, n_out in pairwise((n_features, *hidden, 1)))
    return 6.0 * weights * n_rows

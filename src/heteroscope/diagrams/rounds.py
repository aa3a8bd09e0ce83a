"""Every tile of a diagram through every round of its training, saved as it goes, resumed if stopped.

A tile is all gammas of one rho and one seed: what one process trains, scores and hands over at a time. Where models are
exchanged, all tiles go through one round before the first goes through the next.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int32

from heteroscope.core import InputError, Progress
from heteroscope.diagrams.exchange import best_models, summarise_round, weights_to_params
from heteroscope.diagrams.measuring import DiagramRows, measure
from heteroscope.diagrams.store import DiagramStore, Tile, open_round
from heteroscope.networks import Params, predict_members
from heteroscope.training import (
    Fit,
    Job,
    Recipe,
    RoundEvaluation,
    StreamRun,
    StreamTraining,
    Task,
    prepare_worker,
    run_tasks,
    train_as_tiles,
    train_on_stream,
    until_done,
)


class Grid(NamedTuple):
    """The points of a diagram, as logits, and its seeds."""

    logit_rhos: Float[np.ndarray, " rho"]
    logit_gammas: Float[np.ndarray, " gamma"]
    seeds: range

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of rho, gamma and seed."""
        return len(self.logit_rhos), len(self.logit_gammas), len(self.seeds)

    def jobs(self, tile: Tile) -> list[Job]:
        """The models of one tile."""
        row, seed = tile
        return [Job(float(self.logit_rhos[row]), float(gamma), self.seeds[seed]) for gamma in self.logit_gammas]


@contextmanager
def rounds_folder(store: str | Path | None) -> Iterator[Path]:
    """Where rounds leave their models: with the diagram, so that it can be resumed, or nowhere that lasts."""
    if store is not None:
        yield Path(store)
        return
    with TemporaryDirectory() as folder:
        yield Path(folder)


def train_rounds(
    growth: DiagramStore,
    grid: Grid,
    data: DiagramRows,
    rounds: Sequence[Recipe],
    folder: Path,
    n_jobs: int | None,
    progress: Progress | None,
) -> None:
    """Every round but the last leaves its models to the next, the last one fills the diagram."""
    architecture = rounds[-1].architecture
    activation = architecture.activation
    n_weights, to_params = weights_to_params(architecture)
    starts: dict[Tile, list[Params]] | None = None
    before: Any = np.zeros(grid.shape, np.int32)
    for number, recipe in enumerate(rounds):
        share = _share(progress, number, len(rounds))
        train_tiles = _memory_trainer(data, recipe, n_jobs, starts)
        if number == len(rounds) - 1:
            _train_missing(growth, grid, train_tiles, partial(measure, data=data, activation=activation), share, before)
        elif not growth.done.all():
            left = open_round(folder, number, grid.shape, n_weights)
            mean_alone = not any("precision" in stage.trains for stage in recipe.stages)
            finish = partial(summarise_round, data=data, activation=activation, mean_alone=mean_alone)
            _train_missing(left, grid, train_tiles, finish, share, before)
            starts, before = _taken_over(left, grid, to_params, keep_zero_means=architecture.start != "he")


def _taken_over(
    left: DiagramStore, grid: Grid, to_params: Callable[[Any], Params], keep_zero_means: bool
) -> tuple[dict[Tile, list[Params]], Int32[np.ndarray, "rho gamma seed"]]:
    """The models that the cells of each tile go on with, and the steps that cells have taken.

    Few models are taken over by many cells, so that only these are read, a tile at a time.
    """
    starts: dict[Tile, list[Params]] = {}
    steps = np.zeros(grid.shape, np.int32)
    z_rho, z_gamma = (part.ravel() for part in np.meshgrid(grid.logit_rhos, grid.logit_gammas, indexing="ij"))
    for seed in range(len(grid.seeds)):
        steps[:, :, seed] = left.read("steps", seed)
        best = best_models(left.read("worth", seed).reshape(-1, 3), z_rho, z_gamma, keep_zero_means)
        taken = np.unique(best)
        rows, columns = np.unravel_index(taken, grid.shape[:2])
        models: dict[int, Params] = {}
        for row in np.unique(rows):
            weights = left.read("weights", seed, int(row))
            here = rows == row
            models |= {int(k): to_params(weights[column]) for k, column in zip(taken[here], columns[here], strict=True)}
        for row, indices in enumerate(best.reshape(grid.shape[:2])):
            starts[row, seed] = [models[int(index)] for index in indices]
    return starts, steps


def _share(progress: Progress | None, number: int, n_rounds: int) -> Progress | None:
    """Progress of one round as progress of all, in models."""
    if progress is None or n_rounds == 1:
        return progress
    return lambda done, total: progress((number * total + done) // n_rounds, total)


def train_stream(
    growth: DiagramStore,
    grid: Grid,
    data: DiagramRows,
    ground: StreamRun,
    recipe: Recipe,
    n_jobs: int | None,
    progress: Progress | None,
) -> None:
    """The diagram of a stream: one round, each tile in one pass over the rows."""
    finish = partial(measure, data=data, activation=recipe.architecture.activation)
    _train_missing(growth, grid, _stream_trainer(ground, recipe, n_jobs), finish, progress)


def _train_missing(
    growth: DiagramStore,
    grid: Grid,
    train_tiles: "TileTrainer",
    finish: "Finish",
    progress: Progress | None,
    before: Int32[np.ndarray, "rho gamma seed"] | int = 0,
) -> None:
    """Train the tiles that are not there yet; a worker that dies costs its tiles, not the sweep.

    `before` is the number of steps that cells have taken in earlier rounds.
    """
    n_gammas = len(grid.logit_gammas)
    taken = np.broadcast_to(before, grid.shape)

    def n_done() -> int:
        return int(growth.done.sum())

    def report() -> None:
        if progress:
            progress(n_done() * n_gammas, growth.done.size * n_gammas)

    def train_rest() -> None:
        # high rhos first: they take longest, and one begun last would leave the other processes idle
        tiles = [(int(row), int(seed)) for row, seed in np.argwhere(~growth.done)[::-1]]
        report()
        for index, values in train_tiles(tiles, grid, finish):
            row, seed = tiles[index]
            growth.add((row, seed), {**values, "steps": values["steps"] + taken[row, :, seed]})
            report()

    until_done(train_rest, n_done, growth.done.size)


Finish = Callable[[list[Fit]], dict[str, np.ndarray]]
TileTrainer = Callable[[Sequence[Tile], Grid, Finish], Iterator[tuple[int, dict[str, np.ndarray]]]]


def _memory_trainer(
    data: DiagramRows, recipe: Recipe, n_jobs: int | None, starts: Mapping[Tile, Sequence[Params]] | None
) -> TileTrainer:
    """Tiles on the training rows, all of them in memory."""
    batch = data.rows["train"].batch(data.scaling)

    def train_tiles(tiles: Sequence[Tile], grid: Grid, finish: Finish) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        tasks = [Task(batch, grid.jobs(tile), None if starts is None else starts[tile]) for tile in tiles]
        return train_as_tiles(tasks, recipe, n_jobs=n_jobs, finish=finish)

    return train_tiles


def _stream_trainer(ground: StreamRun, recipe: Recipe, n_jobs: int | None) -> TileTrainer:
    """Tiles on a stream, each read by the worker that trains it."""

    def train_tiles(tiles: Sequence[Tile], grid: Grid, finish: Finish) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        calls = [(index, ground, grid.jobs(tile), recipe, finish) for index, tile in enumerate(tiles)]
        for index, values, error in run_tasks(_tile_of_stream, calls, n_jobs):
            if error is not None:
                raise InputError(error)
            yield index, values

    return train_tiles


def _tile_of_stream(
    index: int, ground: StreamRun, jobs: Sequence[Job], recipe: Recipe, finish: Finish
) -> tuple[int, dict[str, np.ndarray], str | None]:
    """One tile, or what was wrong with the data in one line."""
    prepare_worker()
    read = partial(predict_members, activation=recipe.architecture.activation)
    evaluation = RoundEvaluation(ground.survey.sample, ground.survey.held, read)
    training = StreamTraining(ground.order, jobs, recipe, evaluation)
    try:
        return (
            index,
            finish(train_on_stream(training, in_workers=False)),
            None,
        )
    except InputError as error:
        return index, {}, str(error)

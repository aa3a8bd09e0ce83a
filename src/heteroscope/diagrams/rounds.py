"""Train every tile of a diagram through every round, save each tile when it is done, and resume a stopped sweep.

A tile is all gammas of one rho and one seed: one process trains, scores and returns it as a unit. Where models are
exchanged, all tiles finish one round before the next round starts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int32

from heteroscope.core import InputError, Progress
from heteroscope.diagrams.exchange import best_models, summarise_round, weights_to_params
from heteroscope.diagrams.measuring import measure
from heteroscope.diagrams.resumable_store import ROUNDS, DiagramStore, open_round
from heteroscope.diagrams.sources import DiagramRows
from heteroscope.diagrams.tile_marks import Tile
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
        """Numbers of rhos, gammas and seeds."""
        return len(self.logit_rhos), len(self.logit_gammas), len(self.seeds)

    def jobs(self, tile: Tile) -> list[Job]:
        """Return the models of one tile."""
        row, seed = tile
        return [Job(float(self.logit_rhos[row]), float(gamma), self.seeds[seed]) for gamma in self.logit_gammas]


TileValues = dict[str, np.ndarray]  # what is kept of a tile: one array per variable, gamma along the first axis
Finish = Callable[[list[Fit]], TileValues]  # called in the worker, so that only small arrays are sent back
TileTrainer = Callable[[Sequence[Tile], Grid, Finish], Iterator[tuple[int, TileValues]]]


@contextmanager
def rounds_folder(store: str | Path | None) -> Iterator[Path]:
    """Yield the folder for the models of each round: the diagram's own, for resuming, or a temporary one."""
    if store is not None:
        yield Path(store)
        return
    with TemporaryDirectory() as folder:
        yield Path(folder)


def train_rounds(
    cells: DiagramStore,
    grid: Grid,
    data: DiagramRows,
    rounds: Sequence[Recipe],
    folder: Path,
    n_jobs: int | None,
    progress: Progress | None,
) -> None:
    """Train all rounds: each but the last saves its models for the next, and the last fills the diagram."""
    architecture = rounds[-1].architecture
    activation = architecture.activation
    n_weights, to_params = weights_to_params(architecture)
    starts: dict[Tile, list[Params]] | None = None
    earlier_steps = np.zeros(grid.shape, np.int32)
    for number, recipe in enumerate(rounds):
        round_progress = _progress_of_round(progress, number, len(rounds))
        train_tiles = _trainer_in_memory(data, recipe, n_jobs, starts)
        if number == len(rounds) - 1:
            finish = partial(measure, data=data, activation=activation)
            _train_missing(cells, grid, train_tiles, finish, round_progress, earlier_steps)
        elif not cells.done.all():
            round_store = open_round(folder, number, grid.shape, n_weights)
            summarise = partial(summarise_round, data=data, recipe=recipe)
            _train_missing(round_store, grid, train_tiles, summarise, round_progress, earlier_steps)
            _refuse_lost_tiles(round_store, folder)
            starts, earlier_steps = _choose_starts(
                round_store, grid, to_params, keep_zero_means=architecture.start != "he"
            )


def _refuse_lost_tiles(round_store: DiagramStore, folder: Path) -> None:
    """Raise if files of a finished round were removed or changed meanwhile: their models would be read as zeros."""
    round_store.check()
    if not round_store.done.all():
        raise InputError(
            f"{folder / ROUNDS} was changed while the sweep ran: run the same again, and only what is missing is "
            "computed again"
        )


def _choose_starts(
    round_store: DiagramStore, grid: Grid, to_params: Callable[[np.ndarray], Params], keep_zero_means: bool
) -> tuple[dict[Tile, list[Params]], Int32[np.ndarray, "rho gamma seed"]]:
    """Return the models with which the cells of each tile continue, and the steps that cells have taken.

    Many cells continue with the same few models, so only those are read, one tile at a time.
    """
    starts: dict[Tile, list[Params]] = {}
    steps = np.zeros(grid.shape, np.int32)
    logit_rhos, logit_gammas = (part.ravel() for part in np.meshgrid(grid.logit_rhos, grid.logit_gammas, indexing="ij"))
    for seed in range(len(grid.seeds)):
        steps[:, :, seed] = round_store.read("steps", seed)
        terms = round_store.read("objective_terms", seed).reshape(-1, 3)
        best = best_models(terms, logit_rhos, logit_gammas, keep_zero_means)
        chosen = np.unique(best)
        rows, columns = np.unravel_index(chosen, grid.shape[:2])
        models: dict[int, Params] = {}
        for row in np.unique(rows):
            weights = round_store.read("weights", seed, int(row))
            in_row = rows == row
            models |= {
                int(model): to_params(weights[column])
                for model, column in zip(chosen[in_row], columns[in_row], strict=True)
            }
        for row, indices in enumerate(best.reshape(grid.shape[:2])):
            starts[row, seed] = [models[int(index)] for index in indices]
    return starts, steps


def _progress_of_round(progress: Progress | None, number: int, n_rounds: int) -> Progress | None:
    """Return a callback that reports the progress of one round as progress of all, in models."""
    if progress is None or n_rounds == 1:
        return progress
    return lambda done, total: progress((number * total + done) // n_rounds, total)


def train_stream(
    cells: DiagramStore,
    grid: Grid,
    data: DiagramRows,
    stream_run: StreamRun,
    recipe: Recipe,
    n_jobs: int | None,
    progress: Progress | None,
) -> None:
    """Train the diagram of a stream: one round, each tile in one pass over the rows."""
    finish = partial(measure, data=data, activation=recipe.architecture.activation)
    _train_missing(cells, grid, _trainer_on_stream(stream_run, recipe, n_jobs), finish, progress)


def _train_missing(
    cells: DiagramStore,
    grid: Grid,
    train_tiles: TileTrainer,
    finish: Finish,
    progress: Progress | None,
    earlier_steps: Int32[np.ndarray, "rho gamma seed"] | int = 0,
) -> None:
    """Train the tiles that are not done yet; a worker that dies loses its tiles, not the sweep.

    `earlier_steps` is the number of steps that each cell took in earlier rounds.
    """
    n_gammas = len(grid.logit_gammas)
    steps_before = np.broadcast_to(earlier_steps, grid.shape)

    def n_done() -> int:
        return int(cells.done.sum())

    def report() -> None:
        if progress:
            progress(n_done() * n_gammas, cells.done.size * n_gammas)

    def train_remaining() -> None:
        # high rhos first: they take longest, and a long tile at the end would leave the other processes idle
        tiles = [(int(row), int(seed)) for row, seed in np.argwhere(~cells.done)[::-1]]
        report()
        for index, values in train_tiles(tiles, grid, finish):
            row, seed = tiles[index]
            cells.add((row, seed), {**values, "steps": values["steps"] + steps_before[row, :, seed]})
            report()

    until_done(train_remaining, n_done, cells.done.size)


def _trainer_in_memory(
    data: DiagramRows, recipe: Recipe, n_jobs: int | None, starts: Mapping[Tile, Sequence[Params]] | None
) -> TileTrainer:
    """Return a function that trains tiles on the training rows, all of them in memory."""
    batch = data.rows["train"].batch(data.scaling)

    def train_tiles(tiles: Sequence[Tile], grid: Grid, finish: Finish) -> Iterator[tuple[int, TileValues]]:
        tasks = [Task(batch, grid.jobs(tile), None if starts is None else starts[tile]) for tile in tiles]
        return train_as_tiles(tasks, recipe, n_jobs=n_jobs, finish=finish)

    return train_tiles


def _trainer_on_stream(stream_run: StreamRun, recipe: Recipe, n_jobs: int | None) -> TileTrainer:
    """Return a function that trains tiles on a stream, each read by the worker that trains it."""

    def train_tiles(tiles: Sequence[Tile], grid: Grid, finish: Finish) -> Iterator[tuple[int, TileValues]]:
        calls = [(index, stream_run, grid.jobs(tile), recipe, finish) for index, tile in enumerate(tiles)]
        for index, values, error in run_tasks(_train_stream_tile, calls, n_jobs):
            if error is not None:
                raise InputError(error)
            yield index, values

    return train_tiles


def _train_stream_tile(
    index: int, stream_run: StreamRun, jobs: Sequence[Job], recipe: Recipe, finish: Finish
) -> tuple[int, TileValues, str | None]:
    """Train one tile, or return in one line what was wrong with the data."""
    prepare_worker()
    read = partial(predict_members, activation=recipe.architecture.activation)
    evaluation = RoundEvaluation(stream_run.survey.sample, stream_run.survey.held, read)
    training = StreamTraining(stream_run.order, jobs, recipe, evaluation)
    try:
        return (
            index,
            finish(train_on_stream(training, in_workers=False)),
            None,
        )
    except InputError as error:
        return index, {}, str(error)

"""Train many models: tiles over processes, one single-threaded process a core.

Tiles never run in the caller's process when it has a processor only: JAX may be running there already, with a thread
pool of its own that would change the last digits of a result, and whose batched LAPACK calls can deadlock.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from multiprocessing import current_process
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from heteroscope.core import InputError, Progress
from heteroscope.data import Batch
from heteroscope.networks import Params
from heteroscope.training.compiled_programs import compile_together, keep_programs
from heteroscope.training.joblib_internals import ProcessPoolExecutor, active_backend, in_loky_worker, let_workers_grow
from heteroscope.training.recipes import Recipe
from heteroscope.training.tile import Fit, Job, lanes, tile_programs, train_tile

ROW_BLOCK = 32  # rows are padded to a multiple of it, so that tables and folds of similar size share one program
PARENT_CHECK_SECONDS = 2.0
ATTEMPTS = 3  # workers lost one after the other, with nothing finished in between, at which long work gives up
LOST_WORKER = ("TerminatedWorkerError", "BrokenProcessPool", "KilledWorker", "RayActorError", "ActorDiedError")
MAX_TILE = 16  # models that one task holds: few enough for a steady progress bar and an even load


class Task(NamedTuple):
    """Models to train on the same rows, each from its seed's start or from networks that were trained before."""

    rows: Batch
    jobs: Sequence[Job]
    starts: Sequence[Params] | None = None

    def part(self, first: int, last: int) -> "Task":
        """The same for some of the jobs."""
        starts = None if self.starts is None else self.starts[first:last]
        return Task(self.rows, self.jobs[first:last], starts)


def train(
    tasks: Sequence[Task],
    recipe: Recipe,
    *,
    n_jobs: int | None = None,
    tile: int | None = None,
    capacity: int = 0,
    progress: Progress | None = None,
) -> list[list[Fit]]:
    """Train every job of every task; the fits come back in the order of the jobs.

    The same seed gives the same numbers whatever `tile` and `n_jobs` are. `progress` is told (models done, of how many)
    as tiles come in. `n_jobs` and the backend follow joblib, so that `parallel_config(backend="dask")` works. Where
    steps draw batches, tables with room for `capacity` rows share one program, whatever their own number of rows.
    """
    total = sum(len(task.jobs) for task in tasks)
    tile = tile or _tile_size(total, effective_n_jobs(n_jobs), lanes(recipe))
    pieces = [
        (number, first, task.part(first, first + tile))
        for number, task in enumerate(tasks)
        for first in range(0, len(task.jobs), tile)
    ]
    fits: list[list[Fit | None]] = [[None] * len(task.jobs) for task in tasks]
    done = 0
    for index, tile_fits in train_as_tiles([piece for *_, piece in pieces], recipe, n_jobs=n_jobs, capacity=capacity):
        number, first, piece = pieces[index]
        fits[number][first : first + len(piece.jobs)] = tile_fits
        done += len(piece.jobs)
        if progress:
            progress(done, total)
    return [[fit for fit in task_fits if fit is not None] for task_fits in fits]


def train_as_tiles(
    tasks: Sequence[Task],
    recipe: Recipe,
    *,
    n_jobs: int | None = None,
    capacity: int = 0,
    finish: Callable[[list[Fit]], Any] | None = None,
) -> Iterator[tuple[int, Any]]:
    """Train every task as one tile; its number and its fits come back as soon as it is done, in any order.

    With `finish`, the process that trained a tile makes of its fits what comes back instead of them.
    """
    n_rows = max((task.rows.y.shape[0] for task in tasks), default=0)
    if recipe.batch_size is not None and n_rows > recipe.batch_size:
        n_rows = max(n_rows, capacity)
    n_rows = -(-n_rows // ROW_BLOCK) * ROW_BLOCK
    padded = {id(task.rows): pad(task.rows, n_rows) for task in tasks}
    calls = [(index, padded[id(task.rows)], task.jobs, task.starts, recipe, finish) for index, task in enumerate(tasks)]
    yield from run_tasks(_train_alone, calls, n_jobs)


def pad(rows: Batch, n_rows: int) -> Batch:
    """Rows of weight zero up to `n_rows`, and weights that average to one over all of them, in single precision."""
    missing = n_rows - rows.y.shape[0]
    weight = np.pad(np.asarray(rows.weight, np.float64), (0, missing))
    if not weight.sum() > 0:
        raise InputError("all sample weights are zero; at least one row must count")
    return Batch(
        np.pad(np.asarray(rows.x, np.float32), ((0, missing), (0, 0))),
        np.pad(np.asarray(rows.y, np.float32), (0, missing)),
        (weight / weight.mean()).astype(np.float32),
    )


def _tile_size(n_models: int, n_workers: int, width: int) -> int:
    """A sixteenth of a worker's share, in whole lane groups: an unfilled lane computes in vain."""
    share = min(-(-n_models // (16 * n_workers)), MAX_TILE)
    return max(width, -(-share // width) * width)


def run_tasks(work: Callable[..., Any], calls: list[tuple], n_jobs: int | None) -> Iterator[Any]:
    """`work` of every call as it comes in, from wherever joblib's settings say that work is done.

    The second argument of a call is what several of them share, and what Ray therefore is given only once.
    """
    backend = active_backend()
    if backend.name == "multiprocessing":
        raise InputError('joblib\'s "multiprocessing" backend forks a running JAX, which can deadlock; use "loky"')
    if backend.name == "ray":
        yield from _run_on_ray(work, calls)
        return
    nested = backend.nested or current_process().daemon
    n_workers = effective_n_jobs(n_jobs)
    if backend.name == "loky":
        n_workers = min(n_workers, len(calls))  # a process without a task would only take memory
    elif nested and backend.name == "threading":
        n_workers = 1  # the caller's own loop over processes has the cores
    if n_workers > 1:
        yield from Parallel(n_jobs=n_workers, prefer="processes", batch_size=1, return_as="generator_unordered")(
            delayed(work)(*call) for call in calls
        )
    elif nested or _has_accelerator():
        yield from (work(*call) for call in calls)
    else:
        try:
            yield from (_one_worker().submit(work, *call).result() for call in calls)
        except BaseException:  # an interrupt too: a tile that nobody waits for must not hold up the next fit
            _stop_worker()
            raise


def until_done(attempt: Callable[[], None], n_done: Callable[[], int], n_wanted: int) -> None:
    """Call `attempt` until all is done: a worker that is lost costs what it was doing, not the run.

    Three losses in a row with nothing finished in between are raised, as is every other error.
    """
    failures = 0
    while (before := n_done()) < n_wanted:
        try:
            attempt()
        except Exception as error:
            failures = failures + 1 if n_done() == before else 0
            if type(error).__name__ not in LOST_WORKER or failures == ATTEMPTS:
                raise


def _run_on_ray(work: Callable[..., Any], calls: list[tuple]) -> Iterator[Any]:
    """Tiles as Ray's own tasks: its joblib backend neither hands over results one by one nor survives a lost worker."""
    import ray

    work_there = ray.remote(num_cpus=1, max_retries=3)(work)
    shared = {id(common): ray.put(common) for _, common, *_ in calls}
    waiting = [work_there.remote(index, shared[id(common)], *rest) for index, common, *rest in calls]
    while waiting:
        ready, waiting = ray.wait(waiting)
        yield from ray.get(ready)


def _train_alone(
    index: int,
    rows: Batch,
    jobs: Sequence[Job],
    starts: Sequence[Params] | None,
    recipe: Recipe,
    finish: Callable[[list[Fit]], Any] | None,
) -> tuple[int, Any]:
    """A tile in a process of its own."""
    prepare_worker()
    _compile_once(rows.y.shape[0], recipe._replace(stages=tuple(stage.program for stage in recipe.stages)))
    fits = train_tile(rows, jobs, recipe, starts)
    return index, finish(fits) if finish else fits


@cache
def _compile_once(n_rows: int, recipe: Recipe) -> None:
    """Share the work of compiling with the other processes; an accelerator compiles at the first use."""
    if lanes(recipe) == 1:
        compile_together(tile_programs(n_rows, recipe))


def prepare_worker() -> None:
    """Make this process one that gives XLA one thread, if XLA has not been started here before, and keeps programs."""
    os.environ.setdefault("PJRT_NPROC", "1")
    keep_programs()
    let_workers_grow()  # compiled programs are no memory leak: their worker must not be replaced
    _end_with_parent()


@cache
def _end_with_parent() -> None:
    """A worker whose parent was killed outright would wait for ever: a thread of its own ends it."""
    if not in_loky_worker():
        return
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_CHECK_SECONDS)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _has_accelerator() -> bool:
    import jax

    return jax.default_backend() != "cpu"


_worker: ProcessPoolExecutor | None = None


def _one_worker() -> ProcessPoolExecutor:
    """The one worker process of `n_jobs=1`, started when first needed and kept for the next fit."""
    global _worker
    if _worker is None:
        _worker = ProcessPoolExecutor(max_workers=1, timeout=300)
    return _worker


def _stop_worker() -> None:
    """End the worker process at once, whatever it is doing."""
    global _worker
    if _worker is not None:
        _worker.shutdown(kill_workers=True)
        _worker = None

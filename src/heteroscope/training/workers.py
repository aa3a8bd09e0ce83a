"""Train many models in worker processes, one single-threaded process per core, each training one tile at a time.

Without an accelerator, tiles never run in the caller's process: JAX may be running there already, with a thread pool of
its own that would change the last digits of a result, and whose batched LAPACK calls can deadlock.
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
from heteroscope.training.compiled_programs import bound_folder, compile_together, count_shape, keep_programs
from heteroscope.training.forking import refuse_after_fork
from heteroscope.training.joblib_internals import ProcessPoolExecutor, active_backend, in_loky_worker, let_workers_grow
from heteroscope.training.recipes import Recipe
from heteroscope.training.steps import Job, lanes
from heteroscope.training.tile import Fit, tile_programs, train_tile

ROW_BLOCK = 32  # rows are padded to a multiple of it, so that tables and folds of similar size share one program
PARENT_CHECK_SECONDS = 2.0  # time between checks of a worker whether its parent still runs
IDLE_SECONDS = 300  # time after which the worker of `n_jobs=1` ends if it has nothing to do
ATTEMPTS = 3  # workers lost in a row, with nothing finished in between, before the error is raised
#: Names of the errors of joblib, Dask and Ray that report a lost worker.
LOST_WORKER = ("TerminatedWorkerError", "BrokenProcessPool", "KilledWorker", "RayActorError", "ActorDiedError")
MAX_TILE = 16  # models per tile: few enough for a steady progress bar and an even load


class Task(NamedTuple):
    """Models to train on the same rows, from the random start of their seeds or from networks trained before."""

    rows: Batch
    jobs: Sequence[Job]
    starts: Sequence[Params] | None = None

    def part(self, first: int, last: int) -> "Task":
        """Return the task with only the jobs from `first` to `last`."""
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
    """Train every job of every task.

    The same seed gives the same numbers for any `tile` and `n_jobs`.

    Parameters
    ----------
    tasks : rows, and the models to train on them.
    recipe : how to train.
    n_jobs : number of workers. It and the backend follow joblib, so that `parallel_config(backend="dask")` works.
    tile : number of models that a worker trains at a time; default: about a sixteenth of a worker's share.
    capacity : if steps draw batches, pad tables to this number of rows, so that tables of all sizes share one program.
    progress : called with the number of models done and the number of all models.

    Returns
    -------
    For each task, the fits in the order of its jobs.
    """
    refuse_after_fork()
    total = sum(len(task.jobs) for task in tasks)
    tile = tile or _tile_size(total, effective_n_jobs(n_jobs), lanes(recipe))
    pieces = [
        (number, first, task.part(first, first + tile))
        for number, task in enumerate(tasks)
        for first in range(0, len(task.jobs), tile)
    ]
    fits: list[list[Fit | None]] = [[None] * len(task.jobs) for task in tasks]
    padded = _pad_tasks([piece for *_, piece in pieces], recipe, capacity)
    finished: set[int] = set()

    def train_missing() -> None:
        missing = [index for index in range(len(pieces)) if index not in finished]
        for place, tile_fits in _train_padded([padded[index] for index in missing], recipe, n_jobs, None):
            number, first, piece = pieces[missing[place]]
            fits[number][first : first + len(piece.jobs)] = tile_fits
            finished.add(missing[place])
            if progress:
                progress(sum(len(pieces[index][2].jobs) for index in finished), total)

    until_done(train_missing, lambda: len(finished), len(pieces))
    return [[fit for fit in task_fits if fit is not None] for task_fits in fits]


def train_as_tiles(
    tasks: Sequence[Task],
    recipe: Recipe,
    *,
    n_jobs: int | None = None,
    capacity: int = 0,
    finish: Callable[[list[Fit]], Any] | None = None,
) -> Iterator[tuple[int, Any]]:
    """Train every task as one tile; yield its index and its fits as soon as it is done, in any order.

    With `finish`, yield `finish(fits)` instead of the fits; the process that trained the tile computes it. For
    `capacity` see `train`.
    """
    yield from _train_padded(_pad_tasks(tasks, recipe, capacity), recipe, n_jobs, finish)


def _pad_tasks(tasks: Sequence[Task], recipe: Recipe, capacity: int) -> list[Task]:
    """Return the tasks with their rows padded to one number, so that they share compiled programs."""
    n_rows = max((task.rows.y.shape[0] for task in tasks), default=0)
    if recipe.batch_size is not None and n_rows > recipe.batch_size:
        n_rows = max(n_rows, capacity)
    n_rows = -(-n_rows // ROW_BLOCK) * ROW_BLOCK
    padded = {id(task.rows): pad(task.rows, n_rows) for task in tasks}
    return [task._replace(rows=padded[id(task.rows)]) for task in tasks]


def _train_padded(
    tasks: Sequence[Task], recipe: Recipe, n_jobs: int | None, finish: Callable[[list[Fit]], Any] | None
) -> Iterator[tuple[int, Any]]:
    """Train padded tasks; see `train_as_tiles`."""
    calls = [(index, task.rows, task.jobs, task.starts, recipe, finish) for index, task in enumerate(tasks)]
    yield from run_tasks(_train_in_worker, calls, n_jobs)


def pad(rows: Batch, n_rows: int) -> Batch:
    """Return single-precision rows, padded to `n_rows` with rows of weight zero, with weights that average to one."""
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
    """Return a sixteenth of a worker's share of the models, rounded up to full lanes, since an empty lane is wasted."""
    share = min(-(-n_models // (16 * n_workers)), MAX_TILE)
    return max(width, -(-share // width) * width)


def run_tasks(work: Callable[..., Any], calls: list[tuple], n_jobs: int | None) -> Iterator[Any]:
    """Yield `work(*call)` for every call, in the order in which calls finish, on joblib's active backend.

    The second argument of a call is the one that calls share: Ray receives each such object only once.
    """
    refuse_after_fork()
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
        n_workers = 1  # the caller's own parallel loop already uses the cores
    if n_workers > 1:
        yield from Parallel(n_jobs=n_workers, prefer="processes", batch_size=1, return_as="generator_unordered")(
            delayed(work)(*call) for call in calls
        )
    elif nested or _has_accelerator():
        yield from (work(*call) for call in calls)
    else:
        try:
            yield from (_one_worker().submit(work, *call).result() for call in calls)
        except BaseException:  # an interrupt too: a tile that nobody waits for must not delay the next fit
            _stop_worker()
            raise


def until_done(attempt: Callable[[], None], n_done: Callable[[], int], n_wanted: int) -> None:
    """Call `attempt` until `n_done()` reaches `n_wanted`; retry if a worker is lost.

    Raise the error after three lost workers in a row with nothing finished in between, and every other error at once.
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
    """Yield results of Ray tasks; Ray's joblib backend neither yields them one by one nor survives a lost worker."""
    import ray

    remote_work = ray.remote(num_cpus=1, max_retries=ATTEMPTS)(work)
    shared = {id(common): ray.put(common) for _, common, *_ in calls}
    waiting = [remote_work.remote(index, shared[id(common)], *rest) for index, common, *rest in calls]
    while waiting:
        ready, waiting = ray.wait(waiting)
        yield from ray.get(ready)


def _train_in_worker(
    index: int,
    rows: Batch,
    jobs: Sequence[Job],
    starts: Sequence[Params] | None,
    recipe: Recipe,
    finish: Callable[[list[Fit]], Any] | None,
) -> tuple[int, Any]:
    """Train one tile in a worker process."""
    prepare_worker()
    _compile_programs(rows.y.shape[0], recipe._replace(stages=tuple(stage.program for stage in recipe.stages)))
    fits = train_tile(rows, jobs, recipe, starts)
    return index, finish(fits) if finish else fits


def _compile_programs(n_rows: int, recipe: Recipe) -> None:
    """Compile the programs of a recipe together with the other workers; an accelerator compiles at the first use."""
    if count_shape((n_rows, recipe)) and lanes(recipe) == 1:
        compile_together(tile_programs(n_rows, recipe))
        bound_folder()


def prepare_worker() -> None:
    """Prepare this process as a worker: one thread for XLA, unless XLA runs already, and compiled programs on disk."""
    os.environ.setdefault("PJRT_NPROC", "1")
    keep_programs()
    let_workers_grow()  # compiled programs are no memory leak: the worker must not be replaced
    _end_with_parent()


@cache
def _end_with_parent() -> None:
    """Start a thread that ends this worker when its parent is gone; a killed parent would leave it waiting for ever."""
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
    """Return the worker process of `n_jobs=1`, started when first needed and kept for the next fit."""
    global _worker
    if _worker is None:
        _worker = ProcessPoolExecutor(max_workers=1, timeout=IDLE_SECONDS)
    return _worker


def _stop_worker() -> None:
    """End the worker process at once, even in the middle of a task."""
    global _worker
    if _worker is not None:
        _worker.shutdown(kill_workers=True)
        _worker = None

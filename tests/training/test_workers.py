"""The engine gives the same numbers however the work is cut and shared out, tells how far it is, and never hangs."""

import os
import subprocess
import sys
import textwrap
import time
from itertools import pairwise
from pathlib import Path

import jax
import numpy as np
import psutil
import pytest
from joblib import Parallel, delayed, parallel_config

from heteroscope.core.errors import InputError
from heteroscope.data.rows import Batch
from heteroscope.networks import Architecture
from heteroscope.training.recipes import mean_first_recipe
from heteroscope.training.steps import Job
from heteroscope.training.workers import Task, pad, train

RECIPE = mean_first_recipe(Architecture(3, (16, 16)), 60)
JOBS = [Job(t, -t, seed) for t in (0.0, 2.0, 4.0) for seed in range(3)]
TIMEOUT = 240


def rows(n_rows, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(n_rows, 3))
    return Batch(x, np.sin(x[:, 0]) + random.normal(size=n_rows), np.ones(n_rows))


def assert_bitwise_equal(first, second):
    for fit, other in zip(first, second, strict=True):
        assert fit.status is other.status
        for a, b in zip(jax.tree.leaves(fit), jax.tree.leaves(other), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.fixture(scope="module")
def reference():
    tasks = [Task(rows(64), JOBS)]
    return tasks, train(tasks, RECIPE, n_jobs=1, tile=3)[0]


@pytest.mark.parametrize(("tile", "n_jobs"), [(1, 1), (8, 1), (1, 2), (3, 2), (8, 2)])
def test_numbers_do_not_depend_on_tiles_or_processes(reference, tile, n_jobs):
    tasks, expected = reference
    assert_bitwise_equal(train(tasks, RECIPE, n_jobs=n_jobs, tile=tile)[0], expected)


def test_nor_do_they_where_rows_are_padded():
    tasks = [Task(rows(300), JOBS[:4])]
    one, two = (train(tasks, RECIPE, n_jobs=n_jobs, tile=tile)[0] for n_jobs, tile in ((1, 1), (2, 2)))
    assert_bitwise_equal(two, one)


def test_numbers_do_not_depend_on_the_other_jobs_of_a_task(reference):
    tasks, expected = reference
    (found,) = train([tasks[0]._replace(jobs=[JOBS[7], JOBS[2]])], RECIPE, n_jobs=1)
    assert_bitwise_equal(found, [expected[7], expected[2]])


def test_fits_come_back_in_the_order_of_tasks_and_jobs():
    tasks = [Task(rows(40, seed=1), JOBS[:5]), Task(rows(64), JOBS[:2]), Task(rows(50, seed=2), [])]
    first, second, third = train(tasks, RECIPE, n_jobs=2, tile=2)
    assert (len(first), len(second), third) == (5, 2, [])
    (alone,) = train([tasks[1]], RECIPE, n_jobs=1)
    assert_bitwise_equal(second, alone)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_rises_to_the_end(n_jobs):
    told = []
    tasks = [Task(rows(64), JOBS[:5]), Task(rows(64, seed=1), JOBS[:4])]
    train(tasks, RECIPE, n_jobs=n_jobs, tile=2, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (9, 9)
    assert {total for _, total in told} == {9}
    assert all(a[0] < b[0] for a, b in pairwise(told))
    assert len(told) == 5


def test_an_error_in_the_callers_progress_reaches_the_caller_and_the_engine_goes_on_working(reference):
    tasks, expected = reference

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tasks, RECIPE, n_jobs=1, tile=3, progress=interrupt)
    assert_bitwise_equal(train(tasks, RECIPE, n_jobs=1)[0], expected)


def test_no_tasks_give_no_fits():
    assert train([], RECIPE) == []
    assert train([Task(rows(10), [])], RECIPE, n_jobs=2) == [[]]


def test_padding_weighs_nothing_and_weights_average_to_one():
    batch = rows(5)._replace(weight=np.array([1.0, 0.0, 2.0, 3.0, 4.0]))
    padded = pad(batch, 8)
    assert padded.x.shape == (8, 3)
    assert {part.dtype for part in padded} == {np.dtype(np.float32)}
    assert not padded.weight[5:].any()
    assert padded.weight.mean() == pytest.approx(1.0)
    np.testing.assert_allclose(padded.weight[:5] / padded.weight[4], batch.weight / 4.0, rtol=1e-6)


def test_a_padded_task_is_the_unpadded_one_up_to_rounding():
    short, long = Task(rows(40, seed=1), JOBS[3:4]), Task(rows(64), JOBS[3:4])
    ((beside,), _) = train([short, long], RECIPE, n_jobs=1)
    ((alone,),) = train([short], RECIPE, n_jobs=1)
    assert beside.objective == pytest.approx(alone.objective, rel=1e-4)


def test_room_for_more_rows_does_not_change_what_batches_are_drawn():
    task, batches = Task(rows(64), JOBS[3:4]), mean_first_recipe(RECIPE.architecture, 60, batch_size=16)
    ((tight,),), ((roomy,),) = (train([task], batches, n_jobs=1, capacity=room) for room in (0, 200))
    assert roomy.objective == pytest.approx(tight.objective, rel=1e-4)
    ((other,),) = train([Task(rows(64), [JOBS[3]._replace(seed=99)])], batches, n_jobs=1)
    assert other.objective != pytest.approx(tight.objective, rel=1e-4)


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(InputError, match="all sample weights are zero"):
        pad(rows(4)._replace(weight=np.zeros(4)), 4)


def test_the_forking_backend_is_refused_in_one_line():
    with parallel_config(backend="multiprocessing", n_jobs=2), pytest.raises(InputError, match="loky") as caught:
        train([Task(rows(10), JOBS[:2])], RECIPE)
    assert "\n" not in str(caught.value)


def test_joblibs_settings_choose_the_number_of_processes(reference):
    tasks, expected = reference
    with parallel_config(backend="loky", n_jobs=2):
        assert_bitwise_equal(train(tasks, RECIPE, tile=3)[0], expected)


def test_threads_work_and_agree_up_to_rounding(reference):
    tasks, expected = reference
    with parallel_config(backend="threading", n_jobs=2):
        (found,) = train(tasks, RECIPE, tile=3)
    for fit, other in zip(found, expected, strict=True):
        assert fit.objective == pytest.approx(other.objective, rel=1e-3)


def objectives_in_a_worker(n_jobs):
    (fits,) = train([Task(rows(64), JOBS[:4])], RECIPE, n_jobs=n_jobs, tile=2)
    return [fit.objective for fit in fits]


def test_it_works_inside_a_worker_of_the_callers_own_loop():
    (fits,) = train([Task(rows(64), JOBS[:4])], RECIPE, n_jobs=1)
    nested = Parallel(n_jobs=2)(delayed(objectives_in_a_worker)(n_jobs) for n_jobs in (None, 1, 2))
    for found in nested:
        assert found == [fit.objective for fit in fits]


BUSY_NOTEBOOK = """
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jnp.ones((64, 40, 40))
    step = jax.jit(lambda a: jax.lax.fori_loop(0, 50, lambda _, b: jnp.tanh(jax.vmap(jnp.matmul)(b, b) / 40), a))
    step(x).block_until_ready()
    pending = step(x)  # still running, on JAX's own threads, while the engine starts

    from heteroscope.training.workers import Task, train
    from heteroscope.networks import Architecture
    from heteroscope.data import Batch
    from heteroscope.training.recipes import mean_first_recipe
    from heteroscope.training.steps import Job

    random = np.random.default_rng(0)
    tasks = [Task(Batch(random.normal(size=(64, 3)), random.normal(size=64), np.ones(64)), [Job(2.0, -2.0, 0)] * 2)]
    recipe = mean_first_recipe(Architecture(3, (16, 16)), 60)
    (one,), (two,) = (train(tasks, recipe, n_jobs=n_jobs, tile=1) for n_jobs in (1, 2))
    assert [fit.objective for fit in one] == [fit.objective for fit in two]
    assert bool(jnp.isfinite(step(pending)).all())
    print("done", one[0].objective)
"""


def test_it_does_not_hang_where_jax_is_already_running():
    environment = {name: value for name, value in os.environ.items() if name != "PJRT_NPROC"}
    finished = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(BUSY_NOTEBOOK)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env=environment,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.startswith("done")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_caller_keeps_its_environment(monkeypatch, n_jobs):
    monkeypatch.delenv("PJRT_NPROC", raising=False)
    train([Task(rows(64), JOBS[:2])], RECIPE, n_jobs=n_jobs, tile=1)
    assert "PJRT_NPROC" not in os.environ


def test_workers_end_when_their_parent_is_killed_outright():
    script = """
import os, numpy as np
from heteroscope.training.workers import Task, train
from heteroscope.networks import Architecture
from heteroscope.data import Batch
from heteroscope.training.recipes import mean_first_recipe
from heteroscope.training.steps import Job
rows = Batch(np.zeros((8, 1)), np.arange(8.0), np.ones(8))
jobs = [Job(1.0, -1.0, seed) for seed in range(4)]
recipe = mean_first_recipe(Architecture(1, (4,)), 10)
train([Task(rows, jobs)], recipe, n_jobs=2, tile=2)
train([Task(rows, jobs)], recipe, n_jobs=1)
import pathlib
pids = [int(p) for p in pathlib.Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()]
print(" ".join(map(str, pids)), flush=True)
os.kill(os.getpid(), 9)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240)
    children = [int(pid) for pid in run.stdout.split()]
    assert len(children) >= 3, run.stderr
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and any(_is_worker(pid) for pid in children):
        time.sleep(0.5)
    assert not any(_is_worker(pid) for pid in children)


def _is_worker(pid):
    try:
        return "LokyProcess" in Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_a_lost_worker_costs_its_tile_and_not_the_fit(reference, n_jobs):
    tasks, expected = reference
    lost = []

    def lose_a_worker(done, total):
        if not lost:
            lost.append(done)
            for worker in psutil.Process().children(recursive=True):
                if "loky" in " ".join(worker.cmdline()) and "resource_tracker" not in " ".join(worker.cmdline()):
                    worker.kill()

    assert_bitwise_equal(train(tasks, RECIPE, n_jobs=n_jobs, tile=3, progress=lose_a_worker)[0], expected)
    assert lost == [3]


def test_workers_that_are_lost_again_and_again_end_the_fit(reference, monkeypatch):
    class TerminatedWorkerError(Exception):
        pass

    tries = []

    def lose(work, calls, n_jobs):
        tries.append(len(calls))
        raise TerminatedWorkerError
        yield

    monkeypatch.setattr("heteroscope.training.workers.run_tasks", lose)
    with pytest.raises(TerminatedWorkerError):
        train(reference[0], RECIPE, n_jobs=1, tile=3)
    assert tries == [3, 3, 3]

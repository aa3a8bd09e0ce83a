"""Names of joblib that are not public: these tests fail when one moves or no longer has its effect."""

import pytest
from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import process_executor

from heteroscope.training import joblib_internals
from heteroscope.training.joblib_internals import ProcessPoolExecutor, active_backend, in_loky_worker, let_workers_grow
from heteroscope.training.workers import prepare_worker


@pytest.mark.parametrize("name", ["loky", "threading", "multiprocessing", "sequential"])
def test_a_backend_has_the_name_that_chose_it(name):
    with parallel_config(backend=name):
        assert active_backend() == (name, False)


def test_joblibs_own_choice_is_loky():
    assert active_backend() == ("loky", False)


def test_rays_backend_has_a_name_although_it_is_a_kind_of_multiprocessing():
    ray_joblib = pytest.importorskip("ray.util.joblib")
    ray_joblib.register_ray()
    kinds = joblib_internals.BACKENDS
    assert "ray" in kinds
    assert len(set(kinds.values())) == len(kinds)


def test_work_inside_of_a_worker_is_nested():
    found = Parallel(n_jobs=2)(delayed(active_backend)() for _ in range(2))
    assert all(backend.nested for backend in found)


def test_a_worker_knows_that_it_is_one():
    assert not in_loky_worker()
    assert all(Parallel(n_jobs=2)(delayed(in_loky_worker)() for _ in range(2)))
    with ProcessPoolExecutor(max_workers=1) as executor:
        assert executor.submit(in_loky_worker).result()


def test_workers_of_the_engine_may_grow():
    with ProcessPoolExecutor(max_workers=1) as executor:
        assert executor.submit(_memory_is_checked).result(), "psutil is missing, or the name has moved"
        executor.submit(prepare_worker).result()
        assert not executor.submit(_memory_is_checked).result()


def _memory_is_checked():
    return process_executor._USE_PSUTIL


# As texts, so that a worker does not import this file, and JAX with it. The second keeps 400 MB for longer than the
# second between two checks of loky; the first only begins them.
PID = "__import__('os').getpid()"
GROW = f"(setattr(__import__('sys'), 'kept', b'1' * 400_000_000), __import__('time').sleep(1.1), {PID})[-1]"


@pytest.mark.filterwarnings("ignore:A worker stopped")
def test_only_a_worker_that_was_allowed_to_grow_is_kept():
    assert len(_workers_of_growing_tasks(allowed=True)) == 1
    assert len(_workers_of_growing_tasks(allowed=False)) > 1


def _workers_of_growing_tasks(allowed):
    with ProcessPoolExecutor(max_workers=1) as executor:
        if allowed:
            executor.submit(let_workers_grow).result()
        return {executor.submit(eval, task, {}).result() for task in (PID, GROW, PID)}

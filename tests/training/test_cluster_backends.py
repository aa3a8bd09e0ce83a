"""Real local clusters: the same numbers from Dask and from Ray, also when a worker is killed in the middle."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread

import joblib
import numpy as np
import psutil
import pytest

from heteroscope import HeteroskedasticRegressorCV, datasets, phase_diagram
from heteroscope.core.errors import InputError
from heteroscope.data.streams import open_stream
from heteroscope.training.cluster_backends import use_backend

# Read when Ray is first imported. The cluster listens on this machine only; its workers, which give way to all others
# unless told, run beside other tests.
os.environ |= {"RAY_AUTH_MODE": "disabled", "RAY_worker_niceness": "0"}

#: Both libraries keep sockets, files and child processes to themselves that Python complains about when they go.
pytestmark = [
    pytest.mark.filterwarnings("default::ResourceWarning"),
    pytest.mark.filterwarnings("default::DeprecationWarning"),
    pytest.mark.filterwarnings("default::FutureWarning"),
    pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning"),
]


def sweep(at_start=None, after_first_tile=None, n_jobs=2):
    split = datasets.load("sine")
    told = []

    def progress(done, total):
        told.append(done)
        if len(told) == 1 and at_start:  # the report of what was there before
            at_start()
        if len(told) == 2 and after_first_tile:
            after_first_tile()

    return phase_diagram(
        split.x_train,
        split.y_train,
        rhos=[0.5, 0.9, 0.99, 0.999],
        gammas=[0.1, 0.9],
        hidden=(8, 8),
        max_steps=1500,
        n_seeds=2,
        n_jobs=n_jobs,
        progress=progress,
    )


def search(stream, n_jobs=2):
    """One group of models a worker."""
    return HeteroskedasticRegressorCV(
        n_coarse=4, n_fine=0, n_members=1, hidden=(8, 8), batch_size=50, max_steps=600, random_state=0, n_jobs=n_jobs
    ).fit(stream)


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    folder = tmp_path_factory.mktemp("npy")
    x = np.random.default_rng(0).normal(size=(600, 2)).astype(np.float32)
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", x[:, 0] + 0.1 * x[:, 1] ** 2)
    return open_stream((folder / "x.npy", folder / "y.npy"))


@pytest.fixture(scope="module")
def alone(stream):
    return sweep(n_jobs=1), search(stream, n_jobs=1)


@contextmanager
def dask_cluster():
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        kill_a_worker = partial(os.kill, next(iter(cluster.workers.values())).process.pid, signal.SIGKILL)
        yield cluster.scheduler_address, {"after_first_tile": kill_a_worker}


RAY_HEAD = """
    import ray, sys
    ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1")
    print(ray.get_runtime_context().gcs_address, flush=True)
    sys.stdin.read()
"""


@contextmanager
def ray_cluster():
    head = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(RAY_HEAD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    killed = []

    def kill_the_first_that_trains():
        while head.poll() is None and not killed:
            for child in psutil.Process(head.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):  # it has ended since
                    if not killed and "_train_in_worker" in " ".join(child.cmdline()):
                        child.kill()
                        killed.append(child.pid)
            time.sleep(0.01)

    try:
        yield head.stdout.readline().strip(), {"at_start": Thread(target=kill_the_first_that_trains).start}
    finally:
        head.communicate(timeout=60)
    assert killed


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "cluster"), [("dask", dask_cluster), ("ray", ray_cluster)])
def test_a_cluster_gives_the_same_numbers_although_a_worker_is_killed(name, cluster, alone, stream):
    """A diagram of rows in memory, then a search over a stream: one test, since workers are slow to start."""
    diagram, searched = alone
    with cluster() as (address, kill_a_worker), use_backend(name, address):
        assert sweep(**kill_a_worker).identical(diagram)
        shared = search(stream)
    for column, values in searched.cv_results_.items():
        np.testing.assert_array_equal(shared.cv_results_[column], values)


@pytest.mark.parametrize("name", ["dask", "ray"])
def test_without_an_address_workers_are_started_here_and_ended(name):
    with use_backend(name):
        (worker,) = joblib.Parallel()([joblib.delayed(os.getpid)()])
        assert listening_beyond_this_machine() == []
    assert worker != os.getpid()
    for _ in range(300):
        if not lives(worker):
            return
        time.sleep(0.1)
    raise AssertionError("the worker is still there")


def listening_beyond_this_machine():
    """The addresses at which other machines could reach this process or those that it started."""
    found = []
    here = psutil.Process()
    for process in (here, *here.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            sockets = [one for one in process.net_connections("inet") if one.status == psutil.CONN_LISTEN]
            found += [(process.name(), one.laddr) for one in sockets if "127.0.0.1" not in one.laddr.ip]
    return found


def lives(pid):
    """A process that has ended may stay in the list until its parent looks."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


@pytest.mark.parametrize(
    ("name", "scheduler", "complaint"),
    [
        ("spark", None, "backend must be one of loky, dask, ray"),
        ("loky", "tcp://127.0.0.1:1", "needs backend='dask'"),
        ("dask", "no address", "no Dask scheduler answers at no address"),
        ("ray", "127.0.0.1:1", "no Ray cluster answers at 127.0.0.1:1"),
    ],
)
def test_a_cluster_that_is_not_there_is_one_line(name, scheduler, complaint):
    with pytest.raises(InputError, match=complaint), use_backend(name, scheduler):
        pass

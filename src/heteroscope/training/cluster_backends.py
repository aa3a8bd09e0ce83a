"""Where the work is done: processes of this machine, or the workers of a Dask or Ray cluster, all through joblib."""

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from joblib import parallel_config

from heteroscope.core import InputError, Parameter

BACKENDS = ("loky", "dask", "ray")


@contextmanager
def use_backend(name: str, scheduler: str | None = None) -> Iterator[None]:
    """Work started inside this block goes to `name`; `scheduler` is the address of a running Dask or Ray cluster.

    Without an address Dask and Ray start workers of their own on this machine, one a core.
    """
    if name not in BACKENDS:
        raise InputError(f"backend must be one of {', '.join(BACKENDS)}, got {name!r}")
    if name == "loky":
        if scheduler is not None:
            raise InputError(
                "a scheduler's address needs ", Parameter("backend", "dask"), " or ", Parameter("backend", "ray")
            )
        yield
    elif name == "dask":
        with _dask_client(scheduler), parallel_config(backend="dask", n_jobs=-1):
            yield
    else:
        with _ray_session(scheduler), parallel_config(backend="ray", n_jobs=-1):
            yield


@contextmanager
def _dask_client(scheduler: str | None) -> Iterator[None]:
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise InputError("the dask backend needs `pip install 'heteroscope[dask]'`") from error
    if scheduler is None:
        with LocalCluster(threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
            yield
        return
    try:
        client = Client(scheduler, timeout="10s")
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {scheduler}: start one with `dask scheduler`") from error
    with client:
        yield


@contextmanager
def _ray_session(address: str | None) -> Iterator[None]:
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError as error:
        raise InputError("the ray backend needs `pip install 'heteroscope[ray]'`") from error
    try:
        if address not in (None, "auto"):
            _knock(address)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError) as error:
        raise InputError(f"no Ray cluster answers at {address}: start one with `ray start --head`") from error
    register_ray()
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raise if nothing listens at host:port; Ray itself would try again for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    socket.create_connection((host, int(port)), timeout=10).close()

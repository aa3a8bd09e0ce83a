"""Choose where work runs: in processes of this machine, or on a Dask or Ray cluster, all through joblib."""

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from joblib import parallel_config

from heteroscope.core import InputError, Parameter

#: Names that users may give; loky is joblib's own pool of processes on this machine.
BACKENDS = ("loky", "dask", "ray")
LOOPBACK = "127.0.0.1"  # where clusters on this machine listen: no other machine reaches it


@contextmanager
def use_backend(name: str, scheduler: str | None = None) -> Iterator[None]:
    """Run all work that starts inside this block on the named backend.

    Parameters
    ----------
    name : {"loky", "dask", "ray"}
        "loky" runs processes on this machine.
    scheduler : str, optional
        Address of a running Dask or Ray cluster. Without it, Dask and Ray start one worker per core on this machine.
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
    """Connect to a Dask scheduler, or start a cluster on this machine, while the block runs."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise InputError("the dask backend needs `pip install 'heteroscope[dask]'`") from error
    if scheduler is None:
        # Whoever reaches a scheduler or worker can run code in it. Workers have dashboards of their own, which older
        # releases open to everybody.
        addresses = {
            "host": LOOPBACK,
            **dict.fromkeys(("dashboard_address", "worker_dashboard_address"), f"{LOOPBACK}:0"),
        }
        with LocalCluster(threads_per_worker=1, **addresses) as cluster, Client(cluster):
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
    """Connect to a Ray cluster, or start one on this machine, while the block runs."""
    try:
        import ray
        from ray.util.joblib import register_ray

        from heteroscope.training.ray_internals import listen_on_loopback
    except ImportError as error:
        raise InputError("the ray backend needs `pip install 'heteroscope[ray]'`") from error
    try:
        if address not in (None, "auto"):
            _check_listening(address)
        with listen_on_loopback() if address is None else nullcontext():
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError) as error:
        raise InputError(f"no Ray cluster answers at {address}: start one with `ray start --head`") from error
    register_ray()
    try:
        yield
    finally:
        ray.shutdown()


def _check_listening(address: str) -> None:
    """Raise an OSError if nothing listens at host:port; Ray itself would keep trying for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    socket.create_connection((host, int(port)), timeout=10).close()

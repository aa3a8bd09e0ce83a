"""All uses of joblib beyond its public interface, in one place.

- The name of the active backend: joblib has a public way to set it (`parallel_config`), but none to read it.
- An executor of one worker process: `Parallel(n_jobs=1)` runs in the caller's own process, and the standard library's
  executor imports the caller's `__main__`, which breaks scripts without an `if __name__ == "__main__"` guard.
- Whether this process is such a worker.
- Workers whose memory may grow: with psutil installed, loky treats a growth of 300 MB as a leak and replaces it.
  Compiled programs take as much, and a new worker would have to read them all again. loky has no setting for this.

`tests/training/test_joblib_internals.py` fails when one of these names moves or no longer has its effect.
"""

from multiprocessing import current_process
from typing import NamedTuple

from joblib.externals.loky import ProcessPoolExecutor, process_executor
from joblib.parallel import BACKENDS, get_active_backend

__all__ = ["ActiveBackend", "ProcessPoolExecutor", "active_backend", "in_loky_worker", "let_workers_grow"]


class ActiveBackend(NamedTuple):
    """The backend on which joblib would run work now.

    name : the name for `parallel_config(backend=name)`; "" if the backend is not registered under a name.
    nested : whether this process is a worker of another parallel loop.
    """

    name: str
    nested: bool


def active_backend() -> ActiveBackend:
    """Return the name of joblib's active backend, and whether it is nested in another one."""
    backend, _ = get_active_backend()
    names = (name for name, kind in BACKENDS.items() if kind is type(backend))
    return ActiveBackend(next(names, ""), (backend.nesting_level or 0) > 0)


def in_loky_worker() -> bool:
    """Return whether this process is a worker of loky, of joblib's own pool or of an executor here."""
    return current_process().name.startswith("LokyProcess")


def let_workers_grow() -> None:
    """Stop loky from replacing this worker when its memory grows."""
    process_executor._USE_PSUTIL = False

"""What the engine needs of joblib beyond its public interface, all in one place.

- Which backend is active: joblib has a public way to set it (`parallel_config`), none to ask for it.
- An executor of one worker process: `Parallel(n_jobs=1)` runs in the caller's own process, and the standard library's
  executor imports the caller's `__main__`, which a script without a guard does not survive.
- Whether this process is such a worker.
- Workers that may grow: with psutil installed, loky takes a growth of 300 MB for a leak and replaces the worker.
  Compiled programs take as much, and a new worker would have to read them all again. loky has no setting for this.

`tests/test_joblib_internals.py` fails when one of these names moves or no longer has its effect.
"""

from multiprocessing import current_process
from typing import NamedTuple

from joblib.externals.loky import ProcessPoolExecutor, process_executor
from joblib.parallel import BACKENDS, get_active_backend

__all__ = ["ActiveBackend", "ProcessPoolExecutor", "active_backend", "in_loky_worker", "let_workers_grow"]


class ActiveBackend(NamedTuple):
    """Where joblib would run work now.

    name : as `parallel_config(backend=name)` spells it; "" if the backend was never registered under a name.
    nested : whether this is already inside a worker of another parallel loop.
    """

    name: str
    nested: bool


def active_backend() -> ActiveBackend:
    """Return the name of joblib's active backend, and whether it is nested in another one."""
    backend, _ = get_active_backend()
    names = (name for name, kind in BACKENDS.items() if kind is type(backend))
    return ActiveBackend(next(names, ""), (backend.nesting_level or 0) > 0)


def in_loky_worker() -> bool:
    """Return whether this process is a worker of loky, joblib's own or that of an executor here."""
    return current_process().name.startswith("LokyProcess")


def let_workers_grow() -> None:
    """Switch off, in this worker, loky's replacement of workers whose memory grows."""
    process_executor._USE_PSUTIL = False

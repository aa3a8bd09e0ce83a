"""Compiled programs, kept on disk between runs: what was compiled for one table serves the next process too.

Processes that begin at the same time share the work: each program is compiled by one of them and read by the others.

JAX's own settings come first: JAX_COMPILATION_CACHE_DIR names another folder, JAX_ENABLE_COMPILATION_CACHE=0 keeps
nothing.
"""

import os
import platform
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import filelock
import jax
from jax.stages import Lowered

KEPT_BYTES = 2**28  # some two thousand programs; the oldest go first
WORTH_KEEPING_SECONDS = 0.3  # of compilation
WAIT_SECONDS = 0.02  # between looks at whether others are done
N_LOCKS = 64  # two programs may have the same one, and are then compiled one after the other
CPU_FACTS = ("vendor_id", "model name", "flags", "Features")  # lines of /proc/cpuinfo that tell what code can run
SLOW_GATHERS = Path("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling")


def keep_programs() -> None:
    """Let JAX read and write its programs in the user's folder, unless another was chosen or none can be made."""
    if _setting("jax_compilation_cache_dir") is not None or not reads_its_own_programs():
        return
    try:
        folder = program_folder()
        folder.mkdir(parents=True, exist_ok=True)
        remove_oldest(folder, KEPT_BYTES)
    except (OSError, RuntimeError):  # nowhere to write, or nobody's home
        return
    if not os.access(folder, os.W_OK):
        return
    # an entry that was cut off or removed by another process is compiled again: nothing that a user could act on
    warnings.filterwarnings("ignore", message="Error (reading|writing) persistent compilation cache entry")
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", WORTH_KEEPING_SECONDS)


def _setting(name: str) -> Any:
    """One of JAX's settings, as an attribute of `jax.config`, where its documentation reads them."""
    return getattr(jax.config, name)


def reads_its_own_programs() -> bool:
    """False for Intel processors on which gathers are slow: XLA writes programs there, and then refuses them.

    It says so in many lines each time (https://github.com/openxla/xla/issues/44565).
    """
    if "GenuineIntel" not in _processor():
        return True
    return SLOW_GATHERS.is_file() and SLOW_GATHERS.read_text().strip() == "Not affected"


def program_folder() -> Path:
    """One folder a kind of processor: a home that several machines share must not give one of them another's code."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "heteroscope" / "programs" / sha256(_processor().encode()).hexdigest()[:12]


def _processor() -> str:
    facts = [platform.machine(), platform.processor()]
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        facts += sorted({line for line in lines if line.startswith(CPU_FACTS)})
    return "\n".join(facts)


def remove_oldest(folder: Path, kept_bytes: int) -> None:
    """Remove files from the oldest on until the others take at most `kept_bytes`.

    JAX has a limit of its own, `jax_compilation_cache_max_size`, which is not used for two reasons:

    - JAX 0.8.0 and 0.10.2 write a program and the time of its last use as two files. A process that is killed between
      the two makes every later write fail (https://github.com/jax-ml/jax/issues/39880), and workers are killed
      whenever a fit is interrupted. A folder that was filled without a limit fails in the same way.
    - Each write reads all times of last use, under a lock that readers need too. With 2000 programs of 120 kB a write
      took 39 to 43 ms (0.10.2) and 89 to 92 ms (0.8.0) instead of 0.1 to 1.1 ms, a read 0.1 to 0.3 ms instead of
      0.02 ms: three runs each, beside other work. The script, on JAX's internal class `LRUCache`, was not kept.
    """
    found = []
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # another process tidies up too
            found.append((path.stat().st_mtime, path.stat().st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= kept_bytes:
            break
        path.unlink(missing_ok=True)
        total -= size


def compile_together(programs: Mapping[str, Callable[[], Lowered]]) -> None:
    """Trace and compile what no other process has begun with; trace the rest meanwhile, and read it from disk.

    `programs` are by name how each is traced. Without a folder that all share, or where it cannot be locked, programs
    are compiled where they are first used.
    """
    shared = _setting("jax_compilation_cache_dir")
    if not (shared and _setting("jax_enable_compilation_cache") and Path(shared).is_dir()):
        return
    jobs = [(cache(trace), _lock(Path(shared), name)) for name, trace in programs.items()]
    of_others = [(trace, lock) for trace, lock in jobs if not _compiled_here(trace, lock)]
    for trace, _ in of_others:
        trace()
    for trace, lock in of_others:
        while not _compiled_here(trace, lock):
            time.sleep(WAIT_SECONDS)


def _lock(folder: Path, name: str) -> filelock.FileLock:
    number = int(sha256(name.encode()).hexdigest(), 16) % N_LOCKS
    return filelock.FileLock(folder / f".compiling-{number}.lock", timeout=0)


def _compiled_here(trace: Callable[[], Lowered], lock: filelock.FileLock) -> bool:
    """False if another process is at it; then it is worth coming back."""
    try:
        with lock:
            trace().compile()
    except filelock.Timeout:
        return False
    except (OSError, NotImplementedError):  # a disk without locks
        return True
    return True

"""Keep compiled programs on disk, so that later processes read them instead of compiling again.

Processes that start at the same time share the work: one of them compiles a program, the others read it.

JAX's own settings have priority: JAX_COMPILATION_CACHE_DIR names another folder, JAX_ENABLE_COMPILATION_CACHE=0
switches the cache off.
"""

import os
import platform
import stat
import time
import warnings
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import filelock
import jax
from jax.stages import Lowered

KEPT_BYTES = 2**28  # size of the folder, about two thousand programs; the oldest are removed first
MIN_COMPILE_SECONDS = 0.3  # programs that compile faster are not kept
WAIT_SECONDS = 0.02  # time between checks whether another process is done
MOST_SHAPES = 16  # of rows and networks whose programs a process keeps in memory, about 15 MB each
N_LOCKS = 64  # lock files; two programs with the same lock are compiled one after the other
CPU_FACTS = ("vendor_id", "model name", "flags", "Features")  # lines of /proc/cpuinfo that decide which code runs
#: Where Linux says whether gather instructions are slowed down on this processor.
SLOW_GATHERS = Path("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling")


def keep_programs() -> None:
    """Make JAX keep its programs in the user's cache folder, unless another is set or it is not writable.

    A program runs with the rights of whoever reads it, so the folder is the user's own and closed to others.
    """
    if _setting("jax_compilation_cache_dir") is not None or not reads_its_own_programs():
        return
    try:
        folder = program_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        stranger = _open_to_others(folder)
    except (OSError, RuntimeError):  # the folder cannot be made, or there is no home folder
        return
    if stranger is not None:
        warnings.warn(
            f"compiled programs are not kept, because {stranger} belongs to another user or may be written to by "
            "others: set XDG_CACHE_HOME to a folder of your own",
            UserWarning,
            stacklevel=2,
        )
        return
    if not os.access(folder, os.W_OK):
        return
    # an entry that another process has removed or left incomplete is compiled again; the user need not know
    warnings.filterwarnings("ignore", message="Error (reading|writing) persistent compilation cache entry")
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", MIN_COMPILE_SECONDS)
    bound_folder()


def _open_to_others(folder: Path) -> Path | None:
    """Return the folder, or one above it up to the user's caches, that others may write to; None if there is none.

    Those below the user's caches are closed to others first.
    """
    if not hasattr(os, "getuid"):  # Windows, where caches lie in the user's profile
        return None
    own, caches = (folder, *folder.parents[:2]), folder.parents[2]
    for path in own:
        if path.lstat().st_uid == os.getuid() and not path.is_symlink():
            path.chmod(0o700)
    for path in (*own, caches):
        state = path.stat() if path == caches else path.lstat()
        shared = state.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not state.st_mode & stat.S_ISVTX
        if stat.S_ISLNK(state.st_mode) or state.st_uid not in (os.getuid(), 0) or shared:
            return path
    return None


def bound_folder() -> None:
    """Remove the oldest programs if this process uses the user's cache folder; another folder is left alone."""
    folder = _setting("jax_compilation_cache_dir")
    with suppress(OSError, RuntimeError):
        if folder is not None and Path(folder) == program_folder():
            remove_oldest(Path(folder), KEPT_BYTES)


_shapes: set[Hashable] = set()


def count_shape(shape: Hashable) -> bool:
    """Return whether programs of this shape are new to the process; forget all programs before they become too many.

    JAX keeps every program in memory for ever. A program that was forgotten is read from disk or compiled again.
    """
    if shape in _shapes:
        return False
    if len(_shapes) >= MOST_SHAPES:
        jax.clear_caches()
        _shapes.clear()
    _shapes.add(shape)
    return True


def _setting(name: str) -> Any:
    """Return one of JAX's settings, read as JAX's documentation does."""
    return getattr(jax.config, name)


def reads_its_own_programs() -> bool:
    """Return False on Intel processors with slow gathers: XLA writes programs there that it later refuses to read.

    It prints many lines each time (https://github.com/openxla/xla/issues/44565).
    """
    if "GenuineIntel" not in _processor():
        return True
    return SLOW_GATHERS.is_file() and SLOW_GATHERS.read_text().strip() == "Not affected"


def program_folder() -> Path:
    """Return the folder of programs for this kind of processor; machines of other kinds may share the home folder."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "heteroscope" / "programs" / sha256(_processor().encode()).hexdigest()[:12]


def _processor() -> str:
    """Return a text that differs between kinds of processors."""
    facts = [platform.machine(), platform.processor()]
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        facts += sorted({line for line in lines if line.startswith(CPU_FACTS)})
    return "\n".join(facts)


def remove_oldest(folder: Path, kept_bytes: int) -> None:
    """Remove the oldest files until the folder takes at most `kept_bytes`.

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
        with suppress(FileNotFoundError):  # another process may have removed it
            found.append((path.stat().st_mtime, path.stat().st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= kept_bytes:
            break
        path.unlink(missing_ok=True)
        total -= size


def compile_together(programs: Mapping[str, Callable[[], Lowered]]) -> None:
    """Compile programs together with other processes: each program is compiled by one process and read by the others.

    `programs` maps the name of each program to the function that traces it. Compile every program that no other process
    is compiling; trace the others meanwhile, then read them from disk. Without a shared folder, or if it cannot be
    locked, do nothing: programs are then compiled at their first use.
    """
    shared = _setting("jax_compilation_cache_dir")
    if not (shared and _setting("jax_enable_compilation_cache") and Path(shared).is_dir()):
        return
    jobs = [(cache(trace), _lock(Path(shared), name)) for name, trace in programs.items()]
    elsewhere = [(trace, lock) for trace, lock in jobs if not _compiled_here(trace, lock)]
    for trace, _ in elsewhere:
        trace()
    for trace, lock in elsewhere:
        while not _compiled_here(trace, lock):
            time.sleep(WAIT_SECONDS)


def _lock(folder: Path, name: str) -> filelock.FileLock:
    """Return the lock for the program of that name."""
    number = int(sha256(name.encode()).hexdigest(), 16) % N_LOCKS
    return filelock.FileLock(folder / f".compiling-{number}.lock", timeout=0)


def _compiled_here(trace: Callable[[], Lowered], lock: filelock.FileLock) -> bool:
    """Compile the program, or read it from disk; return False if another process is compiling it."""
    try:
        with lock:
            trace().compile()
    except filelock.Timeout:
        return False
    except (OSError, NotImplementedError):  # a disk without locks
        return True
    return True

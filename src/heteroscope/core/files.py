"""Write files that are whole or absent after a kill or a power cut, read only regular ones, and reserve a folder.

A power cut keeps what was synced, and of the rest anything: a rename may survive it while the content of the renamed
file does not. So a file is synced before it is renamed, and its folder after that.
"""

import errno
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path

from heteroscope.core.errors import DamageError, InputError

PARTIAL = ".part"  # end of the names of temporary files
LEFTOVER_SECONDS = 3600.0  # a temporary file of this age was left by a run that was killed
_NAME_CHARACTERS = 40  # of the file's own name in that of its temporary file: names have at most 255 bytes


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; sync it and rename it to `path` on success, remove it on an error.

    The name is a new one each time, so that two writers never share a temporary file: the last one to finish wins. An
    `OSError` of writing has the name of `path`.
    """
    partial = path.with_name(f".{path.name[:_NAME_CHARACTERS]}.{secrets.token_hex(4)}{PARTIAL}")
    try:
        yield partial
        sync_file(partial)
        os.replace(partial, path)
        sync_folder(path.parent)
    except OSError as error:
        if error.filename in (None, str(partial)):  # a full disk is told without a name, or with the temporary one
            error.filename, error.filename2 = str(path), None
        raise
    finally:
        partial.unlink(missing_ok=True)


def sync_file(path: Path) -> None:
    """Return when the content of a file is on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Return when the names in a folder are on the disk; do nothing where folders cannot be synced."""
    if os.name == "nt":  # Windows opens no folders
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # network disks that sync names by themselves
            raise
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Create a folder and those above it, each of them synced into its own folder."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        sync_folder(path.parent)


@contextmanager
def open_regular(path: Path, most_bytes: int) -> Iterator[BufferedReader]:
    """Open a regular file of at most `most_bytes` to read; raise a `DamageError` for anything else.

    A pipe would wait for ever, and a device such as /dev/zero never ends.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe without a writer does not wait
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise DamageError(f"{path.name} is a link that leads to itself") from error
        raise
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode):
        os.close(descriptor)
        raise DamageError(f"{path.name} is no regular file")
    with open(descriptor, "rb") as file:
        if state.st_size > most_bytes:
            raise DamageError(f"{path.name} has {state.st_size:,} bytes, more than {most_bytes:,}")
        yield file


def read_regular(path: Path, most_bytes: int) -> bytes:
    """Return the content of a regular file of at most `most_bytes`; raise a `DamageError` for anything else."""
    with open_regular(path, most_bytes) as file:
        return file.read(most_bytes)


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Wait until no other process holds this lock of `folder`, and hold it; it leaves no file behind.

    Windows, and network disks without locks, cannot lock a folder: there, writers are not kept apart.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def exclusive_folder(folder: Path) -> Iterator[None]:
    """Create `folder` if needed and lock it; raise an `InputError` if another run has locked it."""
    import filelock  # here, because a process that only predicts starts a quarter faster without it

    make_folder(folder)
    try:
        with filelock.FileLock(folder / ".lock", timeout=0):
            remove_leftovers(folder, LEFTOVER_SECONDS)
            yield
    except filelock.Timeout as error:
        raise InputError(f"another run is writing to {folder}: wait until it ends, or choose another folder") from error


def remove_leftovers(folder: Path, seconds: float = 0.0) -> None:
    """Remove temporary files of `atomic_write` that are `seconds` old: killed runs have left them."""
    for path in folder.glob(f".*{PARTIAL}"):
        with suppress(OSError):
            if path.is_file() and time.time() - path.stat().st_mtime >= seconds:
                path.unlink()

"""Write files that are whole or absent after a kill or a power cut, read only regular ones, and reserve a folder.

A power cut keeps what was synced, and of the rest anything: a rename may survive it while the content of the renamed
file does not. So a file is synced before it is renamed, and its folder after that.
"""

import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import filelock

from heteroscope.core.errors import DamageError, InputError

LEFTOVER_SECONDS = 3600.0  # a temporary file of this age was left by a run that was killed
_NAME_CHARACTERS = 40  # of the file's own name in that of its temporary file: names have at most 255 bytes


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; sync it and rename it to `path` on success, remove it on an error.

    The name is a new one each time, so that two writers never share a temporary file: the last one to finish wins.
    """
    partial = path.with_name(f".{path.name[:_NAME_CHARACTERS]}.{secrets.token_hex(4)}.part")
    try:
        yield partial
        sync_file(partial)
        os.replace(partial, path)
        sync_folder(path.parent)
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


def read_regular(path: Path, most_bytes: int) -> bytes:
    """Return the content of a regular file of at most `most_bytes`; raise a `DamageError` for anything else.

    A pipe would wait for ever, and a device such as /dev/zero never ends.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe without a writer does not wait
    with open(descriptor, "rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise DamageError(f"{path.name} is no regular file")
        if state.st_size > most_bytes:
            raise DamageError(f"{path.name} has {state.st_size:,} bytes, more than {most_bytes:,}")
        return file.read(most_bytes)


@contextmanager
def exclusive_folder(folder: Path) -> Iterator[None]:
    """Create `folder` if needed and lock it; raise an `InputError` if another run has locked it."""
    make_folder(folder)
    try:
        with filelock.FileLock(folder / ".lock", timeout=0):
            _remove_leftovers(folder)
            yield
    except filelock.Timeout as error:
        raise InputError(f"another run is writing to {folder}: wait until it ends, or choose another folder") from error


def _remove_leftovers(folder: Path) -> None:
    """Remove temporary files that killed runs have left."""
    for path in folder.glob(".*.part"):
        with suppress(OSError):
            if path.is_file() and time.time() - path.stat().st_mtime > LEFTOVER_SECONDS:
                path.unlink()

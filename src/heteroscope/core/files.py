"""Files that are whole or not there, whatever stops the program, in folders to which one run writes at a time."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from heteroscope.core.errors import InputError


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A name to write to beside `path`; once the block has ended without an error, the file has that path."""
    partial = path.with_name(f".{path.name}.part")
    try:
        yield partial
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def exclusive_folder(folder: Path) -> Iterator[None]:
    """The folder, made if it is not there, for this run alone."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with filelock.FileLock(folder / ".lock", timeout=0):
            yield
    except filelock.Timeout as error:
        raise InputError(f"another run is writing to {folder}: wait until it ends, or choose another folder") from error


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder` that takes its place when all went well, and leaves no trace otherwise."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    workspace = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    fresh, old = workspace / "new", workspace / "old"
    try:
        fresh.mkdir()
        yield fresh
        if folder.exists():
            os.rename(folder, old)
        try:
            os.rename(fresh, folder)
        except OSError:
            if old.exists():
                os.rename(old, folder)
            raise
    finally:
        shutil.rmtree(workspace, ignore_errors=True)

"""Write files and folders that are complete or absent after a crash, and reserve a folder for one run at a time."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heteroscope.core.errors import InputError


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` on success, remove it on an error."""
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
    """Create `folder` if needed and lock it; raise an `InputError` if another run has locked it."""
    import filelock  # here, because a process that only predicts starts a quarter faster without it

    folder.mkdir(parents=True, exist_ok=True)
    try:
        with filelock.FileLock(folder / ".lock", timeout=0):
            yield
    except filelock.Timeout as error:
        raise InputError(f"another run is writing to {folder}: wait until it ends, or choose another folder") from error


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """Yield a new, empty folder; on success it replaces `folder`, on an error it is removed and `folder` stays."""
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

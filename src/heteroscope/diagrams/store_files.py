"""Create a store on disk as a whole, and repair what is not a tile: metadata, settings, coordinates and rows.

These files are written once. A manifest beside the store, `diagram.json` beside `diagram.zarr`, holds the settings and
the SHA-256 of each file.
"""

import hashlib
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from heteroscope.core import (
    DamageError,
    Identity,
    atomic_write,
    make_folder,
    read_regular,
    read_sealed,
    sync_file,
    sync_folder,
    warn_of_damage,
    write_sealed,
)
from heteroscope.diagrams.tile_marks import DONE, MOST_CHUNK_BYTES

_SHOWN = 3  # damaged files that a message names


class StorePlan(NamedTuple):
    """What a store is made of: its place, how it is created, its settings, and the arrays that tiles are written to."""

    path: Path
    create: Callable[[Path], None]
    settings: Identity
    tile_arrays: Iterable[str]

    @property
    def partial(self) -> Path:
        """The folder in which the store is created before it is renamed."""
        return self.path.with_name(f".{self.path.name}.part")

    def names(self, content: Path) -> list[str]:
        """Return the files in `content` that belong to no tile, as paths within it."""
        files = [file.relative_to(content) for file in sorted(content.rglob("*")) if file.is_file()]
        return [
            file.as_posix()
            for file in files
            if file.name.startswith(".") or file.parts[0] not in (DONE, *self.tile_arrays)
        ]


def manifest_path(path: Path) -> Path:
    """Return the file that holds the settings of a store, and the checksums of all its files but the tiles."""
    return path.with_suffix(".json")


def read_manifest(path: Path) -> dict[str, Any]:
    """Return settings and checksums of a store; raise a `DamageError` if they are missing or damaged."""
    try:
        manifest = read_sealed(manifest_path(path))
    except OSError as error:
        raise DamageError(f"{manifest_path(path).name} cannot be read: {error.strerror}") from error
    if not isinstance(manifest.get("files"), dict) or "settings" not in manifest:
        raise DamageError(f"{manifest_path(path).name} is no manifest of a store")
    return manifest


def find_damage(path: Path, files: dict[str, str]) -> list[str]:
    """Return the names of the files whose content does not have its checksum."""
    return [name for name, digest in files.items() if file_digest(path / name) != digest]


def file_digest(path: Path) -> str | None:
    """Return the SHA-256 of a file, or None if there is no such regular file."""
    try:
        return hashlib.sha256(read_regular(path, MOST_CHUNK_BYTES)).hexdigest()
    except (OSError, DamageError):
        return None


def create_store(plan: StorePlan) -> None:
    """Write a store without tiles under another name, sync it, write its manifest, and rename it."""
    _write_anew(plan)
    parts = list(plan.partial.rglob("*"))
    for path in parts:
        if path.is_file():
            sync_file(path)
    for path in (plan.partial, *parts):
        if path.is_dir():
            sync_folder(path)
    _write_manifest(plan, plan.partial, plan.names(plan.partial))
    plan.partial.rename(plan.path)
    sync_folder(plan.path.parent)


def repair_store(plan: StorePlan) -> None:
    """Write damaged files that are no tiles again, from what the call itself gives, and warn in one line.

    Tiles can only be read with the metadata that they were written with. If that is damaged, and differs from what is
    written now, all tiles lose their marks.
    """
    try:
        wanted: dict[str, str] = read_manifest(plan.path)["files"]
        damaged = find_damage(plan.path, wanted)
        if not damaged:
            return
        _write_anew(plan)
    except DamageError:
        _write_anew(plan)
        wanted = {name: str(file_digest(plan.partial / name)) for name in plan.names(plan.partial)}
        damaged = find_damage(plan.path, wanted)
    for name in damaged:
        _replace(plan, name, wanted[name])
    _write_manifest(plan, plan.path, plan.names(plan.partial))
    shutil.rmtree(plan.partial)
    what = ", ".join(damaged[:_SHOWN]) or manifest_path(plan.path).name
    warn_of_damage(plan.path, f"{what}{', ...' * (len(damaged) > _SHOWN)}", "the file is written again")


def _write_anew(plan: StorePlan) -> None:
    shutil.rmtree(plan.partial, ignore_errors=True)
    make_folder(plan.partial.parent)
    plan.create(plan.partial)


def _replace(plan: StorePlan, name: str, wanted: str) -> None:
    """Write one file again; forget all marks if tiles may not be readable with it."""
    source, place = plan.partial / name, plan.path / name
    if not source.is_file():  # of another release of Zarr, which wrote other files
        raise OSError(f"{name} is damaged and cannot be made again")
    if name.endswith(".zarray") and file_digest(source) != wanted:
        for mark in (plan.path / DONE).glob("[0-9]*"):
            mark.unlink()
        sync_folder(plan.path / DONE)
    if place.is_dir():
        shutil.rmtree(place)
    make_folder(place.parent)
    with atomic_write(place) as temporary:
        temporary.write_bytes(source.read_bytes())


def _write_manifest(plan: StorePlan, content: Path, names: list[str]) -> None:
    """Write the settings and the checksums of these files as the manifest of the store."""
    files = {name: file_digest(content / name) for name in names}
    write_sealed(manifest_path(plan.path), {"settings": plan.settings, "files": files}, indent=1)

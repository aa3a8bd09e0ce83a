"""Mark the finished tiles of a store, and find out at the start which of them are whole.

A mark is written after all chunks of its tile are on the disk. It holds what computed the tile, and a checksum

    SHA-256 of (what computed it, then name and content of each chunk)

So a chunk or mark that is missing, truncated, changed or of another tile is noticed. A chunk whose values are all the
array's fill value has no file: the checksum tells this from a file that was lost.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from heteroscope.core import (
    DamageError,
    Provenance,
    atomic_write,
    computed_with,
    parse_object,
    read_regular,
    sync_file,
    sync_folder,
)

DONE = "done"  # the array of marks
MARK_BYTES = 2048  # length of a mark: JSON, filled up with zeros
MOST_CHUNK_BYTES = 2**31

Tile = tuple[int, int]  # (index of rho, index of seed); a tile holds every gamma


class TileMarks:
    """The marks of a Zarr store, whose arrays have the dimensions rho, gamma, seed and perhaps others.

    Parameters
    ----------
    path : Path
        The Zarr store.
    dimensions : mapping from str to int
        The number of dimensions of each array that tiles are written into.
    """

    def __init__(self, path: Path, dimensions: Mapping[str, int]) -> None:
        self._path = path
        self._dimensions = dict(sorted(dimensions.items()))

    def write(self, tile: Tile) -> Provenance:
        """Sync the chunks of a tile, then write its mark; return what the mark says computed it."""
        for chunk in self._chunks(tile):
            if chunk.exists():
                sync_file(chunk)
            sync_folder(chunk.parent)
        provenance = computed_with()
        content = json.dumps({"computed_with": provenance, "sha256": self._checksum(tile, provenance)}).encode()
        with atomic_write(self._mark(tile)) as partial:
            partial.write_bytes(content.ljust(MARK_BYTES, b"\0"))
        return provenance

    def read(self, tile: Tile) -> Provenance | None:
        """Return what computed a tile, or None if it has no mark; raise a `DamageError` unless the tile is whole."""
        try:
            content = parse_object(read_regular(self._mark(tile), MARK_BYTES).rstrip(b"\0"))
            provenance: Any = content["computed_with"]
            if content["sha256"] != self._checksum(tile, provenance):
                raise DamageError("its chunks are not those that were marked")
        except FileNotFoundError:
            return None
        except (KeyError, OSError) as error:
            raise DamageError(str(error)) from error
        return dict(provenance)

    def remove(self, tile: Tile) -> None:
        """Remove the mark of a tile, which then counts as not done."""
        mark = self._mark(tile)
        if mark.exists():
            mark.unlink()
            sync_folder(mark.parent)

    def _mark(self, tile: Tile) -> Path:
        row, seed = tile
        return self._path / DONE / f"{row}.{seed}"

    def _chunks(self, tile: Tile) -> Iterator[Path]:
        """Yield the file of each array's chunk: row.0.seed, then a zero for each further dimension."""
        row, seed = tile
        for name, n_dimensions in self._dimensions.items():
            yield self._path / name / ".".join(map(str, (row, 0, seed, *(0,) * (n_dimensions - 3))))

    def _checksum(self, tile: Tile, provenance: Mapping[str, str]) -> str:
        """Return the checksum of a tile as the head of this file defines it."""
        digest = hashlib.sha256(json.dumps(provenance, sort_keys=True).encode())
        for chunk in self._chunks(tile):
            try:
                content = hashlib.sha256(read_regular(chunk, MOST_CHUNK_BYTES)).hexdigest()
            except FileNotFoundError:
                content = "fill value"
            digest.update(f"{chunk.parent.name}/{chunk.name} {content}\n".encode())
        return digest.hexdigest()

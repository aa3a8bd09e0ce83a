"""Open a file, a folder, a list of files or a pair of `.npy` files as one stream.

The libraries that read Parquet, Zarr and NetCDF are imported when a file of that kind is opened.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from jaxtyping import Float

from heteroscope.core import InputError, Parameter, error_text
from heteroscope.data.streams.npy_files import NpyStream
from heteroscope.data.streams.stream import NETCDF_SUFFIXES, Block, Stream

GROUP_ROWS = 16_384  # rows of each row group that `repack` writes

FilePath: TypeAlias = str | os.PathLike[str]


class ChainedStream(Stream):
    """Several streams with the same columns, one after the other."""

    def __init__(self, parts: Sequence[Stream]) -> None:
        self._parts = list(parts)
        first = self._parts[0]
        for part in self._parts[1:]:
            if part.feature_names != first.feature_names:
                other = sorted(set(part.feature_names) ^ set(first.feature_names))
                what = f"column {other[0]!r} is in one only" if other else "their columns are in different order"
                raise InputError(
                    f"{part.files()[0]} and {first.files()[0]} do not belong together ({what}): name the `features`"
                )
        self.feature_names, self.target_name, self.named = first.feature_names, first.target_name, first.named
        self._edges = np.concatenate([[0], np.cumsum([part.n_rows for part in self._parts], dtype=np.int64)])
        self.n_rows = int(self._edges[-1])

    def files(self) -> list[Path]:
        """Return the files of all parts."""
        return [path for part in self._parts for path in part.files()]

    def blocks(self) -> list[Block]:
        """Return the blocks of all parts; no block lies in two files."""
        return [
            Block(int(start) + block.first, int(start) + block.stop)
            for start, part in zip(self._edges[:-1], self._parts, strict=True)
            for block in part.blocks()
        ]

    def read(self, first: int, stop: int) -> tuple[Float[np.ndarray, "row feature"], Float[np.ndarray, " row"]]:
        """Read rows first, ..., stop - 1, from one part or from several."""
        low = int(np.searchsorted(self._edges, first, side="right")) - 1
        high = int(np.searchsorted(self._edges, stop, side="left"))
        parts = []
        for number in range(low, high):
            start, end = int(self._edges[number]), int(self._edges[number + 1])
            parts.append(self._parts[number].read(max(first, start) - start, min(stop, end) - start))
        x, y = zip(*parts, strict=True)
        return np.concatenate(x), np.concatenate(y)


def open_stream(
    where: FilePath | Sequence[FilePath], target: str | int | None = None, features: Sequence[str] | None = None
) -> Stream:
    """Open data on disk as a stream; only names and sizes are read, not yet the rows.

    Parameters
    ----------
    where : str, Path, or sequence of them
        A Parquet file or a folder of them, a Zarr store, a NetCDF file, a list of such files with the same columns,
        or a pair `(inputs.npy, targets.npy)`.
    target : str, int or None, default=None
        The column to predict. For a pair of `.npy` files, its number, or None if there is only one.
    features : sequence of str or None, default=None
        The columns to predict it from; None takes all other columns. A pair of `.npy` files has no choice of features.

    Returns
    -------
    Stream

    See Also
    --------
    repack : rewrite Parquet files whose row groups are too large for a stream.
    """
    if isinstance(where, str | os.PathLike):
        paths = _within(Path(where))
    else:
        paths = [Path(part) for part in where]
        if len(paths) == 2 and all(path.suffix == ".npy" for path in paths):
            return NpyStream(paths[0], paths[1], target)
    chosen = None if features is None else tuple(features)
    if not paths:
        raise InputError("the list of files is empty: name at least one")
    if not isinstance(target, str):
        raise InputError(f"say which column of {paths[0]} to predict, such as ", Parameter("target", "price"))
    if chosen and target in chosen:
        raise InputError(f"{target!r} is the target and one of the features: leave it out of `features`")
    parts = [_one(path, target, chosen) for path in paths]
    return parts[0] if len(parts) == 1 else ChainedStream(parts)


def is_store(path: Path) -> bool:
    """Return whether a folder is a Zarr store."""
    return any((path / name).is_file() for name in ("zarr.json", ".zgroup", ".zmetadata"))


def repack(source: FilePath, folder: FilePath) -> list[Path]:
    """Copy Parquet files into files with row groups of 16,384 rows, small enough to be shuffled in memory.

    Parameters
    ----------
    source : str or Path
        A Parquet file, or a folder of them.
    folder : str or Path
        The folder to write to, another one than that of `source`.

    Returns
    -------
    list of Path
        The files that were written, with the names of the originals.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder, written = Path(folder), []
    folder.mkdir(parents=True, exist_ok=True)
    for path in _within(Path(source)):
        try:
            with pq.ParquetFile(path) as file:
                target = folder / path.name
                if target.resolve() == path.resolve():
                    raise InputError(f"{folder} holds {path.name} itself: name another folder")
                with pq.ParquetWriter(target, file.schema_arrow) as writer:
                    for batch in file.iter_batches(GROUP_ROWS, use_threads=False):
                        writer.write_batch(batch, row_group_size=GROUP_ROWS)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path} is not a whole Parquet file ({error_text(error)}): write it again") from error
        written.append(target)
    return written


def _within(path: Path) -> list[Path]:
    """Return the Parquet files of a folder, or the path itself if it is a file or a Zarr store."""
    if not path.is_dir() or is_store(path):
        return [path]
    found = sorted(path.glob("*.parquet"))
    if not found:
        raise InputError(f"{path} has no .parquet files and is no Zarr store: name the files, or a pair of .npy files")
    return found


def _one(path: Path, target: str, features: tuple[str, ...] | None) -> Stream:
    """Open one file or store by its extension."""
    if path.suffix.lower() == ".parquet":
        from heteroscope.data.streams.parquet_files import ParquetStream

        return ParquetStream(path, target, features)
    if path.suffix.lower() in (*NETCDF_SUFFIXES, ".zarr") or path.is_dir():
        from heteroscope.data.streams.netcdf_and_zarr_files import XarrayStream

        return XarrayStream(path, target, features)
    if not path.exists():
        raise InputError(f"{path} does not exist: check the name, or give the full path")
    raise InputError(f"{path} is no stream: give .parquet, .zarr or .nc, or a pair (inputs.npy, targets.npy)")

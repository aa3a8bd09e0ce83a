"""A Parquet file as a stream: its row groups, which can be read separately, are the blocks."""

from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jaxtyping import Float

from heteroscope.core import InputError, error_text
from heteroscope.data.streams.stream import FEWEST_BLOCKS, Block, Stream

LARGEST_GROUP = 48 * 2**20  # most bytes of a row group in memory; several row groups are held at a time
GROUPS_KEPT = 2  # decoded row groups that a process keeps in memory, since several blocks may lie in one


class ParquetStream(Stream):
    """The rows of one file. `target` names the column to predict; without `features`, all other columns are inputs."""

    def __init__(self, path: str | Path, target: str, features: tuple[str, ...] | None = None) -> None:
        self.path = Path(path).absolute()
        try:
            with pq.ParquetFile(self.path) as file:
                schema, metadata = file.schema_arrow, file.metadata
        except FileNotFoundError as error:
            raise InputError(f"{path} does not exist: check the name, or give the full path") from error
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path} is not a whole Parquet file ({error_text(error)}): write it again") from error
        others = {target, *_index_columns(schema)}
        self.feature_names = features or tuple(name for name in schema.names if name not in others)
        self.target_name = target
        for name in (*self.feature_names, target):
            _refuse_column(self.path, name, schema)
        sizes = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
        self._edges = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self.n_rows = int(self._edges[-1])
        largest = max(sizes, default=0) * (self.n_features + 1) * 8
        if self.n_rows == 0:
            raise InputError(f"{path} has no rows: write it again")
        if largest > LARGEST_GROUP:
            fitting = LARGEST_GROUP // ((self.n_features + 1) * 8)
            raise InputError(
                f"{path} has row groups of {max(sizes):,} rows, too large to be shuffled in memory: rewrite it "
                f"with heteroscope.data.repack, or with row_group_size={fitting:,} or less"
            )

    def files(self) -> list[Path]:
        """Return the file."""
        return [self.path]

    def blocks(self) -> list[Block]:
        """Return the row groups as blocks; if there are few, each is divided into several blocks."""
        parts = -(-FEWEST_BLOCKS // (len(self._edges) - 1))
        cuts = []
        for first, stop in pairwise(self._edges):
            edges = np.unique(np.linspace(first, stop, parts + 1).astype(np.int64))
            cuts += [Block(int(a), int(b)) for a, b in pairwise(edges)]
        return cuts

    def read(self, first: int, stop: int) -> tuple[Float[np.ndarray, "row feature"], Float[np.ndarray, " row"]]:
        """Read rows first, ..., stop - 1, from one row group or from several."""
        names = (*self.feature_names, self.target_name)
        low = int(np.searchsorted(self._edges, first, side="right")) - 1
        high = int(np.searchsorted(self._edges, stop, side="left"))
        parts = []
        for group in range(low, high):
            start = int(self._edges[group])
            table = _row_group(self.path, self.path.stat().st_mtime_ns, group, names)
            parts.append(table[max(first - start, 0) : stop - start])
        table = np.concatenate(parts)
        return table[:, :-1], table[:, -1]


@lru_cache(maxsize=GROUPS_KEPT)
def _row_group(path: Path, changed: int, group: int, names: tuple[str, ...]) -> np.ndarray:
    """Read one row group as a table of numbers, NaN for missing ones.

    `changed`, the time of the file's last change, is part of the cache's key: a changed file is read again.
    """
    try:
        with pq.ParquetFile(path) as file:
            table = file.read_row_group(group, columns=list(names), use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read at row group {group} ({error_text(error)}): write it again") from error
    narrow = all(pa.types.is_float32(table.schema.field(name).type) for name in names)
    found = np.empty((table.num_rows, len(names)), np.float32 if narrow else np.float64)
    for column, name in enumerate(names):
        found[:, column] = table[name].to_numpy(zero_copy_only=False)
    return found


def _index_columns(schema: pa.Schema) -> list[str]:
    """Return the columns that hold the row labels of a pandas frame, which are not features."""
    written_by_pandas = schema.pandas_metadata or {}
    return [name for name in written_by_pandas.get("index_columns", []) if isinstance(name, str)]


def _refuse_column(path: Path, name: str, schema: pa.Schema) -> None:
    """Raise an `InputError` if the file has no such column, or if it does not hold numbers."""
    if name not in schema.names:
        known = ", ".join(schema.names[:8])
        raise InputError(f"{path} has no column {name!r}: its columns are {known}{', ...' * (len(schema.names) > 8)}")
    kind = schema.field(name).type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        raise InputError(
            f"{path} has {kind} in column {name!r}: streams take numbers only; encode it, or name `features`"
        )

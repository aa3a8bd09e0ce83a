"""The interface to data larger than memory: the number of rows, the columns, and any range of rows."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float

from heteroscope.core import Identity, InputError

BLOCK_ROWS = 4096  # rows of a block, if the file format does not divide rows into groups itself
CHECKED_BYTES = 2**27  # of all files together, read for the identity of a stream
PIECE_BYTES = 2**16  # of a file that is too large to be read as a whole
FEWEST_BLOCKS = 64  # a short stream has shorter blocks, so that some of them can be held out
NETCDF_SUFFIXES = (".nc", ".nc4", ".cdf")


class Block(NamedTuple):
    """Rows first, ..., stop - 1 of a stream, which are read at once."""

    first: int
    stop: int


#: A file's path, its size in bytes and the time of its last change in nanoseconds.
Stamp: TypeAlias = tuple[str, int, int]


class Stream(ABC):
    """Rows of numbers on disk; each subclass reads one file format.

    A stream must be picklable, so it opens its files only to read from them, and it must hold full paths, because a
    worker may run in another folder.

    Attributes
    ----------
    n_rows : int
        The number of rows.
    feature_names : tuple of str
        The columns of the inputs.
    target_name : str
        The column to predict.
    named : bool, default=True
        Whether the names come from the files. If not, columns are identified by their positions only.
    """

    n_rows: int
    feature_names: tuple[str, ...]
    target_name: str
    named: bool = True

    @abstractmethod
    def read(self, first: int, stop: int) -> tuple[Float[np.ndarray, "row feature"], Float[np.ndarray, " row"]]:
        """Read the inputs and targets of rows first, ..., stop - 1, in the precision of the files.

        Parameters
        ----------
        first, stop : int
            The range of rows.

        Returns
        -------
        x : array of shape (stop - first, n_features)
        y : array of shape (stop - first,)
        """

    @abstractmethod
    def files(self) -> list[Path]:
        """Return all files that rows are read from."""

    @property
    def n_features(self) -> int:
        """The number of columns of the inputs."""
        return len(self.feature_names)

    def __len__(self) -> int:
        return self.n_rows

    def blocks(self) -> list[Block]:
        """Return the blocks that make up the stream; each can be read by itself at little cost."""
        size = min(BLOCK_ROWS, -(-self.n_rows // FEWEST_BLOCKS))
        edges = [*range(0, self.n_rows, size), self.n_rows]
        return [Block(first, stop) for first, stop in pairwise(edges)]

    def steps(self, epochs: float | int, batch_size: int = 256) -> int:
        """Return the number of training steps in which every row is read `epochs` times.

        Parameters
        ----------
        epochs : float
            How often each row is read.
        batch_size : int, default=256
            Rows per step.

        Returns
        -------
        int
            At least 2; pass it to an estimator as `max_steps`.
        """
        return max(2, round(epochs * self.n_rows / batch_size))

    def stamps(self) -> list[Stamp]:
        """Return path, size and time of the last change of each file, by which changed files are detected."""
        found = []
        for path in self.files():
            try:
                state = path.stat()
            except OSError as error:
                raise InputError(f"{path} cannot be read ({error.strerror}): put it back, and run again") from error
            found.append((str(path), state.st_size, state.st_mtime_ns))
        return found

    def identity(self) -> Identity:
        """Identify the stream by the content of its files, and by names and order of the columns that are read.

        Each file counts with its path, its size and a checksum. Of files that are larger than `CHECKED_BYTES` together,
        evenly spaced pieces are checked, and the time of the last change counts as well.
        """
        stamps = self.stamps()
        share = CHECKED_BYTES // max(1, len(stamps))
        files = [[path, size, *_content(path, size, changed, share)] for path, size, changed in stamps]
        return {"files": files, "target": self.target_name, "features": list(self.feature_names)}


@lru_cache(maxsize=4096)
def _content(path: str, size: int, changed: int, share: int) -> tuple[str | int, ...]:
    """Return the checksum of a file of at most `share` bytes; of a larger one that of pieces, and when it changed."""
    digest = hashlib.sha256()
    n_pieces = max(2, share // PIECE_BYTES)
    whole = size <= max(share, n_pieces * PIECE_BYTES)
    starts = [0] if whole else np.linspace(0, size - PIECE_BYTES, n_pieces).astype(np.int64).tolist()
    try:
        with open(path, "rb", buffering=0) as file:
            for start in starts:
                file.seek(start)
                digest.update(file.read() if whole else file.read(PIECE_BYTES))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): put it back, and run again") from error
    return (digest.hexdigest(),) if whole else (digest.hexdigest(), changed)


def refuse_changed_files(before: Sequence[Stamp], stream: Stream) -> None:
    """Raise an `InputError` if a file has changed since the stamps `before` were taken."""
    found = stream.stamps()
    if len(before) != len(found):
        raise InputError(f"the run began with {len(before)} files, and now there are {len(found)}: restore them")
    for was, now in zip(before, found, strict=True):
        if tuple(was) != now:
            raise InputError(
                f"{now[0]} has changed since the run began ({was[1]:,} bytes then, {now[1]:,} now): restore the file "
                "and run again, or start a new run"
            )


def read_checked(stream: Stream, block: Block) -> tuple[Float[np.ndarray, "row feature"], Float[np.ndarray, " row"]]:
    """Read the rows of a block; raise an `InputError` with row and column of a number that is not finite."""
    x, y = stream.read(*block)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        table = np.column_stack([x, y])
        row, column = np.argwhere(~np.isfinite(table))[0]
        name = (*stream.feature_names, stream.target_name)[column]
        raise InputError(
            f"row {block.first + row:,} has {table[row, column]} in column {name!r}: remove or fill such rows, "
            "streams take finite numbers only"
        )
    return x, y

"""The one small interface to data larger than memory: how many rows, which columns, and the rows from here to there."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.core import Identity, InputError

BLOCK_ROWS = 4096  # rows that are read at a time where the files do not say otherwise
FEWEST_BLOCKS = 64  # a short stream has shorter blocks, so that whole blocks can be held out


class Block(NamedTuple):
    """Rows first, ..., stop - 1 of a stream: what is read at once."""

    first: int
    stop: int


Stamp = tuple[str, int, int]  # a file's path, its size and the time of its last change, in nanoseconds


class Stream(ABC):
    """Rows of numbers on disk. A subclass knows one format; it opens files when it reads, so that it can be
    pickled, by their full paths, since a worker may run in another folder."""

    n_rows: int
    feature_names: tuple[str, ...]
    target_name: str
    #: Whether the names are the files' own; without, columns are told by their place alone.
    named: bool = True

    @abstractmethod
    def read(self, first: int, stop: int) -> tuple[Float[np.ndarray, "row feature"], Float[np.ndarray, " row"]]:
        """Inputs and targets of rows first, ..., stop - 1, in the files' own precision."""

    @abstractmethod
    def files(self) -> list[Path]:
        """Every file that rows are read from."""

    @property
    def n_features(self) -> int:
        """Columns of the inputs."""
        return len(self.feature_names)

    def __len__(self) -> int:
        return self.n_rows

    def blocks(self) -> list[Block]:
        """The whole stream in pieces that are cheap to read by themselves."""
        size = min(BLOCK_ROWS, -(-self.n_rows // FEWEST_BLOCKS))
        edges = [*range(0, self.n_rows, size), self.n_rows]
        return [Block(first, stop) for first, stop in pairwise(edges)]

    def steps(self, epochs: float | int, batch_size: int = 256) -> int:
        """The steps that read every row `epochs` times: what to give an estimator as `max_steps`."""
        return max(2, round(epochs * self.n_rows / batch_size))

    def stamps(self) -> list[Stamp]:
        """What tells that no file has changed: size and time of each."""
        found = []
        for path in self.files():
            try:
                state = path.stat()
            except OSError as error:
                raise InputError(f"{path} cannot be read ({error.strerror}): put it back, and run again") from error
            found.append((str(path), state.st_size, state.st_mtime_ns))
        return found

    def identity(self) -> Identity:
        """What makes it the same stream: its files as they are, and the columns that are read."""
        files = [list(stamp) for stamp in self.stamps()]
        return {"files": files, "target": self.target_name, "features": list(self.feature_names)}


def refuse_changed_files(before: Sequence[Stamp], stream: Stream) -> None:
    """One line if a file is no longer what it was when the run began."""
    found = stream.stamps()
    if len(before) != len(found):
        raise InputError(f"{len(before)} files were there when the run began, and now {len(found)}: restore them")
    for was, now in zip(before, found, strict=True):
        if tuple(was) != now:
            raise InputError(
                f"{now[0]} has changed since the run began ({was[1]:,} bytes then, {now[1]:,} now): restore the file "
                "and run again, or start a new run"
            )


def read_checked(stream: Stream, block: Block) -> tuple[Float[np.ndarray, "row feature"], Float[np.ndarray, " row"]]:
    """The rows of a block; a number that is not finite is told by row and column."""
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

"""One pass over a stream before any training: centre and scale, a sample of the rows, and the rows to judge by.

n = n_a + n_b,    mean = mean_a + d n_b / n,    M = M_a + M_b + d^2 n_a n_b / n,    d = mean_b - mean_a

for the count, mean and sum of squared deviations of two sets of rows together, so that a block is added to those before
it without loss of digits. Whole blocks are held out: neighbours in a file are often alike.
"""

import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.core import REVISIONS, Identity, InputError, Progress, atomic_write, same_identity
from heteroscope.data.rows import Rows
from heteroscope.data.scaling import ROUNDING, Scaling
from heteroscope.data.streams.stream import Block, Stream, read_checked

HELD_ROWS = 65_536  # held out at most: enough for a standard error of a few thousandths, and they stay in memory
SAMPLE_ROWS = 4096
_SEED = 0  # which rows are held out is a property of the stream, not of the model


class Survey(NamedTuple):
    """What is known of a stream: its scaling, a sample of its training rows, and the rows held out."""

    scaling: Scaling
    sample: Rows
    held: Rows
    training: list[Block]


class Moments(NamedTuple):
    """Number of rows, mean and sum of squared deviations of each column."""

    n: int
    mean: Float[np.ndarray, " column"]
    squares: Float[np.ndarray, " column"]

    def with_rows(self, table: Float[np.ndarray, "row column"]) -> "Moments":
        """These rows added."""
        mean = table.mean(axis=0, dtype=np.float64)
        other = Moments(len(table), mean, np.square(table - mean, dtype=np.float64).sum(axis=0))
        n = self.n + other.n
        step = other.mean - self.mean
        return Moments(
            n,
            self.mean + step * (other.n / n),
            self.squares + other.squares + step**2 * (self.n * other.n / n),
        )


def survey_stream(
    stream: Stream, share: float = 0.1, keep: Path | None = None, progress: Progress | None = None
) -> Survey:
    """Read all rows once; with `keep`, a folder, the result stays there and is found again while no file changes.

    `share` of the rows is held out, in whole blocks, at most HELD_ROWS of them. `progress` is told rows.
    """
    training, held = _divide(stream.blocks(), share)
    wanted = {"revision": REVISIONS["surveys"], "data": stream.identity(), "share": share}
    path = None if keep is None else keep / "survey.npz"
    if path is not None and (found := _kept(path, wanted, training)) is not None:
        return found
    found = _read_through(stream, training, held, progress)
    if path is not None:
        _write(path, wanted, found)
    return found


def draw_rows(stream: Stream, n_rows: int, seed: int = 0) -> Rows:
    """`n_rows` random rows in memory, without replacement, in the order of the stream."""
    if not 0 < n_rows <= stream.n_rows:
        raise InputError(f"the stream has {stream.n_rows:,} rows, so {n_rows:,} cannot be drawn: ask for fewer")
    drawn = np.sort(np.random.default_rng(seed).choice(stream.n_rows, n_rows, replace=False))
    tables = []
    for block in stream.blocks():
        low, high = np.searchsorted(drawn, block)
        if low < high:
            tables.append(np.column_stack(read_checked(stream, block))[drawn[low:high] - block.first])
    return _rows(tables, stream.n_features + 1)


def _divide(blocks: list[Block], share: float) -> tuple[list[Block], list[Block]]:
    """Training blocks and held ones, drawn at random until they have enough rows."""
    n_rows = blocks[-1].stop
    wanted = min(share * n_rows, HELD_ROWS)
    chosen: set[int] = set()
    for index in np.random.default_rng(_SEED).permutation(len(blocks)):
        if sum(blocks[k].stop - blocks[k].first for k in chosen) >= wanted or len(chosen) == len(blocks) - 1:
            break
        chosen.add(int(index))
    return (
        [block for k, block in enumerate(blocks) if k not in chosen],
        [block for k, block in enumerate(blocks) if k in chosen],
    )


def _read_through(stream: Stream, training: list[Block], held: list[Block], progress: Progress | None) -> Survey:
    width = stream.n_features + 1
    moments = Moments(0, np.zeros(width), np.zeros(width))
    n_training = sum(block.stop - block.first for block in training)
    drawn = np.random.default_rng(_SEED).choice(n_training, min(SAMPLE_ROWS, n_training), replace=False)
    drawn.sort()
    sample, kept, seen = [], [], 0
    judging = set(held)
    for block in sorted(training + held):
        table = np.column_stack(read_checked(stream, block))
        if block in judging:
            kept.append(table)
        else:
            moments = moments.with_rows(table)
            low, high = np.searchsorted(drawn, [seen, seen + len(table)])
            sample.append(table[drawn[low:high] - seen])
            seen += len(table)
        if progress:
            progress(block.stop, stream.n_rows)
    return Survey(_scaling(moments, stream), _rows(sample, width), _rows(kept, width), training)


def _scaling(moments: Moments, stream: Stream) -> Scaling:
    spread = np.sqrt(moments.squares / moments.n)
    varies = spread > ROUNDING * np.abs(moments.mean)
    if not varies[-1]:
        raise InputError(
            f"the target {stream.target_name!r} is constant ({moments.mean[-1]:g}), so there is nothing to learn; "
            "check which column it is"
        )
    scale = np.where(varies, spread, 1.0)
    return Scaling(moments.mean[:-1], scale[:-1], float(moments.mean[-1]), float(scale[-1]))


def _rows(tables: list[np.ndarray], width: int) -> Rows:
    table = np.concatenate(tables) if tables else np.empty((0, width))
    return Rows(table[:, :-1], table[:, -1], np.ones(len(table)))


def _write(path: Path, identity: Identity, found: Survey) -> None:
    arrays: dict[str, Any] = {f"scaling_{name}": value for name, value in found.scaling._asdict().items()}
    for name, rows in (("sample", found.sample), ("held", found.held)):
        arrays |= {f"{name}_x": rows.x, f"{name}_y": rows.y}
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as partial, partial.open("wb") as file:
        np.savez(file, identity=np.array(json.dumps(identity)), **arrays)


def _kept(path: Path, wanted: Identity, training: list[Block]) -> Survey | None:
    """The survey of an earlier run, if it was of the same files."""
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            if not same_identity(json.loads(str(stored["identity"])), wanted):
                return None
            scaling = Scaling(
                stored["scaling_x_centre"],
                stored["scaling_x_scale"],
                float(stored["scaling_y_centre"]),
                float(stored["scaling_y_scale"]),
            )
            parts = [
                Rows(stored[f"{name}_x"], stored[f"{name}_y"], np.ones(len(stored[f"{name}_y"])))
                for name in ("sample", "held")
            ]
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is damaged ({error}): remove it, and the pass is done again") from error
    return Survey(scaling, parts[0], parts[1], training)

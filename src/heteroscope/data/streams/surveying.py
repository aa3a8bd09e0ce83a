"""Read a stream once before training: find centre and scale, draw a sample, and hold out rows for scoring.

Two sets of rows a and b have together the count n, mean and sum of squared deviations M

    n = n_a + n_b,    mean = mean_a + d n_b / n,    M = M_a + M_b + d^2 n_a n_b / n,    d = mean_b - mean_a

With this formula each block is added to those before it without loss of digits. Whole blocks are held out, because
neighbouring rows of a file are often similar.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.core import (
    REVISIONS,
    DamageError,
    Identity,
    InputError,
    Progress,
    as_json,
    make_folder,
    read_sealed_arrays,
    same_identity,
    warn_of_damage,
    write_sealed_arrays,
)
from heteroscope.data.rows import Rows
from heteroscope.data.scaling import ROUNDING, SCALING_PARTS, Scaling
from heteroscope.data.streams.stream import Block, Stream, read_checked

HELD_ROWS = 65_536  # most rows held out: the NLL's standard error is then a few thousandths, and they fit in memory
SAMPLE_ROWS = 4096  # training rows in the sample
_SEED = 0  # always the same: which rows are held out depends on the stream, not on the model


class Survey(NamedTuple):
    """The result of the pass: scaling, a sample of the training rows, the held-out rows, and the training blocks."""

    scaling: Scaling
    sample: Rows
    held: Rows
    training: list[Block]


class Moments(NamedTuple):
    """Number of rows, and mean, sum of squared deviations, minimum and maximum of each column."""

    n: int
    mean: Float[np.ndarray, " column"]
    squares: Float[np.ndarray, " column"]
    low: Float[np.ndarray, " column"]
    high: Float[np.ndarray, " column"]

    @classmethod
    def empty(cls, width: int) -> "Moments":
        """Return the moments of no rows."""
        return cls(0, np.zeros(width), np.zeros(width), np.full(width, np.inf), np.full(width, -np.inf))

    def with_rows(self, table: Float[np.ndarray, "row column"]) -> "Moments":
        """Return the moments with these rows added."""
        n_new, n = len(table), self.n + len(table)
        with np.errstate(over="ignore", invalid="ignore"):  # `_scaling` refuses numbers whose squares overflow
            mean = table.mean(axis=0, dtype=np.float64)
            squares = np.square(table - mean, dtype=np.float64).sum(axis=0)
            step = mean - self.mean
            return Moments(
                n,
                self.mean + step * (n_new / n),
                self.squares + squares + step**2 * (self.n * n_new / n),
                np.minimum(self.low, table.min(axis=0)),
                np.maximum(self.high, table.max(axis=0)),
            )


def survey_stream(
    stream: Stream, share: float = 0.1, keep: Path | None = None, progress: Progress | None = None
) -> Survey:
    """Read all rows once, or return the survey that an earlier run kept.

    Parameters
    ----------
    stream : Stream
        The data.
    share : float, default=0.1
        The share of rows to hold out, in whole blocks, until at least min(share * n_rows, 65,536) rows are held out.
    keep : Path or None, default=None
        A folder for the result. It is used again as long as the files of the stream do not change.
    progress : callable or None, default=None
        Called with the number of rows read and the number of all rows.

    Returns
    -------
    Survey
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
    """Return `n_rows` random rows, drawn without replacement, in the order of the stream."""
    if not 0 < n_rows <= stream.n_rows:
        raise InputError(f"the stream has {stream.n_rows:,} rows, so {n_rows:,} cannot be drawn: choose fewer")
    drawn = np.sort(np.random.default_rng(seed).choice(stream.n_rows, n_rows, replace=False))
    tables = []
    for block in stream.blocks():
        low, high = np.searchsorted(drawn, block)
        if low < high:
            tables.append(np.column_stack(read_checked(stream, block))[drawn[low:high] - block.first])
    return _rows(tables, stream.n_features + 1)


def _divide(blocks: list[Block], share: float) -> tuple[list[Block], list[Block]]:
    """Divide blocks into training blocks and held-out blocks, drawn at random until they have enough rows."""
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
    """Read all blocks in the order of the stream and return the survey."""
    width = stream.n_features + 1
    moments = Moments.empty(width)
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
    """Return centre, scale and range; raise an `InputError` if the target is constant or numbers are too large."""
    spread = np.sqrt(moments.squares / moments.n)
    lost = ~np.isfinite(spread) | ((spread == 0) & (moments.high > moments.low))
    if lost.any():
        column = int(np.argmax(lost))
        size = max(abs(moments.low[column]), abs(moments.high[column]))
        name = (*stream.feature_names, stream.target_name)[column]
        raise InputError(f"column {name!r} has values of size {size:.0e}: express it in another unit")
    varies = spread > ROUNDING * np.abs(moments.mean)
    if not varies[-1]:
        raise InputError(
            f"the target {stream.target_name!r} is constant ({moments.mean[-1]:g}), so there is nothing to learn; "
            "check which column it is"
        )
    scale = np.where(varies, spread, 1.0)
    low, high = (part[:-1].astype(np.float64) for part in (moments.low, moments.high))
    return Scaling(moments.mean[:-1], scale[:-1], float(moments.mean[-1]), float(scale[-1]), low, high)


def _rows(tables: list[np.ndarray], width: int) -> Rows:
    """Return tables whose last column is the target as rows of weight one."""
    table = np.concatenate(tables) if tables else np.empty((0, width))
    return Rows(table[:, :-1], table[:, -1], np.ones(len(table)))


def _write(path: Path, identity: Identity, found: Survey) -> None:
    """Write a survey and its identity to a file."""
    arrays = {f"scaling_{name}": np.asarray(getattr(found.scaling, name)) for name in SCALING_PARTS}
    for name, rows in (("sample", found.sample), ("held", found.held)):
        arrays |= {f"{name}_x": rows.x, f"{name}_y": rows.y}
    make_folder(path.parent)
    write_sealed_arrays(path, {"identity": as_json(identity)}, arrays)


def _kept(path: Path, wanted: Identity, training: list[Block]) -> Survey | None:
    """Read the survey of an earlier run; return None if there is none, or if it is damaged or has another identity."""
    if not path.is_file():
        return None
    try:
        content, stored = read_sealed_arrays(path)
    except DamageError as error:
        warn_of_damage(path, error, "the stream is read again")
        return None
    if not same_identity(content["identity"], wanted):
        return None
    found: dict[str, Any] = {name: stored[f"scaling_{name}"] for name in SCALING_PARTS}
    scaling = Scaling(**found | {name: float(found[name]) for name in ("y_centre", "y_scale")})
    sample, held = (
        Rows(stored[f"{name}_x"], stored[f"{name}_y"], np.ones(len(stored[f"{name}_y"]))) for name in ("sample", "held")
    )
    return Survey(scaling, sample, held, training)

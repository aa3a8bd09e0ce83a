"""Rows in shuffled blocks, read ahead of those who use them, in an order that can be taken up again anywhere.

An epoch visits all blocks in a random order, a few of them at a time; the rows of these few are mixed and cut into
batches, one epoch running on into the next. Which row comes where depends on the seed alone.
"""

from collections.abc import Generator, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.data.scaling import Scaling
from heteroscope.data.streams.stream import Block, Stream, read_checked, refuse_changed_files

if TYPE_CHECKING:  # only the annotations of `Chunk` name JAX
    from jax import Array

WINDOW_BYTES = 2**24  # rows that are mixed at a time
FEWEST_MIXED = 4  # blocks that are mixed at a time, however large they are
CHUNK_BYTES = 2**23  # batches that one program is given at a time
MOST_BATCHES = 64
AHEAD = 2  # chunks that are read before they are asked for


class Chunk(NamedTuple):
    """Batches in standardised units, ready for the networks."""

    x: "Float[Array | np.ndarray, 'batch point feature']"
    y: "Float[Array | np.ndarray, 'batch point']"
    weight: "Float[Array | np.ndarray, 'batch point']"


class RowOrder(NamedTuple):
    """All that decides which rows a step sees: the stream, its training blocks, its scaling, batch size and seed."""

    stream: Stream
    blocks: list[Block]
    scaling: Scaling
    batch_size: int
    seed: int

    @property
    def chunk_batches(self) -> int:
        """How many batches a chunk has: the same in a whole run, so that one program does for all."""
        return int(np.clip(CHUNK_BYTES // (4 * self.batch_size * (self.stream.n_features + 1)), 1, MOST_BATCHES))


def read_chunks(order: RowOrder, first_step: int) -> Iterator[Chunk]:
    """Chunk after chunk without end, from the batch of `first_step` on."""
    n_rows = order.chunk_batches * order.batch_size
    equal = np.ones((order.chunk_batches, order.batch_size), np.float32)
    waiting_x, waiting_y, n_waiting = [], [], 0
    for x, y in _mixed(order, first_step * order.batch_size):
        waiting_x.append(x)
        waiting_y.append(y)
        n_waiting += len(y)
        if n_waiting < n_rows:
            continue
        x, y = np.concatenate(waiting_x), np.concatenate(waiting_y)
        n_whole = len(y) // n_rows
        for k in range(n_whole):
            rows = slice(k * n_rows, (k + 1) * n_rows)
            yield Chunk(
                x[rows].reshape(order.chunk_batches, order.batch_size, -1),
                y[rows].reshape(order.chunk_batches, order.batch_size),
                equal,
            )
        waiting_x, waiting_y, n_waiting = [x[n_whole * n_rows :]], [y[n_whole * n_rows :]], len(y) - n_whole * n_rows


def _mixed(order: RowOrder, offset: int) -> Iterator[tuple[Any, Any]]:
    """Rows in their order, a window at a time, from row number `offset` of all epochs on."""
    stamps = order.stream.stamps()
    sizes = np.array([block.stop - block.first for block in order.blocks])
    row_bytes = 4 * (order.stream.n_features + 1)
    n_mixed = max(FEWEST_MIXED, int(WINDOW_BYTES // (row_bytes * sizes.mean())))
    epoch, left = divmod(offset, int(sizes.sum()))
    while True:
        visits = np.random.default_rng([order.seed, epoch]).permutation(len(sizes))
        for number, start in enumerate(range(0, len(visits), n_mixed)):
            window = visits[start : start + n_mixed]
            n_rows = int(sizes[window].sum())
            if left >= n_rows:
                left -= n_rows
                continue
            refuse_changed_files(stamps, order.stream)
            x = np.empty((n_rows, order.stream.n_features), np.float32)
            y = np.empty(n_rows, np.float32)
            shuffled = np.random.default_rng([order.seed, epoch, number]).permutation(n_rows)
            filled = 0
            for index in window:
                block_x, block_y = read_checked(order.stream, order.blocks[index])
                places = shuffled[filled : filled + len(block_y)]
                x[places], y[places] = order.scaling.inputs(block_x), order.scaling.targets(block_y)
                filled += len(block_y)
            yield x[left:], y[left:]
            left = 0
        epoch += 1


def read_ahead(chunks: Iterator[Chunk]) -> Generator[Chunk]:
    """The same chunks, read by a thread while those before are worked on; an error comes where its chunk would."""
    queue: Queue[Any] = Queue(maxsize=AHEAD)
    stop = Event()

    def read() -> None:
        try:
            for chunk in chunks:
                if not _put(queue, chunk, stop):
                    return
        except BaseException as error:  # handed to whoever waits
            _put(queue, error, stop)

    thread = Thread(target=read, daemon=True)
    thread.start()
    try:
        while True:
            found = queue.get()
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        stop.set()
        _empty(queue)
        thread.join()


def _put(queue: "Queue[Any]", item: Any, stop: Event) -> bool:
    """Wait for a free place, unless nobody wants the item any more."""
    while not stop.is_set():
        try:
            queue.put(item, timeout=0.1)
        except Full:
            continue
        return True
    return False


def _empty(queue: "Queue[Any]") -> None:
    try:
        while True:
            queue.get_nowait()
    except Empty:
        return

"""Read the rows of a stream in random order, in batches, beginning at any training step.

An epoch goes through all blocks in random order. A few blocks at a time (a window) are read, their rows are shuffled
and divided into batches; rows that do not fill a batch are joined with the next window, also across epochs. The order
depends only on the seed, so that a run can be continued at any step.
"""

from collections.abc import Generator, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.data.scaling import Scaling
from heteroscope.data.streams.stream import Block, Stream, read_checked, refuse_changed_files

if TYPE_CHECKING:  # only annotations name JAX, so that this package does not import it
    from jax import Array

WINDOW_BYTES = 2**24  # size of a window: rows that are shuffled together
FEWEST_MIXED = 4  # fewest blocks of a window, however large they are
CHUNK_BYTES = 2**23  # size of a chunk: batches that are passed to a compiled program together
MOST_BATCHES = 64  # most batches of a chunk
AHEAD = 2  # chunks that are read before they are needed


class Chunk(NamedTuple):
    """Several batches of standardised rows, ready for training."""

    x: "Float[Array | np.ndarray, 'batch point feature']"
    y: "Float[Array | np.ndarray, 'batch point']"
    weight: "Float[Array | np.ndarray, 'batch point']"


class RowOrder(NamedTuple):
    """What determines the rows of each training step: stream, training blocks, scaling, batch size and seed."""

    stream: Stream
    blocks: list[Block]
    scaling: Scaling
    batch_size: int
    seed: int

    @property
    def chunk_batches(self) -> int:
        """The number of batches per chunk; constant during a run, so that one compiled program serves all chunks."""
        return int(np.clip(CHUNK_BYTES // (4 * self.batch_size * (self.stream.n_features + 1)), 1, MOST_BATCHES))


def read_chunks(order: RowOrder, first_step: int) -> Iterator[Chunk]:
    """Yield chunks without end, beginning with the batch of step `first_step`."""
    n_rows = order.chunk_batches * order.batch_size
    equal = np.ones((order.chunk_batches, order.batch_size), np.float32)
    waiting_x, waiting_y, n_waiting = [], [], 0
    for x, y in _shuffled_windows(order, first_step * order.batch_size):
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


def _shuffled_windows(order: RowOrder, offset: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield standardised inputs and targets, one window at a time, after the first `offset` rows of all epochs."""
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
    """Yield the same chunks, read by a thread while earlier ones are in use; an error takes the place of its chunk."""
    queue: Queue[Chunk | BaseException] = Queue(maxsize=AHEAD)
    stop = Event()

    def read() -> None:
        try:
            for chunk in chunks:
                if not _put(queue, chunk, stop):
                    return
        except BaseException as error:  # raised again by the consumer
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


def _put(queue: "Queue[Chunk | BaseException]", item: Chunk | BaseException, stop: Event) -> bool:
    """Wait for a free place and put the item there; return False if `stop` is set first."""
    while not stop.is_set():
        try:
            queue.put(item, timeout=0.1)
        except Full:
            continue
        return True
    return False


def _empty(queue: "Queue[Chunk | BaseException]") -> None:
    """Remove all items, so that the reading thread can end."""
    try:
        while True:
            queue.get_nowait()
    except Empty:
        return

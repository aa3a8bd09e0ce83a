"""Every epoch shows every training row once, in a new order that can be taken up at any step."""

from itertools import islice

import numpy as np
import pytest

from heteroscope.core.errors import InputError
from heteroscope.data.streams import batches, open_stream
from heteroscope.data.streams.batches import RowOrder, read_ahead, read_chunks
from heteroscope.data.streams.surveying import survey_stream
from tests.data.streams.small_tables import write_npy


@pytest.fixture(autouse=True)
def small_windows(monkeypatch):
    monkeypatch.setattr(batches, "WINDOW_BYTES", 600 * 16)
    monkeypatch.setattr(batches, "CHUNK_BYTES", 350 * 16)


@pytest.fixture(scope="module")
def order(stream):
    found = survey_stream(stream)
    return RowOrder(stream, found.training, found.scaling, batch_size=50, seed=3)


def rows_of(order, first_step, n_chunks):
    parts = list(islice(read_chunks(order, first_step), n_chunks))
    return np.concatenate([part.y.ravel() for part in parts]), np.concatenate([part.x.reshape(-1, 3) for part in parts])


def test_an_epoch_shows_every_training_row_once(order, table):
    rows = np.concatenate([np.arange(block.first, block.stop) for block in order.blocks])
    wanted = order.scaling.targets(table.y[rows])
    y, x = rows_of(order, 0, 20)
    epoch, following = y[: len(wanted)], y[len(wanted) : 2 * len(wanted)]
    np.testing.assert_array_equal(np.sort(epoch), np.sort(wanted))
    np.testing.assert_array_equal(np.sort(following), np.sort(wanted))
    assert not np.array_equal(epoch, following)
    np.testing.assert_allclose(x[: len(wanted)].mean(axis=0), 0.0, atol=1e-4)
    np.testing.assert_allclose(x[: len(wanted)].std(axis=0), 1.0, rtol=1e-4)


def test_inputs_stay_beside_their_targets(order, table):
    y, x = rows_of(order, 0, 5)
    targets = dict(zip(map(tuple, order.scaling.inputs(table.x)), order.scaling.targets(table.y), strict=True))
    np.testing.assert_array_equal([targets[tuple(row)] for row in x], y)


@pytest.mark.parametrize("step", [1, 13, 54, 71])  # within a window, at another's start, in the second epoch
def test_the_order_can_be_taken_up_at_any_step(order, step):
    whole, _ = rows_of(order, 0, 20)
    part, _ = rows_of(order, step, 4)
    np.testing.assert_array_equal(part, whole[step * 50 :][: len(part)])


def test_neighbours_in_the_file_are_spread(order, table):
    _, x = rows_of(order, 0, 1)
    place = {tuple(inputs): row for row, inputs in enumerate(order.scaling.inputs(table.x))}
    rows = np.array([place[tuple(inputs)] for inputs in x[:50]])
    assert np.ptp(rows) > 500  # a batch of 50 comes from far more than 50 neighbouring rows


def test_chunks_that_are_read_ahead_are_the_same(order):
    apart = [part.y for part in islice(read_chunks(order, 0), 6)]
    reader = read_ahead(read_chunks(order, 0))
    for wanted in apart:
        np.testing.assert_array_equal(next(reader).y, wanted)
    reader.close()


def test_an_error_of_the_reading_thread_reaches_the_user(tmp_path, table):
    paths = write_npy(tmp_path, table)
    stream = open_stream(paths)
    found = survey_stream(stream)
    reader = read_ahead(read_chunks(RowOrder(stream, found.training, found.scaling, 50, 0), 0))
    next(reader)
    np.save(tmp_path / "other.npy", table.y + 1)
    (tmp_path / "other.npy").replace(
        paths[1]
    )  # at once: a file that is still being written is short, which is told first
    with pytest.raises(InputError, match=r"y.npy has changed since the run began"):
        list(islice(reader, 100))

"""One pass: the moments that numpy finds, rows held out that no batch shows, and a result that is kept."""

import warnings

import numpy as np
import pytest

from heteroscope.core.errors import InputError, StoreWarning
from heteroscope.data.streams import open_stream
from heteroscope.data.streams.surveying import draw_rows, survey_stream
from tests.data.streams.small_tables import make_table, write_npy


def training_rows(found, table):
    rows = np.concatenate([np.arange(block.first, block.stop) for block in found.training])
    return table.x[rows].astype(float), table.y[rows].astype(float)


def test_scaling_is_that_of_the_training_rows(stream, table):
    found = survey_stream(stream)
    x, y = training_rows(found, table)
    np.testing.assert_allclose(found.scaling.x_centre, x.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.scaling.x_scale, x.std(axis=0), rtol=1e-9)
    assert found.scaling.y_centre == pytest.approx(y.mean(), rel=1e-12)
    assert found.scaling.y_scale == pytest.approx(y.std(), rel=1e-9)


def test_no_digits_are_lost_far_from_zero(tmp_path):
    table = make_table()
    stream = open_stream(write_npy(tmp_path, table._replace(y=table.y.astype(np.float64) + 1e9)))
    found = survey_stream(stream)
    _, y = training_rows(found, table)
    assert found.scaling.y_scale == pytest.approx(y.std(), rel=1e-6)


def test_rows_are_held_out_or_trained_on(stream, table):
    found = survey_stream(stream, share=0.2)
    _, y = training_rows(found, table)
    assert len(y) + len(found.held.y) == len(table.y)
    assert 0.2 * len(table.y) <= len(found.held.y) < 0.25 * len(table.y)
    assert sorted([*y, *found.held.y]) == sorted(table.y.tolist())
    assert set(map(tuple, found.sample.x.tolist())) <= set(map(tuple, training_rows(found, table)[0].tolist()))
    assert len(survey_stream(stream, share=0.0).held.y) == 0


def test_the_result_is_kept_until_a_file_changes(tmp_path, table, monkeypatch):
    paths = write_npy(tmp_path / "data", table)
    stream = open_stream(paths)
    first = survey_stream(stream, keep=tmp_path / "run")
    reads = []
    monkeypatch.setattr(
        type(stream), "read", lambda self, *rows: reads.append(rows) or (table.x[slice(*rows)], table.y[slice(*rows)])
    )
    again = survey_stream(stream, keep=tmp_path / "run")
    assert not reads
    for one, other in zip((*first.scaling, *first.held), (*again.scaling, *again.held), strict=True):
        np.testing.assert_array_equal(one, other)
    np.save(paths[1], table.y + 1)
    survey_stream(open_stream(paths), keep=tmp_path / "run")
    assert reads


def test_a_constant_target_and_a_hole_are_one_line(tmp_path):
    table = make_table()
    with pytest.raises(InputError, match="the target 'y0' is constant"):
        survey_stream(open_stream(write_npy(tmp_path / "flat", table._replace(y=np.ones_like(table.y)))))
    table.y[2999] = np.inf
    with pytest.raises(InputError, match="row 2,999 has inf in column 'y0'"):
        survey_stream(open_stream(write_npy(tmp_path / "hole", table)))


def test_numbers_whose_squares_overflow_are_refused_as_in_tables(tmp_path):
    for size in (1e200, 1e-200):
        table = make_table()
        table = table._replace(x=table.x.astype(np.float64) * size)
        with pytest.raises(InputError, match=r"column 'x0' has values of size .*: express it in another unit"):
            survey_stream(open_stream(write_npy(tmp_path / str(size), table)))


@pytest.mark.parametrize(
    "damage", [lambda content: b"", lambda content: content[:2000], lambda content: b"x" + content]
)
def test_a_damaged_survey_is_made_again_and_says_so(stream, tmp_path, damage):
    first = survey_stream(stream, keep=tmp_path)
    path = tmp_path / "survey.npz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(StoreWarning, match=r"survey.npz is damaged .*: the stream is read again"):
        again = survey_stream(stream, keep=tmp_path)
    for one, other in zip((*first.scaling, *first.held), (*again.scaling, *again.held), strict=True):
        np.testing.assert_array_equal(one, other)
    survey_stream(stream, keep=tmp_path)


def test_the_range_is_that_of_the_training_rows(stream, table):
    found = survey_stream(stream)
    x, _ = training_rows(found, table)
    np.testing.assert_array_equal(found.scaling.x_low, x.min(axis=0))
    np.testing.assert_array_equal(found.scaling.x_high, x.max(axis=0))


def test_drawn_rows_are_rows_of_the_stream_without_replacement(stream, table):
    drawn = draw_rows(stream, 500, seed=1)
    places = np.searchsorted(np.sort(table.y), drawn.y)
    np.testing.assert_array_equal(np.sort(table.y)[places], drawn.y)
    assert len(set(map(tuple, drawn.x.tolist()))) == 500
    with pytest.raises(InputError, match="3,001 cannot be drawn"):
        draw_rows(stream, 3001)


def test_any_flipped_bit_of_a_survey_is_noticed_or_changes_nothing(stream, tmp_path):
    first = survey_stream(stream, keep=tmp_path)
    path, chance = tmp_path / "survey.npz", np.random.default_rng(0)
    content = path.read_bytes()
    headers = [content.index(b"{'descr'"), content.rindex(b"{'descr'")]
    for place in [*(start + step for start in headers for step in (0, 9, 30)), *chance.integers(len(content), size=6)]:
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(chance.integers(8))
        path.write_bytes(flipped)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StoreWarning)
            again = survey_stream(stream, keep=tmp_path)
        np.testing.assert_array_equal(again.held.x, first.held.x)

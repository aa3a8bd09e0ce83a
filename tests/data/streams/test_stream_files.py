"""Every format gives the same rows, and everything that can be wrong with a file is one line."""

import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heteroscope.core.errors import InputError
from heteroscope.core.identity import refuse_other_settings
from heteroscope.data.streams import open_stream, repack
from heteroscope.data.streams.stream import read_checked, refuse_changed_files
from tests.data.streams.small_tables import NAMES, as_frame, make_table, write_npy


def parquet_folder(folder, table):
    frame = as_frame(table)
    frame[:1300].to_parquet(folder / "part-0.parquet", row_group_size=200)
    frame[1300:].to_parquet(folder / "part-1.parquet", row_group_size=500)
    return open_stream(folder, target="y")


def one_parquet_file(folder, table):
    as_frame(table).to_parquet(folder / "all.parquet")
    return open_stream(folder / "all.parquet", target="y", features=NAMES)


def zarr_store(folder, table):
    as_frame(table).to_xarray().to_zarr(folder / "all.zarr", zarr_format=2, consolidated=False)
    return open_stream(folder / "all.zarr", target="y")


def netcdf_files(folder, table):
    frame = as_frame(table)
    frame[:1000].to_xarray().to_netcdf(folder / "a.nc", engine="scipy")
    frame[1000:].to_xarray().to_netcdf(folder / "b.nc", engine="scipy")
    return open_stream([folder / "a.nc", folder / "b.nc"], target="y")


def netcdf_4_file(folder, table):
    as_frame(table).to_xarray().to_netcdf(folder / "all.nc", engine="h5netcdf")
    return open_stream(folder / "all.nc", target="y")


def npy_pair(folder, table):
    return open_stream(write_npy(folder, table))


def npy_of_integers_and_two_targets(folder, table):
    np.save(folder / "x.npy", table.x)
    np.save(folder / "y.npy", np.column_stack([np.arange(len(table.y)), table.y]))
    return open_stream((folder / "x.npy", folder / "y.npy"), target=1)


FORMATS = [
    parquet_folder,
    one_parquet_file,
    zarr_store,
    netcdf_files,
    netcdf_4_file,
    npy_pair,
    npy_of_integers_and_two_targets,
]


@pytest.mark.parametrize("make", FORMATS)
def test_every_format_gives_the_rows_that_were_written(make, tmp_path, table):
    stream = pickle.loads(pickle.dumps(make(tmp_path, table)))
    assert (len(stream), stream.n_features) == table.x.shape
    x, y = stream.read(0, len(stream))
    np.testing.assert_array_equal(x, table.x)
    np.testing.assert_array_equal(y, table.y)
    x, y = stream.read(990, 1410)  # across files and row groups
    np.testing.assert_array_equal(x, table.x[990:1410])
    np.testing.assert_array_equal(y, table.y[990:1410])


@pytest.mark.parametrize("make", FORMATS)
def test_a_stream_of_relative_names_is_read_from_any_folder(make, tmp_path, table, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    stream = make(Path("data"), table)
    monkeypatch.chdir("elsewhere")  # as a worker that was started there
    np.testing.assert_array_equal(stream.read(0, 3)[1], table.y[:3])
    assert len(stream.stamps()) == len(stream.files()) > 0


@pytest.mark.parametrize("make", FORMATS)
def test_blocks_cover_every_row_once(make, tmp_path, table):
    blocks = make(tmp_path, table).blocks()
    assert [block.first for block in blocks] == [0, *(block.stop for block in blocks[:-1])]
    assert blocks[-1].stop == len(table.y)
    assert len(blocks) >= 20


def test_a_variable_of_two_dimensions_is_as_many_columns(tmp_path, table):
    import xarray as xr

    data = xr.Dataset({"t": (("time", "level"), table.x), "flux": ("time", table.y), "a": ("time", table.y)})
    data.to_zarr(tmp_path / "d.zarr", zarr_format=2, consolidated=False)
    stream = open_stream(tmp_path / "d.zarr", target="flux")
    assert stream.feature_names == ("a", "t_0", "t_1", "t_2")
    np.testing.assert_array_equal(stream.read(5, 7)[0], np.column_stack([table.y, table.x])[5:7])


def truncated(folder, table):
    paths = write_npy(folder, table)
    os.truncate(paths[0], 20_000)
    return paths, None


def missing(folder, table):
    return (folder / "x.npy", folder / "y.npy"), None


def of_different_lengths(folder, table):
    paths = write_npy(folder, table)
    np.save(paths[1], table.y[:-1])
    return paths, None


def by_column(folder, table):
    paths = write_npy(folder, table)
    np.save(paths[0], np.asfortranarray(table.x))
    return paths, None


def no_npy(folder, table):
    paths = write_npy(folder, table)
    paths[0].write_text("no array")
    return paths, None


def of_three_dimensions(folder, table):
    paths = write_npy(folder, table)
    np.save(paths[0], table.x[None])
    return paths, None


def truncated_parquet(folder, table):
    as_frame(table).to_parquet(folder / "a.parquet")
    os.truncate(folder / "a.parquet", 10_000)
    return folder, "y"


def parquet_with_text(folder, table):
    as_frame(table).assign(left="a").to_parquet(folder / "a.parquet")
    return folder, "y"


def parquet_without_target(folder, table):
    as_frame(table).to_parquet(folder / "a.parquet")
    return folder, "z"


def parquet_of_other_columns(folder, table):
    as_frame(table).to_parquet(folder / "a.parquet")
    as_frame(table).rename(columns={"left": "l"}).to_parquet(folder / "b.parquet")
    return folder, "y"


def folder_of_nothing(folder, table):
    return folder, "y"


def zarr_without_target(folder, table):
    as_frame(table).to_xarray().to_zarr(folder / "d.zarr", zarr_format=2, consolidated=False)
    return folder / "d.zarr", "z"


def no_netcdf(folder, table):
    (folder / "a.nc").write_text("no NetCDF")
    return folder / "a.nc", "y"


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (truncated, r"x.npy is truncated: it has 20,000 of 36,128 bytes"),
        (missing, "x.npy does not exist"),
        (of_different_lengths, "has 3,000 rows and .* has 2,999"),
        (by_column, "is stored by columns"),
        (no_npy, "is no .npy file"),
        (of_three_dimensions, r"of shape \(1, 3000, 3\)"),
        (truncated_parquet, "is not a whole Parquet file"),
        (parquet_with_text, "has .* in column 'left'"),
        (parquet_without_target, "has no column 'z': its columns are left, middle, right, y"),
        (parquet_of_other_columns, "do not belong together"),
        (folder_of_nothing, "has no .parquet files and is no Zarr store"),
        (zarr_without_target, "has no one-dimensional variable 'z'"),
        (no_netcdf, "cannot be opened"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(make, complaint, tmp_path, table):
    where, target = make(tmp_path, table)
    with pytest.raises(InputError, match=complaint) as caught:
        open_stream(where, target=target)
    assert "\n" not in str(caught.value)


def test_a_file_that_shrinks_after_it_was_opened_is_told(tmp_path, table):
    paths = write_npy(tmp_path, table)
    stream = open_stream(paths)
    os.truncate(paths[0], 20_000)
    with pytest.raises(InputError, match=r"x.npy ends at row 1,656 of 3,000"):
        stream.read(0, 3000)


def test_a_number_that_is_not_finite_is_told_by_row_and_column(tmp_path):
    table = make_table()
    table.x[2900, 1] = np.nan
    stream = open_stream(write_npy(tmp_path, table))
    block = next(block for block in stream.blocks() if block.stop > 2900)
    with pytest.raises(InputError, match=r"row 2,900 has nan in column 'x1'"):
        read_checked(stream, block)


def test_a_missing_number_in_parquet_is_one_that_is_not_finite(tmp_path, table):
    frame = as_frame(table).astype(object)
    frame.loc[7, "right"] = None
    schema = pa.schema([(name, pa.float64()) for name in frame.columns])
    pq.write_table(pa.Table.from_pandas(frame, schema=schema), tmp_path / "a.parquet")
    stream = open_stream(tmp_path, target="y")
    with pytest.raises(InputError, match="row 7 has nan in column 'right'"):
        read_checked(stream, stream.blocks()[0])


def test_a_file_that_changes_or_goes_is_told(tmp_path, table):
    paths = write_npy(tmp_path, table)
    stream = open_stream(paths)
    stamps = stream.stamps()
    refuse_changed_files(stamps, stream)
    os.utime(paths[1], ns=(0, 0))
    with pytest.raises(InputError, match=r"y.npy has changed since the run began"):
        refuse_changed_files(stamps, stream)
    paths[1].unlink()
    with pytest.raises(InputError, match=r"y.npy cannot be read"):
        refuse_changed_files(stamps, stream)


def test_large_row_groups_are_refused_with_a_cure_that_works(tmp_path, table):
    wide = pa.table({f"c{k}": np.zeros(200_000, np.float32) for k in range(40)} | {"y": np.arange(200_000.0)})
    pq.write_table(wide, tmp_path / "wide.parquet")
    with pytest.raises(InputError, match=r"row groups of 200,000 rows.*repack"):
        open_stream(tmp_path / "wide.parquet", target="y")
    repack(tmp_path / "wide.parquet", tmp_path / "repacked")
    stream = open_stream(tmp_path / "repacked", target="y")
    np.testing.assert_array_equal(stream.read(16_380, 16_390)[1], np.arange(16_380, 16_390))


def test_steps_of_some_epochs(stream):
    assert stream.steps(epochs=2, batch_size=100) == 60


def test_a_stream_is_identified_by_the_content_of_its_files_and_the_names_and_order_of_its_columns(tmp_path):
    frame = pd.DataFrame(np.arange(40.0).reshape(10, 4), columns=list("abcy"))
    frame.to_parquet(tmp_path / "t.parquet")

    def identity(*features):
        return open_stream(tmp_path / "t.parquet", "y", features or None).identity()

    first = identity("a", "b")
    for other in (("b", "a"), ("a", "c"), ("a",)):
        with pytest.raises(InputError, match=r"features was \['a', 'b'\] and is now"):
            refuse_other_settings(tmp_path, "a run", {"data": first}, {"data": identity(*other)}, "stop")
    os.utime(tmp_path / "t.parquet", ns=(0, 0))  # copied elsewhere and back
    assert identity("a", "b") == first
    before = (tmp_path / "t.parquet").stat()
    content = bytearray((tmp_path / "t.parquet").read_bytes())
    content[10] ^= 1
    (tmp_path / "t.parquet").write_bytes(content)
    os.utime(tmp_path / "t.parquet", ns=(0, 1))
    assert (tmp_path / "t.parquet").stat().st_size == before.st_size
    assert identity("a", "b") != first


def test_of_large_files_pieces_are_checked_and_the_time_counts(tmp_path, monkeypatch):
    monkeypatch.setattr("heteroscope.data.streams.stream.CHECKED_BYTES", 2**17)
    np.save(tmp_path / "x.npy", np.zeros((2**16, 2)))
    np.save(tmp_path / "y.npy", np.zeros(2**16))
    stream = open_stream((tmp_path / "x.npy", tmp_path / "y.npy"))
    (_, *first), _ = stream.identity()["files"]
    os.utime(tmp_path / "x.npy", ns=(0, 7))
    (_, size, checksum, changed), _ = stream.identity()["files"]
    assert [size, checksum] == first[:2]
    assert changed == 7 != first[2]
    with (tmp_path / "x.npy").open("rb+") as file:
        file.seek(-8, os.SEEK_END)
        file.write(np.float64(1.0).tobytes())
    assert stream.identity()["files"][0][2] != checksum

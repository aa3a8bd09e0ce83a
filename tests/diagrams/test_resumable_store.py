"""A diagram on disk: what is written comes back, and everything that is not such a store is refused in one line."""

import json
import threading

import numpy as np
import pytest
import xarray as xr

from heteroscope.core.errors import InputError
from heteroscope.diagrams.dataset import CELL
from heteroscope.diagrams.resumable_store import NAME, empty_codes, encode_words, open_diagram, open_store

SETTINGS = {"max_steps": 100, "rho": [0.1, 0.9], "data": "a" * 64}
TILE = {"nll": [[1.5], [2.5]], "phase": ["S", "O_I"], "status": ["converged", "out of steps"]}


@pytest.fixture
def template():
    shape = (2, 2, 1)
    return xr.Dataset(
        {
            "nll": ((*CELL, "split"), np.full((*shape, 1), np.nan)),
            "phase": empty_codes("phase", shape),
            "status": empty_codes("status", shape),
        },
        {"rho": [0.1, 0.9], "gamma": [0.2, 0.8], "seed": [0], "split": ["train"]},
        {"data_set": "made up"},
    )


def written(values):
    return {name: encode_words(name, v) if name in ("phase", "status") else np.array(v) for name, v in values.items()}


def test_a_tile_comes_back_and_the_rest_is_absent(tmp_path, template):
    with open_store(tmp_path / "new" / "folder", template, SETTINGS) as store:
        store.add((1, 0), written(TILE))
    found = open_diagram(tmp_path / "new" / "folder")
    assert found.phase.values[:, :, 0].tolist() == [["", ""], ["S", "O_I"]]
    assert found.status.values[1, :, 0].tolist() == ["converged", "out of steps"]
    np.testing.assert_array_equal(found.nll[:, :, 0, 0], [[np.nan, np.nan], [1.5, 2.5]])
    assert found.attrs == {"data_set": "made up"}
    assert list(found.split.values) == ["train"]
    with open_store(tmp_path / "new" / "folder", template, SETTINGS) as store:
        assert store.done.tolist() == [[False], [True]]


def test_codes_carry_their_meaning(tmp_path, template):
    with open_store(tmp_path, template, SETTINGS):
        pass
    raw = xr.open_zarr(tmp_path / NAME, consolidated=False, chunks=None)
    assert raw["phase"].attrs["flag_meanings"].split() == ["U_I", "U_II", "S", "O_II", "O_I", "none", "unknown"]
    assert raw["status"].attrs["flag_meanings"].split()[2] == "out_of_steps"


def test_a_tile_without_its_mark_does_not_count(tmp_path, template, monkeypatch):
    with open_store(tmp_path, template, SETTINGS) as store, pytest.raises(KeyError):
        store.add((0, 0), written(TILE) | {"no such variable": np.zeros(2)})
    with open_store(tmp_path, template, SETTINGS) as store:
        assert not store.done.any()


def test_other_settings_are_refused_with_the_difference(tmp_path, template):
    with open_store(tmp_path, template, SETTINGS):
        pass
    other = SETTINGS | {"max_steps": 200, "data": "b" * 64}
    with (
        pytest.raises(InputError, match="data was aaaaaaaaaaaa and is now bbbbbbbbbbbb") as caught,
        open_store(tmp_path, template, other),
    ):
        pass
    assert "max_steps was 100 and is now 200" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_writers_are_one_too_many(tmp_path, template):
    found = []

    def second():
        try:
            with open_store(tmp_path, template, SETTINGS):
                found.append("let in")
        except InputError as error:
            found.append(str(error))

    with open_store(tmp_path, template, SETTINGS):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert found == [f"another run is writing to {tmp_path}: wait until it ends, or choose another folder"]
    with open_store(tmp_path, template, SETTINGS):
        pass  # the lock went with its holder


def test_a_half_made_store_is_made_again(tmp_path, template):
    partial = tmp_path / f".{NAME}.part"
    (partial / "nll").mkdir(parents=True)
    (partial / "nll" / ".zarray").write_text("{")
    with open_store(tmp_path, template, SETTINGS) as store:
        assert not store.done.any()
    assert not partial.exists()


def test_a_place_that_cannot_be_written_is_named(tmp_path, template):
    (tmp_path / "file").write_text("here first")
    with (
        pytest.raises(InputError, match="cannot be written to"),
        open_store(tmp_path / "file" / "x", template, SETTINGS),
    ):
        pass


def test_a_full_disk_is_one_line_and_keeps_what_was_finished(tmp_path, template, monkeypatch):
    async def full(*arguments, **settings):
        raise OSError(28, "No space left on device")

    with open_store(tmp_path, template, SETTINGS) as store:
        store.add((0, 0), written(TILE))
    monkeypatch.setattr("zarr.storage.LocalStore.set", full)
    with (
        pytest.raises(InputError, match=r"No space left on device.*what was finished is kept"),
        open_store(tmp_path, template, SETTINGS) as store,
    ):
        store.add((1, 0), written(TILE))
    monkeypatch.undo()
    with open_store(tmp_path, template, SETTINGS) as store:
        assert store.done.tolist() == [[True], [False]]


def test_what_is_no_diagram_is_said(tmp_path, template):
    with pytest.raises(InputError, match="there is no diagram in"):
        open_diagram(tmp_path)
    (tmp_path / NAME).mkdir()
    with pytest.raises(InputError, match="is damaged"):
        open_diagram(tmp_path)
    with pytest.raises(InputError, match="was not written by a sweep"), open_store(tmp_path, template, SETTINGS):
        pass


def test_a_truncated_chunk_is_said(tmp_path, template):
    with open_store(tmp_path, template, SETTINGS) as store:
        store.add((1, 0), written(TILE))
    chunk = tmp_path / NAME / "nll" / "1.0.0.0"
    chunk.write_bytes(chunk.read_bytes()[:10])
    with pytest.raises(InputError, match="is damaged"):
        open_diagram(tmp_path)


def test_settings_are_stored_as_json(tmp_path, template):
    with open_store(tmp_path, template, SETTINGS):
        pass
    assert json.loads(xr.open_zarr(tmp_path / NAME, consolidated=False).attrs["settings"]) == SETTINGS

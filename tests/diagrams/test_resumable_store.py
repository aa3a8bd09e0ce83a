"""A diagram on disk: what is written comes back, and everything that is not such a store is refused in one line."""

import json
import random
import shutil
import threading
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from heteroscope.core.errors import InputError, StoreWarning
from heteroscope.core.provenance import computed_with
from heteroscope.diagrams.dataset import CELL
from heteroscope.diagrams.resumable_store import (
    NAME,
    ROUNDS,
    empty_codes,
    encode_words,
    open_diagram,
    open_round,
    open_store,
)
from heteroscope.diagrams.rounds import _refuse_lost_tiles
from tests.power_cut import PowerCut, PowerFailure

SETTINGS = {"max_steps": 100, "rho": [0.1, 0.9], "data": "a" * 64}
TILE = {"nll": [[1.5], [2.5]], "phase": ["S", "O_I"], "status": ["converged", "out of steps"]}


@pytest.fixture(scope="module")
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
    assert found.attrs.pop("computed_with").startswith("heteroscope ")
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


FIRST = {"nll": [[1.0], [2.0]], "phase": ["U_I", "S"], "status": ["converged", "converged"]}
TILES = {(0, 0): FIRST, (1, 0): TILE}


@pytest.fixture(scope="module")
def whole_store(tmp_path_factory, template):
    """A store with both tiles, and what is read from it."""
    folder = tmp_path_factory.mktemp("whole")
    with open_store(folder, template, SETTINGS) as store:
        for tile, values in TILES.items():
            store.add(tile, written(values))
    return folder, open_diagram(folder)


@pytest.fixture
def finished(tmp_path, whole_store):
    """A copy of that store, and what is read from it."""
    return shutil.copytree(whole_store[0], tmp_path / "finished"), whole_store[1]


def finish(folder, template):
    """Resume a store, write the tiles that are missing, and return these."""
    with open_store(folder, template, SETTINGS) as store:
        missing = [tile for tile in TILES if not store.done[tile]]
        for tile in missing:
            store.add(tile, written(TILES[tile]))
    return missing


def is_damaged(folder):
    try:
        open_diagram(folder)
    except InputError:
        return True
    return False


def truncate(file):
    file.write_bytes(file.read_bytes()[:10])


def flip(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)


@pytest.mark.parametrize("damage", [Path.unlink, truncate, flip])
def test_a_damaged_chunk_is_found_named_and_only_its_tile_is_made_again(finished, template, damage):
    folder, whole = finished
    for file in [folder / NAME / "nll" / "1.0.0.0", folder / NAME / "done" / "1.0"]:
        damage(file)
        gone = damage is Path.unlink and file.parent.name == "done"  # a tile without a mark is not finished
        if gone:
            assert (open_diagram(folder).phase.values[1] == "").all()
            assert finish(folder, template) == [(1, 0)]
        else:
            with pytest.raises(InputError, match=r"is damaged \(rho 0.9 of seed 0: .*run the same sweep again"):
                open_diagram(folder)
            with pytest.warns(StoreWarning, match=r"rho 0.9 of seed 0: .* these tiles are computed again"):
                assert finish(folder, template) == [(1, 0)]
        assert open_diagram(folder).identical(whole)


def test_any_flipped_bit_is_noticed_and_mended(finished, template, tmp_path):
    folder, whole = finished
    chance = random.Random(0)
    files = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size]
    for number, file in enumerate(chance.sample(files, 6)):
        copy = tmp_path / str(number)
        shutil.copytree(folder, copy)
        content = bytearray((copy / file.relative_to(folder)).read_bytes())
        place = chance.randrange(8 * len(content))
        content[place // 8] ^= 1 << place % 8
        (copy / file.relative_to(folder)).write_bytes(content)
        if is_damaged(copy):
            with pytest.warns(StoreWarning, match="damaged"):
                finish(copy, template)
        assert open_diagram(copy).identical(whole), file


@pytest.mark.parametrize("name", ["diagram.json", f"{NAME}/.zattrs", f"{NAME}/nll/.zarray", f"{NAME}/rho/0"])
def test_metadata_that_is_missing_is_written_again(finished, template, name):
    folder, whole = finished
    (folder / name).unlink()
    with pytest.raises(InputError, match="is damaged"):
        open_diagram(folder)
    with pytest.warns(StoreWarning, match="written again"):
        assert finish(folder, template) == []
    assert open_diagram(folder).identical(whole)


def cut_and_finish(tmp_path, template, kept, last):
    """Cut the power after `last` syncs of a whole sweep; return the tiles that were done, and those made again."""
    root, done = tmp_path / f"disk {last}", []
    root.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        cut = PowerCut(root, patch, last)
        with suppress(PowerFailure), open_store(root / "sweep", template, SETTINGS) as store:
            for tile, values in TILES.items():
                store.add(tile, written(values))
                done.append(tile)
    found = cut.disk(tmp_path / f"after {last}", kept, seed=last) / "sweep"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)
        missing = finish(found, template)
    return done, missing, open_diagram(found), cut.n_synced


@pytest.mark.parametrize(("kept", "last"), [("synced", 4), ("names", 40), ("some", 43), ("names", 55), ("synced", 60)])
def test_after_a_power_cut_what_was_marked_is_whole(tmp_path, template, kept, last, finished):
    done, missing, found, _ = cut_and_finish(tmp_path, template, kept, last)
    assert not set(missing) & set(done)
    assert found.identical(finished[1])


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kept", ["synced", "names", "some"])
def test_after_a_power_cut_at_any_moment_what_was_marked_is_whole(tmp_path, template, kept, finished):
    last, n_synced = 1, 2
    while last <= n_synced:
        done, missing, found, n_synced = cut_and_finish(tmp_path, template, kept, last)
        assert not set(missing) & set(done), f"after {last} syncs"
        assert found.identical(finished[1])
        last += 1


def test_a_store_says_what_else_computed_a_part_of_it(tmp_path, template, monkeypatch):
    with open_store(tmp_path, template, SETTINGS) as store:
        store.add((0, 0), written(FIRST))
    older = computed_with() | {"jaxlib": "0.1"}
    monkeypatch.setattr("heteroscope.diagrams.tile_marks.computed_with", lambda: older)
    with open_store(tmp_path, template, SETTINGS) as store:
        store.add((1, 0), written(TILE))
    with (
        pytest.warns(StoreWarning, match="continues with 1 tiles .*jaxlib was 0.1 and is now"),
        open_store(tmp_path, template, SETTINGS),
    ):
        pass
    assert "jaxlib 0.1" in open_diagram(tmp_path).attrs["computed_with"]
    assert f"jaxlib {computed_with()['jaxlib']}" in open_diagram(tmp_path).attrs["computed_with"]


def test_a_round_whose_models_are_gone_is_not_read_as_zeros(tmp_path):
    shape, tile = (2, 3, 1), {"weights": np.ones((3, 5)), "objective_terms": np.ones((3, 3)), "steps": np.ones(3)}
    store = open_round(tmp_path, 0, shape, 5)
    for row in range(2):
        store.add((row, 0), tile)
    assert store.done.all()
    (tmp_path / ROUNDS / "round-0.zarr" / "weights" / "1.0.0.0").unlink()
    store.check()
    assert store.done[:, 0].tolist() == [True, False]
    with pytest.raises(InputError, match="was changed while the sweep ran"):
        _refuse_lost_tiles(store, tmp_path)
    with pytest.warns(StoreWarning, match="round-0.zarr is damaged"):
        assert open_round(tmp_path, 0, shape, 5).done[:, 0].tolist() == [True, False]
    shutil.rmtree(tmp_path / ROUNDS)
    store.check()
    assert not store.done.any()


def test_settings_are_stored_as_json(tmp_path, template):
    with open_store(tmp_path, template, SETTINGS):
        pass
    assert json.loads(xr.open_zarr(tmp_path / NAME, consolidated=False).attrs["settings"]) == SETTINGS

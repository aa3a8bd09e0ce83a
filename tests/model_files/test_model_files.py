"""Model folders: what is saved comes back bit for bit, and what is damaged, foreign or newer is refused in a line."""

import hashlib
import io
import json
import os
import random
import shutil
import threading
import warnings
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

from heteroscope import HeteroskedasticRegressor, HeteroskedasticRegressorCV, load_model, save_model
from heteroscope.core.errors import InputError
from heteroscope.core.files import open_regular
from heteroscope.core.sealed_files import SEAL, seal
from heteroscope.data.table_encoder import TableEncoder
from heteroscope.model_files import ARRAYS, DESCRIPTION, FORMAT, folders, load_bundle
from heteroscope.model_files.folders import NEXT
from tests.power_cut import PowerCut, PowerFailure

TINY = {"hidden": (6, 5), "batch_size": None, "max_steps": 12, "n_jobs": 1}


def rows(n=24):
    random = np.random.default_rng(0)
    x = random.standard_normal((n, 2))
    return x, 3.0 + x[:, 0] + 0.3 * random.standard_normal(n)


@pytest.fixture(scope="module")
def point_model():
    x, y = rows()
    return HeteroskedasticRegressor(0.9, 0.1, n_members=2, random_state=0, **TINY).fit(x, y)


@pytest.fixture(scope="module")
def search_model():
    x, y = rows()
    frame = pd.DataFrame(x, columns=["width", "höhe"])
    return HeteroskedasticRegressorCV(
        n_coarse=3, n_fine=2, cv=KFold(3), n_members=2, random_state=np.random.RandomState(0), **TINY
    ).fit(frame, y)


@pytest.fixture
def folder(point_model, tmp_path):
    return save_model(point_model, tmp_path / "model")


def edit(folder, change):
    """Change the description as a stranger would, and seal it again."""
    state = json.loads((folder / DESCRIPTION).read_text())
    del state[SEAL]
    change(state)
    (folder / DESCRIPTION).write_text(json.dumps(seal(state)))


def repack(folder, content):
    """Replace the arrays as a stranger would, with their checksum."""
    (folder / ARRAYS).write_bytes(content)
    edit(folder, lambda state: state.update(arrays_sha256=hashlib.sha256(content).hexdigest()))


def edit_arrays(folder, **changed):
    with np.load(folder / ARRAYS) as stored:
        arrays = dict(stored) | {name.replace("__", "."): value for name, value in changed.items()}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    repack(folder, buffer.getvalue())


def refused(folder):
    with pytest.raises(InputError) as caught:
        load_bundle(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert ": " in message, "a cause and, after a colon, a cure"
    return message


def test_a_loaded_point_model_is_the_same_to_the_last_bit(point_model, folder):
    loaded = load_model(folder)
    x, _ = rows()
    for ours, theirs in zip(point_model.predict_parts(x), loaded.predict_parts(x), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(point_model.predict_quantiles(x, [0.1, 0.9]), loaded.predict_quantiles(x, [0.1, 0.9]))
    assert loaded.get_params() == point_model.get_params()
    assert loaded.diagnose() == point_model.diagnose()
    assert loaded.observables_ == point_model.observables_
    assert loaded.status_ == point_model.status_
    assert type(loaded.estimator) is HeteroskedasticRegressor
    assert set(vars(loaded.estimator)) == set(vars(point_model)) - {"_sample"}


def test_a_loaded_search_keeps_its_path_and_its_feature_names(search_model, tmp_path):
    loaded = load_model(save_model(search_model, tmp_path / "model"))
    frame = pd.DataFrame(rows()[0], columns=["width", "höhe"])
    np.testing.assert_array_equal(search_model.predict(frame), loaded.predict(frame))
    assert list(loaded.feature_names_in_) == ["width", "höhe"]
    assert loaded.feature_names_in_.dtype == object
    pd.testing.assert_frame_equal(pd.DataFrame(search_model.cv_results_), pd.DataFrame(loaded.cv_results_))
    assert loaded.held_out_scores_ == search_model.held_out_scores_
    assert loaded.verdict_ == search_model.verdict_
    assert loaded.best_index_ == search_model.best_index_
    assert set(vars(loaded.estimator)) == set(vars(search_model)) - {"_sample"}
    for part, again in zip(search_model.held_out_, loaded.held_out_, strict=True):
        np.testing.assert_array_equal(part, again)
        assert part.dtype == again.dtype


def test_a_model_without_held_out_rows_is_loaded_without_them(tmp_path):
    model = HeteroskedasticRegressor(0.9, 0.1, held_out=0, **TINY).fit(*rows())
    assert load_model(save_model(model, tmp_path / "model")).held_out_ is None


def test_parameters_that_json_cannot_hold_come_back_as_defaults_and_are_noted(search_model, tmp_path):
    folder = save_model(search_model, tmp_path / "model")
    loaded = load_model(folder)
    assert loaded.random_state is None
    assert loaded.cv == HeteroskedasticRegressorCV().cv
    assert loaded.n_coarse == 3
    assert "KFold" in json.loads((folder / DESCRIPTION).read_text())["parameters_left_out"]["cv"]


def test_a_loaded_model_can_be_fitted_again_and_saved_again(folder, tmp_path):
    loaded = load_model(folder)
    x, y = rows()
    before = loaded.predict(x)
    np.testing.assert_array_equal(before, loaded.fit(x, y).predict(x))
    save_model(loaded, tmp_path / "again")
    np.testing.assert_array_equal(before, load_model(tmp_path / "again").predict(x))


def test_numbers_that_are_not_finite_survive_in_strict_json(point_model, search_model, tmp_path):
    x, y = rows()
    odd = HeteroskedasticRegressorCV(n_coarse=2, n_fine=0, cv=2, n_members=1, **TINY).fit(x, y)
    odd.cv_results_["mean_test_nll"] = np.array([np.inf, np.nan])
    odd.observables_ = odd.observables_._replace(std_mismatch=np.inf)
    folder = save_model(odd, tmp_path / "model")

    def constant(text):
        raise AssertionError(f"{text} is not JSON")

    json.loads((folder / DESCRIPTION).read_text(), parse_constant=constant)
    loaded = load_model(folder)
    np.testing.assert_array_equal(loaded.cv_results_["mean_test_nll"], [np.inf, np.nan])
    assert loaded.observables_.std_mismatch == np.inf


def test_the_encoder_travels_with_the_model(point_model, tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 3.0, 2.0], "y": [1.0, 2.0, 4.0]})
    encoder = TableEncoder.fit(frame, "y")
    bundle = load_bundle(save_model(point_model, tmp_path / "model", encoder))
    assert bundle.encoder == encoder
    assert bundle.version
    other = TableEncoder.fit(frame.assign(town=["x", "z", "x"]), "y")
    assert "not the features of its model" in refused(save_model(point_model, tmp_path / "model", other))


def test_nothing_is_pickled(folder):
    with np.load(folder / ARRAYS, allow_pickle=False) as arrays:
        assert {array.dtype.kind for array in arrays.values()} == {"f"}


def test_a_model_replaces_a_model_and_leaves_no_other_trace(point_model, folder):
    save_model(point_model, folder)
    assert [path.name for path in folder.parent.iterdir()] == ["model"]
    assert sorted(path.name for path in folder.iterdir()) == [ARRAYS, DESCRIPTION]


def test_an_empty_folder_and_a_folder_in_folders_are_filled(point_model, tmp_path):
    (tmp_path / "empty").mkdir()
    for place in (tmp_path / "empty", tmp_path / "a" / "b"):
        save_model(point_model, place)
        assert load_model(place).get_params() == point_model.get_params()


@pytest.mark.parametrize("content", ["thesis.txt", DESCRIPTION])
def test_what_is_no_model_is_not_overwritten(point_model, tmp_path, content):
    place = tmp_path / "mine"
    place.mkdir()
    (place / content).write_text("years of work")
    with pytest.raises(InputError, match="not overwritten"):
        save_model(point_model, place)
    assert (place / content).read_text() == "years of work"


def test_a_model_folder_with_a_users_file_is_not_overwritten(point_model, folder):
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"notes\.txt"):
        save_model(point_model, folder)


def test_a_failing_disk_leaves_the_old_model(point_model, folder, monkeypatch):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    for moment in ("pathlib.Path.write_text", "pathlib.Path.write_bytes", "os.fsync", "os.replace"):
        with monkeypatch.context() as patch:
            patch.setattr(moment, full)
            with pytest.raises(OSError, match="No space left"):
                save_model(point_model, folder)
            with pytest.raises(OSError, match="No space left"):
                save_model(point_model, folder.parent / "new")
        assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name != NEXT} == before
        assert [path.name for path in folder.parent.iterdir()] == ["model"]
    save_model(point_model, folder)
    assert sorted(path.name for path in folder.iterdir()) == [ARRAYS, DESCRIPTION]


@pytest.mark.parametrize("kept", ["synced", "names", "some"])
@pytest.mark.parametrize("last", [1, 2, 3, 4, 5, None])
def test_after_a_power_cut_there_is_the_old_model_or_the_new_one(point_model, tmp_path, monkeypatch, last, kept):
    x, _ = rows()
    root = tmp_path / "disk"
    folder = save_model(point_model, root / "model")
    other = load_bundle(folder).model
    other.std_scale_ = 2.0
    other.members_.mean[-1].bias[:] += 1.0
    with monkeypatch.context() as patch, suppress(PowerFailure):
        cut = PowerCut(root, patch, last)
        save_model(other, folder)
    found = load_bundle(cut.disk(tmp_path / "after", kept) / "model").model
    assert found.std_scale_ in ((1.0, 2.0) if last else (2.0,))
    np.testing.assert_array_equal(found.predict(x), (point_model if found.std_scale_ == 1.0 else other).predict(x))
    save_model(point_model, tmp_path / "after" / "model")
    assert sorted(path.name for path in (tmp_path / "after" / "model").iterdir()) == [ARRAYS, DESCRIPTION]


def test_a_reader_never_finds_a_mixture_or_nothing_while_models_are_replaced(point_model, folder):
    other = load_bundle(folder).model
    other.std_scale_ = 2.0
    other.members_.mean[-1].bias[:] += 1.0

    def write(model):
        for _ in range(5):
            save_model(model, folder)

    writers = [threading.Thread(target=write, args=(model,)) for model in (point_model, other)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        found = load_bundle(folder).model
        model = point_model if found.std_scale_ == 1.0 else other
        np.testing.assert_array_equal(found.members_.mean[-1].bias, model.members_.mean[-1].bias)
    assert sorted(path.name for path in folder.iterdir()) == [ARRAYS, DESCRIPTION]


def half_replaced(folder):
    """Leave the folder as a writer does that is killed just before its last rename; return the model it has written."""
    other = load_bundle(folder).model
    other.std_scale_ = 2.0
    old = (folder / ARRAYS).read_bytes()
    other.members_.mean[-1].bias[:] += 1.0
    save_model(other, folder)
    (folder / ARRAYS).replace(folder / NEXT)
    (folder / ARRAYS).write_bytes(old)
    return other


def test_new_arrays_that_are_renamed_while_they_are_looked_for_are_found(folder, monkeypatch):
    other = half_replaced(folder)

    def rename_first(path, most_bytes):
        if path.name == NEXT and path.exists():
            path.replace(folder / ARRAYS)
        return open_regular(path, most_bytes)

    monkeypatch.setattr(folders, "open_regular", rename_first)
    np.testing.assert_array_equal(load_model(folder).predict(rows()[0]), other.predict(rows()[0]))


@pytest.mark.parametrize("last", range(1, 10))
def test_a_second_kill_does_not_lose_what_the_first_left(point_model, tmp_path, monkeypatch, last):
    root = tmp_path / "disk"
    half_replaced(save_model(point_model, root / "model"))
    with monkeypatch.context() as patch, suppress(PowerFailure):
        cut = PowerCut(root, patch, last)
        save_model(point_model, root / "model")
    found = load_model(cut.disk(tmp_path / "after") / "model")
    assert found.std_scale_ in (1.0, 2.0)


def test_a_writer_that_fails_leaves_the_model_that_another_has_finished(point_model, tmp_path, monkeypatch):
    def write_another_and_fail(place, packed, text):
        with monkeypatch.context() as patch:
            patch.setattr(folders, "_replace_files", replace_files)
            save_model(point_model, place)
        raise OSError(28, "No space left on device")

    replace_files = folders._replace_files
    monkeypatch.setattr(folders, "_replace_files", write_another_and_fail)
    with pytest.raises(OSError, match="No space left"):
        save_model(point_model, tmp_path / "model")
    assert load_model(tmp_path / "model").std_scale_ == 1.0


def test_only_fitted_models_of_known_classes_are_saved(tmp_path):
    class Mine(HeteroskedasticRegressor):
        pass

    with pytest.raises(InputError, match="Mine"):
        save_model(Mine(), tmp_path / "model")
    with pytest.raises(ValueError, match="not fitted"):
        save_model(HeteroskedasticRegressor(), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_newer_format_asks_for_an_upgrade(folder):
    edit(folder, lambda state: state.update(heteroscope_model=FORMAT + 1, version="9.9"))
    message = refused(folder)
    assert "9.9" in message
    assert "upgrade" in message


def test_a_place_without_a_model_is_told_so(tmp_path, folder):
    assert "not a model folder" in refused(tmp_path / "nowhere")
    assert "not a model folder" in refused(folder / ARRAYS)
    assert DESCRIPTION in refused(tmp_path)


@pytest.mark.parametrize("name", [DESCRIPTION, ARRAYS])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_truncated_file_is_refused(folder, name, share):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: int(share * len(content))])
    assert "damaged" in refused(folder)


def test_a_missing_arrays_file_is_named(folder):
    (folder / ARRAYS).unlink()
    assert ARRAYS in refused(folder)


def test_arrays_of_another_model_are_noticed(point_model, folder, tmp_path):
    x, y = rows()
    other = HeteroskedasticRegressor(0.9, 0.1, n_members=2, random_state=1, **TINY).fit(x, y)
    save_model(other, tmp_path / "other")
    shutil.copy(tmp_path / "other" / ARRAYS, folder / ARRAYS)
    assert ARRAYS in refused(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.pop("class"),
        lambda state: state.pop("arrays_sha256"),
        lambda state: state.pop("encoder"),
        lambda state: state.update({"class": "os.system"}),
        lambda state: state.update({"class": ["HeteroskedasticRegressor"]}),
        lambda state: state.update(parameters=[]),
        lambda state: state.update(fitted=None),
        lambda state: state.update(encoder={"target": "y"}),
        lambda state: state["parameters"].pop("activation"),
        lambda state: state["parameters"].update(colour="red"),
        lambda state: state["parameters"].update(activation="abs"),
        lambda state: state["parameters"].update(hidden="wide"),
        lambda state: state["fitted"].update(n_features_in_=3),
        lambda state: state["fitted"].update(n_features_in_="2"),
        lambda state: state["fitted"].update(feature_names_in_=["a"]),
        lambda state: state["fitted"].update(phase_="X"),
        lambda state: state["fitted"].update(status_=["tired"]),
        lambda state: state["fitted"].update(observables_={}),
        lambda state: state["fitted"].update(verdict_={}),
        lambda state: state["fitted"]["verdict_"].update(ours={"rmse": 1.0}),
        lambda state: state["fitted"]["observables_"].update(held_out={"score": 1.0}),
        lambda state: state["fitted"].pop("rho_"),
        lambda state: state["fitted"].update(rho_="nan"),
        lambda state: state["fitted"].update(gamma_=1.5),
        lambda state: state["fitted"].update(std_scale_=0.0),
        lambda state: state["fitted"].update(std_scale_=-1.0),
        lambda state: state["fitted"].update(std_scale_="inf"),
        lambda state: state["fitted"].update(n_iter_=-1),
        lambda state: state["fitted"].update(feature_names_in_=[1, 2]),
    ],
)
def test_a_description_that_makes_no_sense_is_refused(folder, change):
    edit(folder, change)
    assert "damaged" in refused(folder)


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({"scaling__y_scale": np.array(-3.0)}, "not positive"),
        ({"scaling__y_scale": np.array(np.inf)}, "not finite"),
        ({"scaling__x_scale": np.array([1.0, 0.0])}, "not positive"),
        ({"scaling__x_centre": np.array([0.0, np.nan])}, "not finite"),
        ({"scaling__x_centre": np.zeros(3)}, "does not fit 2 features"),
        ({"mean__0__bias": np.full((2, 6), np.nan, np.float32)}, "not finite"),
        ({"mean__0__bias": np.zeros((2, 6))}, "not single precision"),
        ({"mean__0__bias": np.zeros((2, 6), np.complex64)}, "not of floats"),
        ({"mean__0__bias": np.array(["text"])}, "not of floats"),
        ({"held_out__y": np.zeros(3)}, "different lengths"),
        ({"held_out__y": np.full(5, np.nan)}, "not finite"),
        ({"held_out__std": np.zeros(5)}, "not positive"),
        ({"held_out__number": np.full(5, 0.5)}, "no whole number"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(folder, changed, cause):
    edit_arrays(folder, **changed)
    assert cause in refused(folder)


def test_any_flipped_bit_is_noticed_or_changes_nothing(point_model, folder):
    x, _ = rows()
    wanted, chance = point_model.predict(x, return_std=True), random.Random(0)
    for name in (DESCRIPTION, ARRAYS):
        content = (folder / name).read_bytes()
        for _ in range(25):
            place = chance.randrange(8 * len(content))
            flipped = bytearray(content)
            flipped[place // 8] ^= 1 << place % 8
            (folder / name).write_bytes(flipped)
            with suppress(InputError):
                np.testing.assert_array_equal(load_model(folder).predict(x, return_std=True), wanted)
        (folder / name).write_bytes(content)


@pytest.mark.parametrize("name", [DESCRIPTION, ARRAYS])
def test_only_regular_files_are_read(folder, name):
    for make in (os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")):
        (folder / name).rename(folder.parent / "kept")
        make(folder / name)
        assert "damaged" in refused(folder)
        os.rmdir(folder / name) if (folder / name).is_dir() else (folder / name).unlink()
        (folder.parent / "kept").rename(folder / name)
    (folder / name).rename(folder.parent / "kept")
    (folder / name).symlink_to(folder.parent / "kept")  # a link to a regular file, as caches of models have them
    load_model(folder)


@pytest.mark.parametrize("name", [DESCRIPTION, ARRAYS])
def test_a_huge_file_is_refused_by_its_size(folder, name):
    with (folder / name).open("rb+") as file:
        file.truncate(2**33)  # takes no room on the disk
    assert "8,589,934,592 bytes" in refused(folder)


def test_archives_that_unpack_to_more_than_they_hold_are_refused(folder):
    with np.load(folder / ARRAYS) as stored:
        arrays = dict(stored)
    bomb = io.BytesIO()
    np.savez_compressed(bomb, **arrays | {"mean.0.bias": np.zeros(10_000_000, np.float32)})
    repack(folder, bomb.getvalue())
    assert "compressed" in refused(folder)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (10**12,)})
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w") as archive:
        archive.writestr("mean.0.bias.npy", header.getvalue())
    repack(folder, bomb.getvalue())
    assert "declared size" in refused(folder)
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            archive.writestr("mean.0.bias.npy", header.getvalue())
    repack(folder, bomb.getvalue())
    assert "declares more" in refused(folder)


def test_texts_of_a_file_cannot_steer_the_terminal(folder):
    edit(folder, lambda state: state.update(heteroscope_model=FORMAT + 1, version="\x1b[2J\u202e" + 1000 * "9"))
    message = refused(folder)
    assert message.isprintable()
    assert len(message) < 400
    edit(folder, lambda state: state.update({"heteroscope_model": FORMAT, "class": "\x1b[2J\u202e" + 1000 * "9"}))
    message = refused(folder)
    assert message.isprintable()
    assert len(message) < 400


@pytest.mark.parametrize("text", ["[]", "null", "3", '{"heteroscope_model": "1"}', '{"heteroscope_model": true}'])
def test_another_programs_json_is_refused(folder, text):
    (folder / DESCRIPTION).write_text(text)
    assert "describes no heteroscope model" in refused(folder)


def test_a_file_cannot_replace_methods(folder):
    edit(folder, lambda state: state["fitted"].update(predict="mine", __class__="mine"))
    assert callable(load_model(folder).predict)


def test_shapes_that_do_not_chain_are_refused(point_model, tmp_path):
    broken = load_bundle(save_model(point_model, tmp_path / "model")).model
    first = broken.members_.mean[0]
    layers = (first._replace(bias=first.bias[:, :-1]), *broken.members_.mean[1:])
    broken.members_ = broken.members_._replace(mean=layers)
    assert "mean network" in refused(save_model(broken, tmp_path / "model"))

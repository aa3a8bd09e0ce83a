"""Files appear whole or not at all, also after a power cut, and a folder belongs to one run."""

import os
import threading
import time

import pytest

from heteroscope.core.errors import DamageError, InputError
from heteroscope.core.files import LEFTOVER_SECONDS, atomic_write, exclusive_folder, make_folder, read_regular
from tests.power_cut import PowerCut, PowerFailure


def test_a_file_is_replaced_when_it_is_whole(tmp_path):
    path = tmp_path / "record.txt"
    path.write_text("before")
    with atomic_write(path) as partial:
        partial.write_text("after")
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_file_as_it_was_and_nothing_beside_it(tmp_path):
    path = tmp_path / "record.txt"
    path.write_text("before")

    def write_half() -> None:
        with atomic_write(path) as partial:
            partial.write_text("half of")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kept", ["synced", "names", "some"])
@pytest.mark.parametrize("last", [1, 2])
def test_after_a_power_cut_a_file_is_the_old_one_or_the_new_one(tmp_path, monkeypatch, last, kept):
    root = tmp_path / "disk"
    root.mkdir()
    with atomic_write(root / "record.txt") as partial:
        partial.write_text("before")
    with monkeypatch.context() as patch:
        cut = PowerCut(root, patch, last)
        with pytest.raises(PowerFailure), atomic_write(root / "record.txt") as partial:
            partial.write_text("after")
    found = (cut.disk(tmp_path / "after", kept) / "record.txt").read_text()
    assert found in ("before", "after")
    if last == 2:
        assert found == "after", "what has been returned from is on the disk"


def test_two_writers_of_one_file_never_mix(tmp_path):
    path, started = tmp_path / "record.txt", threading.Barrier(2)

    def write(letter):
        with atomic_write(path) as partial:
            started.wait()
            with partial.open("w") as file:
                for _ in range(50):
                    file.write(letter * 100)
                    file.flush()

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in ("a" * 5000, "b" * 5000)
    assert list(tmp_path.iterdir()) == [path]


def test_long_names_have_temporary_files_too(tmp_path):
    path = tmp_path / ("ä" * 120 + ".txt")
    with atomic_write(path) as partial:
        partial.write_text("whole")
    assert path.read_text() == "whole"


def test_new_folders_survive_a_power_cut(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        cut = PowerCut(tmp_path, patch)
        make_folder(tmp_path / "a" / "b")
    assert (cut.disk(tmp_path.with_name("after")) / "a" / "b").is_dir()


def test_only_regular_files_of_some_size_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    (tmp_path / "large").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "large")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert read_regular(tmp_path / "link", 5) == b"12345"
    causes = {"pipe": "no regular file", "endless": "no regular file", "large": "5 bytes", "loop": "leads to itself"}
    for name, cause in causes.items():
        with pytest.raises(DamageError, match=cause):
            read_regular(tmp_path / name, 4)


def test_a_folder_that_is_claimed_is_refused_until_it_is_free(tmp_path):
    folder = tmp_path / "run"
    with exclusive_folder(folder), pytest.raises(InputError, match="another run is writing"), exclusive_folder(folder):
        pass
    with exclusive_folder(folder):
        assert folder.is_dir()


def test_what_killed_runs_left_is_removed_when_it_is_old(tmp_path):
    old, new = tmp_path / ".run.npz.0.part", tmp_path / ".run.npz.1.part"
    for path in (old, new):
        path.write_bytes(b"half")
    long_ago = time.time() - 2 * LEFTOVER_SECONDS
    os.utime(old, (long_ago, long_ago))
    with exclusive_folder(tmp_path):
        assert not old.exists()
        assert new.exists()

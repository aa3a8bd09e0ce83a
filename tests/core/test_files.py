"""Files appear whole or not at all, and a folder belongs to one run."""

import pytest

from heteroscope.core.errors import InputError
from heteroscope.core.files import atomic_write, exclusive_folder


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


def test_a_folder_that_is_claimed_is_refused_until_it_is_free(tmp_path):
    folder = tmp_path / "run"
    with exclusive_folder(folder), pytest.raises(InputError, match="another run is writing"), exclusive_folder(folder):
        pass
    with exclusive_folder(folder):
        assert folder.is_dir()

"""Tables and texts are whole or not there: on a full disk the error names the file, and nothing is left behind."""

import gc
import resource
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from heteroscope.cli.output_files import WRITABLE, write_table, write_text
from heteroscope.core import InputError
from heteroscope.data import read_table


@contextmanager
def small_disk(most_bytes):
    """Let no file become larger: writing fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def table():
    return pd.DataFrame(np.random.default_rng(0).standard_normal((500, 2)), columns=["mean", "std"])


@pytest.mark.parametrize("end", WRITABLE)
def test_a_table_comes_back(tmp_path, table, end):
    write_table(table, tmp_path / "made" / f"t{end}")
    np.testing.assert_allclose(read_table(tmp_path / "made" / f"t{end}"), table)


@pytest.mark.parametrize("end", WRITABLE)
def test_a_full_disk_leaves_the_old_table_and_is_told_with_its_name(tmp_path, table, end):
    path = tmp_path / f"t{end}"
    path.write_text("old")
    with small_disk(2000), pytest.raises(OSError, match=r"large|space|writing") as told:
        write_table(table, path)
    assert told.value.filename == str(path) or "writing" in str(told.value)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    del told
    gc.collect()  # nothing of another library fails later, when what it holds is discarded


def test_a_text_is_whole_or_not_there(tmp_path):
    with small_disk(2000), pytest.raises(OSError, match=r"t\.md"):
        write_text("x" * 5000, tmp_path / "t.md")
    assert not any(tmp_path.iterdir())
    write_text("Zürich\n", tmp_path / "t.md")
    assert (tmp_path / "t.md").read_bytes() == "Zürich\n".encode()


def test_a_full_temporary_folder_is_one_line(tmp_path, table, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(InputError, match="no room to put an Excel file together"):
        write_table(table, tmp_path / "t.xlsx")
    assert list(tmp_path.iterdir()) == []

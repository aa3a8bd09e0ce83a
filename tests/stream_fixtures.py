"""A small table as a stream, shared by the tests of streams, of training on them and of estimators."""

import pytest

from heteroscope.data.streams import open_stream
from tests.data.streams.small_tables import make_table, write_npy


@pytest.fixture(scope="session")
def table():
    return make_table()


@pytest.fixture(scope="session")
def npy_paths(table, tmp_path_factory):
    return write_npy(tmp_path_factory.mktemp("npy"), table)


@pytest.fixture(scope="session")
def stream(npy_paths):
    return open_stream(npy_paths)

"""What tests on local Dask and Ray clusters have to put up with."""

import os

import pytest

os.environ["RAY_AUTH_MODE"] = "disabled"  # read when Ray is first imported; the cluster listens on this machine only

#: Both libraries keep sockets, files and child processes to themselves that Python complains about when they go.
TOLERATED = [
    pytest.mark.filterwarnings("default::ResourceWarning"),
    pytest.mark.filterwarnings("default::DeprecationWarning"),
    pytest.mark.filterwarnings("default::FutureWarning"),
    pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning"),
]

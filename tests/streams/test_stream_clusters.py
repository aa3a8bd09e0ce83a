"""A search over a stream on real local clusters: one group of models a worker, the same numbers as here."""

import os

import numpy as np
import pytest

from heteroscope import HeteroskedasticRegressorCV
from heteroscope.backends import backend

# Both libraries keep sockets, files and child processes to themselves that Python complains about when they go.
pytestmark = [
    pytest.mark.filterwarnings("default::ResourceWarning"),
    pytest.mark.filterwarnings("default::DeprecationWarning"),
    pytest.mark.filterwarnings("default::FutureWarning"),
    pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning"),
]
os.environ["RAY_AUTH_MODE"] = "disabled"  # read when Ray is first imported; the cluster listens on this machine only


def search(stream):
    return HeteroskedasticRegressorCV(
        n_coarse=4, n_fine=0, n_members=1, hidden=(8, 8), batch_size=50, max_steps=1200, random_state=0, n_jobs=2
    ).fit(stream)


@pytest.fixture(scope="module")
def alone(stream):
    return search(stream)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["dask", "ray"])
def test_a_cluster_gives_the_same_search(name, stream, alone):
    with backend(name):
        shared = search(stream)
    for column, values in alone.cv_results_.items():
        np.testing.assert_array_equal(shared.cv_results_[column], values)

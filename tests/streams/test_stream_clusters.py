"""A search over a stream on real local clusters: one group of models a worker, the same numbers as here."""

import numpy as np
import pytest

from cluster_noise import TOLERATED
from heteroscope import HeteroskedasticRegressorCV
from heteroscope.backends import backend

pytestmark = TOLERATED


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

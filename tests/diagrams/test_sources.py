"""Rows of a diagram: names, units and identity of what was given, and one line for what does not fit together."""

import numpy as np
import pandas as pd
import pytest

from heteroscope.core.errors import InputError
from heteroscope.diagrams.sources import gather_arrays


@pytest.fixture
def frame():
    return pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])


def test_names_come_from_data_frames_and_are_numbered_for_arrays(frame):
    named = gather_arrays(frame, frame["a"], None, None, "auto", None)
    assert (named.features, named.target) == (["a", "b"], "a")
    numbered = gather_arrays(frame.to_numpy(), frame["a"].to_numpy(), None, None, "auto", None)
    assert (numbered.features, numbered.target) == (["x0", "x1"], "y")
    assert numbered.n_rows == 20
    assert numbered.stream_run is None


def test_targets_are_standardised_by_the_training_rows(frame):
    y_test = 3.0 * frame["b"]
    data = gather_arrays(frame, frame["b"], frame, y_test, "auto", None).data
    expected = (y_test - frame["b"].mean()) / frame["b"].std(ddof=0)
    np.testing.assert_allclose(data.targets["test"], expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(data.rows["test"].y, y_test)


def test_the_arrays_identify_themselves_unless_an_identity_is_given(frame):
    one, other = (gather_arrays(frame, factor * frame["a"], None, None, "auto", None) for factor in (1, 2))
    assert one.identity != other.identity
    declared = gather_arrays(frame, frame["a"], None, None, "auto", {"set": "made up"})
    assert declared.identity == {"set": "made up"}


def test_test_rows_have_the_columns_of_the_training_rows(frame):
    with pytest.raises(InputError, match="X_test has other columns than X, or in another order"):
        gather_arrays(frame, frame["a"], frame[["b", "a"]], frame["a"], "auto", None)

"""Each status explains itself, and survives a file."""

import pickle

import pytest

from heteroscope.core.status import Status


@pytest.mark.parametrize("status", Status)
def test_each_status_has_a_sentence_and_is_its_own_name_in_a_file(status):
    assert len(status.meaning.split()) > 5
    assert "\n" not in status.meaning
    assert Status(str(status)) is status
    assert pickle.loads(pickle.dumps(status)) is status


@pytest.mark.parametrize(
    ("status", "remedy"),
    [(Status.RUNAWAY, "lower rho"), (Status.OUT_OF_STEPS, "max_steps"), (Status.NOT_FINITE, "check the data")],
)
def test_a_failure_says_what_to_do(status, remedy):
    assert remedy in status.meaning

"""What "auto" stands for, and which other values are refused."""

import pytest

from heteroscope.core.auto_rules import (
    resolve_batch_size,
    resolve_diagram_schedule,
    resolve_folds,
    resolve_max_steps,
    resolve_schedule,
    resolve_stream_batch_size,
)
from heteroscope.core.errors import InputError


@pytest.mark.parametrize(
    ("wanted", "n_rows", "expected"),
    [("auto", 32, None), ("auto", 33, 17), ("auto", 2000, 128), ("auto", 2001, 256), (None, 9999, None), (7, 3, 7)],
)
def test_a_step_sees_all_rows_or_a_batch(wanted, n_rows, expected):
    assert resolve_batch_size(wanted, n_rows) == expected


@pytest.mark.parametrize("wanted", [0, True, "some", 2.5])
def test_a_batch_of_no_size_is_refused(wanted):
    with pytest.raises(InputError, match="batch_size must be"):
        resolve_batch_size(wanted, 10)


@pytest.mark.parametrize(("n_rows", "expected"), [(64, 1000), (5000, 5000), (10_000_000, 20_000)])
def test_automatic_steps_grow_with_the_rows_between_two_ends(n_rows, expected):
    assert resolve_max_steps("auto", n_rows) == expected
    assert resolve_max_steps(7, n_rows) == 7


@pytest.mark.parametrize("wanted", ["many", 0, 2.5, True])
def test_a_number_of_steps_that_is_none_is_refused(wanted):
    with pytest.raises(InputError, match="max_steps must be a positive integer"):
        resolve_max_steps(wanted, 10)


def test_a_stream_has_no_batch_of_all_rows():
    assert resolve_stream_batch_size("auto") == 256
    assert resolve_stream_batch_size(17) == 17
    with pytest.raises(InputError, match="all rows at once"):
        resolve_stream_batch_size(None)


@pytest.mark.parametrize(("batch_size", "streamed", "name"), [(None, False, "fast"), (8, True, "cosine")])
def test_the_automatic_schedule_depends_on_whether_gradients_are_exact(batch_size, streamed, name):
    assert resolve_schedule("auto", batch_size) == name
    assert resolve_diagram_schedule("auto", batch_size, streamed) == "auto"
    assert resolve_schedule("paper", batch_size) == resolve_diagram_schedule("paper", batch_size, streamed) == "paper"


def test_a_diagram_of_batches_in_memory_has_a_schedule_of_its_own():
    assert resolve_diagram_schedule("auto", 8, streamed=False) == "levelled"


@pytest.mark.parametrize("cv", [None, "auto"])
def test_few_rows_are_cross_validated_in_folds_and_many_by_a_share_held_out(cv):
    assert resolve_folds(cv, 2000) == 5
    assert resolve_folds(cv, 2001) == 0.2
    assert resolve_folds(7, 2001) == 7

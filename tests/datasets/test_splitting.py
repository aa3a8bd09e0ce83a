import numpy as np
import pytest

from heteroscope.core.errors import InputError
from heteroscope.datasets import Sample, literature_splits, paper_split


@pytest.mark.parametrize(("n", "n_train"), [(1030, 687), (9568, 6379), (306, 204), (505, 337), (3, 2)])
def test_paper_split_has_the_papers_sizes(n, n_train):
    train, test = paper_split(n)
    assert (len(train), len(test)) == (n_train, n - n_train)


@pytest.mark.parametrize("indices", [paper_split(50, 3), *literature_splits(50, 4)])
def test_every_row_is_on_exactly_one_side(indices):
    np.testing.assert_array_equal(np.sort(np.concatenate(indices)), np.arange(50))


def test_literature_splits_are_twenty_of_ninety_to_ten_and_all_differ():
    splits = list(literature_splits(308))
    assert [len(test) for _, test in splits] == [31] * 20
    assert len({tuple(np.sort(test)) for _, test in splits}) == 20


def test_seeds_decide_and_the_number_of_splits_does_not():
    np.testing.assert_array_equal(paper_split(50, 1)[0], paper_split(50, 1)[0])
    assert not np.array_equal(paper_split(50, 1)[0], paper_split(50, 2)[0])
    few, many = list(literature_splits(50, 2, seed=5)), list(literature_splits(50, 9, seed=5))
    np.testing.assert_array_equal(few[1][0], many[1][0])


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_rows_are_refused(n):
    with pytest.raises(InputError, match="add more rows"):
        paper_split(n)


def test_split_owns_the_rows_it_was_given():
    sample = Sample("tiny", np.arange(8.0).reshape(4, 2), np.arange(4.0), ("a", "b"), "y", "m")
    split = sample.split((np.array([2, 0]), np.array([1, 3])))
    np.testing.assert_array_equal(split.x_train, [[4, 5], [0, 1]])
    np.testing.assert_array_equal(split.y_test, [1, 3])
    split.y_test[:] = 99
    assert sample.y[1] == 1
    assert (split.feature_names, split.target_name, split.target_unit) == (("a", "b"), "y", "m")

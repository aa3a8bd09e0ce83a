import numpy as np
import pytest

from heteroscope import datasets
from heteroscope.core.errors import InputError


@pytest.mark.parametrize("name", datasets.names())
def test_every_name_loads_as_finite_float64(name):
    split = datasets.load(name)
    assert split.name == name
    for array in (split.x_train, split.y_train, split.x_test, split.y_test):
        assert array.dtype == np.float64
        assert np.isfinite(array).all()
    assert split.x_train.shape[1] == len(split.feature_names)


def test_real_sets_are_cut_as_each_protocol_says():
    paper, literature = datasets.load("yacht"), datasets.splits("yacht", protocol="literature")
    assert (len(paper.y_train), len(paper.y_test)) == (205, 103)
    assert [(len(split.y_train), len(split.y_test)) for split in literature] == [(277, 31)] * 20


@pytest.mark.parametrize("name", ["sine", "housing"])
def test_paper_splits_are_the_loads_of_consecutive_seeds(name):
    splits = datasets.splits(name, n_splits=3, seed=4)
    assert len(splits) == 3
    for k, split in enumerate(splits):
        np.testing.assert_array_equal(split.y_test, datasets.load(name, seed=4 + k).y_test)


def test_load_gives_the_first_literature_split():
    first = datasets.splits("yacht", protocol="literature", seed=1)[0]
    np.testing.assert_array_equal(datasets.load("yacht", seed=1, protocol="literature").y_test, first.y_test)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "yatch"}, r"no data set is called 'yatch' \(did you mean 'yacht'\?\): choose one of sine"),
        ({"name": "zzz"}, "'zzz': choose one of"),
        ({"name": "sine", "protocol": "literature"}, "use protocol='paper'"),
        ({"name": "yacht", "n_splits": 0}, "at least one"),
    ],
)
def test_wrong_names_are_refused_on_one_line(arguments, message):
    with pytest.raises(InputError, match=message) as caught:
        datasets.splits(**arguments)
    assert "\n" not in str(caught.value)

"""The literature's own splits against the recipe in NumPy's global generator, and the order of the rows they need."""

import numpy as np
import pytest

from heteroscope import datasets
from heteroscope.core.errors import InputError
from heteroscope.datasets import published_splits
from heteroscope.datasets.literature import CHECKSUMS, ORDERS, check_order
from heteroscope.datasets.sources import sample


def made_up_targets(n):
    """Targets of an unknown table with n rows: their order cannot be checked."""
    return np.linspace(1e6, 2e6, n)


@pytest.mark.parametrize("n", [308, 506, 1030])
def test_they_are_those_of_the_recipe_with_the_global_generator(n):
    found = published_splits("table", made_up_targets(n))
    before = np.random.get_state()  # noqa: NPY002  (the recipe's generator)
    try:
        np.random.seed(1)  # noqa: NPY002  (the recipe's generator)
        wanted = [np.random.choice(range(n), n, replace=False) for _ in range(20)]  # noqa: NPY002  (the recipe's generator)
    finally:
        np.random.set_state(before)  # noqa: NPY002  (the recipe's generator)
    assert len(found) == 20
    for (train, test), order in zip(found, wanted, strict=True):
        assert len(train) == round(0.9 * n)
        np.testing.assert_array_equal(np.concatenate([train, test]), order)


@pytest.mark.parametrize("n", CHECKSUMS)
def test_every_stored_checksum_is_that_of_the_splits_made_here(n):
    (train, test), *_ = published_splits("table", made_up_targets(n), 5)
    assert sorted([*train, *test]) == list(range(n))


def test_a_generator_with_other_numbers_is_noticed(monkeypatch):
    other = np.random.RandomState
    monkeypatch.setattr(np.random, "RandomState", lambda seed: other(seed + 1))
    with pytest.raises(InputError, match="are not the published ones: this NumPy"):
        published_splits("yacht", sample("yacht").y)


@pytest.mark.parametrize("name", ORDERS)
def test_named_sets_have_the_published_order_and_any_other_is_noticed(name):
    y = sample(name, published_order=True).y
    check_order(name, y)
    with pytest.raises(InputError, match=f"my.csv has the rows of {name} in another order"):
        check_order("my.csv", y[::-1])
    swapped = y.copy()
    swapped[1:-1] = y[1:-1][::-1]
    with pytest.raises(InputError, match=f"my.csv has the rows of {name} in another order"):
        check_order("my.csv", swapped)


def test_only_power_has_its_published_order_on_another_sheet():
    first, fifth = sample("power"), sample("power", published_order=True)
    assert first.y[0] == pytest.approx(463.26)
    assert fifth.y[0] == pytest.approx(480.48)
    np.testing.assert_allclose(np.sort(first.y), np.sort(fifth.y))
    assert sample("yacht", published_order=True) is sample("yacht")


def test_splits_of_named_sets_by_protocol():
    one, two = datasets.splits("yacht", protocol="published", n_splits=2)
    assert one.y_train.shape == (277,)
    assert one.identity != two.identity
    again = datasets.load("yacht", protocol="published", seed=5)
    np.testing.assert_array_equal(again.x_test, one.x_test)
    rows = sample("yacht")
    (train, test), *_ = published_splits("yacht", rows.y, 1)
    np.testing.assert_array_equal(one.y_test, rows.y[test])
    np.testing.assert_array_equal(one.x_train, rows.x[train])
    assert len(datasets.splits("protein", protocol="published")) == 5


@pytest.mark.parametrize(
    ("name", "n_splits", "message"),
    [
        ("abalone", None, "no splits of abalone are published, but of yacht, housing"),
        ("compactiv", None, "no splits of compactiv are published"),  # as many rows as kin8nm
        ("sine", None, "is simulated and has no rows to split 90/10"),
        ("yacht", 21, "20 splits of yacht are published, and 21 are wanted"),
        ("protein", 6, "5 splits of protein are published, and 6 are wanted"),
    ],
)
def test_what_is_not_published_is_refused_in_one_line(name, n_splits, message):
    with pytest.raises(InputError, match=message) as refusal:
        datasets.splits(name, protocol="published", n_splits=n_splits)
    assert "\n" not in str(refusal.value)


def test_tables_of_other_sizes_are_refused():
    with pytest.raises(InputError, match=r"my.csv has 100 rows, and splits are published of tables with 308, 506"):
        published_splits("my.csv", np.arange(100.0))

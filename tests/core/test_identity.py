"""What makes two runs the same: declared words and given bytes, on any processor and under any version."""

import json
import math
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import KFold

from heteroscope import datasets
from heteroscope.core import identity
from heteroscope.core.errors import InputError, StoreWarning
from heteroscope.core.identity import (
    as_json,
    given_arrays,
    identity_key,
    refuse_other_settings,
    same_identity,
    settings_of,
    table_file,
    without_later_settings,
)
from heteroscope.datasets import simulated
from heteroscope.estimators import HeteroskedasticRegressor
from heteroscope.training.streaming.checkpoint import remember_choice
from tests import processors

PLACE = Path("folder")


def refusal(was, now):
    with pytest.raises(InputError) as caught:
        refuse_other_settings(PLACE, "a run", was, now, "name another folder")
    return str(caught.value)


def test_what_differs_is_named_in_one_line():
    was = {"data": {"set": "sine", "seed": 0}, "max_steps": 100, "hidden": [8, 8]}
    now = {"data": {"set": "sine", "seed": 1}, "max_steps": 200, "hidden": (8, 8)}
    assert refusal(was, now) == (
        "folder holds a run of other settings (data.seed was 0 and is now 1; max_steps was 100 and is now 200): "
        "name another folder"
    )
    assert "data.file was aaaaaaaaaaaa and is now bbbbbbbbbbbb" in refusal(
        {"data": {"file": "a" * 64}}, {"data": {"file": "b" * 64}}
    )
    assert "beta was not set and is now 0.5" in refusal({}, {"beta": 0.5})
    assert "beta was 0.5 and is now not set" in refusal({"beta": 0.5}, {})
    assert refusal({}, dict.fromkeys("abcdef", 1)).count(" was ") == 3
    assert "and 3 more" in refusal({}, dict.fromkeys("abcdef", 1))
    assert len(refusal({"rho": []}, {"rho": list(range(1000))})) < 200


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ([["a", 1, 5], ["b", 2, 7]], "b has changed"),
        ([["a", 1, 5]], "b has gone"),
        ([["a", 1, 5], ["b", 2, 6], ["c", 3, 7]], "c is new"),
        ([["b", 2, 6], ["a", 1, 5]], "in another order"),
    ],
)
def test_the_file_of_a_stream_that_differs_is_named(now, said):
    assert f"({'the files were ' if 'order' in said else ''}{said})" in refusal(
        {"data": {"files": [["a", 1, 5], ["b", 2, 6]]}}, {"data": {"files": now}}
    )


def test_identities_are_the_same_after_json_and_a_last_bit_makes_no_other_run():
    rhos = np.logspace(0, -5, 16)
    settings = {
        "rho": list(rhos),
        "hidden": (8, 8),
        "start": "he",
        "far": math.inf,
        "exchange": True,
        "seed": np.int64(3),
    }
    stored = json.loads(json.dumps(as_json(settings)))
    assert same_identity(stored, settings)
    assert same_identity(stored, settings | {"rho": list(np.nextafter(rhos, 0))})
    assert not same_identity(stored, settings | {"rho": list(rhos * (1 + 1e-12))})
    assert not same_identity(stored, settings | {"rho": list(rhos[1:])})
    assert not same_identity(stored, settings | {"exchange": 1}), "one is not true"
    assert not same_identity(stored, settings | {"more": None})


@pytest.mark.parametrize("value", [print, object(), type, {"objective": np.sin}, [np.ones(2)]])
def test_what_is_no_word_and_no_number_has_to_be_declared(value):
    with pytest.raises(TypeError, match="declare a word or a number"):
        identity_key({"setting": value})


def test_a_key_changes_with_everything_and_not_with_the_order():
    base = {"a": 1, "b": [0.1, "x"]}
    assert identity_key(base) == identity_key({"b": (0.1, "x"), "a": 1})
    others = [base | {"a": 2}, base | {"b": [0.1]}, base | {"c": None}, {"a": 1}]
    assert len({identity_key(one) for one in [base, *others]}) == 5


def test_arrays_are_their_type_shape_and_bytes_as_given():
    x, y = np.arange(6.0).reshape(3, 2), np.arange(3.0)
    base = given_arrays(x, y, None, None)
    assert base == given_arrays(x.copy(order="F"), list(y), None, None)
    assert base == given_arrays(pd.DataFrame(x), pd.Series(y), None, None)
    changed = [(x.astype(np.float32), y), (x.reshape(2, 3), y), (x, np.nextafter(y, 9)), (x, y, x, y), (y, x)]
    assert base not in [given_arrays(*one) for one in changed]
    mixed = pd.DataFrame({"a": [1.5, 2.5], "b": [True, False]})
    assert given_arrays(mixed) != given_arrays(mixed.assign(b=True))


def test_a_table_is_the_bytes_of_its_file_and_what_is_done_with_it(tmp_path):
    path, other = tmp_path / "table.csv", tmp_path / "renamed.csv"
    path.write_text("a,y\n1,2\n")
    other.write_text("a,y\n1,2\n")
    base = table_file(path, target="y", missing="refuse")
    assert base == table_file(other, target="y", missing="refuse")
    assert base != table_file(path, target="a", missing="refuse")
    other.write_text("a,y\n1,2.0\n")
    assert base != table_file(other, target="y", missing="refuse")


@pytest.mark.parametrize("name", ["sine", "yacht"])
def test_a_named_split_carries_what_it_is(name):
    one, other = datasets.splits(name, n_splits=2, seed=3)
    assert one.identity["set"] == name
    assert one.identity["revision"] == datasets.identify(name)["revision"]
    assert (one.identity["seed"], other.identity["seed"]) == (3, 4)
    assert one.identity == datasets.load(name, seed=3).identity
    if name == "yacht":
        cuts = [split.identity for split in datasets.splits(name, protocol="literature", n_splits=2, seed=3)]
        assert len({identity_key(cut) for cut in [*cuts, one.identity]}) == 3
    else:
        assert simulated.draw(name, n_train=32, seed=3)[0].identity != one.identity


def test_a_revision_makes_another_run(monkeypatch):
    before = datasets.identify("sine", seed=0)
    monkeypatch.setitem(identity.REVISIONS, "simulated sets", 2)
    assert not same_identity(before, datasets.identify("sine", seed=0))
    assert same_identity(datasets.identify("yacht"), datasets.identify("yacht"))


def test_an_estimator_is_its_settings():
    assert settings_of(BayesianRidge(tol=0.5, verbose=True))["tol"] == 0.5
    assert "verbose" not in settings_of(BayesianRidge())
    first, second = (settings_of(GaussianProcessRegressor(RBF(scale), random_state=7)) for scale in (1.0, 2.0))
    assert first["kernel"]["length_scale"] == 1.0
    assert not same_identity(first, second)
    assert "random_state" not in first, "a comparison seeds its methods by itself"

    class Searched(BayesianRidge):
        def __init__(self, cv=None, link=None):
            self.cv, self.link = cv, link

    found = settings_of(Searched(KFold(3, shuffle=True, random_state=1), print))
    assert found == {"cv": {"n_splits": 3, "shuffle": True, "random_state": 1}, "link": "an object"}
    assert json.loads(json.dumps(found)) == found


def test_a_setting_that_came_later_counts_only_if_it_is_not_what_was_done_before():
    before = {"name": "one point", "rho": 0.5}
    assert without_later_settings({**before, "penalty": "weights"}) == before
    assert without_later_settings({**before, "penalty": "gradients"}) == {**before, "penalty": "gradients"}
    assert "penalty" not in settings_of(HeteroskedasticRegressor())
    assert settings_of(HeteroskedasticRegressor(penalty="gradients"))["penalty"] == "gradients"


@pytest.mark.parametrize("wrong", ["sine", {}, {"set": object()}, 7])
def test_a_wrong_identity_for_rows_is_one_line(wrong):
    with pytest.raises(InputError, match="identity must be a mapping of words and numbers"):
        identity.check_identity(wrong)


def test_a_choice_is_kept_for_the_settings_it_was_made_under(tmp_path):
    path = tmp_path / "choice.json"
    assert remember_choice(path, {"points": 3}, lambda: 1) == 1
    assert remember_choice(path, {"points": 3}, lambda: 2) == 1
    assert remember_choice(path, {"points": 4}, lambda: 2) == 2
    assert remember_choice(None, {"points": 4}, lambda: 0) == 0
    path.write_text("{")
    with pytest.warns(StoreWarning, match=r"choice\.json is damaged .*: the choice is made anew"):
        assert remember_choice(path, {"points": 4}, lambda: 0) == 0


IDENTITIES = """
import importlib.metadata, json, sys

true_version = importlib.metadata.version
importlib.metadata.version = lambda name: "0.2.0" if name in ("heteroscope", "jax") else true_version(name)
import heteroscope
from heteroscope import datasets
from heteroscope.estimators import HeteroskedasticRegressorCV
from heteroscope.baselines import BASELINES
from heteroscope.core import settings_of
from heteroscope.paper import EXHIBITS, SCALES, exhibit_settings, part_name, part_settings

assert heteroscope.__version__ == "0.2.0"
found = {"methods": {name: settings_of(make()) for name, make in BASELINES.items()}}
found["methods"]["ours"] = settings_of(HeteroskedasticRegressorCV())
found["sets"] = {name: datasets.load(name).identity for name in ("cubic_homoskedastic", "yacht")}
for scale in SCALES.values():
    for name, exhibit in EXHIBITS.items():
        found[f"{name} {scale.name}"] = exhibit_settings(exhibit, scale)
        for part in exhibit.parts(scale).values():
            for one in part.pieces() if hasattr(part, "pieces") else [part]:
                found[part_name(one)] = part_settings(one)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def identities():
    """All that exhibits, methods and named sets are identified by, after a new version."""
    return json.loads(processors.run_script("native", IDENTITIES))


@pytest.mark.processors
@pytest.mark.parametrize("name", processors.IMITATIONS)
def test_no_identity_depends_on_the_processor(identities, name):
    assert json.loads(processors.run_script(name, IDENTITIES)) == identities


def test_every_record_is_found_after_a_new_version(identities):
    """On any processor, since no identity depends on it."""
    folder = Path(__file__).parents[2] / "benchmarks" / "records" / "parts"
    kept = {path.stem: json.loads(path.read_text())["settings"] for path in folder.glob("*.json")}
    assert len(kept) >= 74
    assert {name: identities.get(name) for name in kept} == kept


def floats_in(value):
    if isinstance(value, dict | list):
        return [number for one in (value.values() if isinstance(value, dict) else value) for number in floats_in(one)]
    return [value] if isinstance(value, float) else []


def test_every_number_of_an_identity_is_a_decimal_that_somebody_has_written(identities):
    """A float that was computed has as many digits as fit into it; the thirds of decades have 16, written out."""
    thirds = ("4641588833612779", "2154434690031884")
    for name, found in identities.items():
        shortest = {repr(number).split("e")[0].replace(".", "").strip("-0") for number in floats_in(found)}
        assert not {text for text in shortest if len(text) > 8 and text not in thirds}, name


class Parametrised:
    """An object with scikit-learn's way to name parameters, and one of them."""

    def __init__(self, value):
        self.value = value

    def get_params(self, deep=True):
        return {"value": self.value}


@pytest.mark.parametrize("function", [np.mean, np.sin, print, len, Parametrised, lambda x: x])
def test_no_name_or_docstring_of_a_function_or_class_is_part_of_an_identity(function):
    assert settings_of(Parametrised(function)) == {"value": identity.OPAQUE}


def test_bound_arguments_series_and_texts_tell_settings_apart():
    pairs = [
        (partial(len, 1), partial(len, 2)),
        (partial(len, a=1), partial(len, a=2)),
        (pd.Series([1.0, 2.0]), pd.Series([1.0, 3.0])),
        (np.array(["a", 1], object), np.array(["b", 1], object)),
    ]
    for one, other in pairs:
        assert settings_of(Parametrised(one)) == settings_of(Parametrised(one))
        assert settings_of(Parametrised(one)) != settings_of(Parametrised(other))


def test_a_setting_whose_name_ends_in_files_is_shown_like_any_other(tmp_path):
    with pytest.raises(InputError, match=r"profiles was \[1, 2\] and is now \[1, 3\]"):
        identity.refuse_other_settings(tmp_path, "a fit", {"profiles": [1, 2]}, {"profiles": [1, 3]}, "remove it")

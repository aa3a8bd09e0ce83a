"""Every baseline and an ensemble of it keep scikit-learn's contract and come back from model folders bit for bit.

The contract is about the code around the engine, which therefore has a stand-in here; that of maximum likelihood in
`test_base.py` and each method's own tests train.
"""

import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

from heteroscope import HeteroskedasticRegressor, HeteroskedasticRegressorCV, load_model, save_model
from heteroscope.baselines import (
    BASELINES,
    BetaNLLRegressor,
    EnsembleRegressor,
    FaithfulRegressor,
    MLEEnsembleRegressor,
    MLERegressor,
    NaturalLaplaceRegressor,
    ReliableVarianceRegressor,
    StudentTRegressor,
    VariationalVarianceRegressor,
)
from heteroscope.core.errors import InputError
from heteroscope.core.sealed_files import SEAL, seal
from heteroscope.model_files import ARRAYS, DESCRIPTION
from heteroscope.phases.labels import observe
from tests.baselines.by_least_squares import train

LINEAR = {"hidden": (), "max_steps": 20, "random_state": 0, "held_out": 0}
DECAY = LINEAR | {"weight_decay": 1e-3}


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    for place in ("heteroscope.baselines.base", "heteroscope.estimators.one_point"):
        monkeypatch.setattr(f"{place}.train", train)


@parametrize_with_checks(
    [
        BetaNLLRegressor(**DECAY),
        FaithfulRegressor(**DECAY),
        MLEEnsembleRegressor(n_members=2, **DECAY),
        NaturalLaplaceRegressor(rounds=1, **LINEAR),
        ReliableVarianceRegressor(**DECAY),
        StudentTRegressor(**DECAY),
        VariationalVarianceRegressor(**DECAY),
        EnsembleRegressor(MLERegressor(**DECAY), 2, random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def rows(n=60):
    random = np.random.default_rng(0)
    x = random.normal(size=(n, 2))
    return x, 5 + x @ [1.0, -2.0] + 0.3 * random.normal(size=n)


def make(name):
    return BASELINES[name](**(LINEAR if name == "natural-laplace" else DECAY))


MODELS = {
    **{name: make(name) for name in BASELINES},
    **{f"{name}-ensemble": EnsembleRegressor(make(name), 2, random_state=0) for name in BASELINES},
    "point-ensemble": EnsembleRegressor(HeteroskedasticRegressor(n_members=2, **LINEAR), 2, random_state=0),
    "ensemble-ensemble": EnsembleRegressor(EnsembleRegressor(make("student-t"), 2), 2, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_phase_is_that_of_what_is_predicted(name):
    x, y = rows()
    model = MODELS[name].fit(x, y)
    expected = observe(y, *model.predict(x, return_std=True))
    assert model.observables_._replace(held_out=None) == pytest.approx(expected._replace(held_out=None))


@pytest.mark.parametrize("name", MODELS)
def test_pickles_clones_and_model_folders_keep_every_bit(name, tmp_path):
    x, y = rows()
    model = MODELS[name].fit(x, y)
    folder = save_model(model, tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(model)), load_model(folder).estimator, clone(model).fit(x, y)):
        for found, expected in zip(again.predict_parts(x), model.predict_parts(x), strict=True):
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(again.predict_interval(x), model.predict_interval(x))
        assert type(again.pred_dist(x).dist) is type(model.pred_dist(x).dist)
        assert set(vars(again)) == set(vars(model))
        assert repr(again) == repr(model)
        for attribute in ("phase_", "status_", "observables_", "n_iter_"):
            assert getattr(again, attribute) == getattr(model, attribute)


def test_an_ensemble_has_the_moments_of_its_members_mixture():
    x, y = rows()
    model = EnsembleRegressor(NaturalLaplaceRegressor(rounds=1, **LINEAR), 3, random_state=1).fit(x, y)
    means, stds = (
        np.array(part) for part in zip(*(m.predict(x, return_std=True) for m in model.estimators_), strict=True)
    )
    mean, std = model.predict(x, return_std=True)
    np.testing.assert_allclose(mean, means.mean(axis=0))
    np.testing.assert_allclose(std**2, np.mean(stds**2 + means**2, axis=0) - mean**2)
    parts = model.predict_parts(x)
    np.testing.assert_allclose(parts.std**2, parts.aleatoric**2 + parts.epistemic**2)
    assert len({member.random_state for member in model.estimators_}) == 3
    assert np.all(parts.epistemic > 0)


def test_ours_can_be_a_member_too():
    x, y = rows()
    ours = HeteroskedasticRegressor(n_members=1, **LINEAR)
    model = EnsembleRegressor(ours, 2, n_jobs=1, random_state=0).fit(x, y)
    assert [type(member) for member in model.estimators_] == [HeteroskedasticRegressor] * 2
    assert model.estimators_[0].n_jobs == 1
    assert not hasattr(ours, "members_"), "the template stays unfitted"
    assert isinstance(EnsembleRegressor(HeteroskedasticRegressorCV()).estimator, HeteroskedasticRegressorCV)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (EnsembleRegressor(n_members=0), "n_members must be"),
        (EnsembleRegressor().set_params(estimator=object()), "must be a regressor of heteroscope"),
    ],
)
def test_what_is_no_ensemble_is_refused_in_one_line(model, message):
    with pytest.raises(InputError, match=message) as refusal:
        model.fit(*rows())
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("student-t-ensemble", lambda text: text.replace('"StudentTRegressor"', '"MLERegressor"')),
        ("student-t-ensemble", lambda text: text.replace('"n_features_in_": 2', '"n_features_in_": 3', 1)),
        ("student-t-ensemble", lambda text: text.replace('"members": [', '"others": [')),
        ("student-t", lambda text: text.replace('"StudentTRegressor"', '"ReliableVarianceRegressor"')),
        ("natural-laplace", lambda text: text.replace('"prior_precisions_"', '"priors"')),
    ],
)
def test_a_description_that_does_not_fit_its_arrays_is_refused(name, change, tmp_path):
    folder = save_model(MODELS[name].fit(*rows()), tmp_path / "model")
    before = (folder / DESCRIPTION).read_text()
    changed = json.loads(change(before))
    del changed[SEAL]
    (folder / DESCRIPTION).write_text(json.dumps(seal(changed)))
    assert change(before) != before
    with pytest.raises(InputError, match="damaged") as refusal:
        load_model(folder)
    assert "\n" not in str(refusal.value)


def test_an_ensemble_with_a_member_that_is_not_ours_is_not_saved(tmp_path):
    class Mine(MLERegressor):
        pass

    model = EnsembleRegressor(Mine(**DECAY), 2, random_state=0).fit(*rows())
    with pytest.raises(InputError, match="a Mine cannot be saved"):
        save_model(model, tmp_path / "model")
    assert not (tmp_path / "model" / ARRAYS).exists()


class Watching(PredefinedSplit):
    """Remembers the rows that it is asked to split."""

    def split(self, X=None, y=None, groups=None):
        seen.append(np.array(X))
        return super().split(X, y, groups)


seen: list[np.ndarray] = []


def test_members_of_an_ensemble_see_the_rows_as_they_are_given():
    x, y = rows(30)
    x[7], y[7] = x[3], y[3]  # a row given twice is no reason to renumber the others
    few = {"n_coarse": 3, "n_fine": 0, "n_off_diagonal": 0, "n_finalists": 1, "n_members": 1}
    member = HeteroskedasticRegressorCV(cv=Watching(np.arange(30) % 2), hidden=(), max_steps=8, **few)
    EnsembleRegressor(member, 1, random_state=0).fit(x, y)
    np.testing.assert_array_equal(seen[0], x)

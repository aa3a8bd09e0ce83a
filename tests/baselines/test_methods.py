"""Names of methods: each makes an estimator, and what cannot be had is said in one line."""

from inspect import signature

import pytest
from sklearn.linear_model import BayesianRidge

from heteroscope.baselines import BASELINES, methods
from heteroscope.baselines.methods import METHODS, choose_methods, left_out
from heteroscope.core.errors import InputError


def test_every_name_makes_an_unfitted_estimator_with_the_one_call():
    assert {"ours", "ngboost", "catboost", "gp", *BASELINES} == {name for name in METHODS if METHODS[name].by_default}
    for name, method in METHODS.items():
        estimator = method.make()
        assert callable(estimator.fit), name
        assert "return_std" in signature(estimator.predict).parameters


def test_ensemble_behind_the_name_of_a_method_makes_an_ensemble_of_it():
    found = choose_methods(["ours-ensemble", "student-t-ensemble", "mle-ensemble"], 100)
    assert [type(model).__name__ for model in found.values()] == [
        "EnsembleRegressor",
        "EnsembleRegressor",
        "MLEEnsembleRegressor",
    ]
    assert type(found["ours-ensemble"].estimator) is METHODS["ours"].make
    assert type(found["student-t-ensemble"].estimator) is BASELINES["student-t"]


def test_by_default_all_that_are_installed_and_can_bear_the_rows(monkeypatch):
    assert list(choose_methods(None, 100)) == [name for name in METHODS if METHODS[name].by_default]
    assert left_out(100) == {}
    assert "2000 training rows" in left_out(2001)["gp"]
    monkeypatch.setattr(methods, "find_spec", lambda name: None)
    assert "ngboost" not in choose_methods(None, 100)
    assert "pip install" in left_out(100)["catboost"]


def test_a_users_own_estimator_under_a_users_own_name():
    own = BayesianRidge()
    assert choose_methods({"ridge_1.0": own}, 100) == {"ridge_1.0": own}


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["ngbost"], "did you mean 'ngboost'"),
        (["telepathy"], "choose among ours, mle"),
        (["gp-ensemble"], "no method is called 'gp-ensemble'"),
        (["mle", "mle"], "listed twice"),
        ([], "list of one or more"),
        ("mle", "list of one or more"),
        ({"a/b": BayesianRidge()}, "is no part of a file name"),
    ],
)
def test_what_cannot_be_had_is_refused_in_one_line(wanted, message):
    with pytest.raises(InputError, match=message) as refusal:
        choose_methods(wanted, 100)
    assert "\n" not in str(refusal.value)


def test_a_method_that_cannot_bear_the_rows_is_refused_if_it_is_named():
    with pytest.raises(InputError, match="gp takes at most 2000 training rows, and there are 9000"):
        choose_methods(["gp"], 9000)

"""`conformal=` of the search: what it keeps, what it changes, what it refuses, and that files keep it."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

from heteroscope import HeteroskedasticRegressorCV, load_model, save_model
from heteroscope.core.errors import DamageError, InputError
from heteroscope.data import open_stream
from heteroscope.model_files.array_format import conformal_arrays, read_conformal

TINY = {
    "hidden": (4,),
    "max_steps": 40,
    "n_coarse": 3,
    "n_fine": 0,
    "n_off_diagonal": 0,
    "n_finalists": 1,
    "n_members": 2,
    "cv": 3,
    "n_jobs": 1,
    "random_state": 0,
    "target": "none",
}
RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, (60, 1))
Y = X[:, 0] + (0.1 + np.abs(X[:, 0])) * RANDOM.standard_normal(60)
NEW = np.linspace(-1, 1, 25)[:, np.newaxis]


def search(conformal, **settings):
    return HeteroskedasticRegressorCV(**{**TINY, "conformal": conformal, **settings})


@pytest.fixture(scope="module")
def fitted():
    """One search each: without conformal intervals, with the folds', and with rows set aside."""
    return {conformal: search(conformal).fit(X, Y) for conformal in (False, True, 0.25)}


def test_the_folds_scores_are_kept_and_nothing_else_changes(fitted):
    plain, plus = fitted[False], fitted[True]
    assert plain.conformal_ is None
    np.testing.assert_array_equal(plus.predict(NEW), plain.predict(NEW))
    np.testing.assert_array_equal(plus.predict_quantiles(NEW, [0.1]), plain.predict_quantiles(NEW, [0.1]))
    found = plus.conformal_
    assert (found.kind, len(found.ensembles), len(found.score)) == ("CV+", 3, 60)
    held = plus.held_out_
    np.testing.assert_array_equal(found.fold, held.fold)
    factor = found.score / np.abs(held.score)  # the scale of the std, the same for all rows that are not bounded
    assert np.mean(np.isclose(factor, np.median(factor), rtol=1e-6)) > 0.9


def test_intervals_are_the_order_statistics_of_the_folds_models(fitted):
    found = fitted[True].conformal_
    low, high = [], []
    for score, fold in zip(found.score, found.fold, strict=True):
        prediction = found.ensembles[fold].predict(NEW)
        low.append(prediction.mean - score * prediction.std)
        high.append(prediction.mean + score * prediction.std)
    lower, upper = fitted[True].predict_interval(NEW, 0.8)
    np.testing.assert_allclose(lower, np.sort(low, axis=0)[60 - 49])
    np.testing.assert_allclose(upper, np.sort(high, axis=0)[49 - 1])  # 49 = ceil(0.8 * 61)


def test_rows_set_aside_are_seen_by_nothing_and_score_the_final_model(fitted):
    model = fitted[0.25]
    found = model.conformal_
    assert (found.kind, found.ensembles, len(found.score)) == ("split", (), 15)
    assert len(model.held_out_.y) == 45
    aside = np.setdiff1d(np.arange(60), model.held_out_.number)
    mean, std = model.predict(X[aside], return_std=True)
    np.testing.assert_allclose(np.sort(found.score), np.sort(np.abs(Y[aside] - mean) / std))
    lower, upper = model.predict_interval(NEW, 0.5)
    mean, std = model.predict(NEW, return_std=True)
    reach = np.sort(found.score)[8 - 1] * std  # 8 = 0.5 * 16
    np.testing.assert_allclose(np.column_stack([lower, upper]), np.column_stack([mean - reach, mean + reach]))


def test_files_keep_them_to_the_last_bit(fitted, tmp_path):
    for number, conformal in enumerate((True, 0.25)):
        model = fitted[conformal]
        save_model(model, tmp_path / str(number))
        loaded = load_model(tmp_path / str(number))
        wanted = model.predict_interval(NEW, 0.8)
        np.testing.assert_array_equal(loaded.predict_interval(NEW, 0.8), wanted)
        np.testing.assert_array_equal(loaded.estimator.predict_interval(NEW, 0.8), wanted)
        save_model(loaded, tmp_path / "again")
        np.testing.assert_array_equal(load_model(tmp_path / "again").predict_interval(NEW, 0.8), wanted)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("conformal.score", lambda a: -a),
        ("conformal.fold", lambda a: a * 0),
        ("conformal.1.bounds", lambda a: -a),
        ("conformal.1.mean.0.weight", lambda a: a[:, :, :1]),
        ("conformal.2.scaling.x_scale", lambda a: a * 0),
    ],
)
def test_damaged_parts_are_refused(fitted, name, change):
    arrays = conformal_arrays(fitted[True].conformal_)
    assert len(read_conformal(arrays, "silu", False, 1).ensembles) == 3
    with pytest.raises(DamageError):
        read_conformal(arrays | {name: change(arrays[name])}, "silu", False, 1)


def test_copies_of_a_row_count_as_often_as_they_were_given():
    twice = search(True, cv=0.3, n_coarse=2).fit(np.vstack([X, X[:20]]), np.concatenate([Y, Y[:20]]))
    assert len(twice.conformal_.score) == twice.held_out_.weight.sum()
    assert twice.conformal_.kind == "split"


@pytest.mark.parametrize(
    ("settings", "arguments", "message"),
    [
        ({"conformal": 1.5}, {}, "conformal must be True, False or a share"),
        ({"conformal": -0.5}, {}, "conformal must be True, False or a share"),
        ({"conformal": 0.99}, {}, "leaves 0 of 60 rows to fit"),
        ({"conformal": True}, {"sample_weight": np.arange(1.0, 61.0)}, "rows of equal weight"),
        ({"conformal": True, "cv": [*ShuffleSplit(3, random_state=0).split(X)]}, {}, "folds that hold out each row"),
        ({"conformal": 0.2}, {"groups": np.arange(60)}, "conformal=True with groups"),
    ],
)
def test_what_cannot_be_guaranteed_is_refused(settings, arguments, message):
    with pytest.raises(InputError, match=message):
        search(**settings).fit(X, Y, **arguments)


def test_splitters_that_hold_out_each_row_once_and_equal_weights_pass():
    model = search(True, cv=KFold(2), n_coarse=2).fit(X, Y, sample_weight=np.full(60, 2.5))
    assert len(model.conformal_.score) == 60


def test_streams_are_refused(fitted, tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    stream = open_stream((tmp_path / "x.npy", tmp_path / "y.npy"))
    with pytest.raises(InputError, match="not for a stream"):
        search(True).fit(stream)
    with pytest.raises(InputError, match="not to a stream"):
        fitted[True].predict_interval(stream)

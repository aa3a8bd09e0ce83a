"""A loaded model predicts with NumPy, takes a table's own columns, and is the estimator for everything else."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone

from heteroscope import HeteroskedasticRegressor, HeteroskedasticRegressorCV, load_model, save_model
from heteroscope.baselines import MLERegressor
from heteroscope.core import InputError
from heteroscope.data import TableEncoder, open_stream
from heteroscope.distributions import metrics

TINY = {"hidden": (6, 5), "batch_size": None, "max_steps": 12, "n_jobs": 1, "random_state": 0}
HEAVY = "jax jaxlib scipy sklearn pandas matplotlib xarray pyarrow zarr joblib filelock"


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"size": random.normal(size=40), "town": random.choice(["Bern", "Chur", "Thun"], 40)})
    return frame.assign(price=frame["size"] + (frame["town"] == "Bern") + 0.3 * random.normal(size=40))


@pytest.fixture(scope="module")
def encoder(table):
    return TableEncoder.fit(table.assign(size=table["size"].where(table.index > 2)), "price", missing="impute")


@pytest.fixture(scope="module")
def fitted(table, encoder):
    rows = pd.DataFrame(encoder.features(table), columns=list(encoder.feature_names))
    return HeteroskedasticRegressorCV(n_coarse=3, n_fine=0, cv=2, n_members=2, **TINY).fit(rows, table["price"])


@pytest.fixture
def folder(fitted, encoder, tmp_path):
    return save_model(fitted, tmp_path / "model", encoder)


def encoded(encoder, frame):
    return pd.DataFrame(encoder.features(frame), columns=list(encoder.feature_names))


def test_the_columns_of_the_table_are_encoded_as_they_were_for_the_fit(fitted, encoder, folder, table):
    new = pd.DataFrame({"note": ["a", "b"], "town": ["Chur", "Bern"], "size": [np.nan, 0.5]})
    expected = fitted.predict(encoded(encoder, new), return_std=True)
    loaded = load_model(folder)
    np.testing.assert_array_equal(loaded.predict(new, return_std=True), expected)
    np.testing.assert_array_equal(loaded.predict(new.to_dict("records")), expected[0])
    np.testing.assert_array_equal(loaded.predict(encoded(encoder, new)), expected[0])
    np.testing.assert_array_equal(loaded.predict(encoder.features(new)), expected[0])
    with pytest.raises(InputError, match="town"):
        loaded.predict(new.drop(columns="town"))
    with pytest.raises(InputError, match="Genf"):
        loaded.predict(new.assign(town="Genf"))


def test_all_predictions_are_those_of_the_estimator_before_and_after_it_is_made(fitted, encoder, folder, table):
    loaded, rows = load_model(folder), encoded(encoder, table)
    for _ in range(2):
        np.testing.assert_array_equal(loaded.predict_parts(table), fitted.predict_parts(rows))
        np.testing.assert_allclose(loaded.predict_interval(table, 0.8), fitted.predict_interval(rows, 0.8), rtol=1e-12)
        np.testing.assert_allclose(
            loaded.predict_quantiles(table, [0.1, 0.5]), fitted.predict_quantiles(rows, [0.1, 0.5]), rtol=1e-12
        )
        assert metrics.nll(table["price"], *metrics.forecast_of(loaded, table)) == pytest.approx(
            metrics.nll(table["price"], fitted.pred_dist(rows))
        )
        assert loaded.phase_ == fitted.phase_


def test_a_loaded_model_is_pickled_cloned_fitted_and_saved(fitted, encoder, folder, table, tmp_path):
    loaded, rows = load_model(folder), encoded(encoder, table)
    again = pickle.loads(pickle.dumps(loaded))
    np.testing.assert_array_equal(again.predict(table), fitted.predict(rows))
    assert type(clone(loaded)) is HeteroskedasticRegressorCV
    copy = load_model(save_model(loaded, tmp_path / "copy"))
    np.testing.assert_array_equal(copy.predict(table), fitted.predict(rows))
    loaded.fit(rows, -table["price"].to_numpy())
    np.testing.assert_array_equal(loaded.predict(table), loaded.estimator.predict(rows))
    assert not np.array_equal(loaded.predict(table), fitted.predict(rows))
    with pytest.raises(AttributeError, match="colour"):
        _ = loaded.colour


def test_rows_without_names_and_streams(tmp_path):
    x = np.random.default_rng(0).normal(size=(30, 2))
    model = HeteroskedasticRegressor(0.9, 0.1, **TINY).fit(x, x[:, 0])
    loaded = load_model(save_model(model, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict(x.tolist()), model.predict(x))
    np.testing.assert_array_equal(loaded.predict(pd.DataFrame(x)), model.predict(x))
    np.save(tmp_path / "x.npy", x.astype(np.float32))
    np.save(tmp_path / "y.npy", x[:, 0].astype(np.float32))
    stream = open_stream((tmp_path / "x.npy", tmp_path / "y.npy"))
    np.testing.assert_allclose(loaded.predict(stream), model.predict(x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([[1.0, 2.0, 3.0]], "2 features"),
        ([1.0, 2.0], "shape"),
        ([[1.0, np.nan]], "column 2"),
        ([["a", "b"]], "numbers"),
        (np.empty((0, 2)), "shape"),
    ],
)
def test_other_rows_are_refused_in_a_line(tmp_path, rows, told):
    x = np.random.default_rng(0).normal(size=(30, 2))
    loaded = load_model(save_model(HeteroskedasticRegressor(0.9, 0.1, **TINY).fit(x, x[:, 0]), tmp_path / "model"))
    with pytest.raises(InputError, match=told):
        loaded.predict(rows)


def test_a_baseline_predicts_with_its_estimator(tmp_path, table):
    frame = table[["size"]]
    model = MLERegressor(weight_decay=0.1, held_out=0, **TINY).fit(frame, table["price"])
    loaded = load_model(save_model(model, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    assert isinstance(loaded.pred_dist(frame).mean()[0], float)
    assert loaded.pred_dist(frame).dist.name == stats.norm.name


def test_a_process_that_predicts_imports_nothing_heavy(folder):
    script = f"""
import sys
from heteroscope import load_model
model = load_model({str(folder)!r})
mean, std = model.predict([[0.5, 1.0, 0.0, 0.0]], return_std=True)
assert std > 0
print(*sorted(set("{HEAVY}".split()) & set(sys.modules)))
model.predict_interval([[0.5, 1.0, 0.0, 0.0]])
print(*sorted(set("jax sklearn pandas scipy.stats scipy.optimize".split()) & set(sys.modules)))
"""
    assert subprocess.check_output([sys.executable, "-c", script], text=True).split() == []


def test_a_thousand_requests_are_answered_by_forked_workers_after_a_fit_in_their_parent(tmp_path):
    script = f"""
import os
import warnings
import numpy as np
from heteroscope import HeteroskedasticRegressor, load_model, save_model

warnings.simplefilter("ignore")  # JAX warns of every fork, and here the children leave JAX alone
x = np.random.default_rng(0).normal(size=(30, 2))
fitted = HeteroskedasticRegressor(0.9, 0.1, **{TINY!r}).fit(x, x[:, 0])
expected = fitted.predict(x)
loaded = load_model(save_model(fitted, {str(tmp_path / "model")!r}))
children = []
for worker in range(4):
    child = os.fork()
    if not child:
        model = (loaded, fitted)[worker % 2]
        for request in range(250):
            n = 1 + request % 30
            if not np.allclose(model.predict(x[:n]), expected[:n], rtol=1e-5, atol=1e-6):
                os._exit(1)
        os._exit(0)
    children.append(child)
print(*[os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""
    assert subprocess.check_output([sys.executable, "-c", script], text=True, timeout=120).split() == ["0"] * 4

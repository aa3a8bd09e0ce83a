"""Estimators, baselines and diagrams on a stream: known noise is found, and partial_fit is the same training."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from heteroscope import HeteroskedasticRegressor, HeteroskedasticRegressorCV, load_model, phase_diagram, save_model
from heteroscope.baselines import EnsembleRegressor, MLEEnsembleRegressor, NaturalLaplaceRegressor, StudentTRegressor
from heteroscope.core.errors import InputError
from heteroscope.data.streams import open_stream
from heteroscope.data.streams.batches import RowOrder, read_chunks
from heteroscope.data.streams.surveying import survey_stream
from heteroscope.distributions import metrics
from heteroscope.estimators.base import member_seeds
from tests.data.streams.small_tables import NAMES, make_table, write_npy

SETTINGS = {"hidden": (8, 8), "batch_size": 50, "max_steps": 1200, "random_state": 0}


@pytest.fixture(scope="module")
def searched(stream):
    return HeteroskedasticRegressorCV(n_coarse=4, n_fine=0, n_members=2, **SETTINGS).fit(stream)


@pytest.fixture(scope="module")
def fresh():
    return make_table(seed=1)


def true_moments(x):
    """What `make_table` draws from."""
    latent = (x - np.array([0.0, 5.0, 1e5])) / [1.0, 1e-3, 1e3]
    return 500 + 20 * (np.sin(latent[:, 0]) + latent[:, 1]), 6 * np.exp(0.5 * latent[:, 0])


def test_the_search_finds_mean_and_noise(searched, fresh):
    mean, std = searched.predict(fresh.x, return_std=True)
    true_mean, true_std = true_moments(fresh.x.astype(float))
    assert np.mean(np.abs(mean - true_mean) / true_std) < 0.35
    assert np.corrcoef(np.log(std), np.log(true_std))[0, 1] > 0.9
    assert metrics.nll(fresh.y, mean, std) < metrics.nll(fresh.y, true_mean, true_std) + 0.12
    assert searched.phase_ == "S"
    assert searched.rho_ + searched.gamma_ == pytest.approx(1.0)
    assert searched.members_.mean[0].weight.shape[0] == 2
    assert len(searched.cv_results_["rho"]) == 4
    assert searched.cv_results_["phase"][0] == "U_I"


def test_a_stream_is_predicted_as_its_rows_are(searched, stream, table):
    for part, other in zip(searched.predict_parts(stream), searched.predict_parts(table.x), strict=True):
        np.testing.assert_allclose(part, other, rtol=1e-5, atol=1e-4)


def test_a_fitted_model_is_saved_and_pickled(searched, fresh, tmp_path):
    save_model(searched, tmp_path / "model")
    for copy in (load_model(tmp_path / "model"), pickle.loads(pickle.dumps(searched))):
        np.testing.assert_array_equal(copy.predict(fresh.x), searched.predict(fresh.x))


def test_one_point_and_partial_fit_are_the_same_training(stream):
    model = HeteroskedasticRegressor(0.99, 0.01, held_out=0.1, **SETTINGS).fit(stream)
    found = survey_stream(stream, share=0.1)
    order = RowOrder(stream, found.training, found.scaling, 50, member_seeds(0, 2)[1])
    steps, scaling = read_chunks(order, 0), found.scaling
    own = HeteroskedasticRegressor(0.99, 0.01, **SETTINGS)
    rows = [next(steps) for _ in range(-(-SETTINGS["max_steps"] // order.chunk_batches))]
    x = np.concatenate([chunk.x.reshape(-1, 3) for chunk in rows])[: 50 * 1200].astype(float)
    y = np.concatenate([chunk.y.ravel() for chunk in rows])[: 50 * 1200].astype(float)
    x, y = x * scaling.x_scale + scaling.x_centre, y * scaling.y_scale + scaling.y_centre
    for first, stop in pairwise((0, 20_000, 40_000, 60_000)):
        own.partial_fit(x[first:stop], y[first:stop], scaling=scaling)
    new = make_table(seed=2)
    (mean, std), (own_mean, own_std) = (one.predict(new.x, return_std=True) for one in (model, own))
    np.testing.assert_allclose(own_mean, mean, rtol=2e-3)
    np.testing.assert_allclose(own_std, std, rtol=0.1)
    assert own.n_iter_ == model.n_iter_ == 1200
    with pytest.raises(InputError, match=r"1,200 of max_steps=1,200 are done"):
        own.partial_fit(x[:50], y[:50])


def test_a_baseline_on_a_stream(stream, fresh):
    model = MLEEnsembleRegressor(3, **SETTINGS).fit(stream)
    mean, std = model.predict(fresh.x, return_std=True)
    true_mean, true_std = true_moments(fresh.x.astype(float))
    assert metrics.nll(fresh.y, mean, std) < metrics.nll(fresh.y, true_mean, true_std) + 0.12
    assert model.members_.mean[0].weight.shape[0] == 3
    assert model.trials_["held_out_nll"].argmin() == list(model.trials_["weight_decay"]).index(model.weight_decay_)


def test_a_diagram_of_a_stream(stream, tmp_path):
    grid = {"rhos": [0.5, 0.999], "gammas": [0.001, 0.5], "store": tmp_path / "map"}
    settings = {**SETTINGS, "schedule": "cosine"}
    diagram = phase_diagram(stream, **grid, **settings)
    assert diagram.phase.isel(rho=0, gamma=1).item() == "U_I"
    assert diagram.phase.isel(rho=1, gamma=0).item() == "S"
    assert list(diagram.split.values) == ["train", "test"]
    assert diagram.identical(phase_diagram(stream, **grid, **settings))  # found in its store


@pytest.mark.parametrize(
    ("arguments", "parameters", "complaint"),
    [
        ({"y": [1.0]}, {}, "a stream brings its own target"),
        ({"sample_weight": [1.0]}, {}, "a stream takes no sample_weight"),
        ({}, {"batch_size": None}, "a stream needs a number"),
        ({}, {"schedule": "fast"}, "needs all rows in memory"),
        ({}, {"schedule": "levelled"}, "needs all rows in memory"),
    ],
)
def test_what_does_not_go_with_a_stream_is_one_line(arguments, parameters, complaint, stream):
    for estimator in (HeteroskedasticRegressorCV, HeteroskedasticRegressor):
        with pytest.raises(InputError, match=complaint):
            estimator(**SETTINGS | parameters).fit(stream, **arguments)


def test_a_run_that_is_kept_needs_a_seed(stream, tmp_path):
    with pytest.raises(InputError, match="set random_state beside store"):
        HeteroskedasticRegressorCV(**SETTINGS | {"random_state": None}).fit(stream, store=tmp_path)


def test_streams_and_arrays_are_not_mixed_up(searched, stream, table, tmp_path):
    with pytest.raises(InputError, match="store keeps a run on a stream"):
        HeteroskedasticRegressor(**SETTINGS).fit(table.x, table.y, store=tmp_path)
    narrow = open_stream(write_npy(tmp_path, table._replace(x=table.x[:, :2])))
    with pytest.raises(InputError, match="has 2 features and the model expects 3"):
        searched.predict(narrow)
    with pytest.raises(InputError, match="a stream holds out test rows of its own"):
        phase_diagram(stream, X_test=table.x, y_test=table.y)


QUICK = SETTINGS | {"max_steps": 20, "n_jobs": 1}  # the networks of all others, whose programs are compiled once


@pytest.fixture
def frame(table):
    return pd.DataFrame(table.x, columns=list(NAMES)).assign(y=table.y)


def as_stream(frame, path, columns=None, **kept):
    frame[[*(columns or NAMES), "y"]].to_parquet(path, **kept)
    return open_stream(path, target="y")


def test_columns_of_a_stream_go_by_name(frame, tmp_path):
    first = as_stream(frame, tmp_path / "a.parquet")
    other = as_stream(frame, tmp_path / "b.parquet", columns=("middle", "left", "right"))
    model = HeteroskedasticRegressor(**QUICK).fit(first)
    assert model.feature_names_in_.tolist() == list(NAMES)
    with pytest.raises(InputError, match="column 0 of the stream is 'middle', and the model was fitted to 'left'"):
        model.predict(other)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["middle", "left", "right"]])
    chosen = open_stream(tmp_path / "b.parquet", target="y", features=NAMES)
    np.testing.assert_array_equal(model.predict(chosen), model.predict(first))
    assert model.fit(other).feature_names_in_.tolist() == ["middle", "left", "right"]


def test_a_stream_without_names_goes_by_place(stream, frame):
    model = HeteroskedasticRegressor(**QUICK).fit(frame[list(NAMES)], frame["y"])
    assert len(model.predict(stream)) == len(frame)
    assert not hasattr(model.fit(stream), "feature_names_in_")


def test_row_labels_of_pandas_are_no_feature_and_neither_is_the_target(frame, tmp_path):
    shuffled = as_stream(frame.sample(frac=1.0, random_state=0), tmp_path / "shuffled.parquet")
    labelled = as_stream(frame.set_index(pd.Index(frame.index * 2, name="id")), tmp_path / "labelled.parquet")
    assert shuffled.feature_names == labelled.feature_names == NAMES
    with pytest.raises(InputError, match="'y' is the target and one of the features"):
        open_stream(tmp_path / "labelled.parquet", target="y", features=["left", "y"])


def test_weights_of_partial_fit_count_across_calls(table):
    x, y = table.x[:200].astype(float), table.y[:200].astype(float)
    settings = {"hidden": (4,), "batch_size": 100, "max_steps": 40, "random_state": 0}

    def after(weight_of_nonsense):
        model = HeteroskedasticRegressor(0.99, 0.01, **settings)
        for _ in range(20):
            model.partial_fit(x[:100], y[:100], np.ones(100))
            model.partial_fit(x[100:], -y[100:], np.full(100, weight_of_nonsense))
        return model.predict(x)

    ignored, believed = after(1e-9), after(1.0)
    assert np.mean((ignored - y) ** 2) < 0.1 * np.mean((believed - y) ** 2)


def test_rows_of_weight_zero_are_no_part_of_partial_fit(table):
    x, y = table.x[:100].astype(float), table.y[:100].astype(float)
    weight = np.repeat([0.0, 1.0], 50)
    with_them = HeteroskedasticRegressor(**QUICK).partial_fit(x, y, weight)
    without = HeteroskedasticRegressor(**QUICK).partial_fit(x[50:], y[50:])
    np.testing.assert_array_equal(with_them.predict(x), without.predict(x))
    with pytest.raises(ValueError, match="all sample weights are zero"):
        without.partial_fit(x, y, np.zeros(100))


@pytest.mark.parametrize("method", [NaturalLaplaceRegressor, EnsembleRegressor, StudentTRegressor])
def test_methods_for_memory_refuse_a_stream(method, stream):
    with pytest.raises(InputError, match="is fitted to arrays in memory, not to a stream"):
        method().fit(stream)

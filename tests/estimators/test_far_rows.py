"""Rows far outside the fit: a std that grows with the distance, a warning with their number, and never no number."""

import numpy as np
import pytest

from heteroscope import HeteroskedasticRegressor
from heteroscope.baselines import EnsembleRegressor
from heteroscope.core.errors import FarRowsWarning, InputError


@pytest.fixture(scope="module")
def model():
    random = np.random.default_rng(0)
    x = random.uniform([0.0, -1.0], [50.0, 1.0], (64, 2))
    y = x[:, 0] + random.standard_normal(64)
    return HeteroskedasticRegressor(0.9, 0.1, hidden=(6,), max_steps=20, held_out=0, random_state=0, n_jobs=1).fit(x, y)


def test_the_std_grows_by_the_distance_in_standard_units(model):
    ordinary, sentinel, further = np.array([10.0, 0.0]), np.array([-999.0, 0.0]), np.array([-9990.0, 0.0])
    with pytest.warns(FarRowsWarning, match=r"2 of 3 rows lie far .* row 2 with -999 in column '0'"):
        found = model.predict_parts(np.array([ordinary, sentinel, further]))
    scaling = model.scaling_
    edge = scaling.x_low[0] - (scaling.x_high[0] - scaling.x_low[0]) / 2
    extra = scaling.y_scale * (edge - np.array([-999.0, -9990.0])) / scaling.x_scale[0]
    at_edge = model.predict_parts(np.array([[edge, 0.0]]))
    np.testing.assert_allclose(found.std[1:], np.hypot(at_edge.std, extra), rtol=1e-6)
    np.testing.assert_allclose(found.mean[1:], np.repeat(at_edge.mean, 2), rtol=1e-6)
    np.testing.assert_allclose(found.std**2, found.aleatoric**2 + found.epistemic**2, rtol=1e-12)
    assert found.std[1] > 10 * found.std[0]


def test_rows_near_the_fit_are_predicted_as_ever_and_without_a_warning(model):
    x = np.random.default_rng(1).uniform([-10.0, -1.4], [60.0, 1.4], (200, 2))
    plain = model._combine(x)
    for one, other in zip(model.predict_parts(x), plain, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("size", [1e30, 3e38, 1e200])
def test_numbers_beyond_single_precision_are_predicted(model, size):
    with pytest.warns(FarRowsWarning):
        mean, std = model.predict(np.array([[10.0, 0.0], [10.0, -size], [10 * size, size]]), return_std=True)
    assert np.isfinite(mean).all()
    assert (np.diff(std) > 0).all()


def test_numbers_that_cannot_be_predicted_are_refused_by_row_and_column(model):
    with pytest.raises(InputError, match=r"row 2 with 1e\+308 in column '1' .* is too far outside the rows of the fit"):
        model.predict(np.array([[10.0, 0.0], [10.0, 1e308]]))


def test_an_ensemble_of_regressors_widens_too(model):
    ensemble = EnsembleRegressor(model, 2, random_state=0)
    random = np.random.default_rng(0)
    x = random.uniform([0.0, -1.0], [50.0, 1.0], (64, 2))
    ensemble.fit(x, x[:, 0] + random.standard_normal(64))
    with pytest.warns(FarRowsWarning):
        near, far = ensemble.predict(np.array([[10.0, 0.0], [-999.0, 0.0]]), return_std=True)[1]
    assert far > 10 * near


def test_a_training_call_by_call_knows_all_rows_it_has_seen():
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (64, 1))
    model = HeteroskedasticRegressor(0.9, 0.1, hidden=(4,), max_steps=40, batch_size=16, random_state=0, n_jobs=1)
    for part in (x, 10 * x):
        model.partial_fit(part, part[:, 0])
    model.predict(np.array([[9.0]]))  # no warning
    with pytest.warns(FarRowsWarning):
        model.predict(np.array([[99.0]]))

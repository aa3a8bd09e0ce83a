"""Inputs with values far from all others: they are bent, and loaded and exported models bend them, too."""

import numpy as np
import pytest

from heteroscope import HeteroskedasticRegressor, load_model, save_model
from heteroscope.core import FarRowsWarning
from heteroscope.data import bends
from heteroscope.explanation import explain
from heteroscope.explanation.slopes import member_slopes
from heteroscope.model_files import export_onnx

SETTINGS = {"hidden": (24, 24), "max_steps": 600, "held_out": 0, "random_state": 0}


def lognormal(n, seed):
    z = np.random.default_rng(seed).normal(size=(n, 2))
    return np.exp(3.0 * z), np.sin(z[:, 0]) + z[:, 1] + 0.05 * np.random.default_rng(seed + 1).normal(size=n)


@pytest.fixture(scope="module")
def fitted():
    return HeteroskedasticRegressor(0.999, 0.01, **SETTINGS).fit(*lognormal(300, 0))


def test_networks_see_all_of_a_lognormal_input(fitted, monkeypatch):
    x, y = lognormal(1000, 5)
    monkeypatch.setattr(bends, "HEAVY", np.inf)
    straight = HeteroskedasticRegressor(0.999, 0.01, **SETTINGS).fit(*lognormal(300, 0))
    assert straight.scaling_.bends is None
    assert fitted.score(x, y) > 0.95 > 0.85 > straight.score(x, y)


def test_loaded_and_exported_models_predict_the_same(fitted, tmp_path):
    x, _ = lognormal(50, 7)
    x[0] = [1e9, 1e-9]
    with pytest.warns(FarRowsWarning):
        mean, std = fitted.predict(x, return_std=True)
    loaded = load_model(save_model(fitted, tmp_path / "model"))
    with pytest.warns(FarRowsWarning):
        np.testing.assert_array_equal(loaded.predict(x, return_std=True), (mean, std))
    pytest.importorskip("onnx", reason="the extra onnx is not installed")
    onnxruntime = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    path = export_onnx(fitted, tmp_path / "model.onnx", "float64")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(["mean", "std"], {"features": x}), (mean, std), rtol=1e-4)


def test_slopes_are_those_of_differences_in_the_users_units(fitted):
    x, y = lognormal(40, 9)
    x = np.clip(x, *np.quantile(lognormal(300, 0)[0], [0.05, 0.95], axis=0))
    step = 1e-3 * x[:, :1] * [1.0, 0.0]
    rise = (fitted.predict(x + step) - fitted.predict(x - step)) / (2 * step[:, 0])
    found = member_slopes(fitted.ensemble(), x).mean_gradient[0][:, 0]
    np.testing.assert_allclose(found, rise, rtol=0.02, atol=0.02 * np.abs(rise).mean())
    assert explain(fitted, x, y) is not None

"""An exported graph gives onnxruntime the predictions that NumPy gives, in both precisions and for every activation."""

import json

import numpy as np
import pytest

from heteroscope import HeteroskedasticRegressor, load_model, save_model
from heteroscope.baselines import MLERegressor
from heteroscope.core import FarRowsWarning, InputError
from heteroscope.data import Scaling
from heteroscope.model_files import export_onnx
from heteroscope.networks import (
    ACTIVATION_NAMES,
    Architecture,
    FittedEnsemble,
    init_params,
    predict_with_far_rows,
    stack_members,
)

onnxruntime = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
pytest.importorskip("onnx", reason="the extra onnx is not installed")


class Made:
    """A model with random networks, as wide apart as training never leaves them."""

    def __init__(self, activation):
        members = [init_params(seed, Architecture(3, (6, 5), activation, start=0.8)) for seed in range(4)]
        centre, scale = np.array([1.0, -2.0, 1e6]), np.array([2.0, 0.5, 10.0])
        scaling = Scaling(centre, scale, 10.0, 3.0, centre - 6 * scale, centre + 6 * scale)
        self.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
        self.fitted = FittedEnsemble(stack_members(members), scaling, activation, 1.3, 6.0, (4.0, 17.0), 5.0)

    def ensemble(self):
        return self.fitted


@pytest.mark.parametrize("activation", ACTIVATION_NAMES)
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_onnxruntime_agrees(activation, precision, tmp_path):
    model = Made(activation)
    path = export_onnx(model, tmp_path / "model.onnx", precision)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    scaling = model.fitted.scaling
    x = (scaling.x_centre + 2 * scaling.x_scale * np.random.default_rng(0).normal(size=(40, 3))).astype(precision)
    mean, std = session.run(["mean", "std"], {"features": x})
    assert mean.dtype == std.dtype == precision
    expected = model.fitted.predict(x.astype(np.float64))
    np.testing.assert_allclose(mean, expected.mean, rtol=1e-4)
    np.testing.assert_allclose(std, expected.std, rtol=1e-4)
    assert session.run(["mean"], {"features": x[:1]})[0] == pytest.approx(mean[:1], rel=1e-6)
    properties = session.get_modelmeta().custom_metadata_map
    assert float(properties["df"]) == 5.0
    assert json.loads(properties["feature_names"]) == ["a", "b", "c"]


def test_rows_far_outside_the_fit_have_the_same_wide_std(tmp_path):
    model = Made("silu")
    session = onnxruntime.InferenceSession(export_onnx(model, tmp_path / "far.onnx", "float64"))
    scaling = model.fitted.scaling
    x = np.stack([scaling.x_centre + np.array([100.0, 0.0, -999.0]), scaling.x_centre])
    with pytest.warns(FarRowsWarning):
        expected = predict_with_far_rows(model.fitted.predict, x, scaling, None)
    for one, other in zip(session.run(["mean", "std"], {"features": x}), expected, strict=False):
        np.testing.assert_allclose(one, other, rtol=1e-4)
    assert expected.std[0] > 20 * expected.std[1]


def test_a_fitted_and_a_loaded_model_give_the_same_file(tmp_path):
    x = np.random.default_rng(0).normal(size=(30, 2))
    model = HeteroskedasticRegressor(0.9, 0.1, hidden=(6, 5), batch_size=None, max_steps=12, n_jobs=1).fit(x, x[:, 0])
    one = export_onnx(model, tmp_path / "one.onnx").read_bytes()
    loaded = load_model(save_model(model, tmp_path / "model"))
    assert export_onnx(loaded, tmp_path / "two.onnx").read_bytes() == one
    with pytest.raises(InputError, match="MLERegressor"):
        export_onnx(MLERegressor(), tmp_path / "three.onnx")
    assert not (tmp_path / "three.onnx").exists()

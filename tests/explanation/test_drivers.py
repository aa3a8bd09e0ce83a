"""What drives mean and std: known drivers, closed forms, and finite differences of what `predict` returns."""

import numpy as np
import pytest
from scipy import stats

from heteroscope.explanation import effect_curves, input_slopes, most_important, permutation_importance, slope_sizes
from heteroscope.networks import predict_members
from tests.explanation.made_up import COLUMNS, NAMES, SLOPE, ensemble, inputs

MODELS = {
    "one member": ensemble(1),
    "an ensemble": ensemble(3),
    "bounded": ensemble(3, widest_std=1.5, mean_bounds=(9.0, 11.0), std_scale=1.3),
    "disagreement capped": ensemble(3, widest_std=1e-3, std_scale=0.7),
}


def test_the_first_input_drives_the_mean_and_the_second_the_std():
    found = permutation_importance(ensemble(), inputs(), n_repeats=3)
    average = found["crps"].mean("repeat")
    assert average.sel(driven="mean").idxmax() == "width"
    assert average.sel(driven="std").idxmax() == "noisiness"
    assert float(average.sel(driven="std", input="noisiness")) > 0.02
    assert float(average.sel(driven="mean", input="colour")) > 0
    for score in ("crps", "nll"):
        assert np.all(found[score].sel(input="nothing") == 0.0), "an input without weight changes no forecast"
    assert float(abs(average.sel(driven="mean", input="noisiness"))) < 1e-3
    assert list(found["input"].values) == list(COLUMNS)
    assert most_important(found, 2) == ["width", "noisiness"]


def test_shuffled_crps_of_the_mean_is_that_of_an_independent_row():
    """With the mean of another row, the error is Gaussian with the variance of both: a closed form of the CRPS."""
    model, rows = ensemble(1), inputs(1000)
    rows = rows._replace(x=rows.x * [1, 0, 0, 0, 0])  # one std, no other input
    prediction = model.predict(rows.x)
    rows = rows._replace(y=prediction.mean + prediction.std * np.random.default_rng(1).normal(size=1000))
    found = permutation_importance(model, rows, n_repeats=20)
    std = prediction.std[0]
    pairs = (prediction.mean[:, None] - prediction.mean[None, :]).ravel() / std
    # E |z + d| / sqrt 2 of a Gaussian z of variance 2, minus the same at d = 0
    spread = np.sqrt(2.0)
    expected = std * np.mean(
        spread * (2 * stats.norm.pdf(pairs / spread) + pairs / spread * (2 * stats.norm.cdf(pairs / spread) - 1))
        - 2 * spread * stats.norm.pdf(0)
    )
    assert float(found["crps"].sel(driven="mean", input="width").mean()) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("name", MODELS)
def test_slopes_are_those_of_finite_differences(name):
    model, x, step = MODELS[name], inputs(30).x, 0.02
    found = input_slopes(model, x)
    for feature in range(5):
        above, below = x.copy(), x.copy()
        above[:, feature] += step
        below[:, feature] -= step
        ahead, behind = model.predict(above), model.predict(below)
        rise = np.log(ahead.std / behind.std) / (2 * step)
        kinked = _crosses_a_bound(model, below, above)
        climb = (ahead.mean - behind.mean) / (2 * step)
        np.testing.assert_allclose(found["mean"][:, feature][~kinked], climb[~kinked], atol=2e-3)
        np.testing.assert_allclose(found["log_std"][:, feature][~kinked], rise[~kinked], atol=2e-3)
        assert kinked.mean() < 0.5


def _crosses_a_bound(model, below, above):
    """Rows whose members pass a bound between the two inputs: there the slope jumps."""
    ends = [predict_members(model.members, x, model.scaling, model.activation) for x in (below, above)]
    crossed = [(mean > bound) for mean, _ in ends for bound in model.mean_bounds]
    wide = [std > model.widest_std for _, std in ends]
    spread = [mean.std(axis=0) > model.widest_std for mean, _ in ends]
    n = len(crossed) // 2
    passed = np.any([crossed[k] != crossed[k + n] for k in range(n)], axis=(0, 1)) | np.any(wide[0] != wide[1], axis=0)
    return passed | (spread[0] != spread[1])


def test_sizes_and_signs_of_slopes():
    found = slope_sizes(ensemble(2), inputs())
    np.testing.assert_allclose(found["mean"].sel(input="width"), SLOPE + 2 * np.array([-0.05, 0.05]), rtol=1e-5)
    assert float(found["mean_sign"].sel(input="width")) == pytest.approx(1.0)
    assert float(found["log_std_sign"].sel(input="noisiness")) == pytest.approx(1.0)
    assert float(found["log_std"].mean("member").idxmax() == "noisiness")
    assert np.isnan(found["mean_sign"].sel(input="colour"))
    np.testing.assert_allclose(found["log_std"].sel(input="width"), 0.0, atol=1e-7)


def test_effect_curves_are_averages_of_predictions_with_the_input_set():
    model, rows = ensemble(3), inputs(150)
    width, noisiness, colour = effect_curves(model, rows, ["width", "noisiness", "colour"], NAMES)
    np.testing.assert_allclose(np.diff(width.mean) / np.diff(width.values), SLOPE, rtol=1e-4)
    assert np.all(width.mean_low <= width.mean + 1e-9)
    assert np.all(width.mean <= width.mean_high + 1e-9)
    assert np.all(np.diff(noisiness.std) > 0)
    k, x = 20, rows.x.copy()
    x[:, 1] = noisiness.values[k]
    assert noisiness.std[k] == pytest.approx(np.exp(np.mean(np.log(model.predict(x).std))))
    assert colour.values.tolist() == ["red", "green"]
    assert colour.mean[0] - colour.mean[1] == pytest.approx(0.2, rel=1e-4)


def test_logarithms_are_explained_in_the_units_of_the_target():
    model = ensemble(2, lognormal=True)
    model = model._replace(scaling=model.scaling._replace(y_centre=1.0, y_scale=0.3))
    rows = inputs(300, model=model)
    found = permutation_importance(model, rows, n_repeats=2)
    assert found["crps"].mean("repeat").sel(driven="mean").idxmax() == "width"
    (curve,) = effect_curves(model, rows, ["width"], NAMES)
    x = rows.x[np.linspace(0, 299, 200).round().astype(int)].copy()
    x[:, 0] = curve.values[3]
    prediction = model.predict(x)
    assert curve.mean[3] == pytest.approx(np.mean(np.exp(prediction.mean + prediction.std**2 / 2)), rel=1e-9)
    assert slope_sizes(model, rows).attrs["logged"] == 1


def test_an_input_that_never_varies_has_an_effect_at_its_value_alone():
    rows = inputs(50)
    rows.x[:, 4] = 0.5
    (curve,) = effect_curves(ensemble(), rows, ["nothing"], NAMES)
    assert curve.values.tolist() == [0.5]

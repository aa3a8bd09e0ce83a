"""Calibration and PIT against closed forms: right forecasts, a std that is k times too small, a mean that is off."""

import numpy as np
import pytest
from scipy import stats

from heteroscope.explanation import calibration, held_out_forecasts

N = 20_000
RANDOM = np.random.default_rng(0)
MEAN, STD = RANDOM.normal(size=N), np.exp(RANDOM.normal(0, 0.7, N))
Z = stats.norm.ppf((np.arange(N) + 0.5) / N)[RANDOM.permutation(N)]  # exactly Gaussian
Y = MEAN + STD * Z


def found(mean=MEAN, std=STD, forecast=None, **more):
    return calibration(held_out_forecasts(Y, forecast or stats.norm(mean, std), **more))


def test_rows_hold_the_forecasts_moments_scores_and_intervals():
    rows = held_out_forecasts(Y, stats.t(5.0, MEAN, STD), number=np.arange(N))
    np.testing.assert_allclose(rows["std"], STD * np.sqrt(5 / 3))
    np.testing.assert_allclose(rows["score"], (Y - MEAN) / (STD * np.sqrt(5 / 3)))
    np.testing.assert_allclose(rows["pit"], stats.t.cdf(Z, 5), rtol=1e-9)
    np.testing.assert_allclose(rows["upper"], MEAN + STD * stats.t.ppf(0.95, 5))
    assert rows["number"].values[-1] == N - 1


def test_right_forecasts_are_on_the_diagonal_in_every_quarter():
    table = found()
    assert list(table["part"].values) == [
        "all rows",
        "smallest std",
        "second smallest",
        "second largest",
        "largest std",
    ]
    np.testing.assert_allclose(table["observed"].isel(part=0), table["level"], atol=1e-4)
    np.testing.assert_allclose(table["density"].isel(part=0), 1.0, atol=1e-2)
    assert np.abs(table["observed"] - table["level"]).max() < 0.03
    np.testing.assert_allclose(table["coverage"], 0.9, atol=0.02)
    assert table["n_rows"].values.tolist() == [N, *4 * [N // 4]]
    assert np.all(table["std_high"].values[1:-1] <= table["std_low"].values[2:])


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_std_that_is_too_small_or_too_large_has_the_known_curve(factor):
    table = found(std=factor * STD).isel(part=0)
    level = table["level"].values
    np.testing.assert_allclose(table["observed"], stats.norm.cdf(factor * stats.norm.ppf(level)), atol=2e-4)
    edges = np.linspace(0, 1, 11)
    shares = np.diff(stats.norm.cdf(factor * stats.norm.ppf(edges)))
    np.testing.assert_allclose(table["density"], 10 * shares, atol=2e-3)
    assert float(table["squared_score"]) == pytest.approx(factor**-2, rel=1e-3)
    assert float(table["coverage"]) == pytest.approx(2 * stats.norm.cdf(factor * stats.norm.ppf(0.95)) - 1, abs=1e-3)


def test_a_mean_that_is_too_low_by_one_std():
    table = found(mean=MEAN - STD).isel(part=0)
    np.testing.assert_allclose(
        table["observed"], stats.norm.cdf(stats.norm.ppf(table["level"].values) - 1.0), atol=2e-4
    )


def test_weights_count_rows_as_if_repeated():
    weight = RANDOM.integers(0, 3, N)
    weighted = found(weight=weight.astype(float)).isel(part=0)
    repeated = calibration(
        held_out_forecasts(np.repeat(Y, weight), stats.norm(MEAN.repeat(weight), STD.repeat(weight)))
    )
    np.testing.assert_allclose(weighted["observed"], repeated["observed"].isel(part=0), atol=1e-12)
    assert float(weighted["coverage"]) == pytest.approx(float(repeated["coverage"][0]))


def test_the_band_holds_right_forecasts_nine_times_in_ten():
    inside = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        y = random.normal(size=100)
        table = calibration(held_out_forecasts(y, stats.norm(np.zeros(100), np.ones(100)))).isel(part=0)
        at = table.sel(level=[0.25, 0.5, 0.75])
        inside.append((at["observed_low"] <= at["observed"]) & (at["observed"] <= at["observed_high"]))
    assert np.mean(inside) == pytest.approx(0.92, abs=0.07)  # at least 0.9: counts are whole numbers


def test_a_constant_std_has_no_quarters():
    assert found(std=np.full(N, 2.0)).sizes["part"] == 1

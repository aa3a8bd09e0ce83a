"""`heteroscope.diagnose`: forecasts known to be right, wrong or memorised, in every form; bad input in one line."""

import numpy as np
import pytest
from scipy import stats

from heteroscope import diagnose
from heteroscope.core.errors import InputError
from heteroscope.distributions import QuantileForecast, SampleForecast
from heteroscope.phases import Trust, observe, observe_held_out
from heteroscope.phases.labels import label

RANDOM = np.random.default_rng(3)
N = 600


def forecasts(n=N):
    """Rows whose forecast is right: targets, means and stds."""
    mean, std = 3.0 * RANDOM.normal(size=n), np.exp(RANDOM.normal(0, 0.8, n))
    return mean + std * RANDOM.normal(size=n), mean, std


Y, MEAN, STD = forecasts()
TRAIN_Y, TRAIN_MEAN, TRAIN_STD = forecasts()
RETRACED = {"y": TRAIN_Y, "mean": TRAIN_MEAN, "std": 1.05 * np.abs(TRAIN_Y - TRAIN_MEAN) + 1e-3}
NOISE = np.exp(RANDOM.normal(-2, 1.0, N))  # a std that has nothing to do with the new rows


def said(found):
    return " ".join(str(found).split())


def test_right_forecasts_are_trusted_and_their_std_is_real():
    found = diagnose(Y, MEAN, STD)
    assert found.verdict.trust == Trust.YES
    assert found.phase == "S"
    text = said(found)
    assert "Is the std real or memorised? Real: on new rows it beats one constant std by" in text
    assert "these forecasts" in text
    assert found.verdict.ours.nll == pytest.approx(-stats.norm(MEAN, STD).logpdf(Y).mean())
    gain = stats.norm(MEAN, STD).logpdf(Y) - stats.norm(MEAN, np.sqrt(np.mean((Y - MEAN) ** 2))).logpdf(Y)
    assert f"{gain.mean():.3g} ± {stats.sem(gain, ddof=0):.2g} nats" in text
    assert found.explanation.calibration.sizes["part"] == 5


def test_only_forecasts_of_training_rows_tell_that_a_std_was_memorised():
    alone = diagnose(Y, MEAN, NOISE)
    assert alone.verdict.trust == Trust.NO
    assert alone.phase == "unknown"
    assert "only forecasts of the training rows can tell" in said(alone)
    beside = diagnose(Y, MEAN, NOISE, train=RETRACED)
    assert beside.phase == "O_II"
    assert "Memorised: it knows the residuals of the training rows" in said(beside)


def test_a_mean_that_has_memorised_its_rows_is_told_so():
    train = {"y": TRAIN_Y, "mean": TRAIN_Y + 1e-3 * RANDOM.normal(size=N), "std": np.full(N, 1e-3)}
    found = diagnose(Y, MEAN + 2.0 * RANDOM.normal(size=N), 0.05 + 0.05 * RANDOM.uniform(size=N), train=train)
    assert found.phase == "O_I"
    assert "both fit the training rows alone" in said(found)


def test_forecasts_that_are_the_same_for_all_rows_are_underfit():
    found = diagnose(Y, np.full(N, Y.mean()), np.full(N, Y.std()))
    assert found.phase == "U_I"
    assert "cannot have memorised any" in said(found)


def test_the_phase_is_that_of_the_rule_for_networks():
    found = diagnose(Y, MEAN, STD, train={"y": TRAIN_Y, "mean": TRAIN_MEAN, "std": TRAIN_STD})
    held_out = observe_held_out(Y, MEAN, STD, TRAIN_Y)
    assert found.phase == str(label(observe(TRAIN_Y, TRAIN_MEAN, TRAIN_STD, held_out=held_out)))
    known = (np.full(N, TRAIN_Y.mean()), np.full(N, TRAIN_Y.std()))
    assert found.verdict.constant.nll == pytest.approx(-stats.norm(*known).logpdf(Y).mean())


def test_without_training_rows_the_constant_model_leaves_each_row_out():
    y = np.array([1.0, 2.0, 4.0, 8.0, 9.0])
    others = [np.delete(y, k) for k in range(5)]
    expected = -np.mean([stats.norm(o.mean(), o.std()).logpdf(value) for o, value in zip(others, y, strict=True)])
    found = diagnose(y, y + 0.1, np.full(5, 0.5))
    assert found.verdict.constant.nll == pytest.approx(expected)
    weight = np.array([1, 2, 1, 3, 1])
    weighted = diagnose(y, y + 0.1, np.full(5, 0.5), sample_weight=weight)
    whole = np.repeat(y, weight)
    apart = [np.delete(whole, np.flatnonzero(np.repeat(np.arange(5), weight) == k)) for k in range(5)]
    losses = [-stats.norm(o.mean(), o.std()).logpdf(value) for o, value in zip(apart, y, strict=True)]
    assert weighted.verdict.constant.nll == pytest.approx(np.average(losses, weights=weight))


def test_intervals_are_read_as_those_of_a_gaussian():
    reach = stats.norm.ppf(0.9) * STD
    by_interval = diagnose(Y, lower=MEAN - reach, upper=MEAN + reach, coverage=0.8)
    assert by_interval.verdict.ours.nll == pytest.approx(diagnose(Y, MEAN, STD).verdict.ours.nll)


def test_frozen_distributions_keep_their_own_tails():
    found = diagnose(Y, forecast=stats.t(6.0, MEAN, STD))
    assert found.verdict.ours.nll == pytest.approx(-stats.t(6.0, MEAN, STD).logpdf(Y).mean())


LEVELS = np.arange(1, 20) / 20


def test_quantiles_are_judged_by_the_distribution_through_them():
    columns = {float(level): MEAN + STD * stats.norm.ppf(level) for level in LEVELS}
    found = diagnose(Y, quantiles=columns)
    through = QuantileForecast(list(columns), np.stack(list(columns.values()), axis=1))
    assert found.verdict.ours.nll == pytest.approx(-through.logpdf(Y).mean())
    assert found.verdict.trust == diagnose(Y, MEAN, STD).verdict.trust
    with pytest.raises(InputError, match=r"quantile 0.5 has the shape \(599,\)"):
        diagnose(Y, quantiles=columns | {0.5: MEAN[1:]})


@pytest.mark.parametrize("form", [stats.norm, QuantileForecast, SampleForecast])
def test_each_form_of_forecasts_has_a_verdict_a_report_and_curves_of_calibration(form, tmp_path):
    draws = MEAN[:, np.newaxis] + STD[:, np.newaxis] * np.random.default_rng(5).normal(size=(N, 200))
    forecast = {
        stats.norm: lambda: stats.norm(MEAN, STD),
        QuantileForecast: lambda: QuantileForecast(LEVELS, np.quantile(draws, LEVELS, axis=1).T),
        SampleForecast: lambda: SampleForecast(draws),
    }[form]()
    found = diagnose(Y, forecast=forecast)
    gaussian = diagnose(Y, MEAN, STD)
    assert found.verdict.trust == gaussian.verdict.trust
    assert found.verdict.ours.crps == pytest.approx(gaussian.verdict.ours.crps, rel=0.03)
    difference = found.explanation.calibration - gaussian.explanation.calibration
    assert abs(difference["observed"]).max() < 0.05
    assert "form of the forecasts" in found.report(tmp_path / "page.html").read_text()


def test_quantiles_and_samples_are_judged_as_such():
    true = stats.norm(MEAN, STD)
    levels = np.linspace(0.02, 0.98, 49)
    for given in (
        {"quantiles": {level: true.ppf(level) for level in levels}},
        {"samples": MEAN[:, np.newaxis] + STD[:, np.newaxis] * np.random.default_rng(3).normal(size=(N, 400))},
    ):
        found = diagnose(Y, **given)
        assert found.verdict.ours.crps == pytest.approx(diagnose(Y, MEAN, STD).verdict.ours.crps, rel=0.02)
        assert found.verdict.trust == "yes"
        assert diagnose(Y, **given, train={"y": Y, **given}).phase == "S"


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({}, "described by nothing: give mean and std"),
        ({"mean": MEAN}, "described by mean: give mean and std"),
        ({"mean": MEAN, "std": STD, "lower": STD}, "described by lower and mean and std"),
        ({"mean": MEAN[:-1], "std": STD}, r"mean has the shape \(599,\)"),
        ({"mean": MEAN, "std": -STD}, "std is not positive in row 0"),
        ({"mean": np.where(np.arange(N) == 7, np.nan, MEAN), "std": STD}, "mean has no finite number in row 7"),
        ({"mean": ["a"] * N, "std": STD}, "mean cannot be read as numbers"),
        ({"lower": MEAN + STD, "upper": MEAN}, "upper - lower is not positive in row 0"),
        ({"lower": MEAN, "upper": MEAN + STD, "coverage": 2.0}, "coverage must lie strictly between"),
        ({"mean": MEAN, "std": STD, "sample_weight": np.zeros(N)}, "sample_weight must be 0 or more"),
        ({"mean": MEAN, "std": STD, "train": {"mean": MEAN, "std": STD}}, "train lacks 'y'"),
        ({"mean": MEAN, "std": STD, "train": {"y": Y, "sigma": STD}}, "train has 'sigma'"),
        ({"mean": MEAN, "std": STD, "train": {"y": Y, "mean": MEAN}}, "train forecasts are described by mean"),
        ({"quantiles": {0.5: MEAN}}, "quantiles has 1 level"),
        ({"quantiles": {0.1: MEAN, 0.5: MEAN[:-1]}}, r"quantile 0.5 has the shape \(599,\)"),
        ({"samples": np.ones((5, 3))}, "samples must be finite numbers of 600 rows"),
        ({"forecast": stats.norm(MEAN[:5], 1.0)}, "forecast has 5 rows and y has 600"),
    ],
)
def test_forecasts_that_make_no_sense_are_refused_in_one_line(given, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        diagnose(Y, **given)
    assert "\n" not in str(caught.value)


def test_a_single_row_is_refused():
    with pytest.raises(InputError, match="y has 1 row"):
        diagnose([1.0], [1.0], [1.0])

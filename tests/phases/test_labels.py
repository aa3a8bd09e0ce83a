"""The label rule on constructed fits, whose phase is known without any training."""

from typing import NamedTuple

import numpy as np
import pytest

from heteroscope.datasets import simulated
from heteroscope.phases.labels import FLAT_MEAN, HeldOut, Observables, Phase, label, observe, observe_held_out

N = 4000
X = np.linspace(-1, 1, N)
RANDOM = np.random.default_rng(0)


class Fit(NamedTuple):
    """Targets and predictions of training rows, and of held-out rows at the same inputs."""

    y: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    held_y: np.ndarray
    held_mean: np.ndarray
    held_std: np.ndarray

    def observables(self):
        held_out = observe_held_out(self.held_y, self.held_mean, self.held_std, self.y)
        return observe(self.y, self.mean, self.std, held_out=held_out)


def made(signal, noise, mean, std):
    """Return a fit to two draws of signal + noise; `mean` and `std` are functions of the first draw."""
    y, held_y = (signal + noise * RANDOM.normal(size=N) for _ in range(2))
    mean_values, std_values = np.broadcast_to(mean(y), N), np.broadcast_to(std(y), N)
    return Fit(y, mean_values, std_values, held_y, mean_values, std_values)


SIGNAL, NOISE = np.sin(3 * X), 0.3 + 0.2 * X
LOUD = 0.05 * 40 ** ((X + 1) / 2)  # noise that varies fortyfold
FAINT = 0.1757 * np.sqrt(3) * X  # with noise of std 1 it explains 3 % of the variance
PURE = np.ones(N)  # noise alone, of std 1

#: The label that each constructed fit must get, and what the fit is.
CONSTRUCTED = {
    "the truth": (Phase.S, made(SIGNAL, NOISE, lambda y: SIGNAL, lambda y: NOISE)),
    "the truth, noise varies fortyfold": (Phase.S, made(SIGNAL, LOUD, lambda y: SIGNAL, lambda y: LOUD)),
    "the true mean, a constant std": (Phase.S, made(SIGNAL, NOISE, lambda y: SIGNAL, lambda y: (y - SIGNAL).std())),
    "r2 of 3 %": (Phase.S, made(FAINT, PURE, lambda y: FAINT, lambda y: PURE)),
    "std 1.2 times too large": (Phase.S, made(SIGNAL, NOISE, lambda y: SIGNAL, lambda y: 1.2 * NOISE)),
    "both constant": (Phase.U_I, made(SIGNAL, NOISE, lambda y: y.mean(), lambda y: y.std())),
    "pure noise, both constant": (Phase.U_I, made(0 * X, PURE, lambda y: 0.0, lambda y: 1.0)),
    "constant mean, std that varies": (
        Phase.U_II,
        made(SIGNAL, NOISE, lambda y: y.mean(), lambda y: np.hypot(SIGNAL - y.mean(), NOISE)),
    ),
    "constant mean, true noise of pure noise": (Phase.U_II, made(0 * X, LOUD, lambda y: 0.0, lambda y: LOUD)),
    "mean = y, std vanishes": (Phase.O_I, made(SIGNAL, NOISE, lambda y: y, lambda y: 1e-3)),
    "mean = y, std retraces what is left": (
        Phase.O_I,
        made(SIGNAL, NOISE, lambda y: 0.99 * y, lambda y: 0.01 * np.abs(y) + 1e-6),
    ),
    "pure noise, 30 % of y copied": (Phase.O_I, made(0 * X, PURE, lambda y: 0.3 * y, lambda y: 0.7)),
    "pure noise, 60 % of y copied": (Phase.O_I, made(0 * X, PURE, lambda y: 0.6 * y, lambda y: 0.4)),
    "constant mean, std retraces": (Phase.O_II, made(SIGNAL, NOISE, lambda y: 0.0, lambda y: np.abs(y) + 1e-3)),
    "true mean, std retraces": (
        Phase.O_II,
        made(SIGNAL, NOISE, lambda y: SIGNAL, lambda y: np.abs(y - SIGNAL) + 1e-3),
    ),
    "true mean, std half retraces": (
        Phase.O_II,
        made(SIGNAL, NOISE, lambda y: SIGNAL, lambda y: 0.75 * np.abs(y - SIGNAL) + 0.1 * NOISE),
    ),
    "mean = -y": (Phase.NONE, made(SIGNAL, NOISE, lambda y: -SIGNAL, lambda y: np.sqrt(4 * SIGNAL**2 + NOISE**2))),
    "std 100 times too large": (Phase.NONE, made(SIGNAL, NOISE, lambda y: SIGNAL, lambda y: 100 * NOISE)),
    "std 1.7 times too small": (Phase.NONE, made(SIGNAL, NOISE, lambda y: SIGNAL, lambda y: NOISE / 1.7)),
}
#: What the training rows alone show of some of them.
WITHOUT_HELD_OUT_ROWS = {
    "the truth": Phase.UNKNOWN,
    "std 100 times too large": Phase.UNKNOWN,
    "pure noise, 30 % of y copied": Phase.UNKNOWN,
    "both constant": Phase.U_I,
    "constant mean, std that varies": Phase.U_II,
    "mean = y, std vanishes": Phase.UNKNOWN,
    "constant mean, std retraces": Phase.O_II,
    "true mean, std retraces": Phase.O_II,
}


@pytest.mark.parametrize("name", CONSTRUCTED)
def test_constructed_fits_get_their_label(name):
    phase, fit = CONSTRUCTED[name]
    assert label(fit.observables()) == phase


@pytest.mark.parametrize("name", WITHOUT_HELD_OUT_ROWS)
def test_training_rows_alone_claim_no_more_than_they_show(name):
    _, fit = CONSTRUCTED[name]
    assert label(observe(fit.y, fit.mean, fit.std)) == WITHOUT_HELD_OUT_ROWS[name]


@pytest.mark.parametrize("n_rows", [64, 5000])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", simulated.PROCESSES)
def test_the_truth_of_every_simulated_set_is_s(name, seed, n_rows):
    split, truth = simulated.draw(name, n_train=n_rows, n_test=5000, seed=seed)
    moments = [(truth.mean(x[:, 0]), truth.std(x[:, 0])) for x in (split.x_train, split.x_test)]
    held_out = observe_held_out(split.y_test, *moments[1], split.y_train)
    found = observe(split.y_train, *moments[0], held_out=held_out)
    assert label(found) == Phase.S
    assert found.flat_precision == ("homoskedastic" in name)
    assert found.mean_spread > 1.1 * FLAT_MEAN


@pytest.mark.parametrize("name", ["the truth", "mean = y, std vanishes", "constant mean, std retraces"])
@pytest.mark.parametrize("unit", [1e-6, 1e9])
def test_the_label_does_not_depend_on_the_unit(name, unit):
    phase, fit = CONSTRUCTED[name]
    shifts = (7, 7, 0, 7, 7, 0)  # a std has no origin
    scaled = Fit(*(unit * values + unit * shift for values, shift in zip(fit, shifts, strict=True)))
    assert label(scaled.observables()) == phase


def test_observables_of_an_honest_fit_have_their_known_values():
    _, fit = CONSTRUCTED["the truth"]
    found = fit.observables()
    variance = fit.y.var()
    assert found.training_score == pytest.approx(1.0, abs=0.1)
    assert found.mean_spread == pytest.approx(SIGNAL.std() / np.sqrt(variance))
    assert found.residual_share == pytest.approx(np.mean(NOISE**2) / variance, rel=0.1)
    assert found.log_precision_spread == pytest.approx(2 * np.log(NOISE).std())
    assert found.held_out.score == pytest.approx(1.0, abs=0.1)
    assert found.held_out.residual_share == pytest.approx(np.mean(NOISE**2) / variance, rel=0.1)
    gain = np.log(np.sqrt(variance)) - np.mean(np.log(NOISE))  # both have a squared score of 1
    assert found.held_out.nll_gain == pytest.approx(gain, abs=0.05)
    _, constant = CONSTRUCTED["pure noise, both constant"]
    assert constant.observables().std_mismatch == pytest.approx(2 - 2 * np.sqrt(2 / np.pi), abs=0.05)


def test_weights_count_like_repeated_rows():
    _, fit = CONSTRUCTED["the truth"]
    weight = RANDOM.integers(1, 4, size=50)
    as_float = weight.astype(float)
    short = Fit(*(values[::80] for values in fit))
    repeated = Fit(*(np.repeat(values, weight) for values in short))
    held_out = observe_held_out(short.held_y, short.held_mean, short.held_std, short.y, as_float, as_float)
    weighted = observe(short.y, short.mean, short.std, as_float, held_out)
    np.testing.assert_allclose(weighted[:5], repeated.observables()[:5])
    np.testing.assert_allclose(held_out, repeated.observables().held_out)


def test_a_runaway_is_overfit_unless_held_out_rows_say_otherwise():
    _, fit = CONSTRUCTED["the truth"]
    assert label(observe(fit.y, fit.mean, fit.std)) == Phase.UNKNOWN
    assert label(observe(fit.y, fit.mean, fit.std), runaway=True) == Phase.O_I
    assert label(fit.observables(), runaway=True) == Phase.S


def test_predictions_that_are_not_finite_are_not_called_good():
    held_out = HeldOut(score=np.nan, residual_share=np.nan, nll_gain=np.nan)
    assert label(Observables(0.9, 0.5, 1.0, 0.4, 1.0, held_out)) == Phase.O_I


@pytest.mark.parametrize("phase", Phase)
def test_every_phase_has_a_meaning(phase):
    assert len(phase.meaning) > 20

"""The label rule on fits whose phase is known by construction."""

import numpy as np
import pytest

from heteroscope.phases.labels import Observables, Phase, label, observe

N = 20_000
RANDOM = np.random.default_rng(0)
X = np.linspace(-1, 1, N)
SIGNAL, NOISE = np.sin(3 * X), 0.3 + 0.2 * X
Y = SIGNAL + NOISE * RANDOM.normal(size=N)

FITS = {
    Phase.U_I: (np.full(N, Y.mean()), np.full(N, Y.std())),
    Phase.U_II: (np.full(N, Y.mean()), np.sqrt((SIGNAL - Y.mean()) ** 2 + NOISE**2)),
    Phase.S: (SIGNAL, NOISE),
    Phase.O_I: (Y + 1e-5 * RANDOM.normal(size=N), np.full(N, 1e-3)),
    Phase.O_II: (np.full(N, Y.mean()), np.abs(Y - Y.mean()) + 1e-3),
}


@pytest.mark.parametrize("phase", Phase)
def test_constructed_fits_get_their_label(phase):
    mean, std = FITS[phase]
    assert label(observe(Y, mean, std)) == phase


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("unit", [1e-6, 1e9])
def test_the_label_does_not_depend_on_the_unit(phase, unit):
    mean, std = FITS[phase]
    assert label(observe(unit * Y + 7 * unit, unit * mean + 7 * unit, unit * std)) == phase


def test_observables_of_an_honest_fit_have_their_known_values():
    found = observe(Y, SIGNAL, NOISE)
    assert found.training_score == pytest.approx(1.0, abs=0.03)
    assert found.residual_share == pytest.approx(np.mean(NOISE**2) / Y.var(), rel=0.03)
    assert found.log_precision_spread == pytest.approx(2 * np.log(NOISE).std())
    constant = observe(RANDOM.normal(size=N), np.zeros(N), np.ones(N))
    assert constant.std_mismatch == pytest.approx(2 - 2 * np.sqrt(2 / np.pi), abs=0.02)


def test_weights_count_like_repeated_rows():
    weight = RANDOM.integers(1, 4, size=50)
    y, mean, std = Y[::400], SIGNAL[::400], NOISE[::400]
    repeated = observe(*(np.repeat(values, weight) for values in (y, mean, std)))
    np.testing.assert_allclose(observe(y, mean, std, weight.astype(float))[:4], repeated[:4])


def test_held_out_rows_decide_when_there_are_some():
    looks_good = observe(Y, SIGNAL, NOISE)
    assert label(looks_good._replace(held_out_score=1.2)) == Phase.S
    assert label(looks_good._replace(held_out_score=30.0)) == Phase.O_I
    assert label(looks_good._replace(held_out_score=30.0, std_mismatch=0.01)) == Phase.O_II
    outrun = Observables(0.001, 0.0, 5.0, 0.01)
    assert label(outrun) == Phase.O_I
    assert label(outrun._replace(held_out_score=0.9)) == Phase.S


def test_a_runaway_is_overfit_unless_held_out_rows_say_otherwise():
    found = observe(Y, SIGNAL, NOISE)
    assert label(found, runaway=True) == Phase.O_I
    assert label(found._replace(held_out_score=1.0), runaway=True) == Phase.S


@pytest.mark.parametrize("phase", Phase)
def test_every_phase_has_a_meaning(phase):
    assert len(phase.meaning) > 20

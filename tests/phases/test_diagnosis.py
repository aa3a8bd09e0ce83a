"""The text that a practitioner reads says the phase, the evidence and what to do."""

import re
from types import SimpleNamespace

import pytest

from heteroscope.core.status import Status
from heteroscope.phases.diagnosis import diagnose
from heteroscope.phases.labels import Observables, Phase


def model(phase, std_scale=1.0, **changes):
    return SimpleNamespace(
        phase_=str(phase),
        rho_=0.999,
        gamma_=0.001,
        std_scale_=std_scale,
        observables_=Observables(0.25, 0.6, 0.4, 1.0, 1.3)._replace(**changes),
        status_=(Status.CONVERGED,),
    )


@pytest.mark.parametrize("phase", Phase)
def test_every_phase_is_named_explained_and_followed_by_advice(phase):
    text = diagnose(model(phase))
    assert text.startswith(f"Phase {phase} at rho = 1 - 0.001, gamma = 0.001.")
    assert phase.meaning[1:] in text
    assert len(text.splitlines()) >= 5


def test_numbers_are_the_observables():
    text = diagnose(model(Phase.S))
    assert "explains 75.0%" in text
    assert "1.30 times" in text
    assert "factor of 1.35" in text


def test_a_scaled_std_is_said():
    assert "Std scaled by 1.45 to match held-out errors." in diagnose(model(Phase.S, std_scale=1.45))


def test_a_constant_std_and_missing_held_out_rows_are_said():
    text = diagnose(model(Phase.S, log_precision_spread=0.0, held_out_score=None))
    assert "same for all rows" in text
    assert "No rows were held out" in text


def test_a_runaway_member_is_mentioned():
    found = model(Phase.O_I)
    found.status_ = (Status.RUNAWAY, Status.CONVERGED)
    assert "1 of 2 members ended runaway" in diagnose(found)


def test_a_runaway_that_stopped_in_time_is_not_told_to_lower_rho():
    found = model(Phase.S)
    found.status_ = (Status.RUNAWAY, Status.CONVERGED)
    text = diagnose(found)
    assert "stopped in time" in text
    assert "lower rho" not in text


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase != Phase.S])
def test_advice_after_a_search_is_not_to_search(phase):
    found = model(phase)
    assert "HeteroskedasticRegressorCV" in diagnose(found)
    found.held_out_scores_ = {"r2": 0.7, "interval_coverage": 0.9}
    assert "HeteroskedasticRegressorCV" not in diagnose(found)
    assert re.search("No point tried was better|The best point found", diagnose(found))


def test_held_out_rows_have_the_word_after_a_search():
    found = model(Phase.S, std_scale=1.5)
    found.held_out_scores_ = {"r2": 0.7, "interval_coverage": 0.88}
    text = diagnose(found)
    assert "explains 70.0% of the target's variance on held-out rows, and 75.0% on the training rows" in text
    assert "contain 88% of the held-out rows" in text
    assert "Nothing to do" in text


def test_a_mean_that_knows_its_rows_by_heart_is_no_reason_to_do_nothing():
    found = model(Phase.S, std_scale=3.5, residual_share=0.0)
    found.held_out_scores_ = {"r2": 0.1, "interval_coverage": 0.9}
    text = diagnose(found)
    assert "more rows or fewer inputs" in text
    assert "Nothing to do" not in text

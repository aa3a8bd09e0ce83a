"""The text that a practitioner reads: whether to trust the predictions, what to do, and what the networks are."""

from types import SimpleNamespace

import numpy as np
import pytest

from heteroscope.core.status import Status
from heteroscope.phases.diagnosis import diagnose
from heteroscope.phases.labels import HeldOut, Observables, Phase
from heteroscope.phases.verdict import judge

RANDOM = np.random.default_rng(0)
N = 200
MEAN = np.linspace(-2, 2, N)
STD = np.where(np.arange(N) % 2, 0.3, 0.9)
Y = MEAN + STD * RANDOM.permutation(np.repeat(np.linspace(-1.9, 1.9, N // 2), 2))
CONSTANT = np.full(N, Y.mean()), np.full(N, Y.std())
GOOD = judge(Y, MEAN, STD, *CONSTANT)
HONEST = Observables(0.9, 0.29, 1.0, 1.0, 1.0, HeldOut(1.0, 0.3, 0.8))


def model(phase=Phase.S, verdict=GOOD, observables=HONEST, std_scale=None, path=None, **changes):
    found = SimpleNamespace(
        phase_=str(phase),
        rho_=0.999,
        gamma_=0.001,
        std_scale_=std_scale or (verdict.std_scale if verdict else 1.0),
        observables_=observables._replace(**changes),
        verdict_=verdict,
        status_=(Status.CONVERGED,),
    )
    if path is not None:
        found.cv_results_, found.best_index_ = path, 0
    return found


def path(logit_rhos=(4.0,), logit_gammas=(-4.0,), spreads=(0.0,)):
    """A path whose first point is the chosen one."""
    names = ("logit_rho", "logit_gamma", "log_precision_spread")
    return {name: np.array(values) for name, values in zip(names, (logit_rhos, logit_gammas, spreads), strict=True)}


def said(found):
    return " ".join(str(diagnose(found)).split())


def test_trust_comes_first_then_numbers_then_advice_then_networks():
    text = said(model(path=path()))
    assert text.startswith("Can these predictions be trusted on new rows? Yes.")
    places = [text.index(words) for words in ("? Yes", "RMSE", "What to do: Nothing", "the networks")]
    assert places == sorted(places)
    for number in (f"{GOOD.ours.nll:.3f}", f"{GOOD.ours.r2:.3f}", f"{GOOD.constant.crps:.4g}"):
        assert number in text


def columns_of(verdict, name):
    lines = str(diagnose(model(verdict=verdict))).splitlines()
    (line,) = [line for line in lines if line.startswith(name)]
    assert max(map(len, lines)) <= 80
    return line.removeprefix(name).replace(" %", "").split()


def test_numbers_of_the_table_never_touch():
    small = GOOD._replace(ours=GOOD.ours._replace(nll=-0.035641, r2=-12.3456))
    assert columns_of(small, "these predictions")[1:3] == ["-12.346", "-0.036"]
    large = {"rmse": 70823.4, "nll": 12.4511, "crps": 37251.0, "width": 214231.0}
    houses = GOOD._replace(ours=GOOD.ours._replace(**large), homoskedastic=GOOD.ours._replace(rmse=3.1e12))
    assert [columns_of(houses, "these predictions")[k] for k in (0, 2, 3, 5)] == ["70823", "12.45", "37251", "214231"]
    assert columns_of(houses, "same mean, one constant std")[0] == "3.1e+12"


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("searched", [True, False])
def test_every_phase_is_said_and_followed_by_advice(phase, searched):
    found = diagnose(model(phase, path=path() if searched else None))
    assert found.phase == phase
    assert len(found.advice) > 1
    assert "HeteroskedasticRegressorCV" not in str(found) or not searched


def test_memorised_networks_with_a_scaled_std_are_one_story():
    scaled = GOOD._replace(std_scale=2.2)
    text = said(model(Phase.O_I, scaled, path=path(), residual_share=0.001))
    assert "? Yes." in text
    assert "the networks have memorised their rows (O_I)" in text
    assert f"scaled by 2.2, their 90 % intervals hold {100 * GOOD.ours.coverage:.0f} % of the held-out rows" in text
    assert "Nothing: use" not in text
    assert "are scaled by 1.80" in said(model(Phase.O_I, scaled, std_scale=1.8))


def test_nothing_to_do_is_not_said_of_few_rows():
    for n in (2, 12):
        few = judge(Y[:n], MEAN[:n], STD[:n], *(values[:n] for values in CONSTANT))
        text = said(model(verdict=few, path=path()))
        assert "Nothing: use" not in text
        assert "Get more rows" in text


def test_nothing_to_do_is_not_said_of_a_mean_that_knows_its_rows_better_than_new_ones():
    spoiled = GOOD._replace(ours=GOOD.ours._replace(r2=0.67))
    text = said(model(verdict=spoiled, path=path(), residual_share=0.0))
    assert "explains 100 % of its training rows and 67 % of held-out ones: more rows or fewer inputs" in text
    assert "Nothing: use" not in text


def test_a_negative_r2_is_shown_as_such():
    assert "-0.310" in said(model(verdict=GOOD._replace(ours=GOOD.ours._replace(r2=-0.31))))


def test_a_constant_std_is_the_rows_answer_only_if_freer_points_were_tried_and_lost():
    answer = "do not show that the noise varies"
    flat = {"log_precision_spread": 0.0}
    weaker = path((4.0, 4.7), (-4.0, -3.3), (0.0, 0.5))  # the same penalty of the mean, half of the precision's
    assert answer in said(model(path=weaker, **flat))
    assert "S), with a constant std" in said(model(path=weaker, **flat))
    as_flat = weaker | {"log_precision_spread": np.array([0.0, 0.01])}
    far_away = path((4.0, 9.0), (-4.0, -9.0), (0.0, 0.5))
    for other in (path(), as_flat, far_away, None):
        text = said(model(path=other, **flat))
        assert answer not in text
        assert "because the penalty keeps it so" in text
    assert "with a std that adapts" in said(model(path=weaker))


def test_outliers_are_named_by_row_number_with_their_numbers():
    y = Y.copy()
    y[17] += 50
    found = judge(y, MEAN, STD, *CONSTANT, numbers=np.arange(N))
    text = said(model(verdict=found, path=path()))
    assert f"row 17 (target {y[17]:.4g}, predicted {MEAN[17]:.4g}" in text
    assert "Look at row 17" in text
    nameless = judge(y, MEAN, STD, *CONSTANT)
    assert "Look at the rows named above" in said(model(verdict=nameless, path=path()))


def test_without_held_out_rows_nothing_is_claimed():
    text = said(model(Phase.UNKNOWN, None, held_out=None))
    assert "Not known. No rows were held out" in text
    assert "held_out" in text
    assert "Nothing: use" not in text


def test_a_runaway_member_is_mentioned_and_one_that_stopped_in_time_is_left_alone():
    found = model(Phase.O_I)
    found.status_ = (Status.RUNAWAY, Status.CONVERGED)
    assert "1 of 2 members ended runaway" in said(found)
    found.phase_ = "S"
    assert "stopped in time" in said(found)
    assert "lower rho" not in said(found)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_text_wraps_at_the_width(width):
    text = diagnose(model()).text(width)
    assert max(map(len, text.splitlines())) <= width
    for cells in diagnose(model()).score_cells[1:]:
        assert all(cell in text for cell in cells[1:])


def test_a_notebook_gets_a_table_and_a_prompt_the_text():
    found = diagnose(model())
    html = found._repr_html_()
    assert html.count("<tr>") == 4
    assert "\\n" not in html
    assert repr(found) == str(found)


def test_predictions_that_fail_are_not_to_be_used():
    failed = judge(Y, MEAN, STD / 3, *CONSTANT)
    assert "Do not use these intervals" in said(model(verdict=failed, path=path()))
    assert "Use them as they are" not in said(model(Phase.O_II, failed, path=path()))

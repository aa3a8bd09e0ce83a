"""The verdict on predictions that are known to be right or wrong, without any training."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import r2_score

from heteroscope.phases.verdict import Trust, judge

N = 2000
X = np.linspace(-1, 1, N)
MEAN, STD = np.sin(3 * X), 0.2 * 9 ** ((X + 1) / 2)  # noise that varies ninefold
Y = MEAN + STD * np.random.default_rng(0).normal(size=N)
CONSTANT = np.full(N, Y.mean()), np.full(N, Y.std())


def verdict(mean=MEAN, std=STD, y=Y, **more):
    return judge(y, np.broadcast_to(mean, N), np.broadcast_to(std, N), *CONSTANT, **more)


def reasons(found):
    return " ".join(reason.text for reason in found.reasons)


def test_the_truth_is_trusted_and_better_than_simpler_models():
    found = verdict()
    assert found.trust == Trust.YES
    assert found.reasons == ()
    assert found.over_constant.clear
    assert found.over_homoskedastic.clear
    assert found.squared_score == pytest.approx(1.0, abs=0.1)
    assert found.coverage_by_std == pytest.approx([0.9] * 4, abs=0.05)
    assert found.named == ()


def test_scores_are_those_of_scipy_and_scikit_learn():
    found = verdict()
    assert found.ours.nll == pytest.approx(-stats.norm(MEAN, STD).logpdf(Y).mean())
    assert found.ours.r2 == pytest.approx(r2_score(Y, MEAN))
    rmse = np.sqrt(np.mean((Y - MEAN) ** 2))
    assert found.homoskedastic.nll == pytest.approx(-stats.norm(MEAN, rmse).logpdf(Y).mean())
    assert found.constant.nll == pytest.approx(-stats.norm(Y.mean(), Y.std()).logpdf(Y).mean())
    difference = stats.norm(MEAN, STD).logpdf(Y) - stats.norm(MEAN, rmse).logpdf(Y)
    assert found.over_homoskedastic.nats == pytest.approx(difference.mean())
    assert found.over_homoskedastic.error == pytest.approx(stats.sem(difference, ddof=0))


def test_a_difference_that_does_not_matter_is_no_reason_for_care():
    even = MEAN + 0.5 * np.random.default_rng(1).normal(size=N)
    for wave, trust in ((0.11, Trust.YES), (0.5, Trust.CARE)):
        found = judge(even, MEAN, 0.5 * np.exp(wave * np.sin(50 * X)), *CONSTANT)
        assert found.over_homoskedastic.nats < 0
        assert found.trust == trust
        assert ("one constant std scores better" in reasons(found)) == (trust == Trust.CARE)


#: What is wrong, its predictions, the trust that they deserve, and words of the reason.
WRONG = {
    "std 1.7 times too small": ({"std": STD / 1.7}, Trust.NO, "hold only"),
    "std twice too large": ({"std": 2 * STD}, Trust.CARE, "wider than they need to be"),
    "std 100 times too large": ({"std": 100 * STD}, Trust.NO, "a constant model scores better"),
    "mean = -y": ({"mean": -Y, "std": 2 * np.abs(Y) + 0.1}, Trust.NO, "a constant model scores better"),
    "constant mean and std": ({"mean": Y.mean(), "std": Y.std()}, Trust.CARE, "a constant model scores as well"),
    "one std for noise that varies": (
        {"std": np.sqrt(np.mean(STD**2)) * (1 + 0.3 * X)},
        Trust.CARE,
        "the quarter of the rows with the largest std",
    ),
    "a std that points the wrong way": ({"std": STD[::-1]}, Trust.NO, "hold only"),
    "not a number": ({"mean": np.nan}, Trust.NO, "a constant model scores better"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_predictions_are_not_trusted_and_the_reason_is_said(name):
    predictions, trust, words = WRONG[name]
    found = verdict(**predictions)
    assert found.trust == trust
    assert words in reasons(found)


def test_a_std_that_varies_without_reason_loses_to_a_constant_one():
    random = np.random.default_rng(1)
    y = MEAN + 0.3 * random.normal(size=N)
    found = verdict(std=0.3 * np.exp(0.4 * random.normal(size=N)), y=y)
    assert found.trust != Trust.YES
    assert "one constant std scores better" in reasons(found)


@pytest.mark.parametrize(("n", "trust"), [(2, Trust.NO), (9, Trust.NO), (12, Trust.CARE), (49, Trust.CARE)])
def test_few_rows_show_little(n, trust):
    every = slice(0, None, N // n)
    rows = [values[every][:n] for values in (Y, MEAN, STD, *CONSTANT)]
    found = judge(*rows)
    assert found.n_rows == n
    assert found.trust == trust
    assert f"{n} held-out rows" in reasons(found)


def test_a_row_that_decides_the_score_is_named_by_its_number():
    y = Y.copy()
    y[17] = MEAN[17] + 60 * STD[17]
    found = verdict(y=y, numbers=np.arange(N) + 1000)
    assert [row.number for row in found.named] == [1017]
    assert found.named[0].share > 0.5
    assert found.named[0].y == y[17]
    assert found.trust != Trust.YES
    assert "one row makes up" in reasons(found)


def test_a_constant_model_without_a_std_is_no_obstacle():
    found = judge(Y[:2], MEAN[:2], STD[:2], Y[:2] + 1, np.zeros(2))
    assert found.over_constant.clear
    assert found.constant.nll == np.inf


def test_weights_count_like_repeated_rows():
    weight = np.random.default_rng(0).integers(1, 4, size=100)
    rows = [values[::20] for values in (Y, MEAN, STD, *CONSTANT)]
    weighted = judge(*rows, weight=weight.astype(float))
    repeated = judge(*(np.repeat(values, weight) for values in rows))
    assert weighted.ours == pytest.approx(repeated.ours)
    assert weighted.over_constant.nats == pytest.approx(repeated.over_constant.nats)
    assert weighted.squared_score == pytest.approx(repeated.squared_score)

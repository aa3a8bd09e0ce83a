"""Conformal intervals: the arithmetic against MAPIE and crepes, the coverage over many draws."""

import numpy as np
import pytest
from crepes import ConformalRegressor
from mapie.regression import CrossConformalRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from heteroscope.core.errors import InputError
from heteroscope.data import Rows
from heteroscope.distributions.conformal import Conformal, interval_rank, scores
from heteroscope.networks import FittedEnsemble, Params, Prediction


class Known(FittedEnsemble):
    """An ensemble whose mean and std are functions of the rows."""

    def predict(self, x):
        mean, std = self.members.mean(x), self.members.precision(x)
        return Prediction(mean, std, std, np.zeros(len(x)))


def known(mean, std=lambda x: np.ones(len(x)), n_features=1, **settings):
    wide = np.array([[-1e9] * n_features, [1e9] * n_features])
    scaling = Rows(wide, np.array([0.0, 1.0]), np.ones(2)).scaling()
    return Known(Params(mean, std), scaling, "silu", **settings)


def score(ensemble, x, y):
    return scores(ensemble, x, y, np.ones(len(y), dtype=np.int64))


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
def test_cv_plus_is_that_of_mapie(coverage):
    random = np.random.default_rng(0)
    x, new = random.normal(size=(60, 2)), random.normal(size=(7, 2))
    y = x @ [1, 2] + random.normal(size=60)
    folds = KFold(5, shuffle=True, random_state=0)
    theirs = CrossConformalRegressor(
        LinearRegression(), confidence_level=coverage, conformity_score="absolute", method="plus", cv=folds
    ).fit_conformalize(x, y)
    wanted = theirs.predict_interval(new)[1][:, :, 0]
    ensembles, found, numbers = [], [], []
    for k, (training, held) in enumerate(folds.split(x)):
        ensemble = known(LinearRegression().fit(x[training], y[training]).predict, n_features=2)
        ensembles.append(ensemble)
        found.append(score(ensemble, x[held], y[held]))
        numbers.append(np.full(len(held), k))
    ours = Conformal(tuple(ensembles), np.concatenate(found), np.concatenate(numbers))
    assert ours.kind == "CV+"
    np.testing.assert_allclose(np.column_stack(ours.interval(ensembles[0], new, coverage)), wanted, rtol=1e-12)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95])
def test_split_is_that_of_crepes(coverage):
    random = np.random.default_rng(1)
    x, new = random.uniform(1, 2, (50, 1)), random.uniform(1, 2, (5, 1))
    y = x[:, 0] * random.standard_t(4, size=50)
    own = known(lambda x: 0.1 * x[:, 0], lambda x: x[:, 0] ** 2)
    theirs = ConformalRegressor().fit(residuals=y - 0.1 * x[:, 0], sigmas=x[:, 0] ** 2)
    wanted = theirs.predict_int(0.1 * new[:, 0], sigmas=new[:, 0] ** 2, confidence=coverage)
    for ensembles in ((), (own,)):
        ours = Conformal(ensembles, score(own, x, y), np.zeros(50, dtype=np.int64))
        assert (ours.kind, ours.guaranteed(coverage)) == ("split", coverage)
        np.testing.assert_allclose(np.column_stack(ours.interval(own, new, coverage)), wanted, rtol=1e-12)


def noisy(n, random):
    """Rows whose noise is ten times as large at one end as at the other, with heavy tails."""
    x = random.uniform(0, 1, (n, 1))
    return x, (0.1 + 0.9 * x[:, 0]) * random.standard_t(3, n)


def test_split_holds_its_coverage_exactly_over_many_draws():
    random, n, coverage, draws = np.random.default_rng(2), 19, 0.8, 300
    own = known(lambda x: np.zeros(len(x)), lambda x: 1.0 + x[:, 0] ** 2)  # wrong on purpose
    held = []
    for _ in range(draws):
        x, y = noisy(n + 50, random)
        split = Conformal((), score(own, x[:n], y[:n]), np.zeros(n, dtype=np.int64))
        lower, upper = split.interval(own, x[n:], coverage)
        held.append(np.mean((lower <= y[n:]) & (y[n:] <= upper)))
    assert interval_rank(n, coverage) == 16
    assert abs(np.mean(held) - 16 / 20) < 4 * np.std(held) / np.sqrt(draws) < 0.03


def test_cv_plus_holds_more_than_it_guarantees_over_many_draws():
    random, n, k, coverage, draws = np.random.default_rng(3), 20, 5, 0.8, 150
    numbers, held = np.repeat(np.arange(k), n // k), []
    for _ in range(draws):
        x, y = noisy(n + 50, random)
        x, y, new, target = x[:n], y[:n], x[n:], y[n:]
        ensembles = []
        for fold in range(k):
            own = numbers != fold  # a line through four fifths of the rows, and the std of its residuals
            line = np.polyfit(x[own, 0], y[own], 1)
            spread = np.std(y[own] - np.polyval(line, x[own, 0]))
            ensembles.append(
                known(lambda x, line=line: np.polyval(line, x[:, 0]), lambda x, s=spread: np.full(len(x), s))
            )
        found = [score(e, x[numbers == fold], y[numbers == fold]) for fold, e in enumerate(ensembles)]
        plus = Conformal(tuple(ensembles), np.concatenate(found), numbers)
        lower, upper = plus.interval(ensembles[0], new, coverage)
        held.append(np.mean((lower <= target) & (target <= upper)))
    assert plus.guaranteed(coverage) == pytest.approx(1 - 0.4 - min(2 * 0.8 / 5, 0.75 / 6))
    assert abs(np.mean(held) - coverage) < 0.05


def test_the_right_std_gives_each_quarter_of_rows_its_coverage_and_a_constant_one_does_not():
    random = np.random.default_rng(4)
    x, y = noisy(4000, random)
    new, target = noisy(20_000, random)
    by_quarter = {}
    for name, std in (("right", lambda x: 0.1 + 0.9 * x[:, 0]), ("constant", lambda x: np.ones(len(x)))):
        own = known(lambda x: np.zeros(len(x)), std)
        lower, upper = Conformal((), score(own, x, y), np.zeros(4000, dtype=np.int64)).interval(own, new, 0.9)
        inside = (lower <= target) & (target <= upper)
        quarter = np.digitize(new[:, 0], [0.25, 0.5, 0.75])
        by_quarter[name] = np.array([inside[quarter == k].mean() for k in range(4)])
    assert np.abs(by_quarter["right"] - 0.9).max() < 0.03
    assert by_quarter["constant"][0] > 0.97
    assert by_quarter["constant"][3] < 0.85


def test_lognormal_intervals_are_those_of_the_logarithm():
    own = known(lambda x: x[:, 0], lognormal=True)
    split = Conformal((), np.arange(1.0, 10.0), np.zeros(9, dtype=np.int64))
    lower, upper = split.interval(own, np.array([[2.0]]), 0.5)
    np.testing.assert_allclose([lower[0], upper[0]], np.exp([2 - 5, 2 + 5]))


def test_blocks_of_rows_change_nothing(monkeypatch):
    random = np.random.default_rng(5)
    ensembles = (known(lambda x: x[:, 0]), known(lambda x: x[:, 0] ** 2))
    plus = Conformal(ensembles, random.exponential(size=30), np.repeat([0, 1], 15))
    x = random.normal(size=(11, 1))
    whole = plus.interval(ensembles[0], x, 0.9)
    monkeypatch.setattr("heteroscope.distributions.conformal.BLOCK", 60)
    np.testing.assert_array_equal(plus.interval(ensembles[0], x, 0.9), whole)


def test_scores_count_copies_and_what_is_no_number_is_infinite():
    own = known(lambda x: np.where(x[:, 0] > 5, np.nan, x[:, 0]), lambda x: np.full(len(x), 2.0))
    found = scores(own, np.array([[1.0], [2.0], [9.0]]), np.array([3.0, 2.0, 1.0]), np.array([1, 2, 1]))
    np.testing.assert_array_equal(found, [1, 0, 0, np.inf])


def test_a_coverage_that_so_few_rows_cannot_guarantee_is_refused():
    assert interval_rank(9, 0.9) == 9
    with pytest.raises(
        InputError, match=r"coverage 0\.95 cannot be guaranteed by 9 held-out rows: ask for at most 0\.9"
    ):
        interval_rank(9, 0.95)
    with pytest.raises(InputError, match="strictly between 0 and 1"):
        Conformal((), np.ones(3), np.zeros(3, dtype=np.int64)).interval(known(lambda x: x[:, 0]), np.ones((1, 1)), 1.0)


def test_the_text_says_what_is_guaranteed():
    own = known(lambda x: x[:, 0])
    zeros = np.zeros(50, dtype=np.int64)
    assert Conformal((), np.ones(50), zeros).text().endswith("90 % intervals hold at least 90 % of new rows")
    text = Conformal((own,) * 5, np.ones(50), np.repeat(np.arange(5), 10)).text()
    assert "CV+, 50 held-out rows" in text
    assert "at least 65 % had the search not looked" in text

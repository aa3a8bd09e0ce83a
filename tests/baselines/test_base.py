"""The baselines keep the estimators' contract, find answers known without them, and show their papers' effects."""

import pickle
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from heteroscope import load_model, save_model
from heteroscope.baselines import BetaNLLRegressor, MLEEnsembleRegressor, MLERegressor
from heteroscope.baselines.base import DECAYS, check_weight_decay, decay_logits
from heteroscope.core.errors import InputError
from heteroscope.core.regularisation import strengths
from heteroscope.core.status import Status
from heteroscope.data.rows import merge_rows
from heteroscope.distributions.metrics import nll
from heteroscope.networks import Layer, Params
from heteroscope.phases.labels import Phase
from heteroscope.training.tile import Fit

SMALL = {"hidden": (4,), "max_steps": 40, "random_state": 0}
# No hidden layer and all rows in each step: the checks fit rows of a dozen shapes, and compiling takes their time.
CHECKED = {"hidden": (), "batch_size": None, "max_steps": 500, "random_state": 0, "weight_decay": 1e-3, "held_out": 0}
PLAIN = {"weight_decay": 0.0, "held_out": 0, "random_state": 0}


@parametrize_with_checks([MLERegressor(**CHECKED)])  # the others, without training, in test_contract.py
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def two_groups():
    """Thirty rows at x = 0 and fifty at x = 1, with their means and SDs: a linear model can meet all four numbers."""
    random = np.random.default_rng(0)
    x = np.repeat([0.0, 1.0], [30, 50])
    y = np.where(x == 0, 10 + random.normal(size=80), 13 + 2.0 * random.normal(size=80))
    groups = [y[x == 0], y[x == 1]]
    return x[:, None], y, np.array([g.mean() for g in groups]), np.array([g.std() for g in groups])


@pytest.mark.parametrize("make", [lambda **s: MLERegressor(**s), lambda **s: BetaNLLRegressor(0.5, **s)])
def test_two_groups_get_their_own_means_and_standard_deviations(make):
    x, y, means, stds = two_groups()
    model = make(hidden=(), max_steps=4000, **PLAIN).fit(x, y)
    mean, std = model.predict([[0.0], [1.0]], return_std=True)
    np.testing.assert_allclose(mean, means, atol=0.02)
    np.testing.assert_allclose(std, stds, rtol=0.02)
    assert model.phase_ == Phase.UNKNOWN  # no rows are held out
    assert model.status_ == (Status.OUT_OF_STEPS,)


def test_at_beta_one_a_linear_mean_is_least_squares_whatever_the_noise():
    random = np.random.default_rng(1)
    x = random.normal(size=(100, 2))
    y = x @ [1.0, -2.0] + (0.1 + np.abs(x[:, 0])) * random.normal(size=100)
    design = np.column_stack([x, np.ones(100)])
    expected = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    exact = partial(BetaNLLRegressor, hidden=(), max_steps=1500, batch_size=None, **PLAIN)
    found = {b: exact(b).fit(x, y).predict(x) for b in (0.0, 1.0)}
    np.testing.assert_allclose(found[1.0], expected, atol=0.01)
    assert np.abs(found[0.0] - expected).max() > 0.05, "likelihood weighs the rows, so this case tells them apart"


def test_beta_zero_is_maximum_likelihood_to_the_last_bit():
    x, y, *_ = two_groups()
    ours, theirs = (
        make(**SMALL, weight_decay=0.01).fit(x, y) for make in (partial(BetaNLLRegressor, 0.0), MLERegressor)
    )
    np.testing.assert_array_equal(ours.predict(x, return_std=True), theirs.predict(x, return_std=True))
    assert ours.observables_ == theirs.observables_


def curve(n, seed):
    """A wave whose noise grows tenfold from left to right."""
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, n)
    std = 0.05 * 10 ** ((x + 1) / 2)
    return x[:, None], np.sin(3 * x) + std * random.normal(size=n), std


@pytest.fixture(scope="module")
def ensemble():
    x, y, _ = curve(200, 0)
    return MLEEnsembleRegressor(3, hidden=(16, 16), max_steps=500, random_state=0, weight_decay=1e-3).fit(x, y)


def forward(network, h):
    for layer in network[:-1]:
        h = h @ layer.weight + layer.bias
        h = h / (1 + np.exp(-h))
    return (h @ network[-1].weight + network[-1].bias)[:, 0]


def test_an_ensemble_has_the_moments_of_its_members_mixture(ensemble):
    x, _, _ = curve(40, 1)
    scale = ensemble.scaling_
    means, variances = [], []
    for k in range(3):
        mean, output = (
            forward(
                [type(layer)(*(part[k] for part in layer)) for layer in network], (x - scale.x_centre) / scale.x_scale
            )
            for network in ensemble.members_
        )
        means.append(mean * scale.y_scale + scale.y_centre)
        variances.append((np.log1p(np.exp(output)) + 1e-8) * scale.y_scale**2)
    mean = np.mean(means, axis=0)
    variance = np.mean(np.add(variances, np.square(means)), axis=0) - mean**2
    found_mean, found_std = ensemble.predict(x, return_std=True)
    np.testing.assert_allclose(found_mean, mean, atol=1e-4)
    np.testing.assert_allclose(found_std, np.sqrt(variance), rtol=1e-3)
    parts = ensemble.predict_parts(x)
    np.testing.assert_allclose(parts.std**2, parts.aleatoric**2 + parts.epistemic**2)
    assert np.all(parts.epistemic > 0)


def test_where_noise_varies_all_beat_a_constant_variance_and_find_the_noise(ensemble):
    x, y, _ = curve(200, 0)
    x_new, y_new, std_new = curve(2000, 1)
    settings = {"hidden": (16, 16), "max_steps": 500, "random_state": 0, "weight_decay": 1e-3, "held_out": 0}
    for model in (ensemble, MLERegressor(**settings).fit(x, y), BetaNLLRegressor(**settings).fit(x, y)):
        mean, std = model.predict(x_new, return_std=True)
        best_constant = np.sqrt(np.mean((y_new - mean) ** 2))  # even the one that knows the test rows' error
        assert nll(y_new, mean, std) < nll(y_new, mean, np.full_like(std, best_constant)) - 0.1
        assert stats.spearmanr(std, std_new).statistic > 0.9


def test_beta_nll_keeps_the_mean_where_likelihood_gives_it_up():
    """Seitzer et al.'s sinusoid: rows that are hard to meet get a large variance, and then no gradient."""
    random = np.random.default_rng(0)
    x = np.sort(random.uniform(0, 4, 128))
    truth = 0.4 * np.sin(2 * np.pi * x)
    y = truth + 0.01 * random.normal(size=128)
    settings = {"hidden": (24, 24), "activation": "tanh", "max_steps": 1000} | PLAIN
    error = {}
    for beta in (0.0, 0.5):
        model = BetaNLLRegressor(beta, **settings).fit(x[:, None], y)
        error[beta] = np.mean((model.predict(x[:, None]) - truth) ** 2) / np.var(truth)
    assert error[0.0] > 0.5, "likelihood explains less than half of a curve that is almost free of noise"
    assert error[0.5] < 0.4 * error[0.0]


def test_a_status_reads_the_second_network_as_a_variance():
    """Fifty times the residuals' variance is a std far too large; as a precision it would be one far too small."""
    x, y, *_ = two_groups()
    rows = merge_rows(x, y, np.ones(len(y)))

    def fit(output, status=Status.OUT_OF_STEPS):
        silent = Layer(np.zeros((1, 1), np.float32), np.zeros(1, np.float32))
        params = Params((silent,), (silent._replace(bias=np.array([output], np.float32)),))
        return MLERegressor()._status(Fit(params, status, 0.0, 0.0, 1), rows, rows.scaling())

    assert fit(50.0) == Status.RUNAWAY
    assert fit(0.5) == fit(0.5, Status.CONVERGED) == fit(-4.0, Status.RUNAWAY) == Status.OUT_OF_STEPS
    assert fit(0.5, Status.NOT_FINITE) == Status.NOT_FINITE


def test_a_flat_network_is_trained_and_not_moved_to_the_constant_model():
    """The engine may replace a network that a penalty has flattened; without a penalty that would be a mistake."""
    x, y, _ = curve(60, 0)
    model = MLERegressor(hidden=(8, 8), start=1e-3, max_steps=260, **PLAIN).fit(x, y)
    assert model.n_iter_ == 260
    assert all(np.any(layer.weight != 0) for network in model.members_ for layer in network)


def test_the_weight_decay_is_the_one_that_held_out_rows_like_best():
    x, y, _ = curve(80, 0)
    model = MLERegressor(**SMALL | {"max_steps": 150}).fit(x, y)
    trials = pd.DataFrame(model.trials_)
    assert set(zip(trials["steps"], trials["weight_decay"], strict=True)) == set(product((38, 150), DECAYS))
    best = trials.loc[trials["held_out_nll"].idxmin()]
    assert (model.n_iter_, model.weight_decay_) == (best["steps"], best["weight_decay"])
    assert trials["held_out_nll"].nunique() > len(DECAYS)
    given = MLERegressor(**SMALL | {"max_steps": model.n_iter_}, weight_decay=model.weight_decay_).fit(x, y)
    np.testing.assert_array_equal(given.predict(x), model.predict(x))
    assert given.observables_ == model.observables_


@pytest.mark.parametrize("make", [MLERegressor, BetaNLLRegressor, MLEEnsembleRegressor])
def test_pickles_clones_and_model_folders_keep_every_bit(make, tmp_path):
    x, y, *_ = two_groups()
    model = make(**SMALL, weight_decay=0.01).fit(x, y)
    folder = save_model(model, tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(model)), load_model(folder).estimator, clone(model).fit(x, y)):
        np.testing.assert_array_equal(again.predict(x, return_std=True), model.predict(x, return_std=True))
        assert set(vars(again)) == set(vars(model))
        assert again.get_params() == model.get_params()
        for name in ("weight_decay_", "phase_", "status_", "observables_"):
            assert getattr(again, name) == getattr(model, name)
        np.testing.assert_array_equal(again.trials_["held_out_nll"], model.trials_["held_out_nll"])


@pytest.mark.parametrize("decay", [0, 1e-8, 0.01, 3.0])
def test_the_logits_of_a_weight_decay_give_back_the_weight_decay(decay):
    found = strengths(*decay_logits(decay))
    assert found.mean_penalty / found.likelihood == pytest.approx(decay, rel=1e-12)
    assert found.precision_penalty / found.likelihood == pytest.approx(decay, rel=1e-12)


@pytest.mark.parametrize("decay", [-1e-3, np.inf, np.nan, "much", None, True])
def test_a_weight_decay_that_is_none_is_refused(decay):
    with pytest.raises(InputError, match="weight_decay must be"):
        check_weight_decay(decay)


X, Y, *_ = two_groups()
UGLY = {
    "beta above one": (BetaNLLRegressor(1.5), X, Y, "beta must be"),
    "beta is text": (BetaNLLRegressor().set_params(beta="0.5"), X, Y, "beta must be"),
    "no members": (MLEEnsembleRegressor(0), X, Y, "n_members must be"),
    "half a step": (MLERegressor().set_params(max_steps=0.5), X, Y, "max_steps must be"),
    "negative decay": (MLERegressor(weight_decay=-1), X, Y, "weight_decay must be"),
    "decay is a word": (MLERegressor(weight_decay="some"), X, Y, "weight_decay must be"),
    "nothing to choose by": (MLERegressor(held_out=0), X, Y, "held-out rows"),
    "two rows": (MLERegressor(), X[29:31], Y[29:31], "bring more rows"),
    "unknown activation": (MLERegressor(activation="sin"), X, Y, "activation must be one of"),
    "a constant target": (MLERegressor(), X, np.ones(80), "target is constant"),
}


@pytest.mark.parametrize("case", UGLY)
def test_ugly_input_gets_one_clear_line(case):
    model, x, y, message = UGLY[case]
    with pytest.raises(InputError, match=message) as refusal:
        model.fit(x, y)
    assert "\n" not in str(refusal.value)

"""The estimators keep scikit-learn's contract, and their numbers agree with answers known without them."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from heteroscope import HeteroskedasticRegressor, HeteroskedasticRegressorCV, datasets, load_model, save_model
from heteroscope.core.errors import FarRowsWarning, InputError
from heteroscope.data import Rows
from heteroscope.diagrams import predicted_point
from heteroscope.distributions.metrics import neg_crps_scorer, neg_nll_scorer
from heteroscope.phases import Phase, Trust
from heteroscope.search import scale_for_all_rows

# Where steps see all rows, tables and folds share a program if they have as many rows, rounded up to 32.
SMALL = {"hidden": (16,), "batch_size": None, "max_steps": 300, "random_state": 0}
SMALL_CV = SMALL | {"max_steps": 200, "n_coarse": 3, "n_fine": 2, "cv": 3, "n_members": 2}


# The checks fit rows of a dozen shapes, and compiling is what takes their time: a network without a hidden layer takes
# half of it. A stream of `partial_fit` needs a batch size.
CHECKED = SMALL | {"hidden": (), "batch_size": 32, "max_steps": 200}
CHECKED_CV = {"n_coarse": 3, "n_fine": 0, "n_off_diagonal": 1, "cv": 2, "n_finalists": 1, "n_members": 1}


@parametrize_with_checks([HeteroskedasticRegressor(**CHECKED), HeteroskedasticRegressorCV(**CHECKED, **CHECKED_CV)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def noisy_line(n, seed=0):
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, size=(n, 1))
    std = 0.5
    return x, 40 + 3 * x[:, 0] + std * random.normal(size=n), std


@pytest.fixture(scope="module")
def line():
    x, y, _ = noisy_line(300)
    return HeteroskedasticRegressor(rho=0.999, gamma=0.5, hidden=(16, 16), max_steps=1500, random_state=0).fit(x, y)


def test_a_noisy_line_is_found_with_its_noise(line):
    x = np.linspace(-0.9, 0.9, 50)[:, None]
    mean, std = line.predict(x, return_std=True)
    np.testing.assert_allclose(mean, 40 + 3 * x[:, 0], atol=0.25)
    np.testing.assert_allclose(std, 0.5, rtol=0.25)
    assert line.phase_ == Phase.S


def test_intervals_quantiles_and_distribution_are_one_gaussian(line):
    x, y, _ = noisy_line(2000, seed=1)
    mean, std = line.predict(x, return_std=True)
    assert mean.shape == std.shape == (2000,)
    lower, upper = line.predict_interval(x, coverage=0.8)
    np.testing.assert_allclose(lower, mean - 1.2815515655 * std)
    np.testing.assert_allclose(upper, mean + 1.2815515655 * std)
    assert np.mean((lower < y) & (y < upper)) == pytest.approx(0.8, abs=0.05)
    np.testing.assert_allclose(line.predict_quantiles(x, [0.5])[:, 0], mean)
    np.testing.assert_allclose(line.pred_dist(x).cdf(y), stats.norm.cdf((y - mean) / std))
    parts = line.predict_parts(x)
    np.testing.assert_array_equal(parts.epistemic, 0)


def test_a_linear_network_under_a_strong_likelihood_is_least_squares():
    random = np.random.default_rng(0)
    x = random.normal(size=(200, 3))
    y = x @ [1.0, -2.0, 0.5] + 0.3 * random.normal(size=200)
    model = HeteroskedasticRegressor(1 - 1e-6, 0.5, hidden=(), max_steps=3000, random_state=0).fit(x, y)
    design = np.column_stack([x, np.ones(200)])
    _, std = model.predict(x, return_std=True)
    root = 1 / std[:, None]  # at the minimum the mean is weighted least squares under its own precision
    expected = design @ np.linalg.lstsq(root * design, root[:, 0] * y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(x), expected, atol=0.02)


def test_the_same_seed_gives_the_same_numbers_on_any_number_of_processes():
    split = datasets.load("sine")
    fits = [
        HeteroskedasticRegressorCV(**SMALL_CV, n_jobs=n_jobs).fit(split.x_train, split.y_train) for n_jobs in (1, 2)
    ]
    one, two = (fit.predict(split.x_test, return_std=True) for fit in fits)
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(fits[0].cv_results_["mean_test_nll"], fits[1].cv_results_["mean_test_nll"])


def test_rows_given_twice_equal_rows_of_weight_two_and_their_order_is_of_no_account():
    x, y, _ = noisy_line(40)
    weight = np.random.default_rng(0).integers(0, 4, size=40)
    shuffled = np.random.default_rng(1).permutation(weight.sum())
    repeated_x, repeated_y = np.repeat(x, weight, axis=0)[shuffled], np.repeat(y, weight)[shuffled]
    for make in (lambda: HeteroskedasticRegressor(**SMALL), lambda: HeteroskedasticRegressorCV(**SMALL_CV)):
        weighted = make().fit(x, y, sample_weight=weight)
        np.testing.assert_array_equal(weighted.predict(x), make().fit(repeated_x, repeated_y).predict(x))


@pytest.fixture(scope="module")
def searched():
    split = datasets.load("sine")
    model = HeteroskedasticRegressorCV(
        hidden=(32, 32),
        activation="leaky_relu",  # smooth networks of this size do not get to overfit in so few steps
        max_steps=1000,
        n_coarse=6,
        n_fine=3,
        cv=3,
        n_members=3,
        random_state=0,
    )
    return split, model.fit(split.x_train, split.y_train)


def test_the_search_finds_the_good_phase_and_beats_the_constant_model(searched):
    split, model = searched
    assert model.phase_ == Phase.S
    assert model.rho_ + model.gamma_ > 1.0 - 1e-9  # on the diagonal, or beside it with a freer precision
    constant = stats.norm(split.y_train.mean(), split.y_train.std()).logpdf(split.y_test).mean()
    assert -neg_nll_scorer(model, split.x_test, split.y_test) < -constant - 0.1
    assert model.score(split.x_test, split.y_test) > 0.2


def test_the_whole_path_is_kept(searched):
    _, model = searched
    table = pd.DataFrame(model.cv_results_)
    short, long = (table[table["max_steps"] == steps] for steps in (250, 1000))
    on_the_diagonal = np.isclose(short["rho"] + short["gamma"], 1.0)
    assert on_the_diagonal.sum() == 9
    assert len(short) == 9 + model.n_off_diagonal
    assert model.n_off_diagonal < len(long) < len(short)
    assert len(table) == len(short) + len(long)
    assert short["logit_rho"].is_monotonic_increasing
    assert long["logit_rho"].is_monotonic_increasing
    assert table["rho"][model.best_index_] == pytest.approx(model.rho_)
    assert model.n_iter_ <= table["max_steps"][model.best_index_]
    assert short["phase"].iloc[0] == Phase.U_I
    assert long["phase"].iloc[-1] in (Phase.O_I, Phase.O_II)


def test_the_std_is_scaled_as_held_out_rows_ask_for(searched):
    split, model = searched
    # the folds' models know two rows of three; three members need at least sqrt(1/2) of what the folds' two ask for,
    # and the Student-t of 64 held-out rows has another std than the Gaussian that ranks the points
    asked = model.cv_results_["std_scale"][model.best_index_]
    least = scale_for_all_rows(np.sqrt(1 / 2) * asked, np.mean([43 / 64, 43 / 64, 42 / 64]))
    assert 0.8 * least <= model.std_scale_ <= 1.3 * max(asked, 1.0)
    _, scaled = model.predict(split.x_test, return_std=True)
    unscaled = copy.deepcopy(model)
    unscaled.std_scale_ = 1.0
    np.testing.assert_allclose(scaled / unscaled.predict(split.x_test, return_std=True)[1], model.std_scale_)


def test_a_students_t_is_in_all_that_is_predicted(searched, tmp_path):
    split, gaussian = searched
    model = HeteroskedasticRegressorCV(**gaussian.get_params())
    vars(model).update({name: value for name, value in vars(gaussian).items() if name.endswith("_")})
    model.df_ = 4.0
    x, y = split.x_test, split.y_test
    mean, std = model.predict(x, return_std=True)
    expected = stats.t(df=4.0, loc=mean, scale=std / np.sqrt(2.0))
    assert model.pred_dist(x).dist.name == "t"
    np.testing.assert_allclose(model.pred_dist(x).std(), std)
    np.testing.assert_allclose(model.predict_quantiles(x, [0.05, 0.7]).T, [expected.ppf(0.05), expected.ppf(0.7)])
    assert -neg_nll_scorer(model, x, y) == pytest.approx(-expected.logpdf(y).mean())
    loaded = load_model(save_model(model, tmp_path / "model"))
    np.testing.assert_allclose(loaded.predict_interval(x), model.predict_interval(x), rtol=1e-12)
    np.testing.assert_allclose(loaded.pred_dist(x).logpdf(y), expected.logpdf(y))


def test_a_member_that_goes_astray_stays_within_the_bounds(searched):
    split, model = searched
    astray = copy.deepcopy(model)
    astray.members_ = copy.deepcopy(model.members_)
    astray.members_.mean[-1].bias[0] -= 1e4
    low, high = astray.mean_bounds_
    assert low < split.y_train.min() - 0.1
    assert high > split.y_train.max() + 0.1
    limit = (low + (astray.n_members - 1) * high) / astray.n_members
    assert (np.abs(model.predict(split.x_test)) < 10).all()
    assert (astray.predict(split.x_test) >= low).all()
    assert (astray.predict(split.x_test) <= limit).all()
    astray.mean_bounds_ = (-np.inf, np.inf)
    assert astray.predict(split.x_test).min() < -1000


def test_a_search_that_does_not_calibrate_leaves_the_std_as_it_is():
    x, y, _ = noisy_line(90)
    plain = HeteroskedasticRegressorCV(**SMALL_CV, calibrate=False).fit(x, y)
    assert plain.std_scale_ == 1.0
    assert plain.phase_ == Phase.S


def test_a_precision_that_falls_to_nothing_does_not_make_the_std_endless(searched):
    split, model = searched
    spoiled = copy.deepcopy(model)
    last = spoiled.members_.precision[-1]
    network = (*spoiled.members_.precision[:-1], last._replace(bias=last.bias - 1000.0))
    spoiled.members_ = spoiled.members_._replace(precision=network)
    reach = split.y_train.max() - split.y_train.min()
    parts = spoiled.predict_parts(split.x_test)
    np.testing.assert_allclose(parts.aleatoric, spoiled.std_scale_ * reach)
    np.testing.assert_array_equal(parts.mean, model.predict(split.x_test))


def test_held_out_scores_tell_what_new_rows_will_show(searched):
    _, model = searched
    best = model.best_index_
    loss = model.cv_results_["held_out_loss"][best]  # of a Gaussian, which ranks the points
    assert model.held_out_scores_["nll"] == pytest.approx(loss, abs=0.2)
    # scaled by the same rows, so that it can hardly be worse; a std divided by the factor would cost 0.13
    assert model.held_out_scores_["nll"] < model.cv_results_["mean_test_nll"][best] + 0.05
    assert 0.0 < model.held_out_scores_["r2"] < 1.0 - model.observables_.residual_share


def test_members_disagree_and_their_disagreement_is_epistemic(searched):
    split, model = searched
    parts = model.predict_parts(split.x_test)
    assert np.all(parts.epistemic > 0)
    with pytest.warns(FarRowsWarning):
        far = model.predict_parts(np.array([[50.0]]))
    assert far.epistemic[0] > 10 * np.median(parts.epistemic)


def test_path_phase_verdict_and_diagnosis_tell_one_story(searched):
    _, model = searched
    path, best = model.cv_results_, model.best_index_
    assert model.phase_ == path["phase"][best]
    assert model.observables_.log_precision_spread == path["log_precision_spread"][best]
    assert model.verdict_.ours.nll == pytest.approx(model.held_out_scores_["nll"])
    assert model.verdict_.ours.coverage == pytest.approx(model.held_out_scores_["interval_coverage"])
    assert model.verdict_.n_rows == 64
    held = model.held_out_
    assert np.mean(held.score**2) == pytest.approx(model.verdict_.squared_score)
    assert sorted(held.number) == list(range(64)), "each row is held out once"
    assert list(np.unique(held.fold)) == [0, 1, 2]
    text = " ".join(str(model.diagnose()).split())
    assert f"({model.phase_})" in text
    assert f"{100 * model.verdict_.ours.coverage:.0f} %" in text


def test_a_notebook_shows_the_diagnosis_below_the_parameters(line):
    shown = line._repr_mimebundle_()
    assert str(line.diagnose()) in shown["text/plain"]
    assert line.diagnose()._repr_html_() in shown["text/html"]
    assert "trusted" not in HeteroskedasticRegressor()._repr_mimebundle_()["text/plain"]


@pytest.mark.parametrize("selection", ["crps", "paper"])
def test_other_selections(selection):
    split = datasets.load("curve")
    model = HeteroskedasticRegressorCV(**SMALL_CV, selection=selection).fit(split.x_train, split.y_train)
    if selection == "paper":
        table = pd.DataFrame(model.cv_results_)
        ends = [table["logit_rho"][table[f"mean_train_{name}"].idxmin()] for name in ("mean_mse", "std_mse")]
        assert table["logit_rho"][model.best_index_] == pytest.approx(np.mean(ends))
    assert np.isfinite(model.predict(split.x_test)).all()


@pytest.mark.parametrize("cv", [ShuffleSplit(2, test_size=0.3, random_state=0), 0.25])
def test_any_splitter_or_share_will_do(cv):
    x, y, _ = noisy_line(60)
    model = HeteroskedasticRegressorCV(**SMALL_CV | {"cv": cv}).fit(x, y)
    assert model.phase_ in set(Phase)
    assert model.cv_results_["n_folds"].max() == (1 if cv == 0.25 else 2)


def test_the_grid_search_takes_a_point_of_the_square():
    x, y, _ = noisy_line(60)
    model = HeteroskedasticRegressorCV(**SMALL_CV | {"search": "grid"}).fit(x, y)
    assert len(model.cv_results_["rho"]) == 2 * 9  # two lengths of training
    assert model.gamma_ in model.cv_results_["gamma"]


def test_the_search_by_theory_trains_a_handful_of_models_near_the_point_it_predicts():
    x, y, _ = noisy_line(60)
    changes = {"search": "theory", "cv": "auto", "hidden": (16,)}
    model = HeteroskedasticRegressorCV(**SMALL_CV | changes).fit(x, y)
    table = pd.DataFrame(model.cv_results_)
    assert len(table) == 7
    assert list(table["max_steps"]) == [50] * 6 + [200]
    assert sorted(table["n_folds"]) == [1] * 6 + [5], "sixty rows are too few for three folds"
    assert table["n_folds"][model.best_index_] == 5
    centre = predicted_point(Rows(x, y, np.ones(60)), (16,), "silu")
    assert np.isclose(table[["logit_rho", "logit_gamma"]], centre, atol=1e-9).all(axis=1).any()
    assert model.diagnose().answer
    np.testing.assert_allclose(model.predict(x), 40 + 3 * x[:, 0], atol=1.5)


def test_networks_with_the_theorys_penalty_fit_the_line():
    x, y, _ = noisy_line(60)
    model = HeteroskedasticRegressor(0.99, 0.5, penalty="gradients", **SMALL).fit(x, y)
    again = HeteroskedasticRegressor(0.99, 0.5, **SMALL).fit(x, y)
    assert not np.allclose(model.predict(x), again.predict(x))
    assert np.mean((model.predict(x) - 40 - 3 * x[:, 0]) ** 2) < 0.3
    with pytest.raises(InputError, match="penalty must be one of weights, gradients, got 'slopes'"):
        HeteroskedasticRegressor(penalty="slopes", **SMALL).fit(x, y)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"search": "spiral"}, "search must be one of diagonal, grid, theory, got 'spiral'"),
        ({"search": "theory", "selection": "paper"}, "rule for the diagonal"),
        ({"search": "grid", "selection": "paper"}, "rule for the diagonal"),
        ({"n_finalists": 0}, "n_finalists must be a positive integer"),
        ({"n_fine": -1}, "n_fine must be a positive integer or 0, got -1"),
        ({"n_off_diagonal": "4"}, "n_off_diagonal must be a positive integer or 0, got '4'"),
        ({"cv": 1.5}, "cv=1.5 as a share"),
        ({"cv": 0.999}, "cv=0.999 as a share"),
    ],
)
def test_a_search_that_cannot_be_is_refused_in_one_line(changes, complaint):
    x, y, _ = noisy_line(60)
    with pytest.raises(InputError, match=complaint):
        HeteroskedasticRegressorCV(**SMALL_CV | changes).fit(x, y)


def test_an_overfit_point_is_called_so_because_rows_are_held_out():
    split = datasets.load("sine")
    settings = {"hidden": (64, 64), "max_steps": 3000, "random_state": 0}
    model = HeteroskedasticRegressor(1 - 1e-6, 1e-6, **settings).fit(split.x_train, split.y_train)
    assert model.phase_ in (Phase.O_I, Phase.O_II)
    assert model.observables_.held_out.score > 3
    assert model.verdict_.trust == Trust.NO
    alone = HeteroskedasticRegressor(**SMALL, held_out=0).fit(split.x_train, split.y_train)
    assert alone.observables_.held_out is None
    assert alone.verdict_ is None
    assert "No rows were held out" in str(alone.diagnose())


def test_in_scikit_learns_company():
    x, y, _ = noisy_line(90)
    model = HeteroskedasticRegressor(**SMALL)
    assert cross_val_score(model, x, y, cv=2, scoring=neg_crps_scorer).shape == (2,)
    assert cross_val_predict(model, x, y, cv=2).shape == (90,)
    grid = GridSearchCV(make_pipeline(StandardScaler(), model), {"heteroskedasticregressor__rho": [0.5, 0.99]}, cv=2)
    grid.set_params(scoring=neg_nll_scorer)
    assert grid.fit(x, y).best_params_["heteroskedasticregressor__rho"] == 0.99


def test_pickles_clones_and_frames(line):
    x, y, _ = noisy_line(30)
    again = pickle.loads(pickle.dumps(line))
    np.testing.assert_array_equal(again.predict(x), line.predict(x))
    with pytest.raises(NotFittedError):
        clone(line).predict(x)
    frame = pd.DataFrame({"width": x[:, 0]})
    model = HeteroskedasticRegressor(**SMALL).fit(frame, pd.Series(y))
    assert list(model.feature_names_in_) == ["width"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"width": "height"}))


def test_a_conformal_wrapper_that_asks_for_the_std_covers(line):
    """Split conformal with normalised residuals: needs nothing but predict(X, return_std=True)."""
    x, y, _ = noisy_line(600, seed=3)
    mean, std = line.predict(x[:300], return_std=True)
    factor = np.quantile(np.abs(y[:300] - mean) / std, 0.9 * 301 / 300)
    mean, std = line.predict(x[300:], return_std=True)
    assert np.mean(np.abs(y[300:] - mean) <= factor * std) == pytest.approx(0.9, abs=0.06)


X, Y, _ = noisy_line(20)
UGLY = {
    "rho = 1": ({"rho": 1.0}, X, Y, "rho = 1 is maximum likelihood"),
    "gamma = 1": ({"gamma": 1}, X, Y, "gamma = 1 leaves the precision"),
    "rho is text": ({"rho": "0.5"}, X, Y, "rho must be a number"),
    "unknown activation": ({"activation": "sin"}, X, Y, "activation must be one of"),
    "hidden is text": ({"hidden": "128"}, X, Y, "hidden must be a tuple"),
    "no steps": ({"max_steps": 0}, X, Y, "max_steps must be"),
    "no members": ({"n_members": 0}, X, Y, "n_members must be"),
    "everything held out": ({"held_out": 1.0}, X, Y, "held_out must be"),
    "unknown schedule": ({"schedule": "linear"}, X, Y, "schedule must be one of"),
    "a NaN": ({}, np.where(X > 0.5, np.nan, X), Y, "NaN"),
    "an infinity": ({}, np.where(X > 0.5, np.inf, X), Y, "infinity"),
    "strings": ({}, np.array([["a"], ["b"]] * 10), Y, "convert string"),
    "one row": ({}, X[:1], Y[:1], "minimum of 2"),
    "two identical rows": ({}, np.ones((2, 1)), np.ones(2), "two different rows"),
    "a constant target": ({}, X, np.full(20, 3.0), "target is constant"),
    "no weight anywhere": ({"weight": np.zeros(20)}, X, Y, "all sample weights are zero"),
    "too few weights": ({"weight": np.ones(19)}, X, Y, "one weight per row"),
    "a column of weights": ({"weight": np.ones((20, 1))}, X, Y, "one weight per row"),
    "a negative weight": ({"weight": -np.ones(20)}, X, Y, "Negative values.*sample_weight"),
    "a weight that is no number": ({"weight": np.full(20, np.nan)}, X, Y, "sample_weight contains NaN"),
}


@pytest.mark.parametrize("case", UGLY)
@pytest.mark.parametrize("make", [HeteroskedasticRegressor, HeteroskedasticRegressorCV])
def test_ugly_input_gets_one_clear_line(case, make):
    settings, x, y, message = UGLY[case]
    settings = dict(settings)
    weight = settings.pop("weight", None)
    if make is HeteroskedasticRegressorCV and settings.keys() & {"rho", "gamma", "held_out"}:
        pytest.skip("the search chooses rho and gamma, and holds rows out, itself")
    with pytest.raises(ValueError, match=message) as refusal:
        make(**settings).fit(x, y, sample_weight=weight)
    if isinstance(refusal.value, InputError):
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("scale", [1e12, 1e-12])
def test_features_and_targets_of_any_scale(scale):
    x, y, _ = noisy_line(60)
    plain = HeteroskedasticRegressor(**SMALL).fit(x, y)
    scaled = HeteroskedasticRegressor(**SMALL).fit(x * scale, y * scale)
    np.testing.assert_allclose(scaled.predict(x * scale), scale * plain.predict(x), rtol=1e-3)


def test_a_constant_column_does_no_harm():
    x, y, _ = noisy_line(60)
    model = HeteroskedasticRegressor(**SMALL).fit(np.column_stack([x, np.full(60, 7.3)]), y)
    assert np.isfinite(model.predict(np.column_stack([x, np.full(60, 7.3)]))).all()


def test_minibatches_reach_the_full_batch_fit():
    x, y, std = noisy_line(1200)
    model = HeteroskedasticRegressor(rho=0.99, gamma=0.5, hidden=(16, 16), max_steps=1500, random_state=0).fit(x, y)
    mean, found = model.predict(x, return_std=True)
    assert np.sqrt(np.mean((mean - 40 - 3 * x[:, 0]) ** 2)) < 0.2
    assert np.median(found) == pytest.approx(std, rel=0.2)


def test_groups_stay_together_in_the_search():
    random = np.random.default_rng(0)
    x, groups = random.normal(size=(60, 2)), np.repeat(np.arange(6), 10)
    y = x[:, 0] + 0.1 * random.normal(size=60)
    settings = SMALL_CV | {"cv": GroupKFold(3)}
    by_groups = HeteroskedasticRegressorCV(**settings).fit(x, y, groups=groups)
    listed = HeteroskedasticRegressorCV(**settings | {"cv": list(GroupKFold(3).split(x, y, groups))}).fit(x, y)
    np.testing.assert_array_equal(by_groups.predict(x), listed.predict(x))
    with pytest.raises(ValueError, match="groups"):
        HeteroskedasticRegressorCV(**settings).fit(x, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        HeteroskedasticRegressorCV(**settings).fit(x, y, groups=groups[:-1])
    with pytest.raises(InputError, match="has no folds"):
        HeteroskedasticRegressorCV(**settings | {"cv": []}).fit(x, y)


@pytest.mark.parametrize("quantiles", [[], [np.nan], [0.5, 1.0]])
def test_quantiles_are_probabilities(quantiles):
    x = np.arange(20.0)[:, None]
    model = HeteroskedasticRegressor(hidden=(4,), max_steps=5, random_state=0, held_out=0).fit(x, x[:, 0])
    with pytest.raises(InputError, match="quantiles must lie strictly between 0 and 1"):
        model.predict_quantiles(x, quantiles)

"""The scikit-learn face: regressors that give a mean and an honest standard deviation for every row."""

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from heteroscope.core import (
    InputError,
    check_positive_integer,
    defaults,
    diagonal_logits,
    logits,
    progress_bar,
    resolve_batch_size,
    resolve_max_steps,
    resolve_stream_batch_size,
)
from heteroscope.data import Rows, Scaling, Stream
from heteroscope.distributions import metrics
from heteroscope.estimators.base import GaussianRegressor, MemberMoments, check_weights, member_seeds, refuse_store
from heteroscope.networks import Params, Prediction, stack_members, widest_std
from heteroscope.phases import diagnose
from heteroscope.search import (
    JUDGES,
    SELECTIONS,
    Fold,
    Logits,
    Race,
    Search,
    check_share,
    held_out_fold,
    held_out_scores,
    make_folds,
    results_table,
    scale_for_all_rows,
    search_diagonal,
    search_grid,
    search_stream,
    share_of_more_members,
    squared_score,
    std_scale,
    stream_fold,
)
from heteroscope.training import (
    SEARCH_SHARE,
    Fit,
    Job,
    Recipe,
    StreamRun,
    Task,
    begin_partial_fit,
    continue_partial_fit,
    held_out_score,
    mean_first_recipe,
    refuse_with_stream,
    train,
)
from heteroscope.training import partial_fits as partial_fits

LENGTHS = (0.25, 1.0)  # of the trainings that a search tries, in max_steps, the shortest first


class PointRegressor(GaussianRegressor):
    """What the regressors share that are fitted at a point (rho, gamma): the recipe, and a diagnosis in words."""

    def diagnose(self) -> str:
        """A few lines for a person: which phase the fit is in, what that means, and what to do about it."""
        check_is_fitted(self)
        return diagnose(self)

    def _recipe(self, rows: Rows, share: float = 1.0) -> Recipe:
        batch_size = resolve_batch_size(self.batch_size, len(rows.y))
        steps = resolve_max_steps(self.max_steps, len(rows.y))
        steps = steps if share == 1.0 else max(2, round(share * steps))
        return mean_first_recipe(self._architecture(rows), steps, self.schedule, batch_size)

    def _keep_members(self, fits: Sequence[Fit]) -> None:
        super()._keep_members(fits)
        self.std_scale_ = 1.0

    def _combine(self, x: Float[np.ndarray, "point feature"]) -> Prediction:
        """The members as one Gaussian a row, its std scaled as held-out rows asked for."""
        return super()._combine(x).scaled(self.std_scale_)

    def _stream_recipe(self, ground: StreamRun) -> Recipe:
        architecture = self._architecture(ground.survey.sample)
        steps = resolve_max_steps(self.max_steps, ground.order.stream.n_rows)
        return mean_first_recipe(architecture, steps, self.schedule, ground.order.batch_size)

    def _train_members(self, rows: Rows, recipe: Recipe, point: Logits, seeds: Sequence[int], fold: Fold | None) -> Any:
        """Fit one member a seed on all rows, and one more model on the fold's rows; that one's held-out score."""
        self.scaling_ = rows.scaling()
        tasks = [Task(rows.batch(self.scaling_), [Job(*point, seed) for seed in seeds])]
        if fold is not None:
            fold_scaling = fold.training.scaling()
            tasks.append(Task(fold.training.batch(fold_scaling), [Job(*point, seeds[0])]))
        with progress_bar("fitting", bool(self.verbose)) as progress:
            fits, *judged = train(tasks, recipe, n_jobs=self.n_jobs, progress=progress)
        self._keep_members(fits)
        if fold is None:
            return None
        (mean,), (std,) = self._predict_members(stack_members([judged[0][0].params]), fold.held.x, fold_scaling)
        return metrics.squared_score(fold.held.y, mean, std, sample_weight=fold.held.weight)


class HeteroskedasticRegressor(PointRegressor):
    """Mean and precision networks at one point (rho, gamma) of the phase diagram.

    rho weighs the likelihood against the penalty and gamma shares the penalty between mean (gamma) and precision
    (1 - gamma); both lie strictly between 0 and 1. `HeteroskedasticRegressorCV` finds them by itself.

    Parameters
    ----------
    rho, gamma : where in the phase diagram to fit.
    hidden : sizes of the hidden layers, the same for both networks.
    activation : "silu", "gelu", "tanh", "leaky_relu" or "relu".
    start : "he", or the standard deviation of all weights and biases at the start (the paper's is 1e-3).
    schedule : "cosine" (for batches), "fast" (for exact gradients, batch_size=None), "auto" (whichever of the two
        fits), "levelled" (for batches, deeper minima), or "paper" (triangular2 cycles; take max_steps=600_000).
    max_steps : steps of both stages; the first tenth (5/12 in "paper", half in "fast") fits the mean alone. "auto" is
        one a row, but 1,000 to 20,000.
    batch_size : rows a step sees, None for all of them; "auto" is half, but at most 128, beyond 2,000 rows 256; and all
        if there are no more than 32.
    n_members : models with different starts whose predictions are moment-matched into one Gaussian.
    held_out : share of the rows kept from one more model, fitted beside the others and thrown away, that tells for
        `phase_` whether the std holds on rows it has not seen; 0 saves its time and labels from training rows alone.
    n_jobs : processes, as in scikit-learn: None is one, or what joblib's `parallel_config` says, -1 is all cores.
    random_state : seed of starts and batches.
    verbose : 1 for a progress bar.

    Attributes
    ----------
    rho_, gamma_ : the point that was fitted. `phase_` : one of U_I, U_II, O_I, O_II, S. `status_` : how each member's
    training ended. `observables_` : the numbers behind the phase. `n_iter_` : steps taken.
    """

    def __init__(
        self,
        rho: Any = 0.9,
        gamma: Any = 0.1,
        *,
        hidden: Any = defaults.HIDDEN,
        activation: Any = defaults.ACTIVATION,
        start: Any = "he",
        schedule: Any = "cosine",
        max_steps: Any = defaults.POINT_STEPS,
        batch_size: Any = "auto",
        n_members: Any = defaults.POINT_MEMBERS,
        held_out: Any = 0.2,
        n_jobs: Any = None,
        random_state: Any = None,
        verbose: Any = 0,
    ) -> None:
        self.rho = rho
        self.gamma = gamma
        self.hidden = hidden
        self.activation = activation
        self.start = start
        self.schedule = schedule
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.n_members = n_members
        self.held_out = held_out
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, store: Any = None) -> "HeteroskedasticRegressor":
        """Fit `n_members` models on all rows and label the result with its phase.

        X may be a stream, which brings its own target; `store`, a folder, then keeps what a killed run has done.
        """
        if hasattr(self, "_partial"):
            del self._partial  # what partial_fit has begun ends here
        if isinstance(X, Stream):
            return self._fit_stream(X, y, sample_weight, store)
        refuse_store(store)
        point = logits(self.rho, self.gamma)
        _, rows = self._check_fit_input(X, y, sample_weight)
        random = check_random_state(self.random_state)
        fold = held_out_fold(self.held_out, rows, random)
        seeds = member_seeds(random, check_positive_integer("n_members", self.n_members))
        score = self._train_members(rows, self._recipe(rows), point, seeds, fold)
        self.rho_, self.gamma_ = float(self.rho), float(self.gamma)
        self._observe(rows, score)
        return self

    def _fit_stream(self, stream: Stream, y: Any, sample_weight: Any, store: Any) -> "HeteroskedasticRegressor":
        point = logits(self.rho, self.gamma)
        refuse_with_stream(y, sample_weight, self.schedule)
        *seeds, order = member_seeds(self.random_state, check_positive_integer("n_members", self.n_members) + 1)
        ground = self._ground(stream, check_share(self.held_out), order, store)
        recipe = self._stream_recipe(ground)
        method = {"name": "one point", "rho": self.rho, "gamma": self.gamma, "schedule": self.schedule}
        jobs = [Job(*point, seed) for seed in seeds]
        fits = ground.train("members", method, jobs, recipe, self._predict_members)
        self._keep_members(fits)
        self.rho_, self.gamma_ = float(self.rho), float(self.gamma)
        self._observe(ground.survey.sample, held_out_score(fits[0], ground, self._predict_members))
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, *, scaling: Scaling | None = None) -> Any:
        """One step a batch of these rows, in their order, along the schedule of max_steps; call it again with more.

        The first call fixes the scaling: that of its rows unless one is given. `phase_` and `observables_` are of the
        rows of the last call. What `fit` has made, or a model folder holds, is complete: a call after it begins anew.
        """
        first = not hasattr(self, "_partial")
        x, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True, reset=first)
        weight = check_weights(sample_weight, len(x))
        rows = Rows(x, target.astype(np.float64), weight).take(np.flatnonzero(weight > 0))
        if first:
            point = logits(self.rho, self.gamma)
            recipe = mean_first_recipe(
                self._architecture(rows),
                resolve_max_steps(self.max_steps, len(rows.y)),
                self.schedule,
                resolve_stream_batch_size(self.batch_size),
            )
            seeds = member_seeds(self.random_state, check_positive_integer("n_members", self.n_members))
            jobs = [Job(*point, seed) for seed in seeds]
            self._partial = begin_partial_fit(jobs, recipe, scaling or rows.scaling(), unit=float(rows.weight.mean()))
        self._partial = continue_partial_fit(self._partial, rows)
        self.scaling_ = self._partial.scaling
        self.rho_, self.gamma_ = float(self.rho), float(self.gamma)
        self._keep_members(partial_fits(self._partial, rows))
        self._observe(rows, None)
        return self


class HeteroskedasticRegressorCV(PointRegressor):
    """The regressor that searches the diagonal rho = 1 - gamma by cross-validation, then refits on all rows.

    A coarse pass of short trainings visits the whole line evenly in the logit, a fine pass the transition in it, longer
    trainings begin where these have led, all on one fold; the finalists see the other folds, the best of them all.

    Parameters
    ----------
    search : "diagonal", or "grid" for every pair of `n_coarse` rhos and gammas: many times the work.
    n_coarse, n_fine : points of the two passes; a grid has no fine one.
    n_aside : points that then leave the diagonal, where the std is scaled: the penalty of the mean is that of the best
        score or of the best mean, the precision's is ever weaker; half as many again are trained to the end. 0 stays
        on it, as a stream always does.
    n_finalists : points that go on to other folds, the best short and the best long training among them; after each
        fold but the last the worst is dropped, unless `calibrate` is False.
    cv : number of folds, any scikit-learn splitter, or the share of rows that is held out once; "auto" is 5 folds up to
        2,000 rows and a share of 0.2 beyond.
    selection : "nll" or "crps" on held-out rows, or "paper": halfway between the lowest training mean MSE and std MSE.
    calibrate : scale the std by one factor that held-out rows tell, and let no network's std exceed the range of the
        targets; False leaves it to the networks.
    n_members : models with different starts in the final fit, moment-matched into one Gaussian.
    max_steps : as in `HeteroskedasticRegressor`; with `calibrate`, most points are trained for a quarter of it and
        about nine to the end, and the better length wins.
    n_jobs : processes; a search is many models, so all cores are the default. None is one, or what joblib's
        `parallel_config` says.
    hidden, activation, start, schedule, batch_size, random_state, verbose : as in `HeteroskedasticRegressor`.

    Attributes
    ----------
    rho_, gamma_, phase_ : what was chosen, and where it sits.
    std_scale_, widest_std_ : the factor of the std, and where a network's is cut before: the range of the targets.
    held_out_scores_ : every metric of rows predicted by models that had not seen them, with the std scaled.
    cv_results_, best_index_ : all points, as columns that `pandas.DataFrame` takes, and which was chosen.
    The others as in `HeteroskedasticRegressor`.
    """

    def __init__(
        self,
        *,
        search: Any = "diagonal",
        n_coarse: Any = defaults.COARSE_POINTS,
        n_fine: Any = defaults.FINE_POINTS,
        n_aside: Any = defaults.ASIDE_POINTS,
        n_finalists: Any = defaults.FINALISTS,
        cv: Any = defaults.FOLDS,
        selection: Any = defaults.SELECTION,
        calibrate: Any = True,
        n_members: Any = defaults.SEARCH_MEMBERS,
        hidden: Any = defaults.HIDDEN,
        activation: Any = defaults.ACTIVATION,
        start: Any = "he",
        schedule: Any = "cosine",
        max_steps: Any = defaults.SEARCH_STEPS,
        batch_size: Any = "auto",
        n_jobs: Any = -1,
        random_state: Any = None,
        verbose: Any = 0,
    ) -> None:
        self.search = search
        self.n_coarse = n_coarse
        self.n_fine = n_fine
        self.n_aside = n_aside
        self.n_finalists = n_finalists
        self.cv = cv
        self.selection = selection
        self.calibrate = calibrate
        self.n_members = n_members
        self.hidden = hidden
        self.activation = activation
        self.start = start
        self.schedule = schedule
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None, store: Any = None
    ) -> "HeteroskedasticRegressorCV":
        """Search, then fit `n_members` models on all rows at the chosen point.

        `groups`, one a row, are for splitters that keep rows of a group together, such as `cv=GroupKFold(5)`.
        X may be a stream, which brings its own target: all points then train side by side on each batch that is read,
        and `store`, a folder, keeps what a killed run has done.
        """
        self._check_search()
        if isinstance(X, Stream):
            if groups is not None:
                raise InputError("a stream holds out blocks of its own: leave out groups")
            return self._fit_stream(X, y, sample_weight, store)
        refuse_store(store)
        given, rows = self._check_fit_input(X, y, sample_weight)
        random = check_random_state(self.random_state)
        folds = make_folds(self.cv, given, rows, random, groups)
        n_members = check_positive_integer("n_members", self.n_members)
        n_judges = min(n_members, JUDGES) if self.calibrate else 1
        seeds = iter(member_seeds(random, len(folds) * n_judges + n_members))
        folds = [fold._replace(seeds=tuple(islice(seeds, n_judges))) for fold in folds]
        found = self._search(folds, rows)
        self.cv_results_ = results_table(found, folds, self.selection, bool(self.calibrate))
        self.best_index_ = found.best
        best = found.chosen
        self.widest_std_ = widest_std(rows.y) if self.calibrate else np.inf
        self._train_members(rows, best.recipe, best.logits, list(seeds), None)
        self.rho_, self.gamma_ = (float(value) for value in expit(best.logits))
        asked = std_scale(best, folds) if self.calibrate else 1.0
        share = float(np.mean([len(fold.training.y) for fold in folds])) / len(rows.y)
        more = share_of_more_members(best, folds, n_members) if self.calibrate else 1.0
        self.std_scale_ = scale_for_all_rows(more * asked, share)
        self.held_out_scores_ = held_out_scores(best, folds, asked)
        self._observe(rows, squared_score(best, folds) / asked**2)
        return self

    def _predict_members(
        self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling
    ) -> MemberMoments:
        """Mean and std of every member, no std above the widest: between rows a precision can fall to nothing."""
        mean, std = super()._predict_members(members, x, scaling)
        return mean, np.minimum(std, self.widest_std_)

    def _check_search(self) -> None:
        if self.selection not in SELECTIONS:
            raise InputError(f"selection must be one of {', '.join(SELECTIONS)}, got {self.selection!r}")
        if self.search not in ("diagonal", "grid"):
            raise InputError(f'search must be "diagonal" or "grid", got {self.search!r}')
        if self.search == "grid" and self.selection == "paper":
            raise InputError('selection="paper" is a rule for the diagonal: use "nll" or "crps" with search="grid"')

    def _search(self, folds: list[Fold], rows: Rows) -> Search:
        n_fine, n_aside = (check_positive_integer(name, getattr(self, name), least=0) for name in ("n_fine", "n_aside"))
        recipes = [self._recipe(rows, share) for share in LENGTHS]
        if self.selection == "paper" or not self.calibrate:  # the paper's line and nothing else
            recipes, n_aside = recipes[-1:], 0
        line = diagonal_logits(check_positive_integer("n_coarse", self.n_coarse))
        n_finalists = check_positive_integer("n_finalists", self.n_finalists)
        if self.search == "grid":
            search = partial(search_grid, line=line, n_finalists=n_finalists)
        else:
            search = partial(search_diagonal, coarse=line, n_fine=n_fine, n_aside=n_aside, n_finalists=n_finalists)
        with progress_bar("searching", bool(self.verbose)) as progress:
            race = Race(folds, recipes, self.selection, bool(self.calibrate), self.n_jobs, progress)
            return search(race)

    def _fit_stream(self, stream: Stream, y: Any, sample_weight: Any, store: Any) -> "HeteroskedasticRegressorCV":
        """All `n_coarse + n_fine` points in one pass; the chosen point's model is the first member, others follow."""
        refuse_with_stream(y, sample_weight, self.schedule)
        if self.search == "grid":
            raise InputError('search="grid" is for arrays in memory: a stream is searched along the diagonal')
        n_points = check_positive_integer("n_coarse", self.n_coarse) + check_positive_integer(
            "n_fine", self.n_fine, least=0
        )
        line = [float(t) for t in diagonal_logits(n_points)]
        seed, *others, order = member_seeds(self.random_state, check_positive_integer("n_members", self.n_members) + 1)
        ground = self._ground(stream, SEARCH_SHARE, order, store)
        recipe = self._stream_recipe(ground)
        calibrate = bool(self.calibrate)
        self.widest_std_ = widest_std(ground.survey.sample.y) if calibrate else np.inf
        method = {"name": "diagonal", "points": n_points, "schedule": self.schedule, "calibrate": calibrate}
        found, fits = search_stream(
            ground, method, line, recipe, seed, self.selection, calibrate, self._predict_members
        )
        best = found.chosen
        jobs = [Job(*best.logits, other) for other in others]
        chosen = {**method, "point": found.best}
        rest = ground.train("members", chosen, jobs, recipe, self._predict_members) if jobs else []
        self.cv_results_ = results_table(found, [stream_fold(ground)], self.selection, calibrate)
        self.cv_results_["steps"] = np.array([fit.steps for fit in fits])
        self.best_index_ = found.best
        self._keep_members([fits[found.best], *rest])
        self.rho_, self.gamma_ = (float(value) for value in expit(best.logits))
        self.std_scale_ = std_scale(best, [stream_fold(ground)]) if calibrate else 1.0
        self.held_out_scores_ = held_out_scores(best, [stream_fold(ground)], self.std_scale_)
        self._observe(ground.survey.sample, squared_score(best, [stream_fold(ground)]) / self.std_scale_**2)
        return self

"""Find (rho, gamma) by cross-validation, then fit a regressor there."""

from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from heteroscope.core import (
    InputError,
    check_positive_integer,
    defaults,
    diagonal_logits,
    has_automatic_folds,
    progress_bar,
    without_later_settings,
)
from heteroscope.data import Rows, Scaling, Stream, merge_rows
from heteroscope.distributions import exponentiated, frozen
from heteroscope.estimators.base import Inputs, MemberMoments, RandomState, member_seeds
from heteroscope.estimators.fitted_fields import FieldKind, FittedFields
from heteroscope.estimators.point_regressor import PointRegressor
from heteroscope.estimators.sampled_rows import SampledRows
from heteroscope.estimators.streams import refuse_store, refuse_stream
from heteroscope.networks import FittedEnsemble, Params, Prediction, mean_bounds, widest_std
from heteroscope.search import (
    LENGTHS,
    CrossValidation,
    FinalTails,
    Fold,
    FoldedRows,
    Logits,
    Point,
    SearchPlan,
    SearchResult,
    check_conformal,
    check_family,
    check_folds,
    check_plan,
    check_target,
    choose_tails,
    choose_target,
    conformal_of_folds,
    conformal_of_rows,
    enough_folds,
    final_tails,
    held_moments,
    held_out_rows,
    held_out_scores,
    held_rows,
    judge_folds,
    make_folds,
    refuse_unequal,
    results_table,
    search_by_plan,
    search_stream,
    set_aside,
    shared_points,
    stack_points,
    stream_fold,
)
from heteroscope.training import SEARCH_SHARE, Fit, Job, Task, refuse_with_stream, train


class HeteroskedasticRegressorCV(PointRegressor):
    """Search the diagonal rho = 1 - gamma by cross-validation, then fit all rows at the best point.

    The search trains a coarse line of points, evenly spaced in the logit, refines it near the best points, adds points
    off the diagonal and repeats the best region with longer trainings, all on one fold. The best points are then
    evaluated on the other folds, and the best of these is fitted to all rows.

    Parameters
    ----------
    search : {"diagonal", "grid", "theory"}, default="diagonal"
        "grid" trains all pairs of `n_coarse` values of rho and of gamma, which takes many times as long. "theory" lets
        the field theory of these rows predict a point, and trains a handful of models from there to weaker penalties,
        with about a quarter of the steps for fewer than 100,000 rows; `n_fine`, `n_off_diagonal` and `n_finalists` are
        not used.
    n_coarse : int, default=8
        Number of points of the first, evenly spaced line.
    n_fine : int, default=6
        Number of points that refine the line; not used by a grid.
    n_off_diagonal : int, default=4
        Off-diagonal points: the same mean penalty, weaker precision penalties. Half as many are added for the longer
        trainings. Used with `calibrate` only, and not for a grid, a stream or `selection="paper"`.
    n_finalists : int, default=3
        Number of best points of the first fold that are evaluated on the other folds; the best short and the best long
        training are always among the candidates. With `calibrate`, those that have clearly lost are dropped after each
        fold, and the models of the final fit are shared by those within one standard error of the best.
    cv : int, float, "auto" or splitter, default="auto"
        Number of folds, share of the rows to hold out once, or any scikit-learn splitter. "auto" is 5 folds for up to
        2,000 rows, of which "theory" uses three if they hold out 100 rows, and a share of 0.2 for more.
    selection : {"nll", "crps", "paper"}, default="nll"
        Score of the held-out rows that chooses the point; "paper" is halfway between the points of lowest training
        mean MSE and std MSE.
    calibrate : bool, default=True
        Whether to multiply the std by one factor computed from held-out rows, to cap each network's std at the range of
        the targets, and to keep each network's mean within that range, widened by a quarter on both sides. It also lets
        a search compare two training lengths. Up to 2 % of wild targets, 30 interquartile ranges beyond the quartiles,
        are left out where models are trained and points are compared, not where the distribution is fitted.
    family : {"auto", "gaussian", "student-t"}, default="auto"
        The predictive distribution: a Gaussian, or a Student-t of the same std whose degrees of freedom, at least 4,
        and scale come from held-out rows. "auto" chooses by their likelihood. Fewer than 100 held-out rows make the
        tails wider, because they do not determine the scale. Without `calibrate` it is a Gaussian.
    target : {"auto", "none", "log"}, default="auto"
        What the networks predict: the target, or its logarithm, whose predictions are lognormal: never below zero, and
        with exact moments and quantiles. "log" needs targets above 0. "auto" tries the logarithm if all targets are
        positive, their skewness exceeds 1 and that of their logarithms is smaller; it then takes what has the lower
        held-out loss in the target's units after a few short trainings. Without `calibrate`, for a stream, for
        `selection="paper"` and for `family="student-t"`, "auto" is "none".
    conformal : bool or float, default=False
        Whether `predict_interval` gives conformal intervals, whose coverage is guaranteed for finitely many rows. True
        takes the scores of the folds' held-out rows and keeps the folds' models: CV+ with folds, split conformal with
        one held-out share. A share of the rows between 0 and 1 is set aside from everything else, the search included,
        and gives split conformal intervals around the final model. Nothing is fitted again. Not for a stream, nor for
        unequal weights.
    n_members : int, default=5
        Number of models with different starts in the final fit, moment-matched into one distribution.
    hidden, activation, start, schedule, batch_size, penalty, random_state, verbose
        As in `HeteroskedasticRegressor`.
    max_steps : int or "auto", default="auto"
        As in `HeteroskedasticRegressor`. With `calibrate`, most points are trained for a quarter of these steps and
        about nine for all of them, and the better length is used for the final fit.
    n_jobs : int or None, default=-1
        Number of processes, as in scikit-learn; -1 is all cores.

    Attributes
    ----------
    rho_, gamma_ : float
        The chosen point.
    phase_ : {"U_I", "U_II", "O_I", "O_II", "S", "none"}
        The phase of the networks at the chosen point, before their std is scaled, as in the path.
    observables_ : Observables
        The numbers that decide this phase, averaged over folds.
    verdict_ : Verdict
        What held-out rows say of the predictions, with the std scaled.
    held_out_ : HeldOutRows
        The held-out rows with the predictions that the verdict is about: those of the folds' models at the chosen
        point, their std scaled to the held-out errors. A row appears once for each fold that held it out.
    std_scale_ : float
        Factor of every std; 1 without `calibrate`.
    widest_std_ : float
        Largest std of a network, before scaling: the range of the targets; infinite without `calibrate`.
    mean_bounds_ : tuple of float
        Smallest and largest mean of a network; infinite without `calibrate`.
    df_ : float
        Degrees of freedom of the predictive distribution; infinite for a Gaussian or a lognormal.
    target_ : {"none", "log"}
        What the networks predict. With "log", `scaling_`, `widest_std_`, `mean_bounds_`, `observables_` and
        `cv_results_` are those of the logarithm; `verdict_` and `held_out_scores_` are in the target's units.
    conformal_ : Conformal or None
        Scores of held-out rows and the models of their folds; None without `conformal`.
    held_out_scores_ : dict of str to float
        Every metric, and r2, of held-out rows of the chosen point, for its predictive distribution.
    cv_results_ : dict of str to ndarray
        All points, as columns for `pandas.DataFrame`.
    best_index_ : int
        Row of the chosen point in `cv_results_`.
    member_points_ : tuple of int
        Row in `cv_results_` of the point at which each model of the final fit was trained: the chosen one, in turn with
        up to two others that held-out rows cannot tell from it.
    status_, members_, scaling_, n_iter_, n_features_in_, feature_names_in_
        As in `HeteroskedasticRegressor`.

    See Also
    --------
    HeteroskedasticRegressor : Fits at a given point.

    Examples
    --------
    >>> import numpy as np
    >>> from heteroscope import HeteroskedasticRegressorCV
    >>> x = np.linspace(-1, 1, 100)[:, None]
    >>> y = x[:, 0] + np.random.default_rng(0).normal(size=100)
    >>> model = HeteroskedasticRegressorCV(random_state=0).fit(x, y)  # doctest: +SKIP
    >>> lower, upper = model.predict_interval(x, coverage=0.9)  # doctest: +SKIP
    """

    fitted_fields: ClassVar[FittedFields] = {
        **PointRegressor.fitted_fields,
        "widest_std_": FieldKind.LIMIT,
        "mean_bounds_": FieldKind.NUMBERS,
        "df_": FieldKind.LIMIT,
        "target_": FieldKind.TARGET,
        "conformal_": FieldKind.CONFORMAL,
        "held_out_scores_": FieldKind.NUMBERS_BY_NAME,
        "cv_results_": FieldKind.COLUMNS,
        "best_index_": FieldKind.INTEGER,
        "member_points_": FieldKind.INTEGERS,
    }

    def __init__(
        self,
        *,
        search: str = "diagonal",
        n_coarse: int = defaults.COARSE_POINTS,
        n_fine: int = defaults.FINE_POINTS,
        n_off_diagonal: int = defaults.OFF_DIAGONAL_POINTS,
        n_finalists: int = defaults.FINALISTS,
        cv: CrossValidation = defaults.FOLDS,
        selection: str = defaults.SELECTION,
        calibrate: bool = True,
        family: str = "auto",
        target: str = "auto",
        conformal: bool | float = False,
        n_members: int = defaults.SEARCH_MEMBERS,
        hidden: Sequence[int] = defaults.HIDDEN,
        activation: str = defaults.ACTIVATION,
        start: str | float = "he",
        schedule: str = "cosine",
        max_steps: int | str = defaults.SEARCH_STEPS,
        batch_size: int | str | None = "auto",
        penalty: str = defaults.PENALTY,
        n_jobs: int | None = -1,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.search = search
        self.n_coarse = n_coarse
        self.n_fine = n_fine
        self.n_off_diagonal = n_off_diagonal
        self.n_finalists = n_finalists
        self.cv = cv
        self.selection = selection
        self.calibrate = calibrate
        self.family = family
        self.target = target
        self.conformal = conformal
        self.n_members = n_members
        self.hidden = hidden
        self.activation = activation
        self.start = start
        self.schedule = schedule
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.penalty = penalty
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Inputs,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        store: str | Path | None = None,
    ) -> "HeteroskedasticRegressorCV":
        """Search for the best point, then train `n_members` models there on all rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features) or Stream
            The rows. A stream contains its own target; models of all points then train together on each batch.
        y : array-like of shape (n_rows,), default=None
            The target; None for a stream.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights >= 0; not for a stream.
        groups : array-like of shape (n_rows,), default=None
            For splitters that keep the rows of a group together, such as `cv=GroupKFold(5)`.
        store : path, default=None
            For a stream: the folder of its checkpoints, from which a killed run is resumed.

        Returns
        -------
        HeteroskedasticRegressorCV
            The fitted estimator itself.
        """
        plan = self._plan()
        if isinstance(X, Stream):
            if groups is not None:
                raise InputError("a stream holds out blocks of its own: leave out groups")
            return self._fit_stream(X, y, sample_weight, store)
        refuse_store(store)
        given, rows = self._check_fit_input(X, y, sample_weight)
        self._sample = SampledRows.of(given)
        random = check_random_state(self.random_state)
        used, aside = self._set_aside(given, groups, random)
        rows = rows if aside is None else merge_rows(*used)
        data, seeds = self._split(used, rows, plan, groups, random)
        shortest = self._recipe(rows, LENGTHS[0])
        self.target_ = choose_target(self.target, plan, data, shortest, self.family, self.n_jobs)
        family = "gaussian" if self.target_ == "log" else self.family
        scaled = data.logged() if self.target_ == "log" else data
        tamed = scaled.without_wild_targets() if plan.calibrate else scaled
        result = self._search(plan, tamed, family)
        self._keep_path(result, tamed.folds, shared_points(result, len(seeds)), len(seeds))
        self._bound_predictions(tamed.rows.y)
        self._train_at(tamed.rows, [result.points[k] for k in self.member_points_], seeds)
        best = stack_points([result.points[k] for k in dict.fromkeys(self.member_points_)])
        tails = final_tails(best, scaled, tamed, family, len(seeds)) if plan.calibrate else FinalTails()
        self.std_scale_, self.df_ = tails.std_scale, tails.df
        self.conformal_ = None
        if aside is not None:
            self.conformal_ = conformal_of_rows(self.ensemble(), aside)
        elif self.conformal:
            unit = float(used.weight.max())
            self.conformal_ = conformal_of_folds(best, scaled.folds, tamed.folds, plan.calibrate, self.ensemble(), unit)
        self._judge(best, data.folds, given, tails.fold_scale)
        return self

    def predict_interval(
        self, X: Inputs, coverage: float = 0.9
    ) -> tuple[Float[np.ndarray, " point"], Float[np.ndarray, " point"]]:
        """Predict the interval that contains a new target with probability `coverage`.

        Central quantiles of the predictive distribution or, with `conformal`, a conformal interval. That one is not
        centred at the mean of `predict`, since the folds' own models predict it, and quantiles do not follow it.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features) or Stream
            The rows; no stream with `conformal`.
        coverage : float, default=0.9
            The probability, strictly between 0 and 1.

        Returns
        -------
        lower, upper : ndarray of shape (n_rows,)
            The ends of the intervals, in the units of the target.
        """
        check_is_fitted(self)
        if self.conformal_ is None:
            return super().predict_interval(X, coverage)
        refuse_stream(self, X)
        x = validate_data(self, X, dtype=np.float64, reset=False)
        self._predict_rows(x)  # warns of rows far outside the fit, and refuses those that cannot be predicted
        return self.conformal_.interval(self.ensemble(), x, coverage)

    def _plan(self) -> SearchPlan:
        """Return the checked plan of the search."""
        check_family(self.family, bool(self.calibrate))
        check_target(self.target, self.family)
        plan = SearchPlan(
            self.search,
            self.selection,
            bool(self.calibrate),
            check_positive_integer("n_coarse", self.n_coarse),
            check_positive_integer("n_fine", self.n_fine, least=0),
            check_positive_integer("n_off_diagonal", self.n_off_diagonal, least=0),
            check_positive_integer("n_finalists", self.n_finalists),
            keep_members=self.conformal is True,
        )
        check_plan(plan)
        return plan

    def _set_aside(
        self, given: Rows, groups: ArrayLike | None, random: np.random.RandomState
    ) -> tuple[Rows, Rows | None]:
        """Return the rows to search and fit on, and those that only conformal scores come from, if any."""
        if self.conformal:
            refuse_unequal(given)
        share = check_conformal(self.conformal)
        if share is None:
            return given, None
        if groups is not None:
            raise InputError("rows set aside may share a group with others: use conformal=True with groups")
        return set_aside(share, given, random)

    def _split(
        self, used: Rows, rows: Rows, plan: SearchPlan, groups: ArrayLike | None, random: np.random.RandomState
    ) -> tuple[FoldedRows, list[int]]:
        """Return the merged rows with their folds, which have the seeds of their models, and the members' seeds."""
        folds = make_folds(self.cv, used, rows, random, groups)
        if plan.kind == "theory" and has_automatic_folds(self.cv):
            folds = enough_folds(folds)
        if self.conformal is True:
            check_folds(folds, rows)
        n_members = check_positive_integer("n_members", self.n_members)
        n_per_fold = plan.members_per_fold(n_members)
        seeds = iter(member_seeds(random, len(folds) * n_per_fold + n_members))
        return FoldedRows(rows, [fold._replace(seeds=tuple(islice(seeds, n_per_fold))) for fold in folds]), [*seeds]

    def _search(self, plan: SearchPlan, data: FoldedRows, family: str) -> SearchResult:
        """Search by the plan; finalists are compared by the family."""
        recipes = [self._recipe(data.rows, share) for share in plan.lengths(data)]
        point = partial(self._predicted_point, data.rows)
        with progress_bar("searching", bool(self.verbose), "steps") as progress:
            return search_by_plan(plan, data, recipes, family, point, self.n_jobs, progress)

    def _keep_path(self, result: SearchResult, folds: list[Fold], shared: Sequence[int], n_members: int) -> None:
        """Store the searched points, the chosen one, and the point of each member."""
        self.cv_results_ = results_table(result, folds, self.selection, bool(self.calibrate))
        self.best_index_ = result.best
        self.member_points_ = tuple(shared[k % len(shared)] for k in range(n_members))
        self.rho_, self.gamma_ = (float(value) for value in expit(result.chosen.logits))

    def _train_at(self, rows: Rows, points: Sequence[Point], seeds: Sequence[int]) -> None:
        """Train one member per point and seed on all rows."""
        self.scaling_ = rows.scaling()
        batch = rows.batch(self.scaling_)
        fits: dict[int, Fit] = {}
        with progress_bar("fitting", bool(self.verbose)) as progress:
            for recipe in dict.fromkeys(point.recipe for point in points):
                own = [k for k, point in enumerate(points) if point.recipe == recipe]
                jobs = [Job(*points[k].logits, seeds[k]) for k in own]
                (found,) = train([Task(batch, jobs)], recipe, n_jobs=self.n_jobs, progress=progress)
                fits |= dict(zip(own, found, strict=True))
        self._keep_members([fits[k] for k in range(len(points))])

    def _judge(self, point: Point, folds: list[Fold], given: Rows | None, fold_scale: float) -> None:
        """Store what held-out rows say: the phase of the chosen point, and the verdict on the predictions."""
        self.observables_, self.phase_ = point.observables, str(point.phase)
        lognormal = self.target_ == "log"
        mean, std = held_moments(point, fold_scale, self.scaling_.y_scale if lognormal else None)
        self.held_out_scores_ = held_out_scores(held_rows(folds), frozen(mean, std, self.df_, lognormal))
        self.held_out_ = held_out_rows(folds, mean, std, given)
        self.verdict_ = judge_folds(folds, self.held_out_, fold_scale, self.df_, lognormal)

    def _bound_predictions(self, y: Float[np.ndarray, " point"]) -> None:
        """Store the bounds that these targets give for every network's mean and std.

        The logarithm of a mean stays below that of the bound of the targets themselves.
        """
        bounded = bool(self.calibrate)
        self.widest_std_ = widest_std(y) if bounded else np.inf
        self.mean_bounds_ = mean_bounds(y) if bounded else (-np.inf, np.inf)
        if bounded and self.target_ == "log":
            highest = float(np.log(mean_bounds(np.exp(y))[1]))
            self.mean_bounds_ = self.mean_bounds_[0], min(self.mean_bounds_[1], highest)

    def ensemble(self) -> FittedEnsemble:
        """Return all that predictions read: NumPy arrays and numbers.

        Returns
        -------
        FittedEnsemble
            Networks, scaling, bounds, the degrees of freedom and whether the networks predict logarithms.
        """
        return (
            super()
            .ensemble()
            ._replace(
                widest_std=self.widest_std_,
                mean_bounds=self.mean_bounds_,
                df=self.df_,
                lognormal=self.target_ == "log",
            )
        )

    def _in_target_units(self, prediction: Prediction) -> Prediction:
        """Return lognormal predictions of the target if the networks predict its logarithm."""
        return exponentiated(prediction, self.scaling_.y_scale) if self.target_ == "log" else prediction

    def _predict_members(
        self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling
    ) -> MemberMoments:
        """Return mean and std of each member within bounds: between training rows they can become very large."""
        mean, std = super()._predict_members(members, x, scaling)
        return np.clip(mean, *self.mean_bounds_), np.minimum(std, self.widest_std_)

    def _predicted_point(self, rows: Rows) -> Logits:
        """Return the point that the theory predicts for these rows and networks."""
        from heteroscope.diagrams import predicted_point  # here, because importing diagrams takes long

        return predicted_point(rows, self.hidden, self.activation, self.penalty)

    def _fit_stream(
        self, stream: Stream, y: ArrayLike | None, sample_weight: ArrayLike | None, store: str | Path | None
    ) -> "HeteroskedasticRegressorCV":
        """Train `n_coarse + n_fine` points together; the chosen point's model is the first member."""
        refuse_with_stream(y, sample_weight, self.schedule)
        if self.conformal:
            raise InputError("conformal intervals are for rows in memory, not for a stream: leave out conformal")
        if self.target == "log":
            raise InputError("a stream's target is predicted as it is: write its logarithm to the files instead")
        if self.search != "diagonal":
            raise InputError(f'search="{self.search}" is for arrays in memory: a stream is searched along the diagonal')
        self.conformal_, self.target_ = None, "none"
        n_members = check_positive_integer("n_members", self.n_members)
        *seeds, order = member_seeds(self.random_state, n_members + 1)
        run = self._start_stream_run(stream, SEARCH_SHARE, order, store)
        self._bound_predictions(run.survey.sample.y)
        self._sample = SampledRows(run.survey.sample, None)
        line = [float(t) for t in diagonal_logits(self.n_coarse + self.n_fine)]
        calibrate = bool(self.calibrate)
        method = {"name": "diagonal", "points": len(line), "schedule": self.schedule, "calibrate": calibrate}
        method = without_later_settings({**method, "penalty": self.penalty})
        recipe = self._stream_recipe(run)
        found = search_stream(run, method, line, recipe, seeds, self.selection, calibrate, self._predict_members)
        folds, best = [stream_fold(run)], found.result.chosen
        self._keep_path(found.result, folds, (found.result.best,), n_members)
        self.cv_results_["steps"] = found.steps
        self._keep_members(found.members)
        self.std_scale_, self.df_ = choose_tails(best, folds, self.family) if calibrate else (1.0, np.inf)
        self._judge(best, folds, None, self.std_scale_)
        return self

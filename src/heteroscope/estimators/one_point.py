"""Fit a regressor at one point (rho, gamma) of the phase diagram."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from heteroscope.core import (
    check_positive_integer,
    defaults,
    logits,
    progress_bar,
    resolve_max_steps,
    resolve_stream_batch_size,
    without_later_settings,
)
from heteroscope.data import Rows, Scaling, Stream
from heteroscope.estimators.base import Inputs, RandomState, check_weights, member_seeds
from heteroscope.estimators.point_regressor import PointRegressor
from heteroscope.estimators.sampled_rows import SampledRows
from heteroscope.estimators.streams import refuse_store
from heteroscope.networks import stack_members
from heteroscope.phases import HeldOut, observe_held_out
from heteroscope.search import Fold, Logits, check_share, held_out_fold, held_out_rows, judge_folds, stream_fold
from heteroscope.training import (
    Fit,
    Job,
    Recipe,
    Task,
    begin_partial_fit,
    continue_partial_fit,
    mean_first_recipe,
    partial_fits,
    refuse_with_stream,
    train,
)


class HeteroskedasticRegressor(PointRegressor):
    """Mean and precision networks at one point (rho, gamma) of the phase diagram.

    rho weighs the likelihood against the penalty; gamma divides the penalty between the mean (gamma) and the precision
    (1 - gamma). Both lie strictly between 0 and 1.

    Parameters
    ----------
    rho : float, default=0.9
        Weight of the likelihood; the penalty has the weight 1 - rho.
    gamma : float, default=0.1
        Share of the penalty that falls on the mean.
    hidden : sequence of int, default=(64, 64, 64)
        Sizes of the hidden layers, the same for both networks.
    activation : {"silu", "gelu", "tanh", "leaky_relu", "relu"}, default="silu"
        Activation function of the hidden layers.
    start : "he" or float, default="he"
        How weights and biases are initialised; a number is the standard deviation of all of them (1e-3 in the paper).
    schedule : {"cosine", "fast", "auto", "levelled", "paper"}, default="cosine"
        Learning-rate schedule: "cosine" for batches; "fast" for exact gradients (`batch_size=None`); "auto" is
        whichever of the two fits; "levelled" for batches and deeper minima; "paper" for the paper's triangular cycles,
        with `max_steps=600_000`.
    max_steps : int or "auto", default=4000
        Number of training steps. The first tenth fits the mean alone (5/12 of them with "paper", half with "fast").
        "auto" is one step per row, at least 1,000 and at most 20,000.
    batch_size : int, "auto" or None, default="auto"
        Rows per step; None is all rows. "auto" is half of the rows, at most 128, or 256 for more than 2,000 rows; and
        all rows if there are at most 32.
    penalty : {"weights", "gradients"}, default="weights"
        What is penalised: the squared weights of both networks, or, as in the field theory, the squared gradients of
        mean and precision with respect to the standardised inputs, averaged over the rows.
    n_members : int, default=1
        Number of models with different starts, moment-matched into one distribution.
    held_out : float, default=0.2
        Share of the rows to hold out from one extra model, which is not kept: `phase_` and `verdict_` tell by these
        rows whether mean and std hold on new ones. 0 saves the time; the verdict is then None.
    n_jobs : int or None, default=None
        Number of processes, as in scikit-learn: None is one unless joblib's `parallel_config` sets another number, -1
        is all cores.
    random_state : int, RandomState or None, default=None
        Seed of starts and batches.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    rho_, gamma_ : float
        The point of the fit.
    phase_ : {"U_I", "U_II", "O_I", "O_II", "S", "none", "unknown"}
        The phase of the networks; "none" and "unknown" are no phases, see `Phase`.
    observables_ : Observables
        The numbers that decide the phase.
    verdict_ : Verdict or None
        What held-out rows say of the predictions; None if no rows were held out.
    held_out_ : HeldOutRows or None
        These rows with the predictions that the verdict is about, those of the extra model; None if no rows were held
        out.
    status_ : tuple of Status
        How the training of each model ended.
    members_ : Params
        Weights and biases of the members, stacked along the first axis.
    scaling_ : Scaling
        Centre and scale of inputs and target.
    std_scale_ : float
        Factor of every std; always 1 here.
    n_iter_ : int
        Number of steps taken.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if the rows had names.

    See Also
    --------
    HeteroskedasticRegressorCV : Finds rho and gamma by cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from heteroscope import HeteroskedasticRegressor
    >>> x = np.linspace(-1, 1, 100)[:, None]
    >>> y = x[:, 0] + np.random.default_rng(0).normal(size=100)
    >>> model = HeteroskedasticRegressor(0.9, 0.1, max_steps=500, random_state=0).fit(x, y)
    >>> mean, std = model.predict(x, return_std=True)
    """

    def __init__(
        self,
        rho: float = 0.9,
        gamma: float = 0.1,
        *,
        hidden: Sequence[int] = defaults.HIDDEN,
        activation: str = defaults.ACTIVATION,
        start: str | float = "he",
        schedule: str = "cosine",
        max_steps: int | str = defaults.POINT_STEPS,
        batch_size: int | str | None = "auto",
        penalty: str = defaults.PENALTY,
        n_members: int = defaults.POINT_MEMBERS,
        held_out: float | int = 0.2,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.rho = rho
        self.gamma = gamma
        self.hidden = hidden
        self.activation = activation
        self.start = start
        self.schedule = schedule
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.penalty = penalty
        self.n_members = n_members
        self.held_out = held_out
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Inputs,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        store: str | Path | None = None,
    ) -> "HeteroskedasticRegressor":
        """Train `n_members` models on all rows and label the result with its phase.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features) or Stream
            The rows. A stream contains its own target.
        y : array-like of shape (n_rows,), default=None
            The target; None for a stream.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights >= 0; not for a stream.
        store : path, default=None
            For a stream: the folder of its checkpoints, from which a killed run is resumed.

        Returns
        -------
        HeteroskedasticRegressor
            The fitted estimator itself.
        """
        if hasattr(self, "_partial"):
            del self._partial  # `fit` ends a training that `partial_fit` began
        if isinstance(X, Stream):
            return self._fit_stream(X, y, sample_weight, store)
        refuse_store(store)
        point = logits(self.rho, self.gamma)
        given, rows = self._check_fit_input(X, y, sample_weight)
        self._sample = SampledRows.of(given)
        random = check_random_state(self.random_state)
        fold = held_out_fold(self.held_out, rows, random)
        seeds = member_seeds(random, check_positive_integer("n_members", self.n_members))
        other = self._train_members(rows, self._recipe(rows), point, seeds, fold)
        self.rho_, self.gamma_ = float(self.rho), float(self.gamma)
        self.verdict_, self.held_out_, held_out = None, None, None
        if fold is not None and other is not None:
            held_out = self._judge_one(other, fold, fold.training.scaling(), given)
        self._observe(rows, held_out)
        return self

    def _fit_stream(
        self, stream: Stream, y: ArrayLike | None, sample_weight: ArrayLike | None, store: str | Path | None
    ) -> "HeteroskedasticRegressor":
        """Train `n_members` models on a stream."""
        point = logits(self.rho, self.gamma)
        refuse_with_stream(y, sample_weight, self.schedule)
        *seeds, order = member_seeds(self.random_state, check_positive_integer("n_members", self.n_members) + 1)
        run = self._start_stream_run(stream, check_share(self.held_out), order, store)
        recipe = self._stream_recipe(run)
        method = {"name": "one point", "rho": self.rho, "gamma": self.gamma, "schedule": self.schedule}
        method = without_later_settings({**method, "penalty": self.penalty})
        jobs = [Job(*point, seed) for seed in seeds]
        fits = run.train("members", method, jobs, recipe, self._predict_members)
        self._keep_members(fits)
        self._sample = SampledRows(run.survey.sample, None)
        self.rho_, self.gamma_ = float(self.rho), float(self.gamma)
        fold, held_out = stream_fold(run), None
        self.verdict_, self.held_out_ = None, None
        if len(fold.held.y):
            held_out = self._judge_one(fits[0], fold, run.order.scaling, None)
        self._observe(run.survey.sample, held_out)
        return self

    def _train_members(
        self, rows: Rows, recipe: Recipe, point: Logits, seeds: Sequence[int], fold: Fold | None
    ) -> Fit | None:
        """Train one member per seed on all rows; with a fold, return one more fit, to the fold's training rows."""
        self.scaling_ = rows.scaling()
        tasks = [Task(rows.batch(self.scaling_), [Job(*point, seed) for seed in seeds])]
        if fold is not None:
            tasks.append(Task(fold.training.batch(fold.training.scaling()), [Job(*point, seeds[0])]))
        with progress_bar("fitting", bool(self.verbose)) as progress:
            fits, *fold_fits = train(tasks, recipe, n_jobs=self.n_jobs, progress=progress)
        self._keep_members(fits)
        return fold_fits[0][0] if fold is not None else None

    def _judge_one(self, fit: Fit, fold: Fold, scaling: Scaling, given: Rows | None) -> HeldOut:
        """Store the verdict on one model by the fold's held-out rows; return what they say of its networks."""
        held, training = fold.held, fold.training
        (mean,), (std,) = self._predict_members(stack_members([fit.params]), held.x, scaling)
        self.held_out_ = held_out_rows([fold], mean, std, given)
        self.verdict_ = judge_folds([fold], self.held_out_)
        return observe_held_out(held.y, mean, std, training.y, held.weight, training.weight)

    def partial_fit(
        self,
        X: Inputs,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        scaling: Scaling | None = None,
    ) -> "HeteroskedasticRegressor":
        """Take one training step per batch of these rows, in their order; call it again with more rows.

        The learning rate follows the schedule of `max_steps` across calls. `phase_` and `observables_` describe the
        rows of the last call. After `fit` or `load_model`, a call starts a new training.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.
        y : array-like of shape (n_rows,)
            The target.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights >= 0.
        scaling : Scaling, default=None
            Centre and scale of inputs and target, for the first call only; None computes them from its rows.

        Returns
        -------
        HeteroskedasticRegressor
            The estimator itself, after these steps.
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
                self.penalty,
            )
            seeds = member_seeds(self.random_state, check_positive_integer("n_members", self.n_members))
            jobs = [Job(*point, seed) for seed in seeds]
            self._partial = begin_partial_fit(jobs, recipe, scaling or rows.scaling(), unit=float(rows.weight.mean()))
        self._partial = self._partial._replace(scaling=self._partial.scaling.covering(rows.x))
        self._partial = continue_partial_fit(self._partial, rows)
        self.scaling_ = self._partial.scaling
        self.rho_, self.gamma_ = float(self.rho), float(self.gamma)
        self._keep_members(partial_fits(self._partial, rows))
        self.verdict_, self.held_out_, self._sample = None, None, SampledRows(rows, None)
        self._observe(rows, None)
        return self

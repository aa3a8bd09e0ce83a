"""What every regressor here is: a Gaussian for every row of a table or stream, from one or more trained members."""

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from heteroscope.core import InputError, Parameter, Status
from heteroscope.data import ROUNDING, Rows, Scaling, Stream, merge_rows, read_checked
from heteroscope.networks import (
    Architecture,
    Params,
    Prediction,
    check_architecture,
    moment_match,
    predict_members,
    stack_members,
)
from heteroscope.phases import label, observe
from heteroscope.training import Fit, StreamRun, start_stream_run

MemberMoments = tuple[Float[np.ndarray, "member point"], Float[np.ndarray, "member point"]]


class GaussianRegressor(RegressorMixin, BaseEstimator):
    """What all regressors here share: a Gaussian for every row, from one or more trained members."""

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean of every row, or with `return_std=True` the pair (mean, std), in the target's own units."""
        prediction = self.predict_parts(X)
        return (prediction.mean, prediction.std) if return_std else prediction.mean

    def predict_parts(self, X: Any) -> Prediction:
        """Mean and std, and the std's two parts: aleatoric (noise) and epistemic (disagreement of the members)."""
        check_is_fitted(self)
        if isinstance(X, Stream):
            return self._predict_stream(X)
        x = validate_data(self, X, dtype=np.float64, reset=False)
        return self._combine(x)

    def _predict_stream(self, stream: Stream) -> Prediction:
        """A block at a time: only what is predicted stays in memory."""
        if stream.n_features != self.n_features_in_:
            raise InputError(f"the stream has {stream.n_features} features and the model expects {self.n_features_in_}")
        for number, name in enumerate(getattr(self, "feature_names_in_", [])):
            if stream.named and stream.feature_names[number] != name:
                raise InputError(
                    f"column {number} of the stream is {stream.feature_names[number]!r}, and the model was fitted to "
                    f"{name!r} there: give open_stream the `features` in the order of the fit"
                )
        inputs = (read_checked(stream, block)[0] for block in stream.blocks())
        parts = [self._combine(x) for x in inputs]
        return Prediction(*(np.concatenate(values) for values in zip(*parts, strict=True)))

    def predict_interval(
        self, X: Any, coverage: float = 0.9
    ) -> tuple[Float[np.ndarray, " point"], Float[np.ndarray, " point"]]:
        """(lower, upper) of the central interval that holds a new target with probability `coverage`."""
        if not 0.0 < coverage < 1.0:
            raise InputError(Parameter("coverage"), f" must lie strictly between 0 and 1, got {coverage!r}")
        lower, upper = self.predict_quantiles(X, [(1 - coverage) / 2, (1 + coverage) / 2]).T
        return lower, upper

    def predict_quantiles(self, X: Any, quantiles: Any) -> Float[np.ndarray, "point quantile"]:
        """One column a quantile."""
        wanted = np.atleast_1d(np.asarray(quantiles, float))
        if not wanted.size or not np.all((wanted > 0) & (wanted < 1)):
            raise InputError(f"quantiles must lie strictly between 0 and 1, got {quantiles!r}")
        forecast = self.pred_dist(X)
        return np.column_stack([forecast.ppf(level) for level in wanted])

    def pred_dist(self, X: Any) -> Any:
        """The predictive distribution as a frozen `scipy.stats.norm`, one entry a row."""
        mean, std = self.predict(X, return_std=True)
        return stats.norm(loc=mean, scale=std)

    def _predict_members(
        self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling
    ) -> MemberMoments:
        """Mean and std of every member; a method whose second network is no precision reads it in its own way."""
        return predict_members(members, x, scaling, self.activation)

    def _combine(self, x: Float[np.ndarray, "point feature"]) -> Prediction:
        """The members as one Gaussian a row."""
        return moment_match(*self._predict_members(self.members_, x, self.scaling_))

    def _check_fit_input(self, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, Rows]:
        """The rows as they were given, for a splitter's own row numbers, and merged, for everything else."""
        x, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        weight = check_weights(sample_weight, len(x))
        given = Rows(x, target.astype(np.float64), weight)
        rows = merge_rows(*given)
        if len(rows.y) < 2:
            raise InputError(
                f"{len(x)} rows were given but only {len(rows.y)} differs from the others and has a positive weight; "
                "a standard deviation needs at least two different rows"
            )
        if np.ptp(rows.y) <= ROUNDING * np.abs(rows.y).max():
            raise InputError(
                f"the target is constant ({rows.y[0]:g}), so there is nothing to learn; check the target column"
            )
        return given, rows

    def _architecture(self, rows: Rows) -> Architecture:
        check_architecture(self.hidden, self.activation, self.start)
        return Architecture(rows.x.shape[1], tuple(self.hidden), self.activation, self.start)

    def _ground(self, stream: Stream, share: float, seed: int, store: Any) -> StreamRun:
        """The stream surveyed, and what a fit on it leaves behind whatever was learned."""
        if store is not None and self.random_state is None:
            raise InputError(
                "a run that can be taken up again needs a seed: set ",
                Parameter("random_state"),
                " beside ",
                Parameter("store"),
            )
        ground = start_stream_run(stream, share, self.batch_size, seed, store, self.n_jobs, self.verbose)
        self.n_features_in_, self.scaling_ = stream.n_features, ground.order.scaling
        if stream.named:
            self.feature_names_in_ = np.array(stream.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # of an earlier fit
        return ground

    def _keep_members(self, fits: Sequence[Fit]) -> None:
        """The fits whose numbers stayed finite become the members; the status of all of them is kept."""
        usable = [fit for fit in fits if fit.status != Status.NOT_FINITE]
        if not usable:
            raise InputError(f"training did not stay finite: {Status.NOT_FINITE.meaning}")
        self.members_ = stack_members([fit.params for fit in usable])
        self.status_ = tuple(fit.status for fit in fits)
        self.n_iter_ = max(fit.steps for fit in fits)

    def _observe(self, rows: Rows, held_out_score: float | None) -> None:
        prediction = self._combine(rows.x)
        self.observables_ = observe(rows.y, prediction.mean, prediction.std, rows.weight, held_out_score)
        self.phase_ = str(label(self.observables_, runaway=Status.RUNAWAY in self.status_))


def check_weights(sample_weight: Any, n_rows: int) -> Float[np.ndarray, " row"]:
    """One finite weight >= 0 per row, as float64: ones for None, the same weight for a number."""
    if sample_weight is None or isinstance(sample_weight, Number):
        sample_weight = np.full(n_rows, 1.0 if sample_weight is None else sample_weight)
    weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, ensure_non_negative=True, input_name="sample_weight"
    )
    if weight.shape != (n_rows,):
        raise InputError(f"sample_weight has the shape {weight.shape} for {n_rows} rows: pass one weight per row")
    if not weight.any():
        raise InputError("all sample weights are zero; at least one row must count")
    return weight


def refuse_stream(model: GaussianRegressor, rows: Any) -> None:
    """For methods that need all rows at once."""
    if isinstance(rows, Stream):
        raise InputError(f"{type(model).__name__} is fitted to arrays in memory, not to a stream")


def refuse_store(store: Any) -> None:
    """`store` keeps runs on streams; arrays in memory have nothing to keep."""
    if store is not None:
        raise InputError("store keeps a run on a stream: open the data with heteroscope.data.open_stream")


def member_seeds(random_state: Any, n: int) -> list[int]:
    """Independent seeds from one random state; the same state gives the same seeds."""
    entropy = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    return [int(seed) for seed in np.random.SeedSequence(entropy).generate_state(n)]

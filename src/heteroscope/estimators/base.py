"""The base class of all regressors: predict a mean and a std for each row from one or more trained members."""

from collections.abc import Sequence, Sized
from numbers import Number
from typing import ClassVar, Literal, TypeAlias, overload

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy import stats
from scipy.stats.distributions import rv_frozen
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from heteroscope.core import InputError, Status
from heteroscope.data import ROUNDING, Rows, Scaling, merge_rows
from heteroscope.distributions import check_levels, interval_levels
from heteroscope.estimators.fitted_fields import COMMON_FIELDS, FittedFields
from heteroscope.networks import (
    Architecture,
    Params,
    Prediction,
    check_architecture,
    moment_match,
    predict_members,
    predict_with_far_rows,
    stack_members,
)
from heteroscope.phases import HeldOut, label, observe
from heteroscope.training import Fit

Inputs: TypeAlias = ArrayLike | Sized  # a user's rows: an array, a data frame, lists or, in subclasses, a stream
RandomState: TypeAlias = int | np.integer | np.random.RandomState | None
MemberMoments: TypeAlias = tuple[Float[np.ndarray, "member point"], Float[np.ndarray, "member point"]]  # mean, std


class GaussianRegressor(RegressorMixin, BaseEstimator):
    """The base class of all regressors: a mean and a std per row, from one or more trained members."""

    #: The attributes that `fit` sets, with their kinds: a model file holds these.
    fitted_fields: ClassVar[FittedFields] = COMMON_FIELDS
    #: How many outputs per row the second network has.
    n_second_outputs: ClassVar[int] = 1

    @overload
    def predict(self, X: Inputs, return_std: Literal[False] = False) -> Float[np.ndarray, " point"]: ...

    @overload
    def predict(
        self, X: Inputs, return_std: Literal[True]
    ) -> tuple[Float[np.ndarray, " point"], Float[np.ndarray, " point"]]: ...

    def predict(
        self, X: Inputs, return_std: bool = False
    ) -> Float[np.ndarray, " point"] | tuple[Float[np.ndarray, " point"], Float[np.ndarray, " point"]]:
        """Predict the mean of each row and, if wanted, its std, in the units of the target.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features) or Stream
            The rows.
        return_std : bool, default=False
            Whether to return the std as well.

        Returns
        -------
        mean : ndarray of shape (n_rows,)
            The predicted means.
        std : ndarray of shape (n_rows,)
            The predicted standard deviations; only with `return_std=True`.
        """
        prediction = self.predict_parts(X)
        return (prediction.mean, prediction.std) if return_std else prediction.mean

    def predict_parts(self, X: Inputs) -> Prediction:
        """Predict the mean and the std of each row, and the two parts of the std.

        std^2 = aleatoric^2 + epistemic^2

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features) or Stream
            The rows.

        Returns
        -------
        Prediction
            Named tuple of arrays of shape (n_rows,): `mean`, `std`, `aleatoric` (noise) and `epistemic` (disagreement
            of the members).
        """
        check_is_fitted(self)
        x = validate_data(self, X, dtype=np.float64, reset=False)
        return self._predict_rows(x)

    def predict_interval(
        self, X: Inputs, coverage: float = 0.9
    ) -> tuple[Float[np.ndarray, " point"], Float[np.ndarray, " point"]]:
        """Predict the central interval that contains a new target with probability `coverage`.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features) or Stream
            The rows.
        coverage : float, default=0.9
            The probability, strictly between 0 and 1.

        Returns
        -------
        lower, upper : ndarray of shape (n_rows,)
            The ends of the intervals, in the units of the target.
        """
        lower, upper = self.predict_quantiles(X, interval_levels(coverage)).T
        return lower, upper

    def predict_quantiles(self, X: Inputs, quantiles: ArrayLike) -> Float[np.ndarray, "point quantile"]:
        """Predict quantiles of each row's target.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features) or Stream
            The rows.
        quantiles : float or array-like of float
            Probabilities, strictly between 0 and 1.

        Returns
        -------
        ndarray of shape (n_rows, n_quantiles)
            One column per quantile, in the units of the target.
        """
        return self._predict_levels(X, check_levels(quantiles))

    def _predict_levels(self, X: Inputs, levels: Float[np.ndarray, " level"]) -> Float[np.ndarray, "point level"]:
        """Return quantiles at these checked levels."""
        forecast = self.pred_dist(X)
        return np.column_stack([forecast.ppf(level) for level in levels])

    def pred_dist(self, X: Inputs) -> rv_frozen:
        """Return the predictive distribution of each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features) or Stream
            The rows.

        Returns
        -------
        scipy.stats.rv_frozen
            A frozen `scipy.stats.norm`, or in some subclasses `scipy.stats.t` or `lognorm`, with one entry per row.
        """
        mean, std = self.predict(X, return_std=True)
        return stats.norm(loc=mean, scale=std)

    def _predict_members(
        self, members: Params, x: Float[np.ndarray, "point feature"], scaling: Scaling
    ) -> MemberMoments:
        """Return mean and std of each member; overridden where the second network is not a precision."""
        return predict_members(members, x, scaling, self.activation)

    def _combine(self, x: Float[np.ndarray, "point feature"]) -> Prediction:
        """Return mean and variance of the mixture of all members."""
        return moment_match(*self._predict_members(self.members_, x, self.scaling_))

    def _predict_rows(self, x: Float[np.ndarray, "point feature"], first: int = 1) -> Prediction:
        """Predict rows, those far outside the fit with a wider std and a warning; `first` numbers the first one."""
        if not hasattr(self, "scaling_"):  # the members of an ensemble do this
            return self._combine(x)
        names = getattr(self, "feature_names_in_", None)
        return self._in_target_units(predict_with_far_rows(self._combine, x, self.scaling_, names, first))

    def _in_target_units(self, prediction: Prediction) -> Prediction:
        """Return a prediction of the networks' target in the units of the user's; overridden where they differ."""
        return prediction

    def _check_fit_input(self, X: Inputs, y: ArrayLike | None, sample_weight: ArrayLike | None) -> tuple[Rows, Rows]:
        """Return the rows as given, for splitters that use row numbers, and merged, for everything else."""
        x, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        weight = check_weights(sample_weight, len(x))
        given = Rows(x, target.astype(np.float64), weight)
        rows = merge_rows(*given)
        if len(rows.y) < 2:
            raise InputError(
                f"of {len(x)} rows only {len(rows.y)} differs from the others and has a positive weight: give at least "
                "two different rows, which a standard deviation needs"
            )
        if np.ptp(rows.y) <= ROUNDING * np.abs(rows.y).max():
            raise InputError(
                f"the target is constant ({rows.y[0]:g}), so there is nothing to learn; check the target column"
            )
        return given, rows

    def _architecture(self, rows: Rows) -> Architecture:
        """Return the networks' architecture for these rows, after checking the parameters."""
        check_architecture(self.hidden, self.activation, self.start)
        return Architecture(rows.x.shape[1], tuple(self.hidden), self.activation, self.start)

    def _keep_members(self, fits: Sequence[Fit]) -> None:
        """Store the fits with finite numbers as members, and the status of all fits."""
        usable = [fit for fit in fits if fit.status != Status.NOT_FINITE]
        if not usable:
            raise InputError(f"training did not stay finite: {Status.NOT_FINITE.meaning}")
        self.members_ = stack_members([fit.params for fit in usable])
        self.status_ = tuple(fit.status for fit in fits)
        self.n_iter_ = max(fit.steps for fit in fits)

    def _observe(self, rows: Rows, held_out: HeldOut | None) -> None:
        """Store the observables of these training rows and the phase that follows from them."""
        prediction = self._combine(rows.x)
        self.observables_ = observe(rows.y, prediction.mean, prediction.std, rows.weight, held_out)
        self.phase_ = str(label(self.observables_, runaway=Status.RUNAWAY in self.status_))


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> Float[np.ndarray, " row"]:
    """Return one finite weight >= 0 per row, as float64; None means ones, and a number is repeated for all rows."""
    if sample_weight is None or isinstance(sample_weight, Number):
        sample_weight = np.full(n_rows, 1.0 if sample_weight is None else sample_weight)
    weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, ensure_non_negative=True, input_name="sample_weight"
    )
    if weight.shape != (n_rows,):
        raise InputError(f"sample_weight has the shape {weight.shape} for {n_rows} rows: pass one weight per row")
    if not weight.any():
        raise InputError("all sample weights are zero: give at least one row a positive weight")
    return weight


def member_seeds(random_state: RandomState, n: int) -> list[int]:
    """Return `n` independent seeds; the same random state gives the same seeds."""
    entropy = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    return [int(seed) for seed in np.random.SeedSequence(entropy).generate_state(n)]

"""A model that was read from its folder: it predicts with NumPy, and is the estimator for everything else."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from heteroscope.core import DamageError, InputError, printable
from heteroscope.data import Stream
from heteroscope.distributions import check_levels, exponentiated, frozen, interval_levels, quantiles
from heteroscope.model_files.array_format import (
    LARGEST,
    SMALLEST,
    Arrays,
    Json,
    check_shapes,
    read_bounds,
    read_integer,
    read_names,
    read_networks,
    read_number,
    read_scaling,
    read_target,
    refuse_damage,
)
from heteroscope.networks import FittedEnsemble, Prediction, check_architecture, predict_with_far_rows

if TYPE_CHECKING:
    from scipy.stats.distributions import rv_frozen

    from heteroscope.data import TableEncoder
    from heteroscope.estimators import GaussianRegressor

#: Classes whose predictions are those of a `FittedEnsemble`. Others predict through their estimator.
NUMPY_CLASSES = ("HeteroskedasticRegressor", "HeteroskedasticRegressorCV")
SCIKIT_LEARN = "__sklearn_"  # begin of the special methods by which scikit-learn asks an estimator about itself

#: A user's rows: an array, a frame, a list of records (dictionaries) or a `Stream`.
Inputs: TypeAlias = Any


class NumpyPredictor(NamedTuple):
    """The predictions of an ensemble for checked rows, computed by NumPy."""

    ensemble: FittedEnsemble
    feature_names: list[str] | None

    def predict_parts(self, x: Float[np.ndarray, "point feature"]) -> Prediction:
        """Return mean and std, and the two parts of the std; warn of rows far outside the fit."""
        scaling = self.ensemble.scaling
        prediction = predict_with_far_rows(self.ensemble.predict, x, scaling, self.feature_names)
        return exponentiated(prediction, scaling.y_scale) if self.ensemble.lognormal else prediction

    def predict_quantiles(
        self, x: Float[np.ndarray, "point feature"], levels: Float[np.ndarray, " level"]
    ) -> Float[np.ndarray, "point level"]:
        """Return the quantiles of these levels."""
        prediction = self.predict_parts(x)
        return quantiles(prediction.mean, prediction.std, self.ensemble.df, levels, self.ensemble.lognormal)

    def pred_dist(self, x: Float[np.ndarray, "point feature"]) -> "rv_frozen":
        """Return the frozen distribution."""
        prediction = self.predict_parts(x)
        return frozen(prediction.mean, prediction.std, self.ensemble.df, self.ensemble.lognormal)


class LoadedModel:
    """A fitted model from a folder, as `load_model` returns it.

    Predictions of the two estimators are computed by NumPy: neither JAX, nor scikit-learn, nor SciPy's statistics are
    imported, nothing is compiled, and a forked process can predict. A frame or a list of dictionaries may have the
    columns of the table that `heteroscope fit` was given: they are encoded as they were then. Everything else that the
    estimator has (`diagnose`, `phase_`, `get_params`, `fit`, ...) is passed on to `estimator`, which imports what
    training needs.

    Parameters
    ----------
    state : mapping
        Content of `model.json`.
    arrays : mapping of str to ndarray
        Content of `arrays.npz`.
    folder : Path
        Where the two come from, for messages.
    """

    def __init__(self, state: Mapping[str, Json], arrays: Arrays, folder: Path) -> None:
        self._state, self._arrays, self._folder = state, arrays, folder
        self._estimator: GaussianRegressor | None = None
        self._encoder: TableEncoder | None = None
        fitted, encoding = state["fitted"], state["encoder"]
        self.version = printable(str(state["version"]), 40)
        self._n_features = read_integer(fitted["n_features_in_"])
        names = fitted.get("feature_names_in_")
        self._feature_names: list[str] | None = None if names is None else read_names(names).tolist()
        self._columns = None if encoding is None else [str(column["name"]) for column in encoding["columns"]]
        self._numpy = None
        if state["class"] in NUMPY_CLASSES:
            self._numpy = NumpyPredictor(_read_ensemble(state, arrays), self._feature_names)
            members, scaling = self._numpy.ensemble.members, self._numpy.ensemble.scaling
            check_shapes(members, scaling, self._n_features, self._feature_names, 1)
        else:
            self._estimator = self._restore()  # at once: these predict with it

    @property
    def estimator(self) -> "GaussianRegressor":
        """The scikit-learn estimator; it is made at the first use, and predictions are its own from then on."""
        if self._estimator is None:
            self._estimator = self._restore()
        return self._estimator

    def _restore(self) -> "GaussianRegressor":
        from heteroscope.model_files.file_format import restore

        with refuse_damage(self._folder):
            return restore(self._state, self._arrays)

    @property
    def encoder(self) -> "TableEncoder | None":
        """The encoder of the table that the model was fitted to; None if it was fitted to arrays."""
        if self._encoder is None and self._columns is not None:
            from heteroscope.data import TableEncoder

            with refuse_damage(self._folder):
                encoder = TableEncoder.from_dict(self._state["encoder"])
                names = list(encoder.feature_names)
                if len(names) != self._n_features or self._feature_names not in (None, names):
                    raise DamageError("the columns of its table are not the features of its model")
                self._encoder = encoder
        return self._encoder

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
        X : array-like of shape (n_rows, n_features), DataFrame, list of dict or Stream
            The rows: features as the estimator was fitted to, or the columns of the table that it was fitted to.
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
        """Predict the mean and the std of each row, and the two parts of the std, noise and disagreement of members.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), DataFrame, list of dict or Stream
            The rows, as for `predict`.

        Returns
        -------
        Prediction
            Named tuple of arrays of shape (n_rows,): `mean`, `std`, `aleatoric` and `epistemic`.
        """
        predictor, rows = self._predictor_and_rows(X)
        return predictor.predict_parts(rows)

    def predict_interval(
        self, X: Inputs, coverage: float = 0.9
    ) -> tuple[Float[np.ndarray, " point"], Float[np.ndarray, " point"]]:
        """Predict the central interval that contains a new target with probability `coverage`.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), DataFrame, list of dict or Stream
            The rows, as for `predict`.
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
        X : array-like of shape (n_rows, n_features), DataFrame, list of dict or Stream
            The rows, as for `predict`.
        quantiles : float or array-like of float
            Probabilities, strictly between 0 and 1.

        Returns
        -------
        ndarray of shape (n_rows, n_quantiles)
            One column per quantile, in the units of the target.
        """
        levels = check_levels(quantiles)
        predictor, rows = self._predictor_and_rows(X)
        return predictor.predict_quantiles(rows, levels)

    def pred_dist(self, X: Inputs) -> "rv_frozen":
        """Return the predictive distribution of each row; this imports `scipy.stats`.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), DataFrame, list of dict or Stream
            The rows, as for `predict`.

        Returns
        -------
        scipy.stats.rv_frozen
            A frozen `scipy.stats.norm`, `scipy.stats.t` or `scipy.stats.lognorm` with one entry per row.
        """
        predictor, rows = self._predictor_and_rows(X)
        return predictor.pred_dist(rows)

    def ensemble(self) -> FittedEnsemble:
        """Return all that predictions read; raise an `InputError` for a baseline, which has no such ensemble.

        Returns
        -------
        FittedEnsemble
            Networks, scaling, bounds, the degrees of freedom and whether the networks predict logarithms.
        """
        if self._numpy is None:
            raise InputError(
                f"{self._state['class']} predicts with more than its networks: use a HeteroskedasticRegressor(CV)"
            )
        return self._numpy.ensemble if self._estimator is None else self.estimator.ensemble()

    def _predictor_and_rows(self, X: Inputs) -> "tuple[NumpyPredictor | GaussianRegressor, Any]":
        """Return what predicts these rows, NumPy or an estimator that is there already, and the rows in its form."""
        if isinstance(X, Stream):
            return self.estimator, X
        x = self._features(X)
        if self._numpy is not None and self._estimator is None:
            return self._numpy, x
        names = self._feature_names
        return self.estimator, x if names is None else import_module("pandas").DataFrame(x, columns=names)

    def _features(self, X: Inputs) -> Float[np.ndarray, "point feature"]:
        """Return the features of the user's rows as finite float64; raise an `InputError` otherwise."""
        if isinstance(X, list) and X and isinstance(X[0], Mapping):
            X = import_module("pandas").DataFrame(X)
        return self._checked(self._from_frame(X) if hasattr(X, "columns") else X)

    def _from_frame(self, frame: Any) -> Any:
        """Return the features of a frame, which may have further columns and any order."""
        names, present = self._feature_names, set(frame.columns)
        encoded = names is not None and present.issuperset(names)
        if self.encoder is not None and (not encoded or present.issuperset(self._columns or ())):
            return self.encoder.features(frame)
        if names is None:
            return frame
        for name in names:
            if name not in present:
                raise InputError(f"the rows lack the column {name!r}, which the model was fitted to: add it")
        return frame[names]

    def _checked(self, X: Any) -> Float[np.ndarray, "point feature"]:
        """Return the features as float64; raise an `InputError` unless they are a finite table of the right width."""
        try:
            x = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"the rows cannot be read as numbers ({error}): give one number per feature") from error
        if x.ndim != 2 or x.shape[1] != self._n_features or not len(x):
            raise InputError(
                f"the rows have the shape {x.shape}: give one row per prediction and the {self._n_features} features "
                "that the model was fitted to"
            )
        if not np.isfinite(x).all():
            row, column = np.argwhere(~np.isfinite(x))[0]
            raise InputError(
                f"row {row + 1} has no finite number in column {column + 1}: fill it, or leave the row out"
            )
        return x

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and not name.startswith(SCIKIT_LEARN):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.estimator, name)

    def __repr__(self) -> str:
        return f"LoadedModel({self._state['class']} in {str(self._folder)!r}, {self._n_features} features)"


def _read_ensemble(state: Mapping[str, Json], arrays: Arrays) -> FittedEnsemble:
    """Return what predictions read of the two files."""
    parameters, fitted = state["parameters"], state["fitted"]
    check_architecture(parameters["hidden"], parameters["activation"], "he")
    return FittedEnsemble(
        read_networks(arrays),
        read_scaling(arrays),
        parameters["activation"],
        read_number(fitted["std_scale_"], SMALLEST, LARGEST),
        read_number(fitted.get("widest_std_", np.inf), SMALLEST),
        read_bounds(fitted.get("mean_bounds_", (-np.inf, np.inf))),
        read_number(fitted.get("df_", np.inf), 2.0 + 1e-9),
        read_target(fitted.get("target_", "none")) == "log",
    )

"""Explain a fitted model: everything that its report shows, computed once."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from heteroscope.core import InputError
from heteroscope.distributions import frozen
from heteroscope.estimators import HeteroskedasticRegressorCV, PointRegressor, check_weights
from heteroscope.explanation.calibration import calibration, held_out_forecasts
from heteroscope.explanation.effects import EffectCurve, effect_curves
from heteroscope.explanation.importance import permutation_importance
from heteroscope.explanation.inputs import Inputs, group_features
from heteroscope.explanation.model_card import ModelCard, model_card
from heteroscope.explanation.odd_rows import FarRow, MissedRow, far_rows, missed_rows
from heteroscope.explanation.search_path import search_path
from heteroscope.explanation.slopes import slope_sizes
from heteroscope.phases import Diagnosis

CURVES = 4  # inputs whose effect is drawn: half of them drive the mean most, half the std


class Explanation(NamedTuple):
    """Everything that a report shows; what is not known is None or empty.

    Attributes
    ----------
    diagnosis : Diagnosis
        The verdict and the phase, in words.
    target_name : str
        The name of the target.
    card : ModelCard
        Facts and limits.
    rows : xarray.Dataset or None
        Held-out rows and their forecasts, see `held_out_forecasts`; None without held-out rows.
    calibration : xarray.Dataset or None
        See `calibration`.
    missed : list of MissedRow
        Rows that their forecast misses by far.
    path : xarray.Dataset or None
        The points of the search, see `search_path`.
    importance : xarray.Dataset or None
        What drives mean and std, see `permutation_importance`.
    slopes : xarray.Dataset or None
        How steep mean and log std are, see `slope_sizes`.
    effects : list of EffectCurve
        The effects of the most important inputs.
    far : list of FarRow or None
        Rows with few others near them; None if the inputs are not known.
    """

    diagnosis: Diagnosis
    target_name: str
    card: ModelCard
    rows: xr.Dataset | None = None
    calibration: xr.Dataset | None = None
    missed: Sequence[MissedRow] = ()
    path: xr.Dataset | None = None
    importance: xr.Dataset | None = None
    slopes: xr.Dataset | None = None
    effects: Sequence[EffectCurve] = ()
    far: Sequence[FarRow] | None = None


def explain(
    model: PointRegressor,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    target_name: str = "y",
    columns: Mapping[str, Sequence[str]] | None = None,
) -> Explanation:
    """Explain a fitted model: is it calibrated, what drives its mean and its std, which rows deserve a look.

    Everything about calibration comes from held-out rows, by models that were not trained on them. What drives mean and
    std is computed for the final model, on rows that it may have been trained on: it tells what the model uses.

    Parameters
    ----------
    model : HeteroskedasticRegressor or HeteroskedasticRegressorCV
        The fitted model.
    X : array-like of shape (n_rows, n_features), default=None
        Rows on which to explain it. None takes those that the estimator keeps since its fit, at most 3,000; a loaded
        model has none, and is explained without them.
    y : array-like of shape (n_rows,), default=None
        Their targets.
    sample_weight : array-like of shape (n_rows,), default=None
        Their weights.
    target_name : str, default="y"
        The name of the target.
    columns : mapping of str to sequence of str, default=None
        The features of each column of the user's table, in order, such as the one-hot features of a text column.

    Returns
    -------
    Explanation
        What `model.report` shows.
    """
    check_is_fitted(model)
    names = feature_names(model)
    inputs = _inputs(model, X, y, sample_weight, group_features(names, columns))
    held, ensemble = model.held_out_, model.ensemble()
    found = Explanation(model.diagnose(), target_name, model_card(model, names, target_name))
    if held is not None:
        forecast = frozen(held.mean, held.std, ensemble.df, ensemble.lognormal)
        rows = held_out_forecasts(held.y, forecast, held.weight, held.number)
        found = found._replace(rows=rows, calibration=calibration(rows), missed=missed_rows(rows))
    if isinstance(model, HeteroskedasticRegressorCV):
        found = found._replace(path=search_path(model.cv_results_, model.best_index_, model.selection))
    if inputs is None:
        return found
    importance = permutation_importance(ensemble, inputs)
    return found._replace(
        importance=importance,
        slopes=slope_sizes(ensemble, inputs),
        effects=effect_curves(ensemble, inputs, most_important(importance, CURVES), names),
        far=far_rows(inputs, model.scaling_),
    )


def feature_names(model: PointRegressor) -> list[str]:
    """Return the names of a model's features; numbered ones if its rows had no names."""
    names = getattr(model, "feature_names_in_", None)
    return [f"feature {k}" for k in range(model.n_features_in_)] if names is None else [str(name) for name in names]


def most_important(importance: xr.Dataset, n: int) -> list[str]:
    """Return the inputs that drive mean and std most, by CRPS: in turns one of the mean and one of the std."""
    average = importance["crps"].mean("repeat")
    ranked = [average.sel(driven=name).sortby(average.sel(driven=name), ascending=False) for name in ("mean", "std")]
    turns = [str(name) for pair in zip(*(part["input"].values for part in ranked), strict=True) for name in pair]
    return list(dict.fromkeys(turns))[:n]


def _inputs(
    model: PointRegressor,
    X: ArrayLike | None,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    groups: dict[str, tuple[int, ...]],
) -> Inputs | None:
    """Return the rows to explain the model on: those given, or those that it keeps since its fit, if there are any."""
    if (X is None) != (y is None):
        raise InputError("X and y belong together: give both, or neither")
    if X is None:
        sample = getattr(model, "_sample", None)
        return (
            None if sample is None else Inputs(sample.rows.x, sample.rows.y, sample.rows.weight, sample.number, groups)
        )
    x, targets = validate_data(model, X, y, dtype=np.float64, y_numeric=True, reset=False, ensure_min_samples=2)
    weight = check_weights(sample_weight, len(x))
    return Inputs(x, targets.astype(np.float64), weight, np.arange(len(x)), groups)

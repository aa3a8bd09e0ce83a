"""Effect curves: the average mean and the typical std over the rows, if one input had the same value in all of them.

mean(v) = average of mean(x with x_j = v),    std(v) = exp(average of log std(x with x_j = v))

Known as partial dependence. The band is from the lowest to the highest member of the ensemble.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.explanation.inputs import Inputs
from heteroscope.explanation.target_units import target_moments
from heteroscope.networks import FittedEnsemble, predict_members

MOST_ROWS = 200  # rows that are averaged
POINTS = 25  # values of a numeric input
TAILS = 0.02  # of the rows beyond each end of a curve, where hardly any row tells


class EffectCurve(NamedTuple):
    """The effect of one input on the mean and on the std.

    Attributes
    ----------
    input : str
        The name of the input.
    values : ndarray of shape (n_values,)
        Its values: numbers, or the names of categories.
    mean, mean_low, mean_high : ndarray of shape (n_values,)
        The average mean, of the ensemble and of its lowest and highest member.
    std, std_low, std_high : ndarray of shape (n_values,)
        The typical std, likewise. Members have no disagreement, so that the ensemble's may lie above all of them.
    """

    input: str
    values: np.ndarray
    mean: Float[np.ndarray, " value"]
    mean_low: Float[np.ndarray, " value"]
    mean_high: Float[np.ndarray, " value"]
    std: Float[np.ndarray, " value"]
    std_low: Float[np.ndarray, " value"]
    std_high: Float[np.ndarray, " value"]


def effect_curves(
    ensemble: FittedEnsemble, inputs: Inputs, chosen: Sequence[str], feature_names: Sequence[str]
) -> list[EffectCurve]:
    """Compute the effect of inputs on mean and std.

    Parameters
    ----------
    ensemble : FittedEnsemble
        The model, from its method `ensemble`.
    inputs : Inputs
        The rows; 200 of them if there are more.
    chosen : sequence of str
        The names of the inputs.
    feature_names : sequence of str
        The names of all features: "column=category" for those of an input of categories.

    Returns
    -------
    list of EffectCurve
        One for each chosen input.
    """
    rows = inputs.take(MOST_ROWS)
    return [_curve(ensemble, inputs, rows, name, feature_names) for name in chosen]


def _curve(
    ensemble: FittedEnsemble, inputs: Inputs, rows: Inputs, name: str, feature_names: Sequence[str]
) -> EffectCurve:
    columns = inputs.groups[name]
    values, settings = _settings(inputs, columns, name, feature_names)
    share = rows.weight / rows.weight.sum()
    curves = []
    for setting in settings:
        x = rows.x.copy()
        x[:, columns] = setting
        whole = ensemble.predict(x)
        means, stds = predict_members(ensemble.members, x, ensemble.scaling, ensemble.activation)
        means = np.clip(means, *ensemble.mean_bounds)
        means, stds = target_moments(ensemble, means, ensemble.std_scale * np.minimum(stds, ensemble.widest_std))
        mean, std = target_moments(ensemble, whole.mean, whole.std)
        means, stds = means @ share, np.exp(np.log(stds) @ share)
        typical = float(np.exp(np.log(std) @ share))
        curves.append((float(mean @ share), means.min(), means.max(), typical, stds.min(), stds.max()))
    return EffectCurve(name, values, *np.array(curves).T)


def _settings(
    inputs: Inputs, columns: tuple[int, ...], name: str, feature_names: Sequence[str]
) -> tuple[np.ndarray, list[Float[np.ndarray, " column"]]]:
    """Return the values of an input for people, and as values of its columns."""
    x = inputs.x[:, columns]
    if len(columns) > 1:
        seen = [k for k in range(len(columns)) if x[:, k].any()]
        labels = [str(feature_names[columns[k]]).removeprefix(f"{name}=") for k in seen]
        return np.array(labels), list(np.eye(len(columns))[seen])
    different = np.unique(x)
    if len(different) > POINTS:
        low, high = np.quantile(x, [TAILS, 1.0 - TAILS])
        different = np.linspace(low, high, POINTS) if low < high else np.unique(np.quantile(x, [0.0, TAILS, 1.0]))
    return different, [np.array([value]) for value in different]

"""Slopes: how steeply the mean and the logarithm of the std rise with each feature, at each row, exactly.

Of the members, with s_m and f_m the std and the mean of member m, and S the std of the ensemble divided by its scale:

    grad mean = average of grad f_m
    grad log std = [average of s_m^2 grad log s_m + average of (f_m - mean) grad f_m] / S^2
"""

from typing import NamedTuple

import jax
import numpy as np
import xarray as xr
from jaxtyping import Float

from heteroscope.explanation.inputs import Inputs
from heteroscope.networks import FittedEnsemble, input_gradients, member_outputs

MOST_ROWS = 500  # rows at which slopes are averaged


class MemberSlopes(NamedTuple):
    """Means, stds and their gradients by the inputs, of each member, in the user's units.

    `free_gradient` is that of the mean before it is bounded, from which the members' disagreement follows.
    """

    free_mean: Float[np.ndarray, "member row"]
    std: Float[np.ndarray, "member row"]
    free_gradient: Float[np.ndarray, "member row feature"]
    mean_gradient: Float[np.ndarray, "member row feature"]
    log_std_gradient: Float[np.ndarray, "member row feature"]


def input_slopes(ensemble: FittedEnsemble, x: Float[np.ndarray, "row feature"]) -> xr.Dataset:
    """Compute the gradients of mean and log std by the features, at each row.

    Parameters
    ----------
    ensemble : FittedEnsemble
        The model, from its method `ensemble`.
    x : ndarray of shape (n_rows, n_features)
        The rows.

    Returns
    -------
    xarray.Dataset
        Along `row` and `feature`: `mean`, in units of the target per unit of the feature, and `log_std`, per unit of
        the feature. They are those of what `predict` returns, or of its logarithm if the networks predict that.
    """
    members = member_slopes(ensemble, x)
    mean = members.mean_gradient.mean(axis=0)
    spread = members.free_mean - members.free_mean.mean(axis=0)
    capped = spread.std(axis=0) >= ensemble.widest_std
    disagreement = np.where(capped, ensemble.widest_std**2, np.mean(spread**2, axis=0))
    variance = np.mean(members.std**2, axis=0) + disagreement
    rise = np.mean(members.std[..., None] ** 2 * members.log_std_gradient, axis=0)
    rise += np.where(capped[:, None], 0.0, np.mean(spread[..., None] * members.free_gradient, axis=0))
    return xr.Dataset({"mean": (("row", "feature"), mean), "log_std": (("row", "feature"), rise / variance[:, None])})


def slope_sizes(ensemble: FittedEnsemble, inputs: Inputs) -> xr.Dataset:
    """Compute how steep mean and log std of each member typically are along each feature.

    size = average over rows of |slope| x (std of the feature): the change for a typical step of the feature. The
    members, trained from different starts, show how far the size can be known.

    Parameters
    ----------
    ensemble : FittedEnsemble
        The model, from its method `ensemble`.
    inputs : Inputs
        The rows; 500 of them if there are more.

    Returns
    -------
    xarray.Dataset
        Along `member` and `input`: `mean`, in units of the target, and `log_std`; and `mean_sign` and `log_std_sign`
        along `input`, the average slope of the ensemble over its average size: 1 if it rises everywhere, -1 if it
        falls everywhere. An input of several features has the largest size of them, and no sign (NaN). The attribute
        `logged` is 1 if the networks predict the logarithm of the target: the slopes are then its own.
    """
    rows = inputs.take(MOST_ROWS)
    found, share = member_slopes(ensemble, rows.x), rows.weight / rows.weight.sum()
    steps = 1.0 / ensemble.scaling.input_slopes(rows.x)  # one standard deviation, in the units of the input at each row
    sizes, signs = {}, {}
    for name, gradient in (("mean", found.mean_gradient), ("log_std", found.log_std_gradient)):
        size = np.einsum("r,mrf->mf", share, np.abs(gradient) * steps)
        average = gradient.mean(axis=0)
        rise, total = share @ average, share @ np.abs(average)
        sign = np.divide(rise, total, out=np.zeros_like(rise), where=total > 0)
        columns = list(rows.groups.values())
        sizes[name] = np.stack([size[:, own].max(axis=1) for own in columns], axis=1)
        signs[name] = np.array([sign[own[0]] if len(own) == 1 else np.nan for own in columns])
    return xr.Dataset(
        {name: (("member", "input"), size) for name, size in sizes.items()}
        | {f"{name}_sign": ("input", sign) for name, sign in signs.items()},
        {"input": rows.names},
        {"n_rows": len(rows.y), "logged": int(ensemble.lognormal)},
    )


def member_slopes(ensemble: FittedEnsemble, x: Float[np.ndarray, "row feature"]) -> MemberSlopes:
    """Return the moments of each member and their gradients; a moment at its bound has none.

    The networks see standardised inputs and give a precision: log std = -log(precision) / 2 + constant.
    """
    scaling = ensemble.scaling
    means, precisions = member_outputs(ensemble.members, x, scaling, ensemble.activation)
    stds = scaling.y_scale / np.sqrt(precisions[..., 0])
    of_members = jax.vmap(input_gradients, in_axes=(0, None, None))
    gradients = of_members(ensemble.members, scaling.inputs(x), ensemble.activation)
    slopes = scaling.input_slopes(x)
    mean_gradient, precision_gradient = (np.asarray(part, np.float64) * slopes for part in gradients)
    inside = (means > ensemble.mean_bounds[0]) & (means < ensemble.mean_bounds[1])
    narrow = stds < ensemble.widest_std
    free_gradient = scaling.y_scale * mean_gradient
    return MemberSlopes(
        means,
        np.minimum(stds, ensemble.widest_std),
        free_gradient,
        np.where(inside[..., None], free_gradient, 0.0),
        np.where(narrow[..., None], -0.5 * precision_gradient / precisions, 0.0),
    )

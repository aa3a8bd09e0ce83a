"""Predict rows far outside those of the fit: widen their std, warn of them, refuse those without a finite prediction.

A model knows nothing far outside its rows. Its inputs stop at the edge of a box of twice their width (see `Scaling`),
so the mean is that of the edge. A linear trend of the standardised target has a slope of at most one along a
standardised input, so beyond the edge the mean may be wrong by up to

    y_scale * distance,    distance = |(x - x') / x_scale|

which is added to the epistemic std: std^2 = aleatoric^2 + epistemic^2 + (y_scale * distance)^2.
"""

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from heteroscope.core import FarRowsWarning, InputError, printable
from heteroscope.data import Scaling
from heteroscope.networks.ensemble import Prediction

LARGEST_STD = 1e300  # its quantiles are still numbers


def predict_with_far_rows(
    predict: Callable[[np.ndarray], Prediction],
    x: Float[np.ndarray, "point feature"],
    scaling: Scaling,
    names: Sequence[object] | np.ndarray | None,
    first: int = 1,
) -> Prediction:
    """Return `predict(x)` with a wider std for rows far outside the fit, and a warning about them.

    `names` are those of the features, or None for numbers counted from zero; `first` is the number of the first row in
    messages.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        prediction = predict(x)
    outside = scaling.outside(x)
    prediction = widen_far_rows(prediction, outside, scaling.y_scale)
    shown = [str(name) for name in (range(x.shape[1]) if names is None else names)]
    check_far_rows(prediction, x, outside, scaling, shown, first)
    return prediction


def widen_far_rows(prediction: Prediction, outside: Float[np.ndarray, "point feature"], y_scale: float) -> Prediction:
    """Return the prediction with the std of far rows widened; `outside` is that of `Scaling.outside`."""
    distance = np.hypot.reduce(outside, axis=1)
    far = distance > 0
    if not far.any():
        return prediction
    with np.errstate(over="ignore"):
        epistemic = np.where(far, np.hypot(prediction.epistemic, y_scale * distance), prediction.epistemic)
        std = np.where(far, np.hypot(prediction.aleatoric, epistemic), prediction.std)
    return prediction._replace(std=std, epistemic=epistemic)


def check_far_rows(
    prediction: Prediction,
    x: Float[np.ndarray, "point feature"],
    outside: Float[np.ndarray, "point feature"],
    scaling: Scaling,
    names: list[str],
    first: int = 1,
) -> None:
    """Warn of rows far outside the fit, with their number; raise an `InputError` for one that cannot be predicted.

    `first` is the number of the first row in messages.
    """

    def place(row: int) -> str:
        column = int(np.argmax(outside[row]))
        seen = f"the fit saw {scaling.x_low[column]:.6g} to {scaling.x_high[column]:.6g}"
        return f"row {first + row:,} with {x[row, column]:.6g} in column {printable(names[column], 60)!r} ({seen})"

    good = np.isfinite(prediction.mean) & (prediction.std > 0) & (prediction.std < LARGEST_STD)
    if not good.all():
        row = int(np.argmin(good))
        if not outside[row].any():
            raise InputError(f"the model predicts no number for row {first + row:,}: fit it again, or correct the row")
        raise InputError(f"{place(row)} is too far outside the rows of the fit to be predicted: correct it")
    far = outside.any(axis=1)
    if far.any():
        warnings.warn(
            f"{far.sum():,} of {len(x):,} rows lie far outside the rows of the fit, the first is "
            f"{place(int(np.argmax(far)))}: their std is widened, and their mean is that of the nearest edge",
            FarRowsWarning,
            stacklevel=5,
        )

"""The measures that the page can show: name, label, explanation and range of colours of each."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

ROBUST = (0.02, 0.98)  # colours run between these quantiles, so that a few extreme cells do not take most colours


class Measure(NamedTuple):
    """A quantity with one value per cell (and per split, for scores).

    `group` is the heading in the page's list and `what` the explanation below it. `scale` of the colours is "log" for
    positive values and "asinh", linear near zero and logarithmic beyond, for values of both signs. `window` limits
    the range of colours: values outside are rounding errors or overflows. `shared`: networks and theory measure the
    same thing in the same unit, so they share one range of colours.
    """

    name: str
    label: str
    group: str
    what: str
    scale: str = "log"
    window: tuple[float, float] = (1e-6, 1e6)
    shared: bool = True


MEASURES = (
    Measure("mean_mse", "mean MSE", "Scores", "average squared residual; 1 is the constant model", window=(1e-6, 1e2)),
    Measure("std_mse", "std MSE", "Scores", "average of (std - |residual|)²", window=(1e-6, 1e2)),
    Measure("ece", "ECE", "Scores", "expected calibration error; 1/4 if the std is zero", window=(1e-3, 0.5)),
    Measure("nll", "NLL", "Scores", "average negative log likelihood per row", "asinh", (-10.0, 10.0)),
    Measure("crps", "CRPS", "Scores", "continuous ranked probability score", window=(1e-3, 1e2)),
    Measure(
        "squared_score",
        "squared score",
        "Scores",
        "average (residual / std)²; 1 if the std is right",
        window=(1e-3, 1e6),
    ),
    Measure("mean_energy", "energy of the mean", "Energies", "average squared slope", shared=False),
    Measure(
        "precision_energy",
        "energy of the precision",
        "Energies",
        "average squared slope",
        shared=False,
    ),
    Measure("mean_spread", "spread of the mean", "Energies", "its std over the training rows; 1 is the target's"),
    Measure("log_precision_spread", "spread of log precision", "Energies", "its std over the training rows"),
    Measure("objective", "objective", "Training", "value that training minimised", "asinh", (-1e4, 1e4), False),
    Measure(
        "relative_gradient",
        "relative gradient",
        "Training",
        "0 at a minimum",
        window=(1e-12, 1e3),
        shared=False,
    ),
    Measure("steps", "steps", "Training", "number of training steps", window=(1.0, 1e9), shared=False),
)


def colour_limits(values: Float[np.ndarray, "..."], scale: str, window: tuple[float, float]) -> tuple[float, float]:
    """Return the range of colours: quantiles of the finite values, limited to the window and never empty."""
    found = values[np.isfinite(values) & ((values > 0) | (scale != "log"))]
    if not found.size:
        return (0.1, 1.0) if scale == "log" else (0.0, 1.0)
    low, high = (float(end) for end in np.quantile(found, ROBUST))
    if high > window[0] and low < window[1]:
        low, high = max(low, window[0]), min(high, window[1])
    if scale == "log":
        return (low, high) if high > 1.05 * low else (low / 2, high * 2)
    return (low, high) if high - low > 0.05 else (low - 0.5, high + 0.5)

"""What the page can show of a cell, under which name, and between which values its colours run."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

ROBUST = (0.02, 0.98)  # quantiles between which colours run, so that a few wild cells do not use them up


class Measure(NamedTuple):
    """One number a cell. Colours run within `window`, which leaves out what is only rounding or only explosion.

    `scale` is log for what is positive and asinh for what may be negative: linear around zero, logarithmic far out.
    `shared`: networks and theory measure the same thing in the same unit, and share one colour scale.
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
    Measure("ece", "ECE", "Scores", "expected calibration error; 1/4 where the std vanishes", window=(1e-3, 0.5)),
    Measure("nll", "NLL", "Scores", "Gaussian negative log likelihood of a row", "asinh", (-10.0, 10.0)),
    Measure("crps", "CRPS", "Scores", "continuous ranked probability score", window=(1e-3, 1e2)),
    Measure("squared_score", "squared score", "Scores", "average (residual / std)²; 1 is honest", window=(1e-3, 1e6)),
    Measure("mean_energy", "energy of the mean", "Energies", "its average squared slope", shared=False),
    Measure("precision_energy", "energy of the precision", "Energies", "its average squared slope", shared=False),
    Measure("log_precision_spread", "spread of log precision", "Energies", "its std over the training rows"),
    Measure("objective", "objective", "Training", "what the training minimised", "asinh", (-1e4, 1e4), False),
    Measure("relative_gradient", "relative gradient", "Training", "0 at a minimum", window=(1e-12, 1e3), shared=False),
    Measure("steps", "steps", "Training", "training steps", window=(1.0, 1e9), shared=False),
)


def colour_limits(values: Float[np.ndarray, "..."], scale: str, window: tuple[float, float]) -> tuple[float, float]:
    """The robust range of the finite values within the window; of none, or of a single value, one that can be drawn."""
    found = values[np.isfinite(values) & ((values > 0) | (scale != "log"))]
    if not found.size:
        return (0.1, 1.0) if scale == "log" else (0.0, 1.0)
    low, high = (float(end) for end in np.quantile(found, ROBUST))
    if high > window[0] and low < window[1]:
        low, high = max(low, window[0]), min(high, window[1])
    if scale == "log":
        return (low, high) if high > 1.05 * low else (low / 2, high * 2)
    return (low, high) if high - low > 0.05 else (low - 0.5, high + 0.5)

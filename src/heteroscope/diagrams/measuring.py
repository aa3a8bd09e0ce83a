"""Measure what a diagram keeps of each trained network: scores on all rows, slopes, and predictions at some rows."""

from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from heteroscope.diagrams.dataset import kept_rows, score
from heteroscope.diagrams.resumable_store import CODES, encode_words
from heteroscope.diagrams.sources import DiagramRows
from heteroscope.networks import AnyArray, Params, input_gradients, padded_blocks, predict_mean, predict_precision
from heteroscope.training import Fit


def measure(fits: list[Fit], data: DiagramRows, activation: str) -> dict[str, np.ndarray]:
    """Return everything that a diagram keeps of a tile's models; the first axis of each array is the model."""
    measured = [_measure_one(fit, data, activation) for fit in fits]
    values = {key: [one[key] for one in measured] for key in measured[0]}
    return {key: encode_words(key, value) if key in CODES else np.array(value) for key, value in values.items()}


def _measure_one(fit: Fit, data: DiagramRows, activation: str) -> dict[str, Any]:
    """Score one model on every split, and predict the kept rows."""
    outputs = {split: evaluate(fit.params, x, activation) for split, x in data.inputs.items()}
    means = {split: part.mean for split, part in outputs.items()}
    stds = {split: part.std for split, part in outputs.items()}
    with np.errstate(invalid="ignore", over="ignore"):
        values = score(data.targets, means, stds, fit.status)
    kept = {split: kept_rows(len(mean)) for split, mean in means.items()}
    return values | {
        "mean_energy": [part.mean_energy for part in outputs.values()],
        "precision_energy": [part.precision_energy for part in outputs.values()],
        "status": str(fit.status),
        "objective": fit.objective,
        "relative_gradient": fit.relative_gradient,
        "steps": fit.steps,
        "mean": np.concatenate([means[split][rows] for split, rows in kept.items()]),
        "std": np.concatenate([stds[split][rows] for split, rows in kept.items()]),
    }


class Outputs(NamedTuple):
    """The predictions of one model for some rows, and the average squared slopes of its mean and precision there."""

    mean: Float[np.ndarray, "_"]
    std: Float[np.ndarray, "_"]
    mean_energy: float
    precision_energy: float


def evaluate(params: Params, x: Float[np.ndarray, "_ feature"], activation: str) -> Outputs:
    """Evaluate one model at standardised rows."""
    parts = [
        [part[:n_rows] for part in jax.device_get(_outputs(params, block, activation))]
        for block, n_rows in padded_blocks(x)
    ]
    mean, precision, *slopes = [np.concatenate(part).astype(np.float64) for part in zip(*parts, strict=True)]
    return Outputs(mean, precision**-0.5, float(np.mean(slopes[0])), float(np.mean(slopes[1])))


@partial(jax.jit, static_argnames="activation")
def _outputs(params: Params, x: Float[AnyArray, "_ feature"], activation: str) -> tuple[jax.Array, ...]:
    """Return mean, precision and the squared input gradients of both at every row."""
    slopes = input_gradients(params, x, activation)
    squared_slopes = ((slope**2).sum(axis=1) for slope in slopes)
    return predict_mean(params, x, activation), predict_precision(params, x, activation), *squared_slopes

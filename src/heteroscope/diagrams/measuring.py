"""What a diagram keeps of each trained network: its scores on all rows, its slopes, and its outputs on some."""

from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from heteroscope.diagrams.dataset import kept_rows, score
from heteroscope.diagrams.sources import DiagramRows
from heteroscope.diagrams.store import CODES, encode_words
from heteroscope.networks import AnyArray, Params, input_gradients, padded_blocks, predict_mean, predict_precision
from heteroscope.training import Fit


def measure(fits: list[Fit], data: DiagramRows, activation: str) -> dict[str, np.ndarray]:
    """Everything that a diagram keeps of a tile's models, one entry a model along the first axis of each array."""
    found = [_measure_one(fit, data, activation) for fit in fits]
    values = {key: [one[key] for one in found] for key in found[0]}
    return {key: encode_words(key, value) if key in CODES else np.array(value) for key, value in values.items()}


def _measure_one(fit: Fit, data: DiagramRows, activation: str) -> dict[str, Any]:
    seen = {split: evaluate(fit.params, x, activation) for split, x in data.inputs.items()}
    means = {split: part.mean for split, part in seen.items()}
    stds = {split: part.std for split, part in seen.items()}
    with np.errstate(invalid="ignore", over="ignore"):
        found = score(data.targets, means, stds, fit.status)
    kept = {split: kept_rows(len(mean)) for split, mean in means.items()}
    return found | {
        "mean_energy": [part.mean_energy for part in seen.values()],
        "precision_energy": [part.precision_energy for part in seen.values()],
        "status": str(fit.status),
        "objective": fit.objective,
        "relative_gradient": fit.relative_gradient,
        "steps": fit.steps,
        "mean": np.concatenate([means[split][rows] for split, rows in kept.items()]),
        "std": np.concatenate([stds[split][rows] for split, rows in kept.items()]),
    }


class Outputs(NamedTuple):
    """What one model says of some rows, and the average squared slopes of its mean and precision there."""

    mean: Float[np.ndarray, "_"]
    std: Float[np.ndarray, "_"]
    mean_energy: float
    precision_energy: float


def evaluate(params: Params, x: Float[np.ndarray, "_ feature"], activation: str) -> Outputs:
    """One model on rows that are standardised already."""
    parts = [
        [part[:n_rows] for part in jax.device_get(_outputs(params, block, activation))]
        for block, n_rows in padded_blocks(x)
    ]
    mean, precision, *slopes = [np.concatenate(part).astype(np.float64) for part in zip(*parts, strict=True)]
    return Outputs(mean, precision**-0.5, float(np.mean(slopes[0])), float(np.mean(slopes[1])))


@partial(jax.jit, static_argnames="activation")
def _outputs(params: Params, x: Float[AnyArray, "_ feature"], activation: str) -> tuple[jax.Array, ...]:
    slopes = input_gradients(params, x, activation)
    squares = ((slope**2).sum(axis=1) for slope in slopes)
    return predict_mean(params, x, activation), predict_precision(params, x, activation), *squares

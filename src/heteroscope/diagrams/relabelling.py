"""Label the cells of a diagram anew from the numbers that it keeps, without its rows and without training."""

import numpy as np
import xarray as xr
from jaxtyping import Bool

from heteroscope.core import InputError, Status
from heteroscope.diagrams.dataset import CELL, CONSTANT_SCORES
from heteroscope.phases import HeldOut, Observables, label

_NEEDED = ("mean_spread", *(f"constant_{name}" for name in CONSTANT_SCORES))


def relabel(diagram: xr.Dataset) -> xr.Dataset:
    """Label every cell anew by today's rule.

    Parameters
    ----------
    diagram : xarray.Dataset
        What `phase_diagram` or `field_diagram` returned, with or without its rows.

    Returns
    -------
    xarray.Dataset
        The same diagram with new labels. Runaways of the theory have no numbers and keep theirs.
    """
    missing = [name for name in _NEEDED if name not in diagram]
    if missing:
        raise InputError(f"the diagram has no {missing[0]!r}, so it cannot be labelled anew: make it again")
    status = diagram["status"].transpose(*CELL).values.astype(str)
    labels = diagram["phase"].transpose(*CELL).values.astype(object)
    known = status != ""
    if diagram.attrs.get("source") == "field theory":
        known &= status != Status.RUNAWAY
    for cell, found in zip(np.argwhere(known), observables(diagram, known), strict=True):
        labels[tuple(cell)] = str(label(found, runaway=status[tuple(cell)] == Status.RUNAWAY))
    return diagram.assign(phase=(CELL, labels.astype(str)))


def observables(diagram: xr.Dataset, which: Bool[np.ndarray, "rho gamma seed"]) -> list[Observables]:
    """Return the observables of the chosen cells, in the order of `np.argwhere(which)`.

    If the scores of the constant model on test rows are NaN, nothing is said of held-out rows.
    """

    def chosen(name: str) -> np.ndarray:
        values = diagram[name].transpose(*CELL, ...).values[which].astype(float)
        return values if values.ndim == 1 else values.T  # splits first

    mse, std_mse, nll, scores = (chosen(name) for name in ("mean_mse", "std_mse", "nll", "squared_score"))
    constant_mse, constant_nll = (diagram[f"constant_{name}"].values.astype(float) for name in CONSTANT_SCORES)
    has_residuals = mse[0] > 0
    std_mismatch = np.where(has_residuals, std_mse[0] / np.where(has_residuals, mse[0], 1.0), np.inf)
    training = (
        chosen("mean_spread"),
        mse[0] / constant_mse[0],
        chosen("log_precision_spread"),
        std_mismatch,
        scores[0],
    )
    found = [
        Observables(float(spread), float(share), float(log_spread), float(mismatch), float(score))
        for spread, share, log_spread, mismatch, score in zip(*training, strict=True)
    ]
    if len(mse) == 1 or not np.isfinite(constant_nll[1]):
        return found
    held_out = zip(scores[1], mse[1] / constant_mse[1], constant_nll[1] - nll[1], strict=True)
    return [one._replace(held_out=HeldOut(*map(float, test))) for one, test in zip(found, held_out, strict=True)]

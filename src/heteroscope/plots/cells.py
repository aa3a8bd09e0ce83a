"""Read from a diagram what its figures draw: values over seeds, the most frequent phase of each cell, the fold."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Shaped
from scipy.special import expit, logit

from heteroscope.core import InputError, Status, cell_borders
from heteroscope.diagrams import CELL, majority_kind, majority_phase, std_over_seeds

Diagrams = xr.Dataset | Mapping[str, xr.Dataset]
GridValues = Float[np.ndarray, "rho gamma"]

LOST = (Status.RUNAWAY, Status.NOT_FINITE)  # endings without a usable model
LARGEST = 1e150  # infinities are drawn as this value, whose square is still finite


def by_name(diagrams: Diagrams) -> dict[str, xr.Dataset]:
    """Return each diagram under its name; a single Dataset has the name of its data set."""
    if isinstance(diagrams, xr.Dataset):  # a Dataset is a Mapping, too
        return {str(diagrams.attrs.get("data_set", "")): diagrams}
    if not diagrams:
        raise InputError("there is no diagram to draw: give a Dataset, or a dictionary of names and Datasets")
    return dict(diagrams)


class Cells(NamedTuple):
    """A diagram summarised over its seeds. `kind` holds names of `KINDS`, or "" where no seed has finished."""

    rho: Float[np.ndarray, " rho"]
    gamma: Float[np.ndarray, " gamma"]
    kind: Shaped[np.ndarray, "rho gamma"]
    agreement: GridValues  # share of the finished seeds that are in that phase
    lost: Bool[np.ndarray, "rho gamma"]  # whether more than half of the finished seeds are runaway or not finite
    fold: Float[np.ndarray, "2 fold"]  # rho and gamma along the fold; empty if it is not known, or for networks
    is_theory: bool = False

    @property
    def rho_edges(self) -> Float[np.ndarray, " edge"]:
        """Borders of the cells along rho."""
        return edges(self.rho)

    @property
    def gamma_edges(self) -> Float[np.ndarray, " edge"]:
        """Borders of the cells along gamma."""
        return edges(self.gamma)


def read_cells(diagram: xr.Dataset) -> Cells:
    """Summarise a diagram over its seeds."""
    cell = diagram[["phase", "status"]].transpose(*CELL)
    majority = majority_phase(diagram).transpose("rho", "gamma").values.astype(str)
    phase, status = (cell[name].values.astype(str) for name in ("phase", "status"))
    n_finished = (status != "").sum(axis=2)
    return Cells(
        rho=diagram["rho"].values.astype(float),
        gamma=diagram["gamma"].values.astype(float),
        kind=majority_kind(diagram).transpose("rho", "gamma").values.astype(str),
        agreement=((phase == majority[..., None]) & (phase != "")).sum(axis=2) / np.maximum(n_finished, 1),
        lost=2 * np.isin(status, LOST).sum(axis=2) > n_finished,
        fold=_fold(diagram),
        is_theory=diagram.attrs.get("source") == "field theory",
    )


def _fold(diagram: xr.Dataset) -> Float[np.ndarray, "2 fold"]:
    """Return the fold, extended to the borders of the outer cells along straight lines in the logits."""
    if "fold_rho" not in diagram:
        return np.empty((2, 0))
    curve = logit(np.array([diagram["fold_rho"], diagram["fold_gamma"]], dtype=float))
    rho, gamma = curve[:, np.isfinite(curve).all(axis=0)]
    if not len(gamma):
        return np.empty((2, 0))
    low, high = logit(edges(expit(gamma))[[0, -1]])
    slope = np.diff(rho) / np.diff(gamma) if len(gamma) > 1 else np.zeros(1)
    first, last = rho[0] + (low - gamma[0]) * slope[0], rho[-1] + (high - gamma[-1]) * slope[-1]
    return expit(np.array([[first, *rho, last], [low, *gamma, high]]))


def summarised(diagram: xr.Dataset, metric: str, split: str, statistic: str = "mean") -> GridValues:
    """Return the mean or standard deviation of a metric over the seeds that have a value; NaN where none has one."""
    if statistic not in ("mean", "std"):
        raise InputError(f"statistic={statistic!r}: choose 'mean' or 'std' over seeds")
    values = by_seed(diagram, metric, split)
    if statistic == "mean":
        return values.mean("seed").values
    return std_over_seeds(values).where(values.notnull().sum("seed") > 1).values


def by_seed(diagram: xr.Dataset, metric: str, split: str) -> xr.DataArray:
    """Return a metric over rho, gamma and seed, clipped to +-LARGEST."""
    known = [str(name) for name, one in diagram.data_vars.items() if _is_metric(one)]
    if metric not in known:
        raise InputError(f"the diagram has no metric {metric!r}: choose one of {', '.join(known)}")
    values = diagram[metric].astype(float)
    if "split" in values.dims:
        values = values.sel(split=shown_split(diagram, split))
    return values.clip(-LARGEST, LARGEST).transpose(*CELL)


def _is_metric(values: xr.DataArray) -> bool:
    return values.dtype.kind in "fi" and set(CELL) <= set(values.dims) <= {*CELL, "split"}


def shown_split(diagram: xr.Dataset, split: str) -> str:
    """Return the split if the diagram has it, else "train"; figures say which one they show."""
    if split not in ("train", "test"):
        raise InputError(f"split={split!r}: choose 'train' or 'test'")
    return split if split in diagram["split"].values else "train"


def edges(values: Float[np.ndarray, " value"]) -> Float[np.ndarray, " edge"]:
    """Return the borders of cells: half way between neighbours in the logit.

    Parameters
    ----------
    values : array of shape (value,)
        Increasing values of rho or gamma, between 0 and 1.

    Returns
    -------
    array of shape (value + 1,)
        The outer borders are as far from the first and last values as the borders next to them.
    """
    return expit(cell_borders(logit(values)))

"""Find smooth boundaries between the phases of a diagram, and a typical cell of each phase."""

from typing import NamedTuple

import numpy as np
import xarray as xr
from contourpy import contour_generator
from jaxtyping import Bool, Float, Int, Shaped
from scipy.interpolate import RegularGridInterpolator
from scipy.ndimage import distance_transform_edt, gaussian_filter
from scipy.special import expit, logit

from heteroscope.diagrams import KINDS, S_ADAPTS, S_CONSTANT
from heteroscope.phases import Phase
from heteroscope.plots.cells import Cells, edges

FINE = 200  # points along each axis of the fine grid on which boundaries are smoothed
AS_WELL = 1.05  # test MSE over training MSE of a mean that has memorised nothing
BLUR = 0.6  # standard deviation of the smoothing, in median distances between neighbouring cells


class Regions(NamedTuple):
    """Phases, and kinds of S, on a fine grid that is even in the logit.

    `code` is an index into KINDS, or -1 where no model has finished. `boundaries` are lines of (rho, gamma) between
    phases, without the fold.
    """

    rho: Float[np.ndarray, " fine_rho"]
    gamma: Float[np.ndarray, " fine_gamma"]
    code: Int[np.ndarray, "fine_rho fine_gamma"]
    boundaries: list[Float[np.ndarray, "_ 2"]]


def smooth_regions(cells: Cells) -> Regions:
    """Return the phase at each point of a fine grid, and smooth lines between phases.

    Each phase has a weight: 1 in its cells and 0 in others, linear between cell centres, smoothed by less than a cell.
    A point is in the phase of the largest weight, so that boundaries run half way between neighbouring cells. Beyond a
    fold the phase is O_I; the cells there do not count on this side of the fold.
    """
    beyond = cells.lost if cells.fold.size else np.zeros_like(cells.lost)
    kind = _nearest(cells.kind, ~beyond)
    axes = (_padded(cells.rho), _padded(cells.gamma))
    fine = [np.linspace(z[0], z[-1], FINE) for z in axes]
    points = np.stack(np.meshgrid(*fine, indexing="ij"), axis=-1)
    width = [BLUR * np.median(np.diff(z)) / (line[1] - line[0]) for z, line in zip(axes, fine, strict=True)]

    def weight(one: str) -> Float[np.ndarray, "fine_rho fine_gamma"]:
        linear = RegularGridInterpolator(axes, np.pad(kind == one, 1, mode="edge").astype(float))
        return gaussian_filter(linear(points), width, mode="nearest")

    weights = np.stack([weight(one) for one in (*KINDS, "")])
    code = weights.argmax(axis=0)
    hidden = code == len(KINDS)
    if cells.fold.size:
        past = fine[0][:, None] > np.interp(fine[1], *logit(cells.fold[::-1]))[None, :]
        code = np.where(past, KINDS.index(Phase.O_I), code)
        hidden |= past
    return Regions(
        rho=expit(fine[0]),
        gamma=expit(fine[1]),
        code=np.where(code == len(KINDS), -1, code),
        boundaries=[expit(line) for line in _contours(fine[0], fine[1], weights, hidden)],
    )


def _nearest(kind: Shaped[np.ndarray, "rho gamma"], kept: Bool[np.ndarray, "rho gamma"]) -> np.ndarray:
    """Replace the kind of each cell that is not kept by that of the nearest kept cell."""
    if not kept.any():
        return kind
    row, column = distance_transform_edt(~kept, return_distances=False, return_indices=True)
    return kind[row, column]


def _contours(
    x: Float[np.ndarray, " fine_rho"],
    y: Float[np.ndarray, " fine_gamma"],
    weights: Float[np.ndarray, "phase fine_rho fine_gamma"],
    hidden: Bool[np.ndarray, "fine_rho fine_gamma"],
) -> list[Float[np.ndarray, "_ 2"]]:
    """Return the lines where a phase's weight equals the largest other one; a line appears once for each side."""
    lines: list[np.ndarray] = []
    for k, own in enumerate(weights[:-1]):
        lead = np.ma.array(own - np.delete(weights, k, axis=0).max(axis=0), mask=hidden)
        lines += [np.array(line) for line in contour_generator(x, y, lead.T).lines(0.0)]
    return lines


def _padded(values: Float[np.ndarray, " value"]) -> Float[np.ndarray, " padded"]:
    """Return the logits of the cells, with the outer borders at both ends."""
    outer = logit(edges(values)[[0, -1]])
    return np.concatenate([outer[:1], logit(values), outer[1:]])


def typical_cells(diagram: xr.Dataset, cells: Cells) -> dict[str, tuple[int, int]]:
    """Return for each phase in the diagram the cell farthest from its boundary; of several, the nearest to its centre.

    There is one S, whose std adapts if that of any cell does. Cells in none of the five phases are left out. Preferred
    are, in O_I, runaways of a field theory, where residuals and std vanish; in O_II, means that explain new rows as
    well as their own; elsewhere, cells with finite predictions.
    """
    drawable = diagram["mean"].notnull().all("row").any("seed").transpose("rho", "gamma").values
    if cells.fold.size:
        drawable &= ~cells.lost
    preferred: dict[str, np.ndarray] = {
        Phase.O_I: cells.lost if cells.fold.size else drawable,
        Phase.O_II: drawable & _forgets(diagram),
    }
    found: dict[str, tuple[int, int]] = {}
    good = S_ADAPTS if (cells.kind == S_ADAPTS).any() else S_CONSTANT
    for kind in (Phase.U_I, Phase.U_II, good, Phase.O_II, Phase.O_I):
        inside = cells.kind == kind
        choices = (inside & preferred.get(kind, drawable), inside & drawable)
        region = next((one for one in choices if one.any()), inside)
        if region.any():
            depth = distance_transform_edt(np.pad(region, 1))[1:-1, 1:-1]
            deepest = np.argwhere(depth == depth.max())
            offset = deepest - np.argwhere(region).mean(axis=0)
            row, column = deepest[np.argmin(np.sum(offset**2, axis=1))]
            found[str(kind)] = int(row), int(column)
    return found


def _forgets(diagram: xr.Dataset) -> Bool[np.ndarray, "rho gamma"]:
    """Return where the mean's residuals on test rows are those on training rows, within AS_WELL."""
    mse = diagram["mean_mse"].mean("seed").transpose("rho", "gamma", "split").values
    return mse[..., -1] < AS_WELL * mse[..., 0]

"""From cells to regions: smooth boundaries between phases, and the cell that stands for each."""

from typing import NamedTuple

import numpy as np
import xarray as xr
from contourpy import contour_generator
from jaxtyping import Bool, Float, Int, Shaped
from scipy.interpolate import RegularGridInterpolator
from scipy.ndimage import distance_transform_edt, gaussian_filter
from scipy.special import expit, logit

from heteroscope.diagrams import PHASES
from heteroscope.phases import Phase
from heteroscope.plots.cells import Cells, edges

FINE = 200  # points a side of the grid on which boundaries are smoothed
BLUR = 0.6  # width of that smoothing, in typical distances between neighbouring cells


class Regions(NamedTuple):
    """Phases on a fine grid even in the logit: `code` is a place in PHASES, or -1 where nothing has finished.

    `boundaries` are lines of (rho, gamma) between phases; where a fold is known, it is the boundary and none of these.
    """

    rho: Float[np.ndarray, " fine_rho"]
    gamma: Float[np.ndarray, " fine_gamma"]
    code: Int[np.ndarray, "fine_rho fine_gamma"]
    boundaries: list[Float[np.ndarray, "_ 2"]]


def smooth_regions(cells: Cells) -> Regions:
    """Which phase is ahead at each point, blurred by less than a cell.

    A cell votes for its phase; between cells votes are linear, so that boundaries run half way between neighbours.
    Beyond a fold everything is O_I, and the cells there have no vote on this side of it.
    """
    beyond = cells.lost if cells.fold.size else np.zeros_like(cells.lost)
    phase = _nearest(cells.phase, ~beyond)
    axes = (_padded(cells.rho), _padded(cells.gamma))
    fine = [np.linspace(z[0], z[-1], FINE) for z in axes]
    points = np.stack(np.meshgrid(*fine, indexing="ij"), axis=-1)
    width = [BLUR * np.median(np.diff(z)) / (line[1] - line[0]) for z, line in zip(axes, fine, strict=True)]

    def votes(one: str) -> Float[np.ndarray, "fine_rho fine_gamma"]:
        linear = RegularGridInterpolator(axes, np.pad(phase == one, 1, mode="edge").astype(float))
        return gaussian_filter(linear(points), width, mode="nearest")

    found = np.stack([votes(one) for one in (*PHASES, "")])
    code = found.argmax(axis=0)
    hidden = code == len(PHASES)
    if cells.fold.size:
        past = fine[0][:, None] > np.interp(fine[1], *logit(cells.fold[::-1]))[None, :]
        code = np.where(past, PHASES.index(Phase.O_I), code)
        hidden |= past
    return Regions(
        rho=expit(fine[0]),
        gamma=expit(fine[1]),
        code=np.where(code == len(PHASES), -1, code),
        boundaries=[expit(line) for line in _contours(fine[0], fine[1], found, hidden)],
    )


def _nearest(phase: Shaped[np.ndarray, "rho gamma"], kept: Bool[np.ndarray, "rho gamma"]) -> np.ndarray:
    """Each cell that is not kept takes the phase of the nearest one that is."""
    if not kept.any():
        return phase
    row, column = distance_transform_edt(~kept, return_distances=False, return_indices=True)
    return phase[row, column]


def _contours(
    x: Float[np.ndarray, " fine_rho"],
    y: Float[np.ndarray, " fine_gamma"],
    votes: Float[np.ndarray, "phase fine_rho fine_gamma"],
    hidden: Bool[np.ndarray, "fine_rho fine_gamma"],
) -> list[Float[np.ndarray, "_ 2"]]:
    """Where a phase is level with the best other one; a line between two phases appears once for each."""
    lines: list[np.ndarray] = []
    for k, own in enumerate(votes[:-1]):
        lead = np.ma.array(own - np.delete(votes, k, axis=0).max(axis=0), mask=hidden)
        lines += [np.array(line) for line in contour_generator(x, y, lead.T).lines(0.0)]
    return lines


def _padded(values: Float[np.ndarray, " value"]) -> Float[np.ndarray, " padded"]:
    """Logits of the cells with the outer borders at both ends."""
    outer = logit(edges(values)[[0, -1]])
    return np.concatenate([outer[:1], logit(values), outer[1:]])


def typical_cells(diagram: xr.Dataset, cells: Cells) -> dict[Phase, tuple[int, int]]:
    """Of each phase that is there, the cell furthest inside, and of several the nearest to the middle.

    Cells that have a fit to show come first: a field theory's runaways have none.
    """
    drawable = diagram["mean"].notnull().all("row").any("seed").transpose("rho", "gamma").values
    if cells.fold.size:
        drawable &= ~cells.lost
    found = {}
    for phase in PHASES:
        inside = cells.phase == phase
        region = inside & drawable if (inside & drawable).any() else inside
        if region.any():
            depth = distance_transform_edt(np.pad(region, 1))[1:-1, 1:-1]
            deepest = np.argwhere(depth == depth.max())
            offset = deepest - np.argwhere(region).mean(axis=0)
            row, column = deepest[np.argmin(np.sum(offset**2, axis=1))]
            found[phase] = int(row), int(column)
    return found

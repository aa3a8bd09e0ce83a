"""Rows that deserve a look: those that their forecast misses by far, and those with few others near them."""

from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float
from sklearn.neighbors import NearestNeighbors

from heteroscope.data import Scaling
from heteroscope.explanation.inputs import Inputs

MOST_SHOWN = 8  # rows of each kind
UNLIKELY = 0.01  # expected number of rows with so small a tail probability among all rows, below which one is named
NEIGHBOURS = 5  # the distance of a row is that to the fifth nearest other row
FAR = 4.0  # times the typical distance of a row to its neighbours
MOST_ROWS = 3000  # rows among which neighbours are sought


class MissedRow(NamedTuple):
    """A held-out row that its forecast misses by far; `chance` is the number of such rows among all if it is right."""

    number: int | None
    y: float
    mean: float
    std: float
    score: float
    chance: float


class FarRow(NamedTuple):
    """A row far from all others; `distance` in typical distances, and its most unusual input with how unusual it is."""

    number: int | None
    distance: float
    input: str
    value: float
    deviation: float


def missed_rows(rows: xr.Dataset) -> list[MissedRow]:
    """Find held-out rows with a target that is hardly possible by its forecast.

    chance = n min(1, 2 min(u, 1 - u)) with the PIT u: the expected number of rows as extreme among n rows.

    Parameters
    ----------
    rows : xarray.Dataset
        What `held_out_forecasts` has returned.

    Returns
    -------
    list of MissedRow
        Those with a chance below 0.01, the most extreme first; at most eight.
    """
    pit = rows["pit"].values
    chance = len(pit) * 2.0 * np.minimum(pit, 1.0 - pit)
    size = np.abs(rows["score"].values)
    found = np.flatnonzero(chance < UNLIKELY)
    found = found[np.argsort(-size[found], kind="stable")][:MOST_SHOWN]
    return [
        MissedRow(
            number=int(rows["number"][k]) if "number" in rows else None,
            y=float(rows["y"][k]),
            mean=float(rows["mean"][k]),
            std=float(rows["std"][k]),
            score=float(rows["score"][k]),
            chance=float(chance[k]),
        )
        for k in found.tolist()
    ]


def far_rows(inputs: Inputs, scaling: Scaling) -> list[FarRow]:
    """Find rows with few others near them: there, a model extrapolates.

    distance = distance to the fifth nearest other row, with inputs in units of their std, over its median.

    Parameters
    ----------
    inputs : Inputs
        The rows; 3,000 of them if there are more.
    scaling : Scaling
        Centre and scale of the inputs.

    Returns
    -------
    list of FarRow
        Those of more than four times the typical distance, the farthest first; at most eight.
    """
    rows = inputs.take(MOST_ROWS)
    if len(rows.y) <= 2 * NEIGHBOURS:
        return []
    z = scaling.standardised(rows.x)
    distance = _typical_distances(z)
    found = np.flatnonzero(distance > FAR)
    found = found[np.argsort(-distance[found], kind="stable")][:MOST_SHOWN]
    return [_far_row(rows, z, k, float(distance[k])) for k in found.tolist()]


def _far_row(rows: Inputs, z: Float[np.ndarray, "row feature"], k: int, distance: float) -> FarRow:
    column = int(np.argmax(np.abs(z[k])))
    name = next(name for name, own in rows.groups.items() if column in own)
    number = None if rows.number is None else int(rows.number[k])
    return FarRow(number, distance, name, float(rows.x[k, column]), float(z[k, column]))


def _typical_distances(z: Float[np.ndarray, "row feature"]) -> Float[np.ndarray, " row"]:
    """Return the distance of each row to its fifth nearest other row, over the median of these distances."""
    found, _ = NearestNeighbors(n_neighbors=NEIGHBOURS + 1).fit(z).kneighbors(z)
    distance = found[:, -1]
    typical = np.median(distance[distance > 0]) if (distance > 0).any() else 1.0
    return distance / typical

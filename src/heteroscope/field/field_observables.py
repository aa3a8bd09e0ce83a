"""What a diagram shows of each cell's fields: the four observables of the paper.

    average r^2,   average (precision^-1/2 - |r|)^2,   f'K f / (n - 1) for f = mean and f = precision,   r = mean - y

The last two are the fields' Dirichlet energies. A runaway has no fields, so its observables are NaN: a heat map must
hatch it and never colour it as a value.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.core import Status
from heteroscope.distributions import mean_mse, std_mse
from heteroscope.field.grid import GridSolution
from heteroscope.field.lattice import Field, Lattice


class FieldObservables(NamedTuple):
    """One number a cell for each observable."""

    mean_mse: Float[np.ndarray, "*cell"]
    std_mse: Float[np.ndarray, "*cell"]
    mean_energy: Float[np.ndarray, "*cell"]
    precision_energy: Float[np.ndarray, "*cell"]


def observables(lattice: Lattice, y: Field, grid: GridSolution) -> FieldObservables:
    """The observables of every cell; averages weigh the points as the free energy does."""
    values = np.full((4, *grid.status.shape), np.nan)
    for cell in np.ndindex(grid.status.shape):
        if grid.status[cell] != Status.RUNAWAY:
            values[(slice(None), *cell)] = _of_cell(lattice, y, grid.mean[cell], grid.precision[cell])
    return FieldObservables(*values)


def _of_cell(lattice: Lattice, y: Field, mean: Field, precision: Field) -> tuple[float, float, float, float]:
    std, gaps = precision**-0.5, len(y) - 1
    return (
        mean_mse(y, mean, std, sample_weight=lattice.weights),
        std_mse(y, mean, std, sample_weight=lattice.weights),
        lattice.dirichlet(mean) / gaps,
        lattice.dirichlet(precision) / gaps,
    )

"""What a diagram shows of each cell's fields: the four observables of the paper.

    average r^2,   average (precision^-1/2 - |r|)^2,   f'K f / (n - 1) for f = mean and f = precision,   r = mean - y

The last two are the fields' Dirichlet energies. A runaway has no fields, so its observables are NaN: a heat map must
hatch it and never colour it as a value.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from heteroscope.core import InputError, Progress, Status
from heteroscope.distributions import mean_mse, std_mse
from heteroscope.field.grid import GridSolution, Values, solve_cells
from heteroscope.field.lattices import Field, Lattice, chain


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


class NoiseAverage(NamedTuple):
    """Observables of every draw, their average and standard deviation over finite draws, and the share of runaways."""

    rhos: Float[np.ndarray, " rho"]
    gammas: Float[np.ndarray, " gamma"]
    draws: FieldObservables
    average: FieldObservables
    spread: FieldObservables
    runaway: Float[np.ndarray, "rho gamma"]


def noise_average(
    x: ArrayLike,
    mean: ArrayLike,
    std: ArrayLike,
    rhos: Values,
    gammas: Values,
    *,
    n_draws: int = 6,
    seed: int = 0,
    density: ArrayLike | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> NoiseAverage:
    """`solve_grid` for `n_draws` draws of y; `progress(done, total)` counts values of rho over all draws."""
    lattice = chain(x, density)
    centre, width = np.asarray(mean, dtype=float), np.asarray(std, dtype=float)
    if centre.shape != lattice.weights.shape or width.shape != lattice.weights.shape or not np.all(width >= 0):
        raise InputError("mean and std must each hold one number for each x, and std must not be negative")
    if n_draws < 1:
        raise InputError(f"n_draws must be at least 1, got {n_draws}; a spread needs 2 or more")
    found, runaway = [], np.zeros((len(rhos), len(gammas)))
    for k, rng in enumerate(np.random.default_rng(seed).spawn(n_draws)):
        y = centre + width * rng.standard_normal(len(centre))
        grid = solve_cells(lattice, y, rhos, gammas, n_jobs=n_jobs, progress=_shifted(progress, k, n_draws))
        found.append(observables(lattice, y, grid))
        runaway += (grid.status == Status.RUNAWAY) / n_draws
    draws = FieldObservables(*(np.stack(values) for values in zip(*found, strict=True)))
    average, spread = zip(*(_moments(values) for values in draws), strict=True)
    return NoiseAverage(grid.rhos, grid.gammas, draws, FieldObservables(*average), FieldObservables(*spread), runaway)


def _moments(values: Float[np.ndarray, "draw rho gamma"]) -> tuple[np.ndarray, np.ndarray]:
    """Average and standard deviation over the draws that are not NaN; NaN where there is none."""
    finite = np.isfinite(values)
    count = np.where(finite.any(axis=0), finite.sum(axis=0), np.nan)
    average = np.where(finite, values, 0.0).sum(axis=0) / count
    variance = np.where(finite, (values - average) ** 2, 0.0).sum(axis=0) / count
    return average, np.sqrt(variance)


def _shifted(progress: Progress | None, draw: int, n_draws: int) -> Progress | None:
    if progress is None:
        return None
    return lambda done, total: progress(draw * total + done, n_draws * total)

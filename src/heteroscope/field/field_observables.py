"""Measure the four observables of the paper in every cell, for one draw of y or averaged over several.

    average r^2,   average (precision^-1/2 - |r|)^2,   f'K f / (n - 1) for f = mean and f = precision,   r = mean - y

The last two are the fields' Dirichlet energies. A runaway has no fields, so its observables are NaN; a heat map must
hatch it and never colour it as a value.

Averages over the noise solve the same diagram for several draws from a known p(y|x):

    y_k(x) = mean(x) + std(x) epsilon_k(x),   epsilon white; the average of every observable over k, and its spread

Draws that run away have no observables; they are counted instead. `field.solve(..., variance=std**2)` is the other
order: one solution of the averaged free energy.
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
    """The observables, one number per cell.

    Attributes
    ----------
    mean_mse : ndarray
        Average squared residual of the mean.
    std_mse : ndarray
        Average squared difference between the std and the absolute residual.
    mean_energy, precision_energy : ndarray
        Dirichlet energies of the two fields.
    """

    mean_mse: Float[np.ndarray, "*cell"]
    std_mse: Float[np.ndarray, "*cell"]
    mean_energy: Float[np.ndarray, "*cell"]
    precision_energy: Float[np.ndarray, "*cell"]


def observables(lattice: Lattice, y: Field, grid: GridSolution) -> FieldObservables:
    """Measure the observables of every cell; averages weight the points as the free energy does.

    Parameters
    ----------
    lattice : Lattice
        The points of the grid's solutions.
    y : ndarray of shape (n_points,)
        Target.
    grid : GridSolution
        The solutions.

    Returns
    -------
    FieldObservables
        Arrays of the grid's shape; NaN for runaways.
    """
    values = np.full((4, *grid.status.shape), np.nan)
    for cell in np.ndindex(grid.status.shape):
        if grid.status[cell] != Status.RUNAWAY:
            values[(slice(None), *cell)] = _observe_cell(lattice, y, grid.mean[cell], grid.precision[cell])
    return FieldObservables(*values)


def _observe_cell(lattice: Lattice, y: Field, mean: Field, precision: Field) -> tuple[float, float, float, float]:
    """Return the four observables of one cell."""
    std, n_gaps = precision**-0.5, len(y) - 1
    return (
        mean_mse(y, mean, std, sample_weight=lattice.weights),
        std_mse(y, mean, std, sample_weight=lattice.weights),
        lattice.dirichlet(mean) / n_gaps,
        lattice.dirichlet(precision) / n_gaps,
    )


class NoiseAverage(NamedTuple):
    """Observables averaged over draws of the noise.

    Attributes
    ----------
    rhos : ndarray of shape (n_rhos,)
        Values of rho.
    gammas : ndarray of shape (n_gammas,)
        Values of gamma.
    draws : FieldObservables
        Arrays of shape (n_draws, n_rhos, n_gammas).
    average, spread : FieldObservables
        Average and standard deviation over the draws with a finite solution.
    runaway : ndarray of shape (n_rhos, n_gammas)
        Share of the draws that run away.
    """

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
    """Solve the grid for several draws of y and average the observables.

    Parameters
    ----------
    x : array_like of shape (n_points,)
        Strictly increasing positions, at least 3.
    mean, std : array_like of shape (n_points,)
        The true mean and standard deviation of y at each x.
    rhos, gammas : sequence of float
        Values of the grid, each strictly between 0 and 1.
    n_draws : int, default=6
        Number of draws.
    seed : int, default=0
        Seed of the draws.
    density : array_like of shape (n_points,), "points" or None, default=None
        Density of the points; see `chain`.
    n_jobs : int, default=1
        Number of processes.
    progress : callable or None, default=None
        Called as progress(done, total) with numbers of values of rho over all draws.

    Returns
    -------
    NoiseAverage
        Observables of every draw, their average and spread, and the share of runaways.
    """
    lattice = chain(x, density)
    true_mean, true_std = np.asarray(mean, dtype=float), np.asarray(std, dtype=float)
    if true_mean.shape != lattice.weights.shape or true_std.shape != lattice.weights.shape or not np.all(true_std >= 0):
        raise InputError("mean and std must each hold one number for each x, and std must not be negative")
    if n_draws < 1:
        raise InputError(f"n_draws must be at least 1, got {n_draws}; a spread needs 2 or more")
    observed, runaway = [], np.zeros((len(rhos), len(gammas)))
    for k, rng in enumerate(np.random.default_rng(seed).spawn(n_draws)):
        y = true_mean + true_std * rng.standard_normal(len(true_mean))
        grid = solve_cells(lattice, y, rhos, gammas, n_jobs=n_jobs, progress=_progress_of_draw(progress, k, n_draws))
        observed.append(observables(lattice, y, grid))
        runaway += (grid.status == Status.RUNAWAY) / n_draws
    draws = FieldObservables(*(np.stack(values) for values in zip(*observed, strict=True)))
    average, spread = zip(*(_moments(values) for values in draws), strict=True)
    return NoiseAverage(grid.rhos, grid.gammas, draws, FieldObservables(*average), FieldObservables(*spread), runaway)


def _moments(values: Float[np.ndarray, "draw rho gamma"]) -> tuple[np.ndarray, np.ndarray]:
    """Return average and standard deviation over the draws that are not NaN; NaN where there is none."""
    finite = np.isfinite(values)
    count = np.where(finite.any(axis=0), finite.sum(axis=0), np.nan)
    average = np.where(finite, values, 0.0).sum(axis=0) / count
    variance = np.where(finite, (values - average) ** 2, 0.0).sum(axis=0) / count
    return average, np.sqrt(variance)


def _progress_of_draw(progress: Progress | None, draw: int, n_draws: int) -> Progress | None:
    """Return a callback that reports the progress of one draw as progress of all."""
    if progress is None:
        return None
    return lambda done, total: progress(draw * total + done, n_draws * total)

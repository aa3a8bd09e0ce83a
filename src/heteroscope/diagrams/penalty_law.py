"""Measure how the squared weights W of trained networks follow the Dirichlet energy E of their function: W = c E^p.

Both are read from a diagram's cells in which the other output is constant, so that

    W = (objective - NLL without its constant) / penalty

docs/research/penalty-law.md fixes which cells count.
"""

from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from jaxtyping import Float
from scipy.special import logit

from heteroscope.core import InputError, alpha_beta, defaults

Output = Literal["mean", "precision"]

SETTLED = 0.1  # largest relative gradient of a cell that counts
CONSTANT_PRECISION, CONSTANT_MEAN = (
    1e-3,
    1e-6,
)  # sd of log precision, and energy of the mean, below which one is constant
LEARNT_MEAN = (1e-3, 0.95)  # training mean MSE, in units of the target's variance
LEARNT_PRECISION, HONEST_SCORE = 0.05, (0.5, 2.0)  # least sd of log precision, and range of the training squared score
LEAST_CELLS, LEAST_DECADES, LARGEST_SCATTER = 4, 1.0, 0.3  # of a law that holds


class PenaltyCells(NamedTuple):
    """The cells of a diagram that count, one number for each.

    Attributes
    ----------
    penalty : ndarray of shape (n_cells,)
        alpha for the mean, beta for the precision.
    energy : ndarray of shape (n_cells,)
        Average squared input gradient of the output at the training rows, in standardised units.
    weights : ndarray of shape (n_cells,)
        Squared weights of the output's network.
    """

    penalty: Float[np.ndarray, " cell"]
    energy: Float[np.ndarray, " cell"]
    weights: Float[np.ndarray, " cell"]


class PenaltyLaw(NamedTuple):
    """The fitted law W = c E^p.

    Attributes
    ----------
    factor, power : float
        c and p.
    scatter : float
        Root mean square residual of log W.
    decades : float
        Range of E over which it was fitted, in powers of ten.
    n_cells : int
        Number of cells.
    """

    factor: float
    power: float
    scatter: float
    decades: float
    n_cells: int

    @property
    def holds(self) -> bool:
        """Whether it rests on enough cells over a wide enough range with a small enough scatter."""
        return self.n_cells >= LEAST_CELLS and self.decades >= LEAST_DECADES and self.scatter <= LARGEST_SCATTER


def penalty_table(diagram: xr.Dataset, output: Output) -> pd.DataFrame:
    """Return energy and squared weights of one output in every cell of a diagram of networks, and which cells count.

    Parameters
    ----------
    diagram : xarray.Dataset
        A diagram of networks, as `phase_diagram` returns it.
    output : {"mean", "precision"}
        The network whose weights are measured; the other output is constant in the cells that count.

    Returns
    -------
    pandas.DataFrame
        One row per cell and seed: penalty, energy, weights, what decides whether it counts, and `counts`.
    """
    if "relative_gradient" not in diagram or diagram.attrs.get("source") != "networks":
        raise InputError("the law of the penalty needs a diagram of networks: give one made by phase_diagram")
    if diagram.attrs.get("penalty", defaults.PENALTY) != "weights":
        raise InputError('the law of the penalty needs networks with a penalty of weights: use penalty="weights"')
    train = diagram.sel(split="train").transpose("rho", "gamma", "seed", ...)
    alpha, beta = alpha_beta(logit(train["rho"].values)[:, None, None], logit(train["gamma"].values)[None, :, None])
    penalty = np.broadcast_to(alpha if output == "mean" else beta, train["objective"].shape)
    likelihood = train["nll"].values - 0.5 * np.log(2 * np.pi)
    columns = {
        "penalty": penalty,
        "energy": train[f"{output}_energy"].values,
        "weights": (train["objective"].values - likelihood) / penalty,
        "relative_gradient": train["relative_gradient"].values,
        "mean_mse": train["mean_mse"].values,
        "mean_energy": train["mean_energy"].values,
        "log_precision_spread": train["log_precision_spread"].values,
        "squared_score": train["squared_score"].values,
    }
    table = pd.DataFrame({name: np.ravel(values) for name, values in columns.items()})
    if output == "mean":
        counts = (table["log_precision_spread"] < CONSTANT_PRECISION) & table["mean_mse"].between(*LEARNT_MEAN)
    else:
        learnt = (table["log_precision_spread"] > LEARNT_PRECISION) & table["squared_score"].between(*HONEST_SCORE)
        counts = (table["mean_energy"] < CONSTANT_MEAN) & learnt
    settled = table["relative_gradient"] <= SETTLED
    return table.assign(counts=counts & settled & (table["weights"] > 0) & (table["energy"] > 0))


def cells_that_count(table: pd.DataFrame) -> PenaltyCells:
    """Return the cells of `penalty_table` that count.

    Parameters
    ----------
    table : pandas.DataFrame
        What `penalty_table` returned.

    Returns
    -------
    PenaltyCells
        Penalty, energy and squared weights of each such cell.
    """
    kept = table[table["counts"]]
    return PenaltyCells(*(kept[name].to_numpy(dtype=float) for name in PenaltyCells._fields))


def fit_penalty_law(cells: PenaltyCells) -> PenaltyLaw | None:
    """Fit log W = log c + p log E by least squares.

    Parameters
    ----------
    cells : PenaltyCells
        Energies and squared weights.

    Returns
    -------
    PenaltyLaw or None
        The law; None for fewer than three cells, to which any line would fit.
    """
    if len(cells.energy) < 3:
        return None
    log_energy, log_weights = np.log(cells.energy), np.log(cells.weights)
    power, intercept = np.polyfit(log_energy, log_weights, 1)
    residual = log_weights - intercept - power * log_energy
    return PenaltyLaw(
        float(np.exp(intercept)),
        float(power),
        float(np.sqrt(np.mean(residual**2))),
        float(np.ptp(log_energy) / np.log(10)),
        len(log_energy),
    )

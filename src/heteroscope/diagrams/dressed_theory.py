"""Predict networks from the field theory dressed by the law of the penalty, W = c E^p for each output.

Networks minimise mean NLL + alpha W_mean + beta W_precision. By the law that is the field theory with other penalties,

    mean NLL + alpha c_m E_m^(p_m) + beta c_p E_p^(p_p),    E = f'K f / n,

whose stationary points are those of the plain theory at alpha_eff = alpha c p E^(p-1), likewise beta. So the plain
theory is solved once over (alpha_eff, beta_eff); each (alpha, beta) takes the solution with the lowest dressed
objective. Where that is the last finite solution before a runaway, networks run away, too. For p < 1/2 the map from
alpha_eff to alpha folds over: the flat state stays a local minimum, and the mean jumps.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import logit

from heteroscope import field
from heteroscope.core import NETWORK_GRID, InputError, Status, alpha_beta, logits_from_alpha_beta
from heteroscope.diagrams.dataset import CELL, CellScores, Values, grid_values, score
from heteroscope.diagrams.penalty_law import PenaltyLaw
from heteroscope.phases import Phase

#: alpha_eff and beta_eff of the plain theory's solutions; the last value stands for the limit of a flat field.
_LOG_PENALTIES = np.append(np.arange(-16.0, 8.1, 0.75), 30.0)
_FLAT_ENERGY = 1e-9  # energies below it are zero: the limit of a flat field, which costs no weights


class DressedSolutions(NamedTuple):
    """The plain theory's solutions over (alpha_eff, beta_eff): likelihood, energies, labels, and the runaways' edge."""

    likelihood: Float[np.ndarray, " solution"]  # mean NLL without its constant
    mean_energy: Float[np.ndarray, " solution"]
    precision_energy: Float[np.ndarray, " solution"]
    scores: list[CellScores]
    at_edge: Bool[np.ndarray, " solution"]  # a weaker penalty of either output runs away


class MeanJump(NamedTuple):
    """Where the mean of networks leaves the flat state beside a constant precision.

    Attributes
    ----------
    alpha : float
        The alive mean has the lower objective below it.
    largest_alpha : float
        The alive mean is a local minimum below it: where networks stay alive as alpha rises.
    """

    alpha: float
    largest_alpha: float


def mean_jump(lattice: field.Lattice, y: Float[np.ndarray, " point"], law: PenaltyLaw) -> MeanJump:
    """Return the jump of the mean: alpha = max_E -1/2 log v(E) / (c E^p), with v(E) the least residual variance.

    Parameters
    ----------
    lattice : Lattice
        A chain or a graph, of standardised inputs.
    y : ndarray of shape (n_points,)
        Standardised target.
    law : PenaltyLaw
        The mean's law.

    Returns
    -------
    MeanJump
        The jump, and the end of its hysteresis: max over alpha_eff of alpha_eff E^(1-p) / (c p).
    """
    n, weights = len(y), lattice.weights
    spread = float(np.average((y - np.average(y, weights=weights)) ** 2, weights=weights))

    def curve(log_q: float) -> tuple[float, float, float]:
        residual = -lattice.solve(np.exp(log_q) * weights, 1.0, lattice.laplacian(y))
        left = float(np.average(residual**2, weights=weights))
        return left / spread, lattice.dirichlet(y + residual) / n, 1.0 / (2.0 * np.exp(log_q) * left)

    def jump(log_q: float) -> float:
        left, energy, _ = curve(log_q)
        return -0.5 * np.log(left) / (law.factor * energy**law.power)

    def local(log_q: float) -> float:
        _, energy, effective = curve(log_q)
        return effective * energy ** (1.0 - law.power) / (law.factor * law.power)

    log_qs = np.linspace(-12.0, 12.0, 49)
    shares = np.array([curve(log_q)[0] for log_q in log_qs])
    inside = log_qs[(shares > 1e-3) & (shares < 0.999)]  # a mean that memorises is no alive mean
    if not len(inside):
        raise InputError("no mean between flat and memorising: standardise inputs and target")
    return MeanJump(_largest(jump, inside), _largest(local, inside))


def _largest(function: Callable[[float], float], values: Float[np.ndarray, " value"]) -> float:
    """Return the largest value of a function of one variable, refined about its best value of a grid."""
    best = int(np.argmax([function(value) for value in values]))
    low, high = values[max(best - 1, 0)], values[min(best + 1, len(values) - 1)]
    return float(-minimize_scalar(lambda value: -function(value), bounds=(low, high), method="bounded").fun)


def ramp_onset(x: ArrayLike, y: ArrayLike, n_hidden_layers: int) -> float:
    """Return alpha below which a single ramp lowers the objective of a ReLU network beside a constant precision.

    A ramp a relu(+-(x - b)) costs D a^(2/D) squared weights in D = n_hidden_layers + 1 layers, and its biases are free:

        D = 2:  alpha = max_b |mean r relu(+-(x - b))| / (2 s^2),    r = y - mean y
        D > 2:  alpha = max over b and a of -1/2 log(MSE / s^2) / (D a^(2/D))

    Parameters
    ----------
    x, y : array_like of shape (n_points,)
        Standardised inputs and target.
    n_hidden_layers : int
        At least one.

    Returns
    -------
    float
        The onset for one hidden layer, where zero loses its stability; a lower bound of the jump for more.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    if n_hidden_layers < 1:
        raise InputError(f"n_hidden_layers must be at least 1, got {n_hidden_layers}")
    depth, residual = n_hidden_layers + 1, y - y.mean()
    variance = float(np.mean(residual**2))
    starts = np.linspace(x.min(), x.max(), 400)[:-1]
    ramps = np.concatenate([np.maximum(x - starts[:, None], 0.0), np.maximum(starts[:, None] - x, 0.0)])
    ramps = ramps[ramps.std(axis=1) > 1e-6]
    pull = np.abs(ramps @ residual) / len(x)
    if depth == 2:
        return float(pull.max() / (2.0 * variance))
    size = ramps.var(axis=1)
    amplitude = np.exp(np.linspace(-6.0, 4.0, 200))[:, None]
    left = 1.0 - (2.0 * amplitude * pull - amplitude**2 * size) / variance
    return float(np.max(-0.5 * np.log(np.maximum(left, 1e-12)) / (depth * amplitude ** (2.0 / depth))))


def dressed_diagram(
    x: ArrayLike,
    y: ArrayLike,
    mean_law: PenaltyLaw,
    precision_law: PenaltyLaw,
    *,
    x_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    rhos: Values | None = None,
    gammas: Values | None = None,
) -> xr.Dataset:
    """Predict the phase diagram of networks on rows with one input, without any fitted shift.

    Parameters
    ----------
    x : array_like of shape (n_rows,)
        Standardised input of the training rows, strictly increasing.
    y : array_like of shape (n_rows,)
        Standardised target.
    mean_law, precision_law : PenaltyLaw
        The laws of the two networks, which belong to an architecture.
    x_test, y_test : array_like of shape (n_test,) or None, default=None
        Test rows in the same units; fields are interpolated to them.
    rhos, gammas : sequence of float or None, default=None
        Values of the grid. None is the paper's grid of networks.

    Returns
    -------
    xarray.Dataset
        `phase`, `status`, `log_precision_spread`, `mean_energy` and `precision_energy` of each cell.
    """
    rhos, gammas = grid_values("rho", rhos, NETWORK_GRID), grid_values("gamma", gammas, NETWORK_GRID)
    found = _solve(x, y, x_test, y_test)
    alpha, beta = map(np.asarray, alpha_beta(logit(rhos)[:, None], logit(gammas)[None, :]))
    mean_cost = mean_law.factor * found.mean_energy**mean_law.power
    precision_cost = precision_law.factor * found.precision_energy**precision_law.power
    objective = found.likelihood + alpha[..., None] * mean_cost + beta[..., None] * precision_cost
    chosen = objective.argmin(axis=-1)
    labels = np.array([scores["phase"] for scores in found.scores])[chosen]
    spreads = np.array([scores["log_precision_spread"] for scores in found.scores])
    runaway = found.at_edge[chosen]
    return xr.Dataset(
        {
            "phase": (CELL, np.where(runaway, str(Phase.O_I), labels)[..., None]),
            "status": (CELL, np.where(runaway, str(Status.RUNAWAY), str(Status.CONVERGED))[..., None]),
            "log_precision_spread": (CELL, spreads[chosen][..., None]),
            "mean_energy": (CELL, found.mean_energy[chosen][..., None]),
            "precision_energy": (CELL, found.precision_energy[chosen][..., None]),
        },
        coords={"rho": rhos, "gamma": gammas, "seed": [0]},
        attrs={"source": "dressed field theory", "data_set": ""},
    )


def _solve(x: ArrayLike, y: ArrayLike, x_test: ArrayLike | None, y_test: ArrayLike | None) -> DressedSolutions:
    """Solve the plain theory over (alpha_eff, beta_eff), and score every finite solution as a network is."""
    points, target = np.asarray(x, float), np.asarray(y, float)
    lattice = field.chain(points, "points")
    draws = {"train": target} | ({} if y_test is None else {"test": np.asarray(y_test, float)})
    inputs = {"train": points} | ({} if x_test is None else {"test": np.asarray(x_test, float)})
    shape = len(_LOG_PENALTIES), len(_LOG_PENALTIES)
    finite = np.zeros(shape, bool)
    rows: list[tuple[float, float, float]] = []
    scores: list[CellScores] = []
    for i, log_alpha in enumerate(_LOG_PENALTIES):
        for j, log_beta in enumerate(_LOG_PENALTIES):
            z_rho, z_gamma = logits_from_alpha_beta(np.exp(log_alpha), np.exp(log_beta))
            solution = _solution(lattice, target, float(z_rho), float(z_gamma))
            if solution.status is not Status.CONVERGED:
                continue
            finite[i, j] = True
            mean, precision = solution.mean, solution.precision
            nll = float(np.mean(0.5 * (precision * (mean - target) ** 2 - np.log(precision))))
            rows.append((nll, lattice.dirichlet(mean) / len(target), lattice.dirichlet(precision) / len(target)))
            means = {split: np.interp(part, points, mean) for split, part in inputs.items()}
            stds = {split: np.interp(part, points, precision) ** -0.5 for split, part in inputs.items()}
            scores.append(score(draws, means, stds, solution.status))
    likelihood, mean_energy, precision_energy = np.array(rows).T
    mean_energy, precision_energy = (np.where(e < _FLAT_ENERGY, 0.0, e) for e in (mean_energy, precision_energy))
    return DressedSolutions(likelihood, mean_energy, precision_energy, scores, _edge(finite)[finite])


def _solution(
    lattice: field.Lattice, y: Float[np.ndarray, " point"], logit_rho: float, logit_gamma: float
) -> field.Solution:
    """Descend from the flat fields at one (alpha_eff, beta_eff)."""
    problem = field.state(lattice, y, 0.5, 0.5)
    alpha, beta = alpha_beta(logit_rho, logit_gamma)
    problem = problem._replace(alpha=float(alpha), beta=float(beta))
    start = field.Fields(np.full_like(y, y.mean()), np.full_like(y, 1.0 / y.var()))
    return field.minimise(problem, start)


def _edge(finite: Bool[np.ndarray, "alpha beta"]) -> Bool[np.ndarray, "alpha beta"]:
    """Return the finite solutions of which a weaker penalty of either output has none."""
    weaker = np.ones_like(finite)
    weaker[1:] &= finite[:-1]
    weaker[:, 1:] &= finite[:, :-1]
    weaker[0], weaker[:, 0] = False, False
    return finite & ~weaker

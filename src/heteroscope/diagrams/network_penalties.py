"""Predict penalties of networks for a table without training: the theory chooses, the law of the penalty converts.

The theory's alpha is the slope of likelihood over energy, where networks pay alpha_net W = alpha_net c E^p, so that

    alpha_net = alpha E^(1 - p) / (c p),    likewise beta

(c, p) belong to an architecture. Those below were measured on the sine set (docs/theory-of-networks.md).
"""

import math
from collections.abc import Sequence

import numpy as np

from heteroscope import field
from heteroscope.core import InputError, logits_from_alpha_beta
from heteroscope.data import Rows
from heteroscope.diagrams.penalty_law import PenaltyLaw

MOST_ROWS = 800  # a random part of larger tables: all modes of its graph take a second
POWERS = (1, 2, 3)  # of the Laplacian, among which the evidence chooses
N_NEIGHBORS = 10
_KINKED = ("leaky_relu", "relu")


def _law(log_factor: float, power: float, scatter: float, decades: float, n_cells: int) -> PenaltyLaw:
    return PenaltyLaw(math.exp(log_factor), power, scatter, decades, n_cells)


_Laws = tuple[PenaltyLaw, PenaltyLaw]  # of the mean and of the precision
#: By the number of hidden layers. Without hidden layers the squared weights are the energy.
_MEASURED: dict[int, _Laws] = {
    0: (PenaltyLaw(1.0, 1.0, 0.0, math.inf, 0), PenaltyLaw(1.0, 1.0, 0.0, math.inf, 0)),
    1: (_law(2.19, 0.88, 0.15, 2.9, 7), _law(1.76, 0.64, 0.06, 3.6, 4)),
    2: (_law(1.55, 0.71, 0.05, 1.6, 4), _law(2.14, 0.52, 0.07, 3.3, 3)),
    3: (_law(2.06, 0.39, 0.09, 3.2, 5), _law(2.35, 0.32, 0.01, 1.0, 3)),
}
_MEASURED_SMOOTH: _Laws = _law(1.78, 0.58, 0.04, 1.5, 5), _law(1.76, 0.30, 0.03, 1.6, 3)  # three layers of SiLU


def measured_laws(hidden: Sequence[int], activation: str, penalty: str = "weights") -> tuple[PenaltyLaw, PenaltyLaw]:
    """Return the laws of mean and precision that were measured for the networks nearest to these.

    Parameters
    ----------
    hidden : sequence of int
        Sizes of the hidden layers. Only their number counts; more than three count as three.
    activation : str
        Activation of the hidden layers. It counts for three layers only.
    penalty : {"weights", "gradients"}, default="weights"
        With gradients the penalty is the energy itself: c = p = 1.

    Returns
    -------
    tuple of PenaltyLaw
        The law of the mean and that of the precision.
    """
    if penalty == "gradients":
        return _MEASURED[0]
    if len(hidden) >= 3 and activation not in _KINKED:
        return _MEASURED_SMOOTH
    return _MEASURED[min(len(hidden), 3)]


def network_penalties(choice: field.PenaltyChoice, laws: tuple[PenaltyLaw, PenaltyLaw]) -> tuple[float, float]:
    """Return (alpha, beta) of networks whose functions have the energies that the theory chose.

    Parameters
    ----------
    choice : PenaltyChoice
        What the theory chose.
    laws : tuple of PenaltyLaw
        The laws of mean and precision.

    Returns
    -------
    tuple of float
        alpha and beta for weights of one network each.
    """
    pairs = (choice.alpha, choice.mean_energy), (choice.beta, choice.precision_energy)
    alpha, beta = (
        slope * energy ** (1.0 - law.power) / (law.factor * law.power)
        for (slope, energy), law in zip(pairs, laws, strict=True)
    )
    return alpha, beta


def choose_for_rows(rows: Rows, criterion: str = "evidence") -> field.PenaltyChoice:
    """Choose the theory's penalties for standardised rows: on a chain for one feature, else on the rows' own graph.

    Parameters
    ----------
    rows : Rows
        The rows, in the user's units. Of more than `MOST_ROWS` a random part is used, always the same.
    criterion : {"evidence", "leave one out"}, default="evidence"
        See `choose_penalties`.

    Returns
    -------
    PenaltyChoice
        The theory's penalties in standardised units.
    """
    scaling = rows.scaling()
    chosen = np.random.default_rng(0).permutation(len(rows.y))[:MOST_ROWS]
    part = rows.take(chosen)
    x, y = np.asarray(scaling.inputs(part.x), float), np.asarray(scaling.targets(part.y), float)
    points, point_of_row = np.unique(x, axis=0, return_inverse=True)
    if len(points) < 3:
        raise InputError(f'search="theory" needs at least 3 rows of different features, got {len(points)}')
    point_of_row = point_of_row.ravel()
    lattice: field.Lattice
    if x.shape[1] == 1:
        lattice = field.chain(points[:, 0], "points")
    else:
        lattice = field.table(points, np.zeros(len(points)), min(N_NEIGHBORS, len(points) - 1)).lattice
    total = np.bincount(point_of_row, part.weight)
    target = np.bincount(point_of_row, part.weight * y) / total
    variance = np.bincount(point_of_row, part.weight * (y - target[point_of_row]) ** 2) / total
    lattice = lattice.reweighted(total * (len(total) / total.sum()))
    return field.choose_penalties(lattice, target, variance, criterion=criterion, powers=POWERS)


def predicted_point(
    rows: Rows, hidden: Sequence[int], activation: str, penalty: str = "weights"
) -> tuple[float, float]:
    """Return (logit rho, logit gamma) at which networks should predict well, without training any.

    Parameters
    ----------
    rows : Rows
        The training rows.
    hidden : sequence of int
        Sizes of the hidden layers.
    activation : str
        Activation of the hidden layers.
    penalty : {"weights", "gradients"}, default="weights"
        What the networks' penalty is.

    Returns
    -------
    tuple of float
        logit rho and logit gamma.
    """
    alpha, beta = network_penalties(choose_for_rows(rows), measured_laws(hidden, activation, penalty))
    logit_rho, logit_gamma = logits_from_alpha_beta(alpha, beta)
    return float(logit_rho), float(logit_gamma)

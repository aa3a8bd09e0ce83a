"""Reliable variance networks (Skafte, Jorgensen & Hauberg 2019): split training, neighbours, and a way back far away.

1. Mean and variance are trained by turns, never together.
2. A step sees neighbours: rows that lie close to each other are drawn together, every row equally often.
3. The variance is inverse-Gamma distributed and integrated out, which leaves a Student-t.
4. variance(x) = (1 - v) network's variance + v far_std^2, with v(x) = tanh(max(0, distance to the rows / spacing - 1))
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from sklearn.neighbors import NearestNeighbors

from heteroscope.baselines.student_t_and_variational import StudentRegressor, StudentT
from heteroscope.core import InputError, check_positive_integer
from heteroscope.data import Rows, Scaling
from heteroscope.networks import Objective, Prediction, mean_objective
from heteroscope.training import Recipe, Stage, cosine_adam, stable_peak_rate

NEIGHBOURS = 16  # rows that are drawn together
MAX_CENTRES = 1000  # rows that stand for all of them when distances are measured
SPACING = 0.99  # of the rows are no farther from their nearest neighbour: nothing is led back among them


@dataclass(eq=False, repr=False)
class ReliableVarianceRegressor(StudentRegressor):
    """variance(x) = (1 - v) network's variance + v far_std^2: v goes from zero at the rows to one far from them all.

    The mean is trained by squared error, then the variance, then both by turns, each with the other held fixed.

    Parameters
    ----------
    rounds : how often mean and variance take turns; the steps are divided evenly among the turns.
    far_std : the std far from all rows, in standard deviations of the target.
    weight_decay, held_out, max_steps, hidden, activation, start, batch_size, n_jobs, random_state, verbose : as in
        `MLERegressor`, as are the attributes. Neighbours matter only where a step sees a batch and not all rows.
    """

    rounds: Any = 2
    far_std: Any = 1.0

    keeps_arrays = True

    def objective(self) -> Objective:
        """The Student-t likelihood, of the networks that have their turn."""
        return StudentT()

    def stages(self, steps: int) -> tuple[Stage, ...]:
        """Squared error for the mean, likelihood for the variance; then both under the likelihood, by turns."""
        turns = 2 * check_positive_integer("rounds", self.rounds)
        solver = cosine_adam(max(1, steps // turns), stable_peak_rate(self.hidden))
        mean, variance = (Stage(StudentT((name,)), (name,), solver) for name in ("mean", "precision"))
        return (Stage(mean_objective, ("mean",), solver), variance, *(mean, variance) * (turns // 2 - 1))

    def _combine(self, x: Float[np.ndarray, "point feature"]) -> Prediction:
        """The variance is led back to far_std^2 away from the rows."""
        near = super()._combine(x)
        tree = NearestNeighbors(n_neighbors=1).fit(self.arrays_["centres"])
        distance, _ = tree.kneighbors(self.scaling_.inputs(x))
        share = far_share(distance[:, 0], float(self.arrays_["spacing"]))
        far = self.scaling_.y_scale * float(self.far_std)
        std = np.sqrt((1.0 - share) * near.std**2 + share * far**2)
        return near._replace(std=std, aleatoric=std)

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, store: Any = None
    ) -> "ReliableVarianceRegressor":
        """As every baseline; then the rows are remembered by which distances are measured."""
        number = isinstance(self.far_std, int | float | np.number) and not isinstance(self.far_std, bool)
        if not number or not 0 < self.far_std < np.inf:
            raise InputError(f"far_std must be a positive number of the target's SDs, got {self.far_std!r}")
        super().fit(X, y, sample_weight, store=store)
        return self

    def _recipe(self, rows: Rows, steps: int) -> Recipe:
        return super()._recipe(rows, steps)._replace(neighbours=NEIGHBOURS)

    def _check_fit_input(self, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, Rows]:
        given, rows = super()._check_fit_input(X, y, sample_weight)
        scaled = rows.scaling().inputs(rows.x)
        if not np.ptp(scaled, axis=0).any():
            raise InputError("all rows have the same inputs, so there is no distance to them: use another method")
        return given, rows.take(neighbour_order(scaled))

    def _observe(self, rows: Rows, held_out_score: float | None) -> None:
        self.arrays_ = _landmarks(rows, self.scaling_)
        super()._observe(rows, held_out_score)


def far_share(distance: Float[np.ndarray, " point"], spacing: float) -> Float[np.ndarray, " point"]:
    """tanh(max(0, distance / spacing - 1)): nothing among the rows, and soon all beyond their spacing."""
    return np.tanh(np.maximum(0.0, distance / spacing - 1.0))


def neighbour_order(x: Float[np.ndarray, "point feature"], leaf: int = NEIGHBOURS) -> Int[np.ndarray, " point"]:
    """An order in which rows that follow each other lie close to each other: halved along the widest feature."""
    boxes, order = [np.arange(len(x))], []
    while boxes:
        box = boxes.pop()
        if len(box) <= leaf:
            order.append(box)
            continue
        widest = np.argmax(np.ptp(x[box], axis=0))
        ranked = box[np.argsort(x[box, widest], kind="stable")]
        boxes += [ranked[len(ranked) // 2 :], ranked[: len(ranked) // 2]]
    return np.concatenate(order)


def _landmarks(rows: Rows, scaling: Scaling) -> dict[str, np.ndarray]:
    """Evenly chosen rows, and the distance to the nearest other one that 99 of 100 rows keep to."""
    x = scaling.inputs(rows.x)
    every = -(-len(x) // MAX_CENTRES)
    centres = np.unique(x[::every], axis=0)
    distance, _ = NearestNeighbors(n_neighbors=2).fit(centres).kneighbors(x)
    other = np.where(distance[:, 0] > 0, distance[:, 0], distance[:, 1])
    return {"centres": centres, "spacing": np.asarray(np.quantile(other, SPACING))}

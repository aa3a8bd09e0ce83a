"""Reliable variance networks (Skafte, Jorgensen & Hauberg 2019).

1. Mean and variance are trained in alternation, never together.
2. A batch consists of groups of neighbours: rows close to each other are drawn together, every row equally often.
3. The variance has an inverse Gamma distribution and is integrated out: the forecast is a Student-t.
4. Far from all rows the variance returns to a fixed one: variance(x) = (1 - v) network's variance + v far_std^2, with
   v(x) = tanh(max(0, distance to the nearest row / spacing - 1)).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from sklearn.neighbors import NearestNeighbors

from heteroscope.baselines.base import BaselineRegressor, Number, is_number
from heteroscope.baselines.student_t_and_variational import StudentRegressor, StudentT
from heteroscope.core import InputError, check_positive_integer
from heteroscope.data import Rows, Scaling, Stream
from heteroscope.estimators import FieldKind, FittedFields, Inputs
from heteroscope.networks import Objective, Prediction, mean_objective
from heteroscope.phases import HeldOut
from heteroscope.training import Recipe, Stage, cosine_adam, stable_peak_rate

NEIGHBOURS = 16  # how many neighbouring rows are drawn together
MAX_CENTRES = 1000  # at most so many rows are kept to measure distances to the rows
SPACING_QUANTILE = 0.99  # spacing: this quantile of the distance from a row to the nearest other kept row


@dataclass(eq=False, repr=False)
class ReliableVarianceRegressor(StudentRegressor):
    """Reliable variance: Student-t forecasts whose variance returns to far_std^2 far from all training rows.

    variance(x) = (1 - v) network's variance + v far_std^2, where v goes from 0 among the rows to 1 far from them. The
    mean is trained by squared error, then the variance by likelihood, then both in alternation by likelihood, each
    with the other held fixed. In each batch neighbouring rows are drawn together; if a step takes all rows, that makes
    no difference.

    Parameters
    ----------
    rounds : int, default=2
        How often mean and variance alternate; the steps are divided evenly among the 2 rounds phases of training.
    far_std : float, default=1.0
        The std far from all rows, in standard deviations of the target.
    held_out, hidden, activation, start, max_steps, batch_size, n_jobs, random_state, verbose, weight_decay
        As in `MLERegressor`, as are the attributes.
    """

    rounds: int = 2
    far_std: Number = 1.0

    fitted_fields: ClassVar[FittedFields] = {**BaselineRegressor.fitted_fields, "arrays_": FieldKind.NAMED_ARRAYS}

    def objective(self) -> Objective:
        """Return the Student-t likelihood with a penalty on both networks."""
        return StudentT()

    def stages(self, steps: int) -> tuple[Stage, ...]:
        """Return stages: squared error for the mean, likelihood for the variance, then likelihood for each in turn."""
        turns = 2 * check_positive_integer("rounds", self.rounds)
        solver = cosine_adam(max(1, steps // turns), stable_peak_rate(self.hidden))
        mean, variance = (Stage(StudentT((name,)), (name,), solver) for name in ("mean", "precision"))
        return (Stage(mean_objective, ("mean",), solver), variance, *(mean, variance) * (turns // 2 - 1))

    def _combine(self, x: Float[np.ndarray, "point feature"]) -> Prediction:
        """Return the prediction with the variance moved towards far_std^2 by the distance to the rows."""
        near = super()._combine(x)
        tree = NearestNeighbors(n_neighbors=1).fit(self.arrays_["centres"])
        distance, _ = tree.kneighbors(self.scaling_.inputs(x))
        share = far_share(distance[:, 0], float(self.arrays_["spacing"]))
        far = self.scaling_.y_scale * float(self.far_std)
        std = np.sqrt((1.0 - share) * near.std**2 + share * far**2)
        return near._replace(std=std, aleatoric=std)

    def fit(
        self,
        X: ArrayLike | Stream,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        store: str | Path | None = None,
    ) -> "ReliableVarianceRegressor":
        """Fit as every baseline does, and keep rows to measure distances from.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The inputs; this method takes no stream.
        y : array-like of shape (n_rows,)
            The target.
        sample_weight : array-like of shape (n_rows,), default=None
            One weight >= 0 per row; None weighs all rows equally.
        store : None
            For streams only, so that it must be left out here.

        Returns
        -------
        ReliableVarianceRegressor
            The fitted estimator itself.
        """
        if not is_number(self.far_std) or not 0 < self.far_std < np.inf:
            raise InputError(f"far_std must be a positive number of standard deviations, got {self.far_std!r}")
        super().fit(X, y, sample_weight, store=store)
        return self

    def _recipe(self, rows: Rows, steps: int) -> Recipe:
        return super()._recipe(rows, steps)._replace(neighbours=NEIGHBOURS)

    def _check_fit_input(self, X: Inputs, y: ArrayLike | None, sample_weight: ArrayLike | None) -> tuple[Rows, Rows]:
        """Return the rows as given and the merged rows, the latter in an order that keeps neighbours together."""
        given, rows = super()._check_fit_input(X, y, sample_weight)
        scaled = rows.scaling().inputs(rows.x)
        if not np.ptp(scaled, axis=0).any():
            raise InputError("all rows have the same inputs, so there are no distances to measure: use another method")
        return given, rows.take(neighbour_order(scaled))

    def _observe(self, rows: Rows, held_out: HeldOut | None) -> None:
        self.arrays_ = _centres_and_spacing(rows, self.scaling_)
        super()._observe(rows, held_out)


def far_share(distance: Float[np.ndarray, " point"], spacing: float) -> Float[np.ndarray, " point"]:
    """Return v = tanh(max(0, distance / spacing - 1)): 0 among the rows, close to 1 a few spacings away."""
    return np.tanh(np.maximum(0.0, distance / spacing - 1.0))


def neighbour_order(x: Float[np.ndarray, "point feature"], leaf: int = NEIGHBOURS) -> Int[np.ndarray, " point"]:
    """Return an order in which consecutive rows are neighbours: halve boxes of rows along their widest feature."""
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


def _centres_and_spacing(rows: Rows, scaling: Scaling) -> dict[str, np.ndarray]:
    """Return every k-th row as a centre, and the distance to another centre that 99 % of the rows do not exceed."""
    x = scaling.inputs(rows.x)
    every = -(-len(x) // MAX_CENTRES)
    centres = np.unique(x[::every], axis=0)
    distance, _ = NearestNeighbors(n_neighbors=2).fit(centres).kneighbors(x)
    other = np.where(distance[:, 0] > 0, distance[:, 0], distance[:, 1])
    return {"centres": centres, "spacing": np.asarray(np.quantile(other, SPACING_QUANTILE))}

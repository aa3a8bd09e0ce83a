"""The result of a search, also as the table `cv_results_` of scikit-learn."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import expit
from scipy.stats.distributions import rv_frozen

from heteroscope.data import Rows
from heteroscope.distributions import metrics
from heteroscope.search.cross_validation import Point
from heteroscope.search.folds import Folds, held_rows
from heteroscope.search.selection import held_out_loss
from heteroscope.search.std_calibration import std_scale


class SearchResult(NamedTuple):
    """All evaluated points, sorted by training length and then by logit rho, and the index of the chosen one.

    `near` are the indices of all points that the held-out rows cannot tell from the chosen one, which comes first;
    nothing if the chosen one is used alone.
    """

    points: list[Point]
    best: int
    near: tuple[int, ...] = ()

    @property
    def chosen(self) -> Point:
        """The chosen point."""
        return self.points[self.best]


def results_table(result: SearchResult, folds: Folds, selection: str, calibrate: bool) -> dict[str, np.ndarray]:
    """Return `cv_results_`: columns by name, one entry per point; averages are over the folds of each point.

    `*_test_*` are metrics of the networks before scaling. `held_out_loss` is the loss that ranks the points; with
    `calibrate` it is computed after multiplying the std by `std_scale`. `phase` and `log_precision_spread`, which tells
    whether the std varies, are those of the networks before their std is capped or scaled. All are in the units of the
    networks' target, which may be the logarithm of the user's.
    """
    rule = "nll" if selection == "paper" else selection
    points = result.points
    logits = np.array([point.logits for point in points])
    table = {
        "rho": expit(logits[:, 0]),
        "gamma": expit(logits[:, 1]),
        "logit_rho": logits[:, 0],
        "logit_gamma": logits[:, 1],
        "max_steps": np.array([point.recipe.steps for point in points]),
        "n_folds": np.array([len(point.results) for point in points]),
        "std_scale": np.array([std_scale(point, folds) for point in points]),
        "held_out_loss": np.array([_average_loss(point, folds, rule, calibrate) for point in points]),
    }
    for name in metrics.METRICS:
        by_fold = np.array([_metric_by_fold(point, folds, name) for point in points])
        table[f"mean_test_{name}"] = np.nanmean(by_fold, axis=1)
        table[f"std_test_{name}"] = np.nanstd(by_fold, axis=1)
        if name == rule:
            table |= {f"split{k}_test_{name}": by_fold[:, k] for k in range(len(folds))}
        table[f"mean_train_{name}"] = np.array([point.training_score(name) for point in points])
    table["rank_test_score"] = _ranks(table["held_out_loss"], table["n_folds"])
    table["log_precision_spread"] = np.array([point.observables.log_precision_spread for point in points])
    table["phase"] = np.array([str(point.phase) for point in points])
    table["status"] = np.array([", ".join(sorted(set(point.status))) for point in points])
    return table


def held_out_scores(held: Rows, forecast: rv_frozen) -> dict[str, float]:
    """Return every metric of these held-out rows, and r2 of the mean."""
    scores = metrics.evaluate(held.y, forecast, sample_weight=held.weight)
    spread = float(np.average((held.y - np.average(held.y, weights=held.weight)) ** 2, weights=held.weight))
    return scores | {"r2": 1.0 - scores["mean_mse"] / spread if spread > 0 else 0.0}


def _average_loss(point: Point, folds: Folds, rule: str, calibrate: bool) -> float:
    weight = held_rows(folds[: len(point.results)]).weight
    return float(np.average(held_out_loss(point, folds, rule, calibrate), weights=weight))


def _metric_by_fold(point: Point, folds: Folds, name: str) -> list[float]:
    """Return the metric of each fold's held-out rows; NaN for folds that the point was not evaluated on."""
    function, (mean, std) = metrics.METRICS[name], point.held_out
    ends = np.cumsum([result.means.shape[1] for result in point.results])
    parts = zip(folds, np.split(mean, ends[:-1]), np.split(std, ends[:-1]), strict=False)
    values = [float(function(fold.held.y, *moments, sample_weight=fold.held.weight)) for fold, *moments in parts]
    return values + [np.nan] * (len(folds) - len(values))


def _ranks(losses: Float[np.ndarray, " point"], n_folds: Int[np.ndarray, " point"]) -> Int[np.ndarray, " point"]:
    """Rank by loss, 1 is best; points of more folds come first, since only those of all folds can be chosen."""
    ranks = np.empty(len(losses), int)
    ranks[np.lexsort((losses, -n_folds))] = np.arange(1, len(losses) + 1)
    return ranks

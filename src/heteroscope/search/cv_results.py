"""A finished search, and the same as scikit-learn's `cv_results_`."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import expit

from heteroscope.distributions import metrics
from heteroscope.search.cross_validation import Folds, Point, held_rows
from heteroscope.search.selection import held_out_loss
from heteroscope.search.std_calibration import std_scale


class Search(NamedTuple):
    """All points that were visited, by length of training and then by logit rho, and the number of the chosen one."""

    points: list[Point]
    best: int

    @property
    def chosen(self) -> Point:
        """The point that was chosen."""
        return self.points[self.best]


def results_table(search: Search, folds: Folds, selection: str, calibrate: bool) -> dict[str, Any]:
    """A dictionary of columns that pandas takes as it is; averages are over the folds that a point has seen.

    `*_test_*` are the networks before scaling; `held_out_loss` is what points are ranked by, after scaling by
    `std_scale` if that is wanted.
    """
    rule = "nll" if selection == "paper" else selection
    logits = np.array([point.logits for point in search.points])
    table: dict[str, Any] = {
        "rho": expit(logits[:, 0]),
        "gamma": expit(logits[:, 1]),
        "logit_rho": logits[:, 0],
        "logit_gamma": logits[:, 1],
        "max_steps": np.array([point.recipe.steps for point in search.points]),
        "n_folds": np.array([len(point.results) for point in search.points]),
        "std_scale": np.array([std_scale(point, folds) for point in search.points]),
        "held_out_loss": np.array([_average_loss(point, folds, rule, calibrate) for point in search.points]),
    }
    for name in metrics.METRICS:
        by_fold = np.array([_by_fold(point, folds, name) for point in search.points])
        table[f"mean_test_{name}"] = np.nanmean(by_fold, axis=1)
        table[f"std_test_{name}"] = np.nanstd(by_fold, axis=1)
        if name == rule:
            table |= {f"split{k}_test_{name}": by_fold[:, k] for k in range(len(folds))}
        table[f"mean_train_{name}"] = np.array([point.training_score(name) for point in search.points])
    table["rank_test_score"] = _ranks(table["held_out_loss"], table["n_folds"])
    table["phase"] = np.array([str(point.phase) for point in search.points])
    table["status"] = np.array([", ".join(sorted(set(point.status))) for point in search.points])
    return table


def held_out_scores(point: Point, folds: Folds, scale: float) -> dict[str, float]:
    """Every metric of the held-out rows, all folds together, with the std scaled; and r2, what the mean explains."""
    held = held_rows(folds[: len(point.results)])
    mean, std = point.held_out
    scores = metrics.evaluate(held.y, mean, scale * std, sample_weight=held.weight)
    spread = float(np.average((held.y - np.average(held.y, weights=held.weight)) ** 2, weights=held.weight))
    return scores | {"r2": 1.0 - scores["mean_mse"] / spread if spread > 0 else 0.0}


def _average_loss(point: Point, folds: Folds, rule: str, calibrate: bool) -> float:
    weight = held_rows(folds[: len(point.results)]).weight
    return float(np.average(held_out_loss(point, folds, rule, calibrate), weights=weight))


def _by_fold(point: Point, folds: Folds, name: str) -> list[float]:
    """The metric on every fold's held-out rows; NaN for the folds that the point has not seen."""
    function, (mean, std) = metrics.METRICS[name], point.held_out
    ends = np.cumsum([result.means.shape[1] for result in point.results])
    parts = zip(folds, np.split(mean, ends[:-1]), np.split(std, ends[:-1]), strict=False)
    seen = [float(function(fold.held.y, *moments, sample_weight=fold.held.weight)) for fold, *moments in parts]
    return seen + [np.nan] * (len(folds) - len(seen))


def _ranks(losses: Float[np.ndarray, " point"], n_folds: Int[np.ndarray, " point"]) -> Int[np.ndarray, " point"]:
    """1 for the best; points that have seen more folds come first, since only they could be chosen."""
    ranks = np.empty(len(losses), int)
    ranks[np.lexsort((losses, -n_folds))] = np.arange(1, len(losses) + 1)
    return ranks

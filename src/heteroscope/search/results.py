"""A finished search, and the same as scikit-learn's `cv_results_`."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from heteroscope import metrics
from heteroscope.search.points import Folds, Point


class Search(NamedTuple):
    """All points that were visited, sorted by logit rho, and the number of the one that was chosen."""

    points: list[Point]
    best: int

    @property
    def n_models(self) -> int:
        """How many models were trained."""
        return sum(len(point.results) for point in self.points)


def results_table(search: Search, folds: Folds, selection: str) -> dict[str, Any]:
    """A dictionary of columns that pandas takes as it is; averages are over the folds that a point has seen."""
    logits = np.array([point.logits for point in search.points])
    table: dict[str, Any] = {
        "rho": expit(logits[:, 0]),
        "gamma": expit(logits[:, 1]),
        "logit_rho": logits[:, 0],
        "logit_gamma": logits[:, 1],
        "n_folds": np.array([len(point.results) for point in search.points]),
    }
    for name in metrics.METRICS:
        by_fold = np.array([_by_fold(point, folds, name) for point in search.points])
        table[f"mean_test_{name}"] = np.nanmean(by_fold, axis=1)
        table[f"std_test_{name}"] = np.nanstd(by_fold, axis=1)
        if name == ("nll" if selection == "paper" else selection):
            table |= {f"split{k}_test_{name}": by_fold[:, k] for k in range(len(folds))}
            table["rank_test_score"] = _ranks(by_fold, search)
        table[f"mean_train_{name}"] = np.array([point.training_score(name) for point in search.points])
    table["phase"] = np.array([str(point.phase) for point in search.points])
    table["status"] = np.array([", ".join(sorted(set(point.status))) for point in search.points])
    return table


def _by_fold(point: Point, folds: Folds, name: str) -> list[float]:
    """The metric on every fold's held-out rows; NaN for the folds that the point has not seen."""
    seen = [
        float(metrics.METRICS[name](fold.held.y, result.mean, result.std, sample_weight=fold.held.weight))
        for fold, result in zip(folds, point.results, strict=False)
    ]
    return seen + [np.nan] * (len(folds) - len(seen))


def _ranks(by_fold: np.ndarray, search: Search) -> np.ndarray:
    """1 for the best; points that have seen more folds come first, since only they could be chosen."""
    n_folds = np.array([len(point.results) for point in search.points])
    order = np.lexsort((np.nanmean(by_fold, axis=1), -n_folds))
    ranks = np.empty(len(order), int)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks

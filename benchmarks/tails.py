"""Measure what tails, bounds of the mean and caution with few rows change, before and after from the same fits.

One table for the literature's splits (Hernandez-Lobato, Gal) of HETEROSCOPE_SETS, HETEROSCOPE_SPLITS of each, and one
for draws of small tables, HETEROSCOPE_DRAWS of each size. "Before" is a Gaussian with one factor of the std, corrected
for the final fit whatever the number of rows, and without bounds of the mean.
"""

import importlib.resources
import os
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from heteroscope import HeteroskedasticRegressorCV, metrics
from heteroscope.datasets import SOURCES
from heteroscope.distributions import frozen
from heteroscope.networks import moment_match, predict_members
from heteroscope.search import SearchResult, scale_for_all_rows, share_of_more_members, std_scale

SETS, SPLITS, DRAWS = "yacht,housing,concrete", 3, 30
SIZES = (12, 20, 30)


class Keeping(HeteroskedasticRegressorCV):
    """The estimator, which keeps its search and its folds."""

    def _search(self, plan: Any, data: Any, family: str) -> SearchResult:
        self.result, self.folds = super()._search(plan, data, family), data.folds
        return self.result


class Scores(NamedTuple):
    """Scores of one forecast."""

    nll: float
    crps: float
    rmse: float
    coverage: float


def literature_splits(name: str, n_splits: int) -> list[tuple[np.ndarray, ...]]:
    """Return training and test rows of the published splits, which numpy's global generator makes again."""
    source = SOURCES[name]
    with importlib.resources.files(source.package).joinpath(source.path).open("rb") as file:
        table = np.asarray(source.read(file), float)
    random, splits = np.random.RandomState(1), []
    for _ in range(n_splits):
        order = random.choice(range(len(table)), len(table), replace=False)
        training, test = table[order[: round(0.9 * len(table))]], table[order[round(0.9 * len(table)) :]]
        splits.append((training[:, :-1], training[:, -1], test[:, :-1], test[:, -1]))
    return splits


def small_table(n: int, seed: int) -> tuple[np.ndarray, ...]:
    """Return n training rows and 1,000 test rows of a bent surface with noise that varies by a factor of five."""
    random = np.random.default_rng([n, seed])

    def draw(k: int) -> tuple[np.ndarray, np.ndarray]:
        x = random.uniform(-1, 1, (k, 2))
        noise = 0.3 * np.exp(0.8 * x[:, 1]) * random.normal(size=k)
        return x, np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] + noise

    return (*draw(n), *draw(1000))


def before_and_after(split: tuple[np.ndarray, ...]) -> tuple[Scores, Scores, float]:
    """Fit once; return the scores of the test rows before and after, and the degrees of freedom."""
    x, y, x_test, y_test = split
    model = Keeping(random_state=0).fit(x, y)
    best, folds = model.result.chosen, model.folds
    share = float(np.mean([len(fold.training.y) for fold in folds])) / len(y)
    factor = scale_for_all_rows(share_of_more_members(best, folds, model.n_members) * std_scale(best, folds), share)
    mean, std = predict_members(model.members_, x_test, model.scaling_, model.activation)
    plain = moment_match(mean, np.minimum(std, model.widest_std_)).scaled(factor)
    return (
        _scores(y_test, frozen(plain.mean, plain.std, np.inf)),
        _scores(y_test, model.pred_dist(x_test)),
        model.df_,
    )


def _scores(y: np.ndarray, forecast: Any) -> Scores:
    return Scores(
        *(function(y, forecast) for function in (metrics.nll, metrics.crps, metrics.rmse, metrics.interval_coverage))
    )


def print_row(name: str, fits: list[tuple[Scores, Scores, float]]) -> None:
    """Print averages, paired differences with standard errors, and the smallest coverage."""
    before, after = (np.array([fit[k] for fit in fits]) for k in (0, 1))
    change = after - before
    error = stats.sem(change, axis=0) if len(fits) > 1 else np.full(4, np.nan)
    cells = [f"{name} | {len(fits)}"]
    cells += [f"{before[:, k].mean():.3f} | {change[:, k].mean():+.3f} ± {error[k]:.3f}" for k in range(3)]
    cells += [f"{side[:, 3].mean():.1%}, least {side[:, 3].min():.0%}" for side in (before, after)]
    cells.append(f"{np.median([fit[2] for fit in fits]):.0f}")
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print both tables as one."""
    sets = os.environ.get("HETEROSCOPE_SETS", SETS).split(",")
    n_splits = int(os.environ.get("HETEROSCOPE_SPLITS", SPLITS))
    n_draws = int(os.environ.get("HETEROSCOPE_DRAWS", DRAWS))
    print("## Tails\n\n| table | fits | NLL before | change | CRPS before | change | RMSE before | change |", end="")
    print(" coverage of 90 % intervals before | after | median df |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in filter(None, sets):
        print_row(name, [before_and_after(split) for split in literature_splits(name, n_splits)])
    for n in SIZES if n_draws else ():
        print_row(f"{n} rows", [before_and_after(small_table(n, seed)) for seed in range(n_draws)])

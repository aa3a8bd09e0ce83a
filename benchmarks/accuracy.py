"""Measure test scores of our method, two baselines, NGBoost, CatBoost and a Gaussian process on eleven tables.

Prints one table per data set: scores in original units over random 90/10 splits. Four sets were used to choose our
defaults, seven were not. `python -m benchmarks accuracy` takes hours; the environment variables HETEROSCOPE_SPLITS,
HETEROSCOPE_SETS and HETEROSCOPE_METHODS (comma-separated) make it smaller. Finished fits are kept in
HETEROSCOPE_FOLDER, so that a second run resumes the first.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, make_friedman1

from heteroscope import comparison

METHODS = "ours,beta-nll,mle-ensemble,ngboost,catboost,gp"
TOO_MANY_ROWS = ("power", "houses", "protein")  # for a Gaussian process
TUNED_ON = ("yacht", "housing", "concrete", "power")  # sets on which our defaults were chosen
NOT_TUNED_ON = ("airfoil", "fish_toxicity", "wine", "protein")


def diabetes() -> pd.DataFrame:
    """Return scikit-learn's 442 patients: little signal, and nearly constant noise."""
    return load_diabetes(as_frame=True).frame


def friedman() -> pd.DataFrame:
    """Return Friedman's first problem: ten inputs, five without effect; the noise grows tenfold with the fourth."""
    x, y = make_friedman1(n_samples=1000, random_state=0)
    noise = np.exp(np.log(10) * x[:, 3]) * 0.3 * np.random.default_rng(1).normal(size=len(y))
    return pd.DataFrame(x, columns=[f"x{k}" for k in range(10)]).assign(target=y + noise)


def houses() -> pd.DataFrame:
    """Return made-up house prices that depend on place, income and age; their noise grows with the price."""
    random = np.random.default_rng(2)
    income, age = random.gamma(4.0, 1.0, 3000), random.uniform(1, 50, 3000)
    east, north = random.uniform(-1, 1, (2, 3000))
    coast = np.exp(-((east + 0.5 * north) ** 2) / 0.1)
    level = 0.5 + 0.4 * income + 1.5 * coast * np.sqrt(income) - 0.01 * age
    price = level * np.exp((0.1 + 0.2 * coast) * random.normal(size=3000))
    return pd.DataFrame({"income": income, "age": age, "east": east, "north": north, "target": price})


TABLES: dict[str, Callable[[], pd.DataFrame]] = {"diabetes": diabetes, "friedman": friedman, "houses": houses}


def main() -> None:
    """Print one table of scores per data set."""
    wanted = os.environ.get("HETEROSCOPE_SETS", ",".join((*TUNED_ON, *NOT_TUNED_ON, *TABLES))).split(",")
    methods = os.environ.get("HETEROSCOPE_METHODS", METHODS).split(",")
    n_splits = int(os.environ.get("HETEROSCOPE_SPLITS", "20"))
    folder = Path(os.environ.get("HETEROSCOPE_FOLDER") or tempfile.mkdtemp(prefix="accuracy-"))
    print(f"## Accuracy\n\n{n_splits} random 90/10 splits, original units; finished fits are kept in {folder.name}.\n")
    for name in wanted:
        data, target = name, None
        if name in TABLES:
            folder.mkdir(parents=True, exist_ok=True)
            data, target = folder / f"{name}.csv", "target"
            TABLES[name]().to_csv(data, index=False)
        affordable = [method for method in methods if method != "gp" or name not in TOO_MANY_ROWS]
        records = comparison.compare(
            data, affordable, target=target, n_splits=n_splits, out=folder / f"{name}-compare", n_jobs=-1
        )
        print(f"### {name}\n\n{comparison.markdown(comparison.summary(records))}\n", flush=True)

"""Score our default search on the splits on which the literature publishes its numbers, and see where coverage holds.

    python -m benchmarks published

Beside the scores of the test rows, each fit has the coverage of 90 % intervals in the quarter of the test rows with the
smallest and with the largest predicted std. HETEROSCOPE_SETS, such as "yacht:20,power:2", names sets and numbers of
splits. Every finished fit is a line of `benchmarks/records/published` (or HETEROSCOPE_FOLDER), so that a second run
resumes the first.
"""

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd

from heteroscope import HeteroskedasticRegressorCV, datasets, metrics
from heteroscope.comparison.processor_time import processor_seconds

SETS = "yacht:20,housing:10,concrete:10"
RECORDS = Path(__file__).parent / "records" / "published"
SCORES = ("nll", "crps", "rmse", "coverage", "coverage_surest", "coverage_least_sure")


def fit(name: str, number: int) -> dict[str, float | int]:
    """Fit one published split; return its line."""
    split = datasets.splits(name, protocol="published", n_splits=number + 1)[number]
    clock, start = time.perf_counter(), processor_seconds()
    model = HeteroskedasticRegressorCV(random_state=number, n_jobs=1).fit(split.x_train, split.y_train)
    seconds, processor = time.perf_counter() - clock, processor_seconds() - start
    scores = metrics.evaluate(split.y_test, model.pred_dist(split.x_test))
    lower, upper = model.predict_interval(split.x_test)
    inside = (split.y_test >= lower) & (split.y_test <= upper)
    quarters = np.array_split(np.argsort(model.predict(split.x_test, return_std=True)[1], kind="stable"), 4)
    return {
        "split": number,
        **{score: scores[score] for score in ("nll", "crps", "rmse")},
        "coverage": float(inside.mean()),
        "coverage_surest": float(inside[quarters[0]].mean()),
        "coverage_least_sure": float(inside[quarters[-1]].mean()),
        "df": model.df_,
        "log_target": int(model.target_ == "log"),
        "n_points": len(set(model.member_points_)),
        "seconds": seconds,
        "processor_seconds": processor,
    }


def records(name: str, n_splits: int, folder: Path) -> pd.DataFrame:
    """Fit the splits that the file of the set lacks; return its first `n_splits` lines."""
    path = folder / f"{name}.csv"
    lines = pd.read_csv(path).to_dict("records") if path.exists() else []
    for number in sorted(set(range(n_splits)) - {int(line["split"]) for line in lines}):
        lines.append(fit(name, number))
        pd.DataFrame(lines).to_csv(path, index=False, float_format="%.6g")
    return pd.DataFrame(lines).query("split < @n_splits")


def row(name: str, lines: pd.DataFrame) -> str:
    """Return the averages of a set's fits as a row of the table, the first three with their standard errors."""
    cells = [name, str(len(lines))]
    errors = lines.sem(numeric_only=True)
    cells += [f"{lines[score].mean():.3g} ± {errors[score]:.2g}" for score in SCORES[:3]]
    cells += [f"{lines[score].mean():.0%}".replace("%", " %") for score in SCORES[3:]]
    cells += [f"{np.isfinite(lines['df']).sum()}", f"{lines['processor_seconds'].median():.0f}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print one row per set."""
    folder = Path(os.environ.get("HETEROSCOPE_FOLDER") or RECORDS)
    folder.mkdir(parents=True, exist_ok=True)
    print("## The literature's splits\n")
    print("| set | splits | NLL | CRPS | RMSE | 90 % intervals hold | surest quarter | least sure |", end="")
    print(" Student-t | processor seconds |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for wanted in os.environ.get("HETEROSCOPE_SETS", SETS).split(","):
        name, n_splits = wanted.split(":")
        print(row(name, records(name, int(n_splits), folder)), flush=True)

"""Measure what the logarithm of skewed targets and bent inputs change, on tables that were not used to choose them.

    python -m benchmarks skewed

Targets: `target="auto"` beside "none" on sets whose targets are positive and skewed. Inputs: columns with far outlying
values bent (`heteroscope.data.bends`) or straight, on sets that have such columns, and on two made-up tables, lognormal
inputs with sigma 3 and inputs of which 1 % are a hundred times as large. At most 600 training rows, 2,000 test rows.
HETEROSCOPE_SETS, such as "lognormal:3,compactiv:1", names tables and numbers of splits. Every fit is a line of
`benchmarks/records/skewed` or, with HETEROSCOPE_FOLDER, of a file there; a second run resumes the first.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd

from heteroscope import HeteroskedasticRegressorCV, metrics
from heteroscope.data import bends
from heteroscope.datasets.sources import sample

SETS = "lognormal:3,outlying:3,footballers:1,diamonds:1"
N_TRAIN, N_TEST = 600, 2000
RECORDS = Path(__file__).parent / "records" / "skewed"
TARGETS = ("quake", "abalone", "diamonds", "footballers")
INPUTS = ("lognormal", "outlying", "compactiv", "skillcraft", "communities")


def rows_of(name: str, split: int) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and targets: those of a set in random order, or new ones of a made-up table."""
    random = np.random.default_rng(split)
    if name in ("lognormal", "outlying"):
        z = random.normal(size=(N_TRAIN + N_TEST, 4))
        y = np.sin(1.5 * z[:, 0]) + z[:, 1] + 0.3 * np.exp(0.5 * z[:, 2]) * random.normal(size=len(z))
        return (np.exp(3.0 * z) if name == "lognormal" else np.where(random.random(z.shape) < 0.01, 100.0, 1.0) * z), y
    rows = sample(name)
    order = random.permutation(len(rows.y))[: N_TRAIN + N_TEST]
    return rows.x[order], rows.y[order]


def fit(name: str, split: int, before: bool) -> dict[str, float | int | str]:
    """Fit one table, with the target and the inputs as they are or as by default; return its line."""
    x, y = rows_of(name, split)
    n = min(N_TRAIN, round(0.8 * len(y)))
    heavy = bends.HEAVY
    bends.HEAVY = np.inf if before and name in INPUTS else heavy
    try:
        target = "none" if before and name in TARGETS else "auto"
        model = HeteroskedasticRegressorCV(random_state=split, n_jobs=1, target=target).fit(x[:n], y[:n])
    finally:
        bends.HEAVY = heavy
    forecast = model.pred_dist(x[n:])
    scores = metrics.evaluate(y[n:], forecast)
    r2 = 1.0 - scores["mean_mse"] / np.var(y[n:])
    return {
        "table": name,
        "split": split,
        "before": int(before),
        **{score: scores[score] for score in ("nll", "crps", "interval_coverage")},
        "r2": r2,
        "target": model.target_,
        "n_bent": 0 if model.scaling_.bends is None else int((model.scaling_.bends.width > 0).sum()),
    }


def records(wanted: dict[str, int], path: Path) -> pd.DataFrame:
    """Fit the splits of these tables that the file lacks; return its lines."""
    lines = pd.read_csv(path).to_dict("records") if path.exists() else []
    done = {(line["table"], line["split"], line["before"]) for line in lines}
    for name, n_splits in wanted.items():
        for split in range(n_splits):
            for before in (True, False):
                if (name, split, int(before)) not in done:
                    lines.append(fit(name, split, before))
                    pd.DataFrame(lines).to_csv(path, index=False, float_format="%.6g")
    return pd.DataFrame(lines)


def main() -> None:
    """Print one row per table: averages before and after."""
    folder = Path(os.environ.get("HETEROSCOPE_FOLDER") or RECORDS)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = dict(pair.split(":") for pair in os.environ.get("HETEROSCOPE_SETS", SETS).split(","))
    lines = records({name: int(n_splits) for name, n_splits in wanted.items()}, folder / "skewed.csv")
    print("## Skewed inputs and targets\n")
    print("| table | fits | NLL before, after | CRPS | R² | share inside 90 % intervals | chosen |")
    print("|---|---:|---:|---:|---:|---:|---|")
    for name, own in lines.groupby("table", sort=False):
        before, after = (own[own["before"] == k] for k in (1, 0))
        cells = [
            f"{before[score].mean():{form}}, {after[score].mean():{form}}"
            for score, form in (("nll", ".2f"), ("crps", ".3g"), ("r2", ".2f"), ("interval_coverage", ".2f"))
        ]
        chosen = f"{(after['target'] == 'log').sum()} logarithms, {after['n_bent'].mean():.0f} inputs bent"
        print(f"| {name} | {len(after)} | {' | '.join(cells)} | {chosen} |")

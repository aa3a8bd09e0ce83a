"""Compare the search by halving with the full search on real tables of many rows: CPU seconds and test scores.

One 90/10 split of each, that chose nothing. Finished fits are kept in `benchmarks/records/halving`; a second run goes
on from there.
"""

import json
import sys
from pathlib import Path

import numpy as np
from benchmarks.cost_by_rows import cpu_seconds

from heteroscope import HeteroskedasticRegressorCV, datasets, metrics
from heteroscope.core import defaults

RECORDS = Path(__file__).parent / "records" / "halving"
SPLITS = {"power": 1, "diamonds": 5}  # seeds


def main() -> None:
    """Print a table with one row per fit."""
    RECORDS.mkdir(parents=True, exist_ok=True)
    print("| table | training rows | search | CPU seconds | steps of the chosen point | NLL | CRPS | RMSE |")
    print("|---|---:|---|---:|---:|---:|---:|---:|")
    for name, seed in SPLITS.items():
        for search, rows_from in (("full", sys.maxsize), ("halving", 0)):
            path = RECORDS / f"{name}-{search}.json"
            if not path.exists():
                path.write_text(json.dumps(fit(name, seed, rows_from)))
            found = json.loads(path.read_text())
            print(
                f"| {name} | {found['rows']:,} | {search} | {found['cpu']:.0f} | {found['steps']:,} "
                f"| {found['nll']:.3f} | {found['crps']:.3g} | {found['rmse']:.3g} |",
                flush=True,
            )


def fit(name: str, seed: int, rows_from: int) -> dict[str, float]:
    """Fit the default search, which halves its points from so many rows on."""
    defaults.HALVING_FROM = rows_from
    (split,) = datasets.splits(name, protocol="literature", n_splits=1, seed=seed)
    start = cpu_seconds()
    model = HeteroskedasticRegressorCV(random_state=0, n_jobs=1, target="none").fit(split.x_train, split.y_train)
    cpu = cpu_seconds() - start
    forecast = model.pred_dist(split.x_test)
    return {
        "rows": len(split.y_train),
        "cpu": cpu,
        "steps": int(model.cv_results_["max_steps"][model.best_index_]),
        "nll": float(metrics.nll(split.y_test, forecast)),
        "crps": float(metrics.crps(split.y_test, forecast)),
        "rmse": float(np.sqrt(np.mean((model.predict(split.x_test) - split.y_test) ** 2))),
    }


if __name__ == "__main__":
    main()

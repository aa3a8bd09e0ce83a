"""Measure the coverage of 90 % intervals on tables of 12 to 30 rows, and on tables with more inputs than rows suggest.

    python -m benchmarks few_rows

Made-up tables that were not used to choose how tails widen (`python -m benchmarks tails` has those): a plane, a step,
errors of a Student-t with three degrees of freedom, and noise alone, each with three inputs; and 300 rows of 200
inputs, three of which matter. The coverage of a fit is that of 2,000 new rows; that of many fits is what a user can
expect, and the least shows how much one fit can be off. HETEROSCOPE_DRAWS sets the number of fits per table. Every fit
is a line of `benchmarks/records/few_rows` or, with HETEROSCOPE_FOLDER, of a file there; a second run resumes the
first.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from heteroscope import HeteroskedasticRegressorCV, metrics

DRAWS, N_TEST = 3, 2000
RECORDS = Path(__file__).parent / "records" / "few_rows"
SIZES = (12, 20, 30)


def plane(x: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return a plane with noise of half its spread."""
    return x[:, 0] - 0.5 * x[:, 1] + 0.3 * random.normal(size=len(x))


def step(x: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return a step with noise that differs by a factor of three between its sides."""
    return np.where(x[:, 0] > 0, 1.0, -1.0) + np.where(x[:, 0] > 0, 0.6, 0.2) * random.normal(size=len(x))


def heavy(x: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return a line with the errors of a Student-t of three degrees of freedom."""
    return x[:, 0] + 0.3 * stats.t.rvs(3, size=len(x), random_state=random)


def noise(x: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return noise alone."""
    return random.normal(size=len(x))


KINDS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "plane": plane,
    "step": step,
    "heavy": heavy,
    "noise": noise,
}
#: kind, rows, inputs.
TABLES = (*((kind, n, 3) for n in SIZES for kind in KINDS), ("plane", 300, 200), ("step", 300, 200))


def fit(kind: str, n_rows: int, n_inputs: int, draw: int) -> dict[str, float | int | str]:
    """Fit one draw of a table; return its line."""
    random = np.random.default_rng([n_rows, n_inputs, draw, list(KINDS).index(kind)])
    x = random.uniform(-1, 1, (n_rows + N_TEST, n_inputs))
    y = KINDS[kind](x, random)
    model = HeteroskedasticRegressorCV(random_state=draw, n_jobs=1).fit(x[:n_rows], y[:n_rows])
    forecast, test = model.pred_dist(x[n_rows:]), y[n_rows:]
    constant = stats.norm(y[:n_rows].mean(), y[:n_rows].std(ddof=1))
    return {
        "kind": kind,
        "n_rows": n_rows,
        "n_inputs": n_inputs,
        "draw": draw,
        "coverage": metrics.interval_coverage(test, forecast),
        "nll": metrics.nll(test, forecast),
        "constant_nll": float(-constant.logpdf(test).mean()),
        "df": model.df_,
    }


def records(n_draws: int, path: Path) -> pd.DataFrame:
    """Fit what the file lacks; return its lines."""
    lines = pd.read_csv(path).to_dict("records") if path.exists() else []
    done = {(line["kind"], line["n_rows"], line["n_inputs"], line["draw"]) for line in lines}
    for draw in range(n_draws):
        for table in TABLES:
            if (*table, draw) not in done:
                lines.append(fit(*table, draw))
                pd.DataFrame(lines).to_csv(path, index=False, float_format="%.6g")
    return pd.DataFrame(lines)


def main() -> None:
    """Print one row per table."""
    folder = Path(os.environ.get("HETEROSCOPE_FOLDER") or RECORDS)
    folder.mkdir(parents=True, exist_ok=True)
    lines = records(int(os.environ.get("HETEROSCOPE_DRAWS", DRAWS)), folder / "few_rows.csv")
    print("## Few rows\n\n| table | rows | inputs | fits | 90 % intervals hold | least | NLL | constant Gaussian |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    groups = [((n, k, kind), own) for (n, k, kind), own in lines.groupby(["n_rows", "n_inputs", "kind"])]
    groups += [((n, k, "all of these"), own) for (n, k), own in lines.groupby(["n_rows", "n_inputs"])]
    for (n_rows, n_inputs, kind), own in sorted(groups, key=lambda group: group[0][:2]):
        coverage = f"{own['coverage'].mean():.0%} | {own['coverage'].min():.0%}".replace("%", " %")
        scores = f"{own['nll'].mean():.2f} | {own['constant_nll'].mean():.2f}"
        print(f"| {kind} | {n_rows} | {n_inputs} | {len(own)} | {coverage} | {scores} |")

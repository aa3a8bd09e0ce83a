"""Put the records of accuracy into the tables of README.md, BENCHMARKS.md and docs/baselines.md.

`python docs/make_accuracy.py` reads benchmarks/records/SET.csv, one row per fit, and rewrites the cells of the rows
that begin with the name of a set; which rows there are, the pages say.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pandas as pd
from make_methods import details

from heteroscope.comparison import summary

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "benchmarks" / "records"
TITLES = {
    "ours": "ours",
    "MLE ensemble": "mle-ensemble",
    "beta-NLL": "beta-nll",
    "Gaussian process": "gp",
    "NGBoost": "ngboost",
    "CatBoost": "catboost",
}
README_COLUMNS = ("ours", "mle-ensemble", "gp", "ngboost", "catboost")

Cells: TypeAlias = list[str]


def main() -> None:
    """Rewrite the rows of the three pages."""
    tables = {path.stem: summary(pd.read_csv(path)) for path in sorted(RECORDS.glob("*.csv"))}
    for page, rewrite in (
        ("README.md", readme_row),
        ("BENCHMARKS.md", benchmarks_row),
        ("docs/baselines.md", method_row),
    ):
        path = ROOT / page
        path.write_text(with_rows(path.read_text(encoding="utf-8"), tables, rewrite), encoding="utf-8")


def with_rows(page: str, tables: dict[str, pd.DataFrame], rewrite: Callable[[Cells, str, pd.DataFrame], Cells]) -> str:
    """Return the page with each row that begins with the name of a set rewritten."""
    lines = page.split("\n")
    for k, line in enumerate(lines):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = cells[0].split(",")[0].lower().replace(" ", "_")
        if line.startswith("|") and name in tables:
            lines[k] = f"| {' | '.join(rewrite(cells, name, tables[name]))} |".replace("|  |", "| |")
    return "\n".join(lines)


def readme_row(cells: Cells, _: str, table: pd.DataFrame) -> Cells:
    """Return set, rows, splits, the NLL of each method with the lowest in bold, and the coverage of ours."""
    texts = [f"{table.loc[name, 'nll']:.2f}" if name in table.index else "" for name in README_COLUMNS]
    least = min((text for text in texts if text), key=float)
    shown = [f"**{text}**" if text == least else text for text in texts]
    return [*cells[:2], str(int(table.loc["ours", "fits"])), *shown, percent(table.loc["ours", "interval_coverage"])]


def benchmarks_row(cells: Cells, _: str, table: pd.DataFrame) -> Cells:
    """Return set, method, splits, NLL, its difference to ours, CRPS, RMSE and coverage."""
    title = cells[1].removesuffix(", ours too")
    if title not in TITLES:
        return cells
    scores = table.loc[TITLES[title]]
    gap = "" if title == "ours" else f"{scores['nll_difference']:+.2f} ± {scores['nll_se']:.2f}"
    nll = f"{scores['nll']:.2f} ± {scores['nll_sd']:.2f}"
    numbers = [f"{scores['crps']:.3g}", f"{scores['rmse']:.3g}", percent(scores["interval_coverage"])]
    return [*cells[:2], str(int(scores["fits"])), nll, gap, *numbers]


def method_row(cells: Cells, name: str, table: pd.DataFrame) -> Cells:
    """Return the row that `make_methods` makes for this set and method."""
    row = details({name: table.loc[["ours", *([cells[1]] if cells[1] != "ours" else [])]]}).split("\n")[-1]
    return [cell.strip() for cell in row.strip("|").split("|")]


def percent(share: float) -> str:
    """Return a share in per cent, with a space before the sign."""
    return f"{share:.0%}".replace("%", " %")


if __name__ == "__main__":
    main()

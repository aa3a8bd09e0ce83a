"""Put the results of `heteroscope compare SET ... --out methods` into docs/baselines.md.

`python docs/make_methods.py methods` replaces the block between `<!-- begin methods -->` and `<!-- end methods -->` by
two tables: the NLL of every method on every set, and all scores. Sets that are not in the folder are left out.
"""

import sys
from pathlib import Path

import pandas as pd
from make_results import filled

PAGE = Path(__file__).parent / "baselines.md"
SETS = ("yacht", "housing", "concrete", "power", "sine", "cubic", "curve")
SCORES = {"nll": "NLL", "crps": "CRPS", "rmse": "RMSE"}


def main(folder: Path) -> None:
    """Rewrite the block from the folder of comparisons."""
    tables = {
        name: pd.read_csv(folder / name / "summary.csv", index_col="method")
        for name in SETS
        if (folder / name / "summary.csv").is_file()
    }
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(filled(page, "methods", f"{overview(tables)}\n\n{details(tables)}"), encoding="utf-8")


def overview(tables: dict[str, pd.DataFrame]) -> str:
    """Return a table of mean test NLL, one row per method and one column per set, the lowest of each set in bold."""
    lines = [f"| NLL | {' | '.join(tables)} |", f"|---|{'---:|' * len(tables)}"]
    for method in next(iter(tables.values())).index:
        cells = [_best_in_bold(table["nll"], method) for table in tables.values()]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _best_in_bold(scores: pd.Series, method: str) -> str:
    """Return a method's score, in bold if it is the lowest, or "" if there is none."""
    if method not in scores or pd.isna(scores[method]):
        return ""
    text = f"{scores[method]:.2f}"
    return f"**{text}**" if text == f"{scores.min():.2f}" else text


def details(tables: dict[str, pd.DataFrame]) -> str:
    """Return a table with one row per set and method.

    Scores are mean ± standard deviation over splits; "NLL minus ours" is the mean paired difference ± standard error.
    """
    lines = [
        "| set | method | splits | NLL | NLL minus ours | CRPS | RMSE | 90 % coverage | seconds |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, table in tables.items():
        for method, row in table.iterrows():
            scores = [f"{row[score]:.3g} ± {row[f'{score}_sd']:.2g}" for score in SCORES]
            gap = "" if method == table.index[0] else f"{row['nll_difference']:+.2f} ± {row['nll_se']:.2f}"
            cells = [scores[0], gap, *scores[1:], f"{row['interval_coverage']:.0%}", f"{row['seconds']:.0f}"]
            lines.append(f"| {name} | {method} | {row['fits']:.0f} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

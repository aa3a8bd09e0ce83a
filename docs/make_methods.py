"""Put what `heteroscope compare ... --out methods` found into docs/baselines.md: `python docs/make_methods.py methods`.

The block between `<!-- begin methods -->` and `<!-- end methods -->` is replaced: the NLL of all methods on all sets,
and under it every score. Sets that the folder does not have are left out.
"""

import sys
from pathlib import Path

import pandas as pd
from make_results import filled

PAGE = Path(__file__).parent / "baselines.md"
SETS = ("yacht", "housing", "concrete", "power", "sine", "cubic", "curve")
COLUMNS = {"nll": "NLL", "crps": "CRPS", "rmse": "RMSE"}


def main(folder: Path) -> None:
    """Rewrite the block."""
    tables = {
        name: pd.read_csv(folder / name / "summary.csv", index_col="method")
        for name in SETS
        if (folder / name / "summary.csv").is_file()
    }
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(filled(page, "methods", f"{overview(tables)}\n\n{details(tables)}"), encoding="utf-8")


def overview(tables: dict[str, pd.DataFrame]) -> str:
    """One row a method, one column a set: mean test NLL, the lowest of a set in bold."""
    lines = [f"| NLL | {' | '.join(tables)} |", f"|---|{'---:|' * len(tables)}"]
    for method in next(iter(tables.values())).index:
        cells = [_best_in_bold(table["nll"], method) for table in tables.values()]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _best_in_bold(scores: pd.Series, method: str) -> str:
    if method not in scores or pd.isna(scores[method]):
        return ""
    text = f"{scores[method]:.2f}"
    return f"**{text}**" if text == f"{scores.min():.2f}" else text


def details(tables: dict[str, pd.DataFrame]) -> str:
    """One row a set and method: mean ± SD over splits, and the paired difference of the NLL ± its standard error."""
    lines = [
        "| set | method | splits | NLL | NLL minus ours | CRPS | RMSE | 90 % coverage | seconds |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, table in tables.items():
        for method, row in table.iterrows():
            scores = [f"{row[score]:.3g} ± {row[f'{score}_sd']:.2g}" for score in COLUMNS]
            gap = "" if method == table.index[0] else f"{row['nll_difference']:+.2f} ± {row['nll_se']:.2f}"
            cells = [scores[0], gap, *scores[1:], f"{row['interval_coverage']:.0%}", f"{row['seconds']:.0f}"]
            lines.append(f"| {name} | {method} | {row['fits']:.0f} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

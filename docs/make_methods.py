"""Put what methods are, and the results of `heteroscope compare SET ... --out methods`, into the documentation.

`python docs/make_methods.py` fills the block "rivals" of docs/compare.md: a table of the methods of other libraries.
`python docs/make_methods.py methods` also fills the block "methods" of docs/baselines.md: the NLL of every method on
every set, and all scores. Sets that are not in the folder are left out.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from make_results import filled

from heteroscope.baselines import METHODS

RIVALS_PAGE = Path(__file__).parent / "compare.md"
PAGE = Path(__file__).parent / "baselines.md"
SETS = ("yacht", "housing", "concrete", "power", "sine", "cubic", "curve")
SCORES = {"nll": "NLL", "crps": "CRPS", "rmse": "RMSE"}


class Rival(NamedTuple):
    """What the table says of a method besides its parameters: extra, form of its forecast, and settings in words."""

    extra: str
    form: str
    settings: str


RIVALS = {
    "ngboost": Rival("compare", "Gaussian", "NGBoost, learning rate 0.01; trees stop early, then a refit to all rows"),
    "catboost": Rival(
        "compare", "Gaussian", "CatBoost's `RMSEWithUncertainty`, learning rate 0.03; early stopping and refit likewise"
    ),
    "gp": Rival(
        "", "Gaussian", "scikit-learn's Gaussian process: constant * RBF + white noise, one length per feature (ARD)"
    ),
    "gp-matern": Rival("", "Gaussian", "the same with a Matern-5/2, which is rougher"),
    "xgboost-distribution": Rival(
        "xgboost-distribution",
        "Gaussian",
        "natural gradients in XGBoost: depth 3, rate 0.03, 80 % of the rows per tree; early stopping and refit",
    ),
    "quantile-boosting": Rival(
        "",
        "11 quantiles",
        "scikit-learn's `HistGradientBoostingRegressor`, one model per level: rate 0.05, 15 leaves, 20 rows per "
        "leaf; early stopping and refit per level",
    ),
    "quantile-forest": Rival(
        "quantile-forest",
        "21 quantiles",
        "Meinshausen's forest; 2, 5 or 10 rows per leaf, and a third or all of the features per cut, by the CRPS of "
        "out-of-bag rows",
    ),
    "conformal-catboost": Rival(
        "conformal",
        "samples",
        "`catboost`, then crepes' conformal predictive system of the scores (y - mean) / std in five folds",
    ),
    "bart": Rival(
        "stochtree", "500 samples", "BART with a forest for the mean and one for the log variance; ten warm starts"
    ),
    "bde": Rival(
        "bde",
        "samples",
        "Bayesian deep ensemble: networks for mean and scale, trained with early stopping, then sampled by "
        "microcanonical Langevin steps of the length of its paper; inputs and target standardised",
    ),
    "realmlp": Rival(
        "pytabkit", "21 quantiles", "RealMLP with its tuned defaults, 256 epochs, pinball loss; outputs are not clamped"
    ),
    "tabm": Rival(
        "pytabkit",
        "21 quantiles",
        "TabM-mini with piecewise-linear embeddings, pinball loss, patience of 16 epochs",
    ),
    "treeffuser": Rival("treeffuser", "samples", "diffusion with boosted trees; early stopping after 50 trees"),
    "tabpfn": Rival("tabpfn", "21 quantiles", "its package's defaults; weights for non-commercial use since 2.5"),
    "tabicl": Rival("tabicl", "21 quantiles", "its package's defaults"),
}
_NOT_SHOWN = {"n_jobs", "random_state", "kernel", "model_path"}


def rivals() -> str:
    """Return one row per method of other libraries: extra, form, settings in words, and its parameters."""
    lines = ["| method | extra | forecast | settings | parameters |", "|---|---|---|---|---|"]
    for name, rival in RIVALS.items():
        known = METHODS[name].make().get_params()
        parameters = ", ".join(f"{key}={value}" for key, value in known.items() if key not in _NOT_SHOWN)
        extra = f"`{rival.extra}`" if rival.extra else ""
        lines.append(f"| `{name}` | {extra} | {rival.form} | {rival.settings} | {parameters} |")
    return "\n".join(lines)


def main(folder: Path | None = None) -> None:
    """Rewrite the table of rivals and, from the folder of comparisons, the tables of scores."""
    RIVALS_PAGE.write_text(filled(RIVALS_PAGE.read_text(encoding="utf-8"), "rivals", rivals()), encoding="utf-8")
    if folder is None:
        return
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
        "| set | method | splits | NLL | NLL minus ours | CRPS | RMSE | 90 % coverage |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, table in tables.items():
        for method, row in table.iterrows():
            scores = [f"{row[score]:.3g} ± {row[f'{score}_sd']:.2g}" for score in SCORES]
            gap = "" if method == table.index[0] else f"{row['nll_difference']:+.2f} ± {row['nll_se']:.2f}"
            cells = [scores[0], gap, *scores[1:], f"{row['interval_coverage']:.0%}"]
            lines.append(f"| {name} | {method} | {row['fits']:.0f} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))

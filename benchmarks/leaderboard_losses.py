"""Measure why another method has the lower CRPS on a set of the leaderboard: is it the mean, or the shape?

    python -m benchmarks leaderboard_losses

Our default search is fitted again to split 0 of each set of HETEROSCOPE_SETS, with the rows and the seed of the
leaderboard, and its forecast is changed in two ways:

shape    F becomes G(F), where G is the distribution of F(y) over the held-out rows: every row gets the average shape of
         the held-out rows. What CRPS gains by that, a better shape for all rows gives.
plain    if the search has chosen logarithms of the target, the same search without them.

Finished fits are lines of benchmarks/records/leaderboard_losses/fits.csv, so that a second run resumes the first.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from heteroscope import HeteroskedasticRegressorCV, datasets, metrics
from heteroscope.comparison import MAX_TRAIN, mean_scores, read_leaderboard
from heteroscope.comparison.leaderboard import first_rows
from heteroscope.comparison.run_comparison import method_seed
from heteroscope.datasets import Split
from heteroscope.distributions import SampleForecast, frozen

RECORDS = Path(__file__).parent / "records"
FITS = RECORDS / "leaderboard_losses" / "fits.csv"
SETS = "excitation_current,medical_expenses,forest_fires,bikes_by_day,protein,communities,apartments,quake,compactiv"
N_LEVELS = 200


def reshaped(model: HeteroskedasticRegressorCV, x: np.ndarray) -> SampleForecast:
    """Return the forecast of rows with the shape of the held-out rows: quantiles at the levels F(y) of these."""
    held, ensemble = model.held_out_, model.ensemble()
    levels = metrics.pit(held.y, frozen(held.mean, held.std, ensemble.df, ensemble.lognormal))
    levels = np.quantile(levels, (np.arange(N_LEVELS) + 0.5) / N_LEVELS).clip(1e-6, 1 - 1e-6)
    forecast = model.pred_dist(x)
    return SampleForecast(np.stack([forecast.ppf(level) for level in levels], axis=1))


def fit(name: str) -> dict[str, object]:
    """Fit split 0 of a set; return its line."""
    split: Split = first_rows(datasets.splits(name, protocol="literature", n_splits=1)[0], MAX_TRAIN)
    settings = {"random_state": method_seed(0, 0), "n_jobs": 1}
    model = HeteroskedasticRegressorCV(**settings).fit(split.x_train, split.y_train)
    held = model.held_out_
    shown = frozen(held.mean, held.std, model.ensemble().df, model.ensemble().lognormal)
    scores = (held.y - shown.mean()) / shown.std()
    _, counts = np.unique(split.y_train, return_counts=True)
    line = {
        "set": name,
        "target": model.target_,
        "df": model.df_,
        "skewness": float(stats.skew(scores)),
        "most_repeated": float(counts.max() / len(split.y_train)),
        "distinct": len(counts),
        "rmse": metrics.rmse(split.y_test, model.pred_dist(split.x_test)),
        "crps": metrics.crps(split.y_test, model.pred_dist(split.x_test)),
        "crps_shape": metrics.crps(split.y_test, reshaped(model, split.x_test)),
        "rmse_plain": np.nan,
        "crps_plain": np.nan,
    }
    if model.target_ == "log":
        plain = HeteroskedasticRegressorCV(target="none", **settings).fit(split.x_train, split.y_train)
        line["rmse_plain"] = metrics.rmse(split.y_test, plain.pred_dist(split.x_test))
        line["crps_plain"] = metrics.crps(split.y_test, plain.pred_dist(split.x_test))
    return line


def table() -> str:
    """Return one row per set: the best other method on split 0, and what was changed in ours."""
    board = read_leaderboard(RECORDS / "leaderboard")
    crps, rmse = (mean_scores(board[board["split"] == 0], score) for score in ("crps", "rmse"))
    lines = [
        "| set | best other by CRPS | its CRPS | its RMSE | ours, shape of held-out rows: CRPS "
        "| ours, no logarithms: CRPS | RMSE | skewness of held-out errors | commonest target |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for line in pd.read_csv(FITS).to_dict("records"):
        others = crps.loc[line["set"]].drop("ours").dropna()
        best = str(others.idxmin())
        changes = [
            others[best] / crps.loc[line["set"], "ours"],
            rmse.loc[line["set"], best] / rmse.loc[line["set"], "ours"],
            line["crps_shape"] / line["crps"],
            line["crps_plain"] / line["crps"],
            line["rmse_plain"] / line["rmse"],
        ]
        cells = ["" if np.isnan(change) else f"{100 * (change - 1):+.0f} %" for change in changes]
        end = [f"{line['skewness']:.1f}", f"{100 * line['most_repeated']:.0f} %"]
        lines.append(f"| {line['set'].replace('_', ' ')} | {best} | {' | '.join([*cells, *end])} |")
    return "\n".join(lines)


def main() -> None:
    """Make the fits that are missing; print the table."""
    FITS.parent.mkdir(parents=True, exist_ok=True)
    lines = pd.read_csv(FITS).to_dict("records") if FITS.exists() else []
    done = {line["set"] for line in lines}
    for name in os.environ.get("HETEROSCOPE_SETS", SETS).split(","):
        if name not in done:
            lines.append(fit(name))
            pd.DataFrame(lines).to_csv(FITS, index=False, float_format="%.6g")
    print("## Where another method is ahead on the leaderboard\n")
    print(table())

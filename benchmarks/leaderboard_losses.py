"""Measure why another method has the lower CRPS on a set of the leaderboard: is it the mean, or the shape?

    python -m benchmarks leaderboard_losses

Our default search is fitted again to split 0 of each set of HETEROSCOPE_SETS, with the rows and the seed of the
leaderboard, and its forecast is changed in two ways:

shape    F becomes G(F), where G is the distribution of F(y) over the held-out rows: every row gets the average shape of
         the held-out rows. What CRPS gains by that, a better shape for all rows gives.
plain    if the search has chosen logarithms of the target, the same search without them.

Finished fits are lines of benchmarks/records/leaderboard_losses/fits.csv, so that a second run resumes the first;
docs/make_leaderboard.py shows them beside the records of the other methods.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from heteroscope import HeteroskedasticRegressorCV, datasets, metrics
from heteroscope.comparison import MAX_TRAIN
from heteroscope.comparison.leaderboard import first_rows
from heteroscope.comparison.run_comparison import method_seed
from heteroscope.datasets import Split
from heteroscope.distributions import SampleForecast, frozen

FITS = Path(__file__).parent / "records" / "leaderboard_losses" / "fits.csv"
SETS = "excitation_current,medical_expenses,forest_fires,bikes_by_day,protein,communities,apartments,quake,white_wine"
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


def least_squares_rmse(features: np.ndarray, y: np.ndarray) -> float:
    """Return the RMSE of a linear model with a constant, fitted to all rows."""
    whole = np.column_stack([np.ones(len(y)), features])
    return float(np.sqrt(np.mean((y - whole @ np.linalg.lstsq(whole, y, rcond=None)[0]) ** 2)))


def repeated_share(name: str = "white_wine") -> float:
    """Return the share of the test rows of split 0 whose inputs are also those of a training row."""
    split = first_rows(datasets.splits(name, protocol="literature", n_splits=1)[0], MAX_TRAIN)
    known = {row.tobytes() for row in split.x_train}
    return float(np.mean([row.tobytes() in known for row in split.x_test]))


def smooth_and_stepped() -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the RMSE of a smooth function and of one with steps, of excitation current and of apartments.

    Excitation current: a polynomial of degree 6 in Iy and PF; a constant per value of Iy plus one per value of PF.
    Apartments: a linear model with a polynomial of degree 10 in the year; the linear model with two steps in the year.
    """
    rows = datasets.sources.sample("excitation_current")
    inputs = rows.x[:, :2]
    polynomial = PolynomialFeatures(6, include_bias=False).fit_transform(StandardScaler().fit_transform(inputs))
    values = np.column_stack([column[:, np.newaxis] == np.unique(column)[1:] for column in inputs.T])
    current = least_squares_rmse(polynomial, rows.y), least_squares_rmse(values, rows.y)
    rows = datasets.sources.sample("apartments")
    year = StandardScaler().fit_transform(rows.x[:, :1])
    polynomial = np.column_stack([rows.x, *(year**k for k in range(2, 11))])
    steps = np.column_stack([rows.x, rows.x[:, 0] >= 1936, rows.x[:, 0] >= 1996])
    return current, (least_squares_rmse(polynomial, rows.y), least_squares_rmse(steps, rows.y))


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
    print(f"| {' | '.join(lines[0])} |\n|---|{'---:|' * (len(lines[0]) - 1)}")
    for line in lines:
        cells = [value if isinstance(value, str) else f"{value:.3g}" for value in line.values()]
        print(f"| {' | '.join(cells)} |")
    (current, current_steps), (apartments, apartments_steps) = smooth_and_stepped()
    print(
        f"\nRMSE of smooth functions and of steps: excitation current {current:.3f} and {current_steps:.3f}, ", end=""
    )
    print(f"apartments {apartments:.0f} and {apartments_steps:.0f}.")
    print(f"White wine: the inputs of {100 * repeated_share():.0f} % of the test rows are those of a training row.")

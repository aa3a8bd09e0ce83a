"""The tables of the paper: its printed numbers beside those that come out here, and what the rule of selection does."""

from collections.abc import Mapping, Sequence

import pandas as pd

from heteroscope.paper.comparison_parts import Comparison
from heteroscope.paper.exhibits import Exhibit, Output, Parts
from heteroscope.paper.formatting import number, plus_minus
from heteroscope.paper.printed_numbers import BETA_NLL, ENSEMBLE, LARGE, OURS, SMALL, Printed
from heteroscope.paper.scales import Scale

METRICS = {"ece": "ECE", "mean_mse": "mean MSE", "std_mse": "std MSE"}
#: A method's column, and that of the paper beside which it stands.
METHODS = {
    "paper": ("ours, paper's rule", OURS),
    "held-out": ("ours, held-out", None),
    "beta-nll": ("beta-NLL", BETA_NLL),
    "mle-ensemble": ("MLE ensemble", ENSEMBLE),
}
NOT_RUN = "-"
SOLAR_FLUX = "solar flux"
SMALL_SETS = ("sine", "concrete", "housing", "power", "yacht")
LARGE_SETS = ("cubic", "curve", "sine", "concrete", "housing", "power", "yacht")

Records = Mapping[str, pd.DataFrame]


def comparisons(data_sets: Sequence[str], scale: Scale) -> Parts:
    """The same methods on each set, and on ClimSim's solar flux."""
    tables = {data: Comparison(data, scale.n_runs, scale.hidden, scale.search, scale.fit_steps) for data in data_sets}
    return {**tables, SOLAR_FLUX: scale.solar_flux}


def beside_printed(found: Records, paper: Printed, methods: Sequence[str]) -> pd.DataFrame:
    """One row a set and metric, the paper's column left of ours; a set that was not run keeps the paper's numbers."""
    return pd.DataFrame(
        [
            {
                "set, metric": f"{_title(data, found)}, {METRICS[metric]}",
                **_row(found.get(data), metric, cells, methods),
            }
            for data, by_metric in paper.items()
            for metric, cells in by_metric.items()
        ]
    )


def _title(data: str, found: Records) -> str:
    """The set's name; generated rows are called so."""
    if data in found and "source" in found[data]:
        return f"{data} ({found[data]['source'].iat[0]})"
    return data


def _row(records: pd.DataFrame | None, metric: str, cells: dict[str, str], methods: Sequence[str]) -> dict[str, str]:
    row = {}
    for method in methods:
        title, column = METHODS[method]
        if column is not None:
            row[f"paper: {column}"] = cells[column]
        row[title] = NOT_RUN if records is None else plus_minus(_scores(records, method, metric))
    return row


def _scores(records: pd.DataFrame, method: str, metric: str) -> pd.Series:
    return records.loc[records["method"] == method].set_index("split")[metric]


def _small(found: Records) -> Output:
    return Output(table=beside_printed(found, SMALL, ["paper", "held-out", "beta-nll"]))


def _large(found: Records) -> Output:
    wins = {metric: sets_won(found, "held-out", "mle-ensemble", metric) for metric in ("mean_mse", "std_mse", "nll")}
    verdict = (
        f"Against the MLE ensemble, ours with held-out selection has the lower mean MSE on {wins['mean_mse']} of "
        f"{len(found)} sets, the lower std MSE on {wins['std_mse']} and the lower NLL on {wins['nll']}."
    )
    return Output(table=beside_printed(found, LARGE, list(METHODS)), verdict=verdict)


def sets_won(found: Records, method: str, other: str, metric: str) -> int:
    """On how many sets the first method has the lower mean over runs."""
    means = [(_scores(one, method, metric).mean(), _scores(one, other, metric).mean()) for one in found.values()]
    return sum(bool(ours < theirs) for ours, theirs in means)


def selection(found: Records) -> Output:
    """Both rules on the same runs: test scores, and how often the paper's rule has the higher NLL."""
    rows, worse, runs = [], 0, 0
    for data, records in found.items():
        by_rule = {rule: _scores(records, rule, "nll") for rule in ("paper", "held-out")}
        worse += int((by_rule["paper"] > by_rule["held-out"]).sum())
        runs += len(by_rule["paper"])
        row = {"set": _title(data, found)}
        for metric, title in {"nll": "NLL", "mean_mse": "mean MSE", "ece": "ECE"}.items():
            for rule in by_rule:
                row[f"{title}, {METHODS[rule][0].removeprefix('ours, ')}"] = plus_minus(_scores(records, rule, metric))
        rows.append(row)
    vanished = [data for data, records in found.items() if _std_vanished(records)]
    verdict = f"The paper's rule gives the higher test NLL in {worse} of {runs} runs ({number(100 * worse / runs)} %). "
    verdict += f"Its std has all but vanished (std MSE within 10 % of mean MSE) on {', '.join(vanished) or 'no set'}."
    return Output(table=pd.DataFrame(rows), verdict=verdict)


def _std_vanished(records: pd.DataFrame) -> bool:
    """Where std -> 0, std MSE tends to mean MSE."""
    std_mse, mean_mse = (_scores(records, "paper", metric).mean() for metric in ("std_mse", "mean_mse"))
    return bool(abs(std_mse / mean_mse - 1) < 0.1)


TABLES = {
    "small-table": Exhibit(
        "Table 2",
        "mean and std MSE of ours and beta-NLL beside the printed ones",
        lambda scale: comparisons(SMALL_SETS, scale),
        _small,
    ),
    "large-table": Exhibit(
        "Table 5",
        "ECE, mean and std MSE of ours, beta-NLL and an MLE ensemble beside the printed ones",
        lambda scale: comparisons(LARGE_SETS, scale),
        _large,
    ),
    "selection": Exhibit(
        "beyond the paper",
        "the paper's selection on training rows against held-out selection",
        lambda scale: comparisons(LARGE_SETS, scale),
        selection,
    ),
}

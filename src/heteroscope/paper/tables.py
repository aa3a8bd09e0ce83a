"""The tables of the paper, its printed numbers beside ours, and a table of the two selection rules."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pandas as pd

from heteroscope.paper.exhibits import Exhibit, Output
from heteroscope.paper.formatting import number, plus_minus
from heteroscope.paper.parts import Parts
from heteroscope.paper.printed_numbers import BETA_NLL, ENSEMBLE, LARGE, OURS, SMALL, Printed
from heteroscope.paper.scales import Scale

#: Metrics of the tables, and their titles.
METRICS = {"ece": "ECE", "mean_mse": "mean MSE", "std_mse": "std MSE"}
#: Title of each method, and the name under which the paper prints it, if it does.
METHODS = {
    "paper": ("ours, paper's rule", OURS),
    "held-out": ("ours, held-out", None),
    "beta-nll": ("beta-NLL", BETA_NLL),
    "mle-ensemble": ("MLE ensemble", ENSEMBLE),
}
NOT_RUN = "-"  # cell of a table for a set that was not run
SOLAR_FLUX = "solar flux"
# Sets of the paper's two tables besides the solar flux.
SMALL_SETS = ("sine", "concrete", "housing", "power", "yacht")
LARGE_SETS = ("cubic", "curve", "sine", "concrete", "housing", "power", "yacht")

#: Scores by data set: one row per method and run.
Records: TypeAlias = Mapping[str, pd.DataFrame]


def comparisons(data_sets: Sequence[str], scale: Scale) -> Parts[pd.DataFrame]:
    """Return the comparison of the four methods on each set and on ClimSim's solar flux."""
    return {**{data: scale.comparison(data) for data in data_sets}, SOLAR_FLUX: scale.solar_flux}


def beside_printed(found: Records, paper: Printed, methods: Sequence[str]) -> pd.DataFrame:
    """Return one row per set and metric, with the paper's numbers in the column before ours.

    A set that was not run has the paper's numbers only.
    """
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
    """Return the set's name, followed by the source of its files if the records name one."""
    if data in found and "source" in found[data]:
        return f"{data} ({found[data]['source'].iat[0]})"
    return data


def _row(records: pd.DataFrame | None, metric: str, cells: dict[str, str], methods: Sequence[str]) -> dict[str, str]:
    """Return the cells of one row: the paper's number if it prints one, then ours, for each method."""
    row = {}
    for method in methods:
        title, column = METHODS[method]
        if column is not None:
            row[f"paper: {column}"] = cells[column]
        row[title] = NOT_RUN if records is None else plus_minus(_scores(records, method, metric))
    return row


def _scores(records: pd.DataFrame, method: str, metric: str) -> pd.Series:
    """Return one score per run of a method."""
    return records.loc[records["method"] == method].set_index("split")[metric]


def _small(found: Records) -> Output:
    """Return the paper's Table 2 beside our numbers."""
    return Output(table=beside_printed(found, SMALL, ["paper", "held-out", "beta-nll"]))


def _large(found: Records) -> Output:
    """Return the paper's Table 5 beside our numbers, and count the sets on which ours beats the MLE ensemble."""
    wins = {metric: sets_won(found, "held-out", "mle-ensemble", metric) for metric in ("mean_mse", "std_mse", "nll")}
    verdict = (
        f"Against the MLE ensemble, ours with held-out selection has the lower mean MSE on {wins['mean_mse']} of "
        f"{len(found)} sets, the lower std MSE on {wins['std_mse']} and the lower NLL on {wins['nll']}."
    )
    return Output(table=beside_printed(found, LARGE, list(METHODS)), verdict=verdict)


def sets_won(found: Records, method: str, other: str, metric: str) -> int:
    """Return the number of sets on which `method` has a lower mean over runs than `other`."""
    means = [(_scores(one, method, metric).mean(), _scores(one, other, metric).mean()) for one in found.values()]
    return sum(bool(ours < theirs) for ours, theirs in means)


def selection(found: Records) -> Output:
    """Compare the two selection rules on the same runs: test scores, and how often the paper's has the higher NLL."""
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
    """Say whether the predicted std is near zero: std MSE tends to mean MSE as std -> 0."""
    std_mse, mean_mse = (_scores(records, "paper", metric).mean() for metric in ("std_mse", "mean_mse"))
    return bool(abs(std_mse / mean_mse - 1) < 0.1)


TABLES: dict[str, Exhibit[pd.DataFrame]] = {
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

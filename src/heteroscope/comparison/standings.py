"""What the records of a leaderboard say: ranks, wins and losses, and a table with one row per set.

Methods are compared on the splits of a set on which all of its methods have scores. Between sets, NLLs are compared as
they are, since the units of the target cancel in a difference of two NLLs; of CRPS and RMSE the logarithm is compared.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from heteroscope.comparison.paired_differences import PairedDifference, paired_difference
from heteroscope.comparison.ranking import Ranking, compare_with_first, rank_methods
from heteroscope.core import InputError
from heteroscope.datasets import SOURCES

#: A method is ranked if it has scores on this share of the sets; Friedman's test needs all methods on each set.
RANKED_SHARE = 2 / 3
RANKED_SCORES = {"nll": "NLL", "crps": "CRPS", "rmse": "RMSE"}


class Standings(NamedTuple):
    """The results of a leaderboard.

    Attributes
    ----------
    first : str
        The method with which the others are compared.
    scores : dict of str to DataFrame
        For each score the mean over splits: one row per set, one column per method.
    rankings : dict of str to Ranking
        For each score the mean ranks of the methods that have scores on most sets; empty if there is too little.
    pairs : dict of str to DataFrame
        For each score the wins and losses of the first method against each other one, see `compare_with_first`.
    methods : DataFrame
        One row per method: number of sets, mean coverage of 90 % intervals, ECE, median seconds and processor seconds
        of a fit, fits, failed fits.
    sets : dict of str to DataFrame
        For NLL and CRPS one row per set: rows, splits on which all its methods have scores, the best other method by
        that score and its difference from the first method (of CRPS the logarithm of the ratio), with the corrected
        standard error and the smallest difference that could have been seen.
    """

    first: str
    scores: dict[str, pd.DataFrame]
    rankings: dict[str, Ranking]
    pairs: dict[str, pd.DataFrame]
    methods: pd.DataFrame
    sets: dict[str, pd.DataFrame]


def standings(records: pd.DataFrame, first: str = "ours", sets: Sequence[str] | None = None) -> Standings:
    """Summarise the records of a leaderboard.

    Parameters
    ----------
    records : DataFrame
        What `read_leaderboard` returns.
    first : str, default="ours"
        The method with which the others are compared.
    sets : sequence of str, default=None
        The sets to count; None is all.

    Returns
    -------
    Standings
    """
    if sets is not None:
        records = records[records["set"].isin(list(sets))]
    if records.empty:
        raise InputError("there is no record of these sets: make fits first")
    names = list(dict.fromkeys(records["method"]))
    if first not in names:
        raise InputError(f"there is no record of the method {first!r}: choose among {', '.join(names)}")
    names = [first, *(name for name in names if name != first)]
    scores = {score: mean_scores(records, score)[names] for score in RANKED_SCORES}
    rankings = {}
    for score, table in scores.items():
        ranked = table.loc[:, table.notna().mean() >= RANKED_SHARE]
        if ranked.shape[1] > 1 and len(ranked.dropna()) > 1:
            rankings[score] = rank_methods(ranked)
    comparable = {score: table if score == "nll" else _logarithm(table) for score, table in scores.items()}
    pairs = {score: compare_with_first(table) for score, table in comparable.items()}
    by_set = {score: _sets(records, scores[score], first, score) for score in ("nll", "crps")}
    return Standings(first, scores, rankings, pairs, _methods(records, names), by_set)


def mean_scores(records: pd.DataFrame, score: str) -> pd.DataFrame:
    """Return the mean of a score over those splits of a set on which all methods of the set have scores.

    Parameters
    ----------
    records : DataFrame
        What `read_leaderboard` returns.
    score : str
        A column.

    Returns
    -------
    DataFrame
        One row per set and one column per method; NaN where a method has no score.
    """
    rows = {}
    for name, group in records.groupby("set", sort=False):
        table = group.pivot(index="split", columns="method", values=score).dropna(axis="columns", how="all")
        rows[name] = table.dropna().mean()
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=list(dict.fromkeys(records["method"])))


def _logarithm(table: pd.DataFrame) -> pd.DataFrame:
    """Return the logarithm of positive scores, so that differences are ratios; zero becomes minus infinity."""
    with np.errstate(divide="ignore"):
        return pd.DataFrame(np.log(table.to_numpy(dtype=float)), index=table.index, columns=table.columns)


def _methods(records: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return one row per method: fits, coverage, calibration and time."""
    done = records[records["error"].isna()]
    by_set = done.groupby(["method", "set"])[["interval_coverage", "ece", "seconds", "processor_seconds"]].mean()
    by_method = by_set.groupby("method")
    table = pd.DataFrame(
        {
            "sets": by_method.size(),
            "fits": done.groupby("method").size(),
            "failed": records["error"].notna().groupby(records["method"]).sum(),
            "interval_coverage": by_method["interval_coverage"].mean(),
            "ece": by_method["ece"].mean(),
            "seconds": by_method["seconds"].median(),
            "processor_seconds": by_method["processor_seconds"].median(),
        }
    )
    return table.reindex(list(names)).rename_axis("method")


def _sets(records: pd.DataFrame, means: pd.DataFrame, first: str, score: str) -> pd.DataFrame:
    """Return one row per set: how the best of the other methods by a score compares with the first one."""
    rows = {}
    for name, group in records.groupby("set", sort=False):
        table = group.pivot(index="split", columns="method", values=score)
        if score != "nll":
            table = _logarithm(table)
        others = means.loc[name].drop(first).dropna()
        rival = str(others.idxmin()) if len(others) else ""
        share = float(group["n_test"].iloc[0]) / _rows_of(str(name), group)
        gap = PairedDifference(0, math.nan, math.nan, math.nan, math.nan)
        if rival and first in table:
            with np.errstate(invalid="ignore"):
                gap = paired_difference((table[rival] - table[first]).to_numpy(dtype=float), share)
        rows[name] = {
            "n_train": int(group["n_train"].iloc[0]),
            "n_test": int(group["n_test"].iloc[0]),
            "splits": len(table.dropna(axis="columns", how="all").dropna()),
            "rival": rival,
            **gap._asdict(),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("set").rename(columns={"mean": "difference"})


def _rows_of(name: str, group: pd.DataFrame) -> int:
    """Return the rows of a set before any were left out of the training rows."""
    if name in SOURCES:
        return SOURCES[name].n_rows
    return int(group["n_train"].iloc[0] + group["n_test"].iloc[0])

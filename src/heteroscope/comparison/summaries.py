"""Summarise a comparison: means over splits, and paired differences from the first method.

difference = average over splits of (score - first method's score on the same split)
plain standard error of the difference = SD of these paired differences / sqrt(number of splits)

Splits of one table share rows, so that the plain error is too small; `paired_differences` has the corrected one.
"""

import math

import numpy as np
import pandas as pd

from heteroscope.comparison.fit_records import SCORES
from heteroscope.comparison.paired_differences import paired_difference

_HEADINGS = ("Scores", "Differences", "Detectable differences")


def summary(records: pd.DataFrame, fresh_draws: bool = False) -> pd.DataFrame:
    """Summarise the scores of each method over the splits.

    Parameters
    ----------
    records : DataFrame
        What `compare` returns.
    fresh_draws : bool, default=False
        Whether each split has rows of its own, as those of simulated sets do, instead of dividing the same table.

    Returns
    -------
    DataFrame
        One row per method. `fits` counts the splits with scores, `failed` those without. Each score s has the columns
        s (mean), s_sd (standard deviation), s_difference (mean difference from the first method over the splits on
        which both have scores), s_se (plain standard error of that difference), s_corrected_se (the same, corrected
        for rows that splits share) and s_detectable (the smallest true difference that these splits would have found
        with a power of 80 % at the level 5 %). A score that one of a method's fits does not have, such as the NLL of a
        forecast without a density, is NaN for this method.
    """
    names = list(dict.fromkeys(records["method"]))
    failed = records["error"].notna().groupby(records["method"]).sum()[names]
    table = pd.DataFrame({"fits": records.groupby("method").size()[names] - failed, "failed": failed})
    n_train, n_test = records[["n_train", "n_test"]].mean()
    test_share = 0.0 if fresh_draws else float(n_test / (n_train + n_test))
    for score in [score for score in SCORES if score in records]:
        by_split = records.pivot(index="split", columns="method", values=score)[names]
        by_split[records.loc[records["error"].isna() & records[score].isna(), "method"].unique()] = np.nan
        with np.errstate(invalid="ignore"):  # the standard deviation of infinite NLLs is not a number
            gap = by_split.sub(by_split[names[0]], axis=0)
            table[score], table[f"{score}_sd"] = by_split.mean(), by_split.std(ddof=1)
            table[f"{score}_difference"], table[f"{score}_se"] = gap.mean(), gap.std(ddof=1) / np.sqrt(gap.count())
            found = [paired_difference(gap[name].to_numpy(dtype=float), test_share) for name in names]
            table[f"{score}_corrected_se"] = [one.standard_error for one in found]
            table[f"{score}_detectable"] = [one.detectable for one in found]
    return table.rename_axis("method")


def markdown(table: pd.DataFrame) -> str:
    """Write a summary as Markdown tables: scores, differences from the first method, and what could have been seen.

    Parameters
    ----------
    table : DataFrame
        What `summary` returns.

    Returns
    -------
    str
        Three tables with headings: mean ± SD, difference ± corrected standard error, and the smallest differences
        that these splits would have found.
    """
    blocks = []
    for (title, cells), heading in zip(cell_texts(table).items(), _HEADINGS, strict=True):
        lines = [f"| method | {' | '.join(cells.columns)} |", f"|---|{'---:|' * len(cells.columns)}"]
        lines += [f"| {name} | {' | '.join(row)} |" for name, row in zip(cells.index, cells.to_numpy(), strict=True)]
        blocks.append(f"## {heading}\n\n{title}\n\n" + "\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def cell_texts(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Format a summary as text for people.

    Parameters
    ----------
    table : DataFrame
        What `summary` returns.

    Returns
    -------
    dict of str to DataFrame
        The tables of scores, of differences and of detectable differences, by title. The name of a method that failed
        tells how often.
    """
    names = [f"{name} ({failed} failed)" if failed else str(name) for name, failed in table["failed"].items()]
    first = table.index[0]
    scores, gaps, seen = (pd.DataFrame(index=names) for _ in _HEADINGS)
    for score, title in [(score, title) for score, title in SCORES.items() if score in table]:
        scores[title] = _plus_minus(table[score], table[f"{score}_sd"], sign="")
        gaps[title] = _plus_minus(table[f"{score}_difference"], table[f"{score}_corrected_se"], sign="+")
        seen[title] = ["" if math.isnan(value) else f"{value:.2g}" for value in table[f"{score}_detectable"]]
    return {
        f"Mean ± SD over {table['fits'].max()} splits, on test rows, in the target's units": scores,
        f"Difference from {first} on the same splits ± corrected standard error": gaps.iloc[1:],
        f"Smallest difference from {first} that these splits would have found (level 5 %, power 80 %)": seen.iloc[1:],
    }


def _plus_minus(centres: pd.Series, spreads: pd.Series, sign: str) -> list[str]:
    """Return "centre ± spread" for each pair, without the spread if there is only one split; "none" for no score."""
    texts = ["none" if math.isnan(centre) else f"{centre:{sign}.3g}" for centre in centres]
    return [
        text if math.isnan(spread) else f"{text} ± {spread:.2g}"
        for text, centre, spread in zip(texts, centres, spreads, strict=True)
    ]

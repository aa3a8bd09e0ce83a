"""One table of all methods: means over splits, and differences to the first method on the same splits.

difference to the first method = average over splits of (score - the first method's score on that split),
its standard error = SD of these paired differences / sqrt(number of splits)
"""

import math

import numpy as np
import pandas as pd

from heteroscope.comparison.fit_records import SCORES


def summary(records: pd.DataFrame) -> pd.DataFrame:
    """One row a method: mean and SD of each score over the splits, and the paired difference to the first method.

    Of a score s the columns are s, s_sd, s_difference and s_se; `fits` counts the splits with scores, `failed` those
    without. A difference is taken over the splits on which both methods have scores.
    """
    names = list(dict.fromkeys(records["method"]))
    failed = records["error"].notna().groupby(records["method"]).sum()[names]
    table = pd.DataFrame({"fits": records.groupby("method").size()[names] - failed, "failed": failed})
    for score in SCORES:
        by_split = records.pivot(index="split", columns="method", values=score)[names]
        with np.errstate(invalid="ignore"):  # an infinite NLL has no spread
            gap = by_split.sub(by_split[names[0]], axis=0)
            table[score], table[f"{score}_sd"] = by_split.mean(), by_split.std(ddof=1)
            table[f"{score}_difference"], table[f"{score}_se"] = gap.mean(), gap.std(ddof=1) / np.sqrt(gap.count())
    return table.rename_axis("method")


def markdown(table: pd.DataFrame) -> str:
    """A `summary` as two Markdown tables: mean ± SD, and the differences to the first method ± standard error."""
    blocks = []
    for (title, cells), heading in zip(cell_texts(table).items(), ("Scores", "Differences"), strict=True):
        lines = [f"| method | {' | '.join(cells.columns)} |", f"|---|{'---:|' * len(cells.columns)}"]
        lines += [f"| {name} | {' | '.join(row)} |" for name, row in zip(cells.index, cells.to_numpy(), strict=True)]
        blocks.append(f"## {heading}\n\n{title}\n\n" + "\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def cell_texts(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """A `summary` for people: the two tables as text, by their titles; a method that failed says how often."""
    names = [f"{name} ({failed} failed)" if failed else str(name) for name, failed in table["failed"].items()]
    first = table.index[0]
    scores, gaps = pd.DataFrame(index=names), pd.DataFrame(index=names)
    for score, title in SCORES.items():
        scores[title] = _plus_minus(table[score], table[f"{score}_sd"], sign="")
        gaps[title] = _plus_minus(table[f"{score}_difference"], table[f"{score}_se"], sign="+")
    return {
        f"Mean ± SD over {table['fits'].max()} splits, on test rows, in the target's units": scores,
        f"Difference to {first} on the same split ± its standard error": gaps.iloc[1:],
    }


def _plus_minus(centres: pd.Series, spreads: pd.Series, sign: str) -> list[str]:
    """One split has no spread, and none is printed."""
    texts = [f"{centre:{sign}.3g}" for centre in centres]
    return [
        text if math.isnan(spread) and not math.isnan(centre) else f"{text} ± {spread:.2g}"
        for text, centre, spread in zip(texts, centres, spreads, strict=True)
    ]

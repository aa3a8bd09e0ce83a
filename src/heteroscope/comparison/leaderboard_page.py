"""Write the standings of a leaderboard as Markdown: ranks, wins and losses, every set, and the losses in words."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from heteroscope.comparison.standings import RANKED_SCORES, Standings
from heteroscope.datasets import SOURCES


def leaderboard_tables(found: Standings) -> dict[str, str]:
    """Return the parts of a page about a leaderboard, as Markdown.

    Parameters
    ----------
    found : Standings
        What `standings` returns.

    Returns
    -------
    dict of str to str
        "methods": one row per method; "pairs": wins and losses of the first method; "sets" and "sets_crps": one row per
        set, by NLL and by CRPS; "losses": a sentence for each set on which another method is better.
    """
    return {
        "methods": _methods(found),
        "pairs": _pairs(found),
        "sets": _sets(found, "nll"),
        "sets_crps": _sets(found, "crps"),
        "losses": _losses(found),
    }


def _methods(found: Standings) -> str:
    """Return the table of mean ranks, coverage and time, the best NLL rank first, and the tests below it."""
    ranked = list(found.rankings["nll"].ranks.index) if "nll" in found.rankings else []
    order = [*ranked, *(name for name in found.methods.index if name not in ranked)]
    lines = []
    for name in order:
        row = found.methods.loc[name]
        ranks = [_rank(found, score, str(name)) for score in RANKED_SCORES]
        if pd.isna(row["sets"]):
            lines.append([str(name), "0", *ranks, "", "", "", "0", f"{row['failed']:.0f}"])
            continue
        lines.append(
            [
                str(name),
                f"{row['sets']:.0f}",
                *ranks,
                f"{row['interval_coverage']:.0%}".replace("%", " %"),
                f"{row['ece']:.3f}",
                f"{row['processor_seconds']:.3g}",
                f"{row['fits']:.0f}",
                f"{row['failed']:.0f}",
            ]
        )
    heads = ["method", "sets", *(f"rank by {title}" for title in RANKED_SCORES.values())]
    heads += ["90 % intervals hold", "ECE", "processor seconds", "fits", "failed"]
    tests = [
        f"{title}: {ranking.n_sets} sets, critical difference of mean ranks {ranking.critical_difference:.2f}, "
        f"Friedman's p {_p(ranking.p_value)}."
        for title, ranking in ((RANKED_SCORES[score], ranking) for score, ranking in found.rankings.items())
    ]
    return "\n\n".join([_table(heads, lines), *tests])


def _rank(found: Standings, score: str, name: str) -> str:
    """Return a method's mean rank as text, in bold if it is the lowest, or "" if it is not ranked."""
    ranking = found.rankings.get(score)
    if ranking is None or name not in ranking.ranks:
        return ""
    text = f"{ranking.ranks[name]:.2f}"
    return f"**{text}**" if ranking.ranks[name] == ranking.ranks.min() else text


def _pairs(found: Standings) -> str:
    """Return the table of wins, ties and losses of the first method, with the tests over sets."""
    lines = []
    for name in found.pairs["nll"].index:
        for score, title in RANKED_SCORES.items():
            row = found.pairs[score].loc[name]
            write: Callable[[float], str] = _nats if score == "nll" else _percent
            counts = "-".join(f"{row[count]:.0f}" for count in ("wins", "ties", "losses"))
            lines.append([str(name), title, counts, write(row["median_difference"]), _p(row["p_holm"])])
    heads = [f"{found.first} against", "score", "wins-ties-losses", "median difference", "p (Holm)"]
    return _table(heads, lines)


def _sets(found: Standings, score: str) -> str:
    """Return a score of every method on every set, the lowest in bold, and the difference of the best other method.

    CRPS is shown relative to the first method, since sets have different units.
    """
    by_nll = score == "nll"
    scores = found.scores[score] if by_nll else found.scores[score].div(found.scores[score][found.first], axis="index")
    lines: list[list[str]] = []
    for name in map(str, scores.index):
        values = scores.loc[[name]].to_numpy(dtype=float)[0].tolist()
        lowest = min((value for value in values if not math.isnan(value)), default=math.nan)
        cells = ["" if math.isnan(value) else _bold(_nll(value), value == lowest) for value in values]
        about = found.sets[score].loc[[name]].to_dict("records")[0]
        write = _two_digits if by_nll else _percent
        gap = "" if pd.isna(about["difference"]) else write(about["difference"])
        if not pd.isna(about["standard_error"]):
            gap += f" ± {about['standard_error']:.2g}" if by_nll else f" ± {100 * about['standard_error']:.1f}"
        seen = ""
        if not pd.isna(about["detectable"]):
            seen = f"{about['detectable']:.2g}" if by_nll else _percent(about["detectable"])
        start = [name.replace("_", " "), f"{about['n_train']:,}", f"{about['splits']}"]
        lines.append([*start, *cells, str(about["rival"]), gap, seen])
    heads = ["set", "training rows", "splits", *map(str, scores.columns), "best other", f"minus {found.first}"]
    return _table([*heads, "could have seen"], lines, text_columns=("best other",))


def _losses(found: Standings) -> str:
    """Return one line for each set on which another method has a lower NLL or CRPS than the first one."""
    lines = []
    for name in found.scores["nll"].index:
        parts = []
        for score, title in RANKED_SCORES.items():
            row = found.scores[score].loc[name].dropna()
            if found.first not in row or score == "rmse":
                continue
            ahead = row[row < row[found.first]].sort_values()
            if len(ahead):
                gap = ahead - row[found.first] if score == "nll" else ahead / row[found.first] - 1
                texts = [
                    f"{other} {f'{value:+.3f}' if score == 'nll' else f'{value:+.1%}'}" for other, value in gap.items()
                ]
                parts.append(f"{title}: {', '.join(texts)}")
        if parts:
            chose = (
                ", which had a part in choosing defaults"
                if name in SOURCES and SOURCES[str(name)].used_to_choose
                else ""
            )
            lines.append(f"- **{str(name).replace('_', ' ')}**{chose}. {'; '.join(parts)}")
    return "\n".join(lines) or f"On no set has another method a lower NLL or CRPS than {found.first}."


def _table(heads: list[str], lines: list[list[str]], text_columns: tuple[str, ...] = ()) -> str:
    """Return a Markdown table; all columns but the first and `text_columns` are numbers."""
    rule = "".join("---|" if k == 0 or head in text_columns else "---:|" for k, head in enumerate(heads))
    rows = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([f"| {' | '.join(heads)} |", f"|{rule}", *rows])


def _bold(text: str, is_bold: bool) -> str:
    return f"**{text}**" if is_bold else text


def _nll(value: float) -> str:
    return f"{value:.2f}" if abs(value) < 1000 else f"{value:.3g}"


def _two_digits(value: float) -> str:
    return f"{value:+.2g}"


def _nats(value: float) -> str:
    return f"{value:+.3f}"


def _percent(value: float) -> str:
    """Return a difference of logarithms as a change in per cent."""
    return f"{100 * np.expm1(value):+.1f} %"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"

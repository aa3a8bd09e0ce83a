"""Put the records of the leaderboard into docs/leaderboard.md and README.md: `python docs/make_leaderboard.py`.

It fills the blocks between `<!-- begin NAME -->` and `<!-- end NAME -->` from benchmarks/records/leaderboard, and draws
the figures. Sets that had a part in choosing defaults have a table of their own, and no part in the ranks.
"""

from pathlib import Path

import pandas as pd
from make_results import filled

from heteroscope import plots
from heteroscope.comparison import (
    RANKED_SCORES,
    Standings,
    leaderboard_tables,
    mean_scores,
    read_leaderboard,
    standings,
)
from heteroscope.datasets import SOURCES

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "benchmarks" / "records" / "leaderboard"
LOSSES = ROOT / "benchmarks" / "records" / "leaderboard_losses" / "fits.csv"
PAGE, README = ROOT / "docs" / "leaderboard.md", ROOT / "README.md"
IMAGES = ROOT / "docs" / "images"
LEVEL = 0.05  # of the tests over sets, corrected by Holm


def main() -> None:
    """Rewrite the blocks and the figures."""
    records = read_leaderboard(RECORDS)
    page = PAGE.read_text(encoding="utf-8")
    for name, text in blocks(records).items():
        page = filled(page, name, text)
    PAGE.write_text(page, encoding="utf-8")
    README.write_text(
        filled(README.read_text(encoding="utf-8"), "leaderboard", readme_table(records)), encoding="utf-8"
    )
    found = unseen(records)
    titles = {RANKED_SCORES[score]: ranking for score, ranking in found.rankings.items()}
    plots.save_figure(plots.critical_difference_figure(titles), IMAGES / "leaderboard-ranks.png")
    nll = found.scores["nll"]
    seconds = mean_scores(records, "processor_seconds").reindex(index=nll.index, columns=nll.columns)
    behind = nll.sub(nll.min(axis="columns"), axis="index")
    plots.save_figure(plots.score_time_figure(behind, seconds, "NLL"), IMAGES / "leaderboard-time.png")


def unseen(records: pd.DataFrame) -> Standings:
    """Return the standings over the sets that had no part in any choice."""
    return standings(records, sets=[name for name, source in SOURCES.items() if not source.used_to_choose])


def blocks(records: pd.DataFrame) -> dict[str, str]:
    """Return the text of each block of the page."""
    found = unseen(records)
    tables = leaderboard_tables(found)
    done = records[records["error"].isna()]
    counts = done.groupby("split").size()
    state = (
        f"{len(done)} fits are on record: {done['set'].nunique()} sets, {done['method'].nunique()} methods; "
        + ", ".join(f"{count} fits of split {split}" for split, count in counts.items())
        + "."
    )
    used = [name for name, source in SOURCES.items() if source.used_to_choose and name in set(done["set"])]
    others = leaderboard_tables(standings(records, sets=used))["sets"] if used else "None is on record yet."
    parts = {"says": says(found), "why": why(records, pd.read_csv(LOSSES))}
    return {"state": state, **tables, **parts, "used": others}


def says(found: Standings) -> str:
    """Return what the tables say, as a list: the place of ours by each score, against whom it wins, and its cost."""
    lines = []
    for score, title in RANKED_SCORES.items():
        ranks, pairs = found.rankings[score].ranks, found.pairs[score]
        told = pairs[pairs["p_holm"] < LEVEL]
        better = [name for name in told.index if told.loc[name, "wins"] > told.loc[name, "losses"]]
        worse = [name for name in told.index if name not in better]
        ahead = [name for name in pairs.index if pairs.loc[name, "losses"] > pairs.loc[name, "wins"]]
        counts = [f"{name} ({pairs.loc[name, 'losses']:.0f} of {pairs.loc[name, 'sets']:.0f})" for name in ahead]
        place = list(ranks.index).index(found.first) + 1
        lines.append(
            f"- **{title}**: by mean rank ours has place {place} of {len(ranks)}. By Wilcoxon's test it is better than "
            f"{', '.join(better) or 'no method'}, and worse than {', '.join(worse) or 'none'}. Ahead of it on most "
            f"sets: {', '.join(counts) or 'no method'}."
        )
    seconds = found.methods["processor_seconds"]
    cost = seconds[found.first] / seconds.drop(found.first)
    lines.append(
        f"- **Cost**: a fit of ours takes {seconds[found.first]:.0f} processor seconds in the median, {cost.min():.1f} "
        f"times as many as {cost.idxmin()} and {cost.max():.0f} times as many as {cost.idxmax()}."
    )
    hold = 100 * found.methods["interval_coverage"]
    others = hold.drop(found.first)
    lines.append(
        f"- **Intervals**: 90 % intervals of ours hold {hold[found.first]:.0f} % of the test rows on average; those of "
        f"the others from {others.min():.0f} % ({others.idxmin()}) to {others.max():.0f} % ({others.idxmax()})."
    )
    return "\n".join(lines)


def why(records: pd.DataFrame, changed: pd.DataFrame) -> str:
    """Return one row per set of `python -m benchmarks leaderboard_losses`: the best other method, and ours changed."""
    first = records[records["split"] == 0]
    crps, rmse = (mean_scores(first, score) for score in ("crps", "rmse"))
    lines = [
        "| set | best other by CRPS | its CRPS | its RMSE | ours with the shape of held-out rows: CRPS | "
        "ours without logarithms: CRPS | RMSE | skewness of held-out errors | commonest target |",
        f"|---|---|{7 * '---:|'}",
    ]
    for name, line in changed.set_index("set").iterrows():
        best = str(crps.loc[name].drop("ours").idxmin())
        changes = [
            crps.loc[name, best] / crps.loc[name, "ours"],
            rmse.loc[name, best] / rmse.loc[name, "ours"],
            line["crps_shape"] / line["crps"],
            line["crps_plain"] / line["crps"],
            line["rmse_plain"] / line["rmse"],
        ]
        cells = ["" if pd.isna(change) else f"{100 * (change - 1):+.0f} %" for change in changes]
        cells += [f"{line['skewness']:.1f}", f"{100 * line['most_repeated']:.0f} %"]
        lines.append(f"| {str(name).replace('_', ' ')} | {best} | {' | '.join(cells)} |")
    return "\n".join(lines)


def readme_table(records: pd.DataFrame) -> str:
    """Return the table of the README: per method the mean ranks, and the wins and losses of ours against it."""
    found = unseen(records)
    lines = [
        "| method | mean rank by NLL | by CRPS | ours wins, loses by NLL | by CRPS | processor seconds |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    ranked = found.rankings["nll"].ranks.index
    for name in [*ranked, *(name for name in found.methods.index if name not in ranked)]:
        ranks = [
            f"{one.ranks[name]:.2f}" if name in one.ranks else "" for one in map(found.rankings.get, ("nll", "crps"))
        ]
        counts = ["", ""]
        if name != found.first:
            pairs = [found.pairs[score].loc[name] for score in ("nll", "crps")]
            counts = [f"{pair['wins']:.0f}, {pair['losses']:.0f}" for pair in pairs]
        seconds = f"{found.methods.loc[name, 'processor_seconds']:.2g}"
        lines.append(f"| {name} | {' | '.join([*ranks, *counts, seconds])} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

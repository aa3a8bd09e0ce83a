"""`heteroscope leaderboard`: rank methods over many named sets, from records that grow and are kept."""

from pathlib import Path

import click

from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.option_types import NameList
from heteroscope.cli.output_files import refuse_unwritable, write_text
from heteroscope.cli.printing import verbosity
from heteroscope.core import InputError, printable, progress_bar

_EXAMPLE = """\b
Examples:
  heteroscope leaderboard abalone quake wizmir --methods ours,gp,catboost --splits 3 --out board
  heteroscope leaderboard --records benchmarks/records/leaderboard --out board
  heteroscope leaderboard --unseen --splits 5 --records benchmarks/records/leaderboard
"""


@click.command(cls=OneLineCommand, epilog=_EXAMPLE)
@click.argument("sets", metavar="[SET...]", nargs=-1)
@click.option("--all", "all_sets", is_flag=True, help="Fit on every real set.")
@click.option("--unseen", is_flag=True, help="Fit on every real set that had no part in choosing a default here.")
@click.option(
    "--methods",
    type=NameList(),
    help="Names between commas, as in compare; the first is compared with the others.  "
    "[default: ours,mle-ensemble,ngboost,catboost]",
)
@click.option("--splits", "n_splits", type=click.IntRange(min=1), default=5, show_default=True, help="90/10 splits.")
@click.option(
    "--max-train",
    type=click.IntRange(min=10),
    default=1000,
    show_default=True,
    help="The most training rows: of longer splits, a random sample of so many.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of splits and methods.")
@click.option("--records", type=click.Path(path_type=Path), help="Folder of the fits.  [default: OUT/records]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default="leaderboard",
    show_default=True,
    help="Folder for the page and its figures.",
)
def leaderboard(
    sets: tuple[str, ...],
    all_sets: bool,
    unseen: bool,
    methods: tuple[str, ...] | None,
    n_splits: int,
    max_train: int,
    seed: int,
    records: Path | None,
    out: Path,
    quiet: bool,
) -> None:
    """Fit methods on random 90/10 splits of real data sets SET, and rank them over the sets.

    Fits that the folder --records has are not made again, so the same command resumes where it was stopped, and sets,
    methods and splits can be added. Split 0 of every set comes first, then split 1, so that the ranking is balanced
    whenever it stops. Without SET, --all and --unseen nothing is fitted, and the page shows the records that are there.
    Each fit runs in one process.
    """
    records = records or out / "records"
    refuse_unwritable(out / "leaderboard.md")
    from heteroscope import comparison, datasets, plots

    if bool(sets) + all_sets + unseen > 1:
        raise InputError("name sets, or give --all, or --unseen: each names all sets of a run")
    chosen = methods or comparison.LEADERBOARD_METHODS
    if all_sets or unseen:
        sets = tuple(name for name, source in datasets.SOURCES.items() if all_sets or not source.used_to_choose)
    if sets:
        refuse_unwritable(records / "settings.json")
        with progress_bar("fitting", bool(verbosity(quiet)), "fits") as progress:
            found = comparison.extend_leaderboard(
                records,
                sets,
                chosen,
                n_splits=n_splits,
                max_train=max_train,
                seed=seed,
                progress=progress,
            )
    else:
        found = comparison.read_leaderboard(records)
    ranked = comparison.standings(found, chosen[0])
    tables = comparison.leaderboard_tables(ranked)
    figures = ""
    out.mkdir(parents=True, exist_ok=True)
    if ranked.rankings:
        titles = {comparison.RANKED_SCORES[score]: ranking for score, ranking in ranked.rankings.items()}
        plots.save_figure(plots.critical_difference_figure(titles), out / "ranks.png")
        figures += "![mean ranks](ranks.png)\n\n"
    nll = ranked.scores["nll"]
    seconds = comparison.mean_scores(found, "processor_seconds")[nll.columns]
    behind = nll.sub(nll.min(axis="columns"), axis="index")
    plots.save_figure(plots.score_time_figure(behind, seconds, "NLL"), out / "time.png")
    figures += "![NLL against time](time.png)\n\n"
    page = f"# Leaderboard\n\n{tables['methods']}\n\n{figures}{tables['pairs']}\n\n{tables['sets']}\n\n"
    page += f"## Where {ranked.first} loses\n\n{tables['losses']}\n"
    write_text(page, out / "leaderboard.md")
    click.echo(tables["methods"])
    for failure in found[found["error"].notna()].itertuples():
        click.echo(f"Note: {failure.method} failed on {failure.set}, split {failure.split}: {failure.error}")
    click.echo(
        f"\nThe page is {printable(str(out / 'leaderboard.md'))}; every fit is in {printable(str(records))}, one CSV "
        "per set"
    )

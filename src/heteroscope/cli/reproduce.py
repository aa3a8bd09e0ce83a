"""`heteroscope reproduce`: a figure or table of the paper by its name."""

import difflib
from pathlib import Path
from typing import Any

import click

from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.output_files import refuse_unwritable
from heteroscope.cli.printing import print_recipes, verbosity
from heteroscope.core import InputError

_EXAMPLE = """\b
Examples:
  heteroscope reproduce list
  heteroscope reproduce summary
  heteroscope reproduce synthetic-networks --scale full --seeds 1
  heteroscope reproduce all --scale full --out reproduce
"""


@click.command(cls=OneLineCommand, epilog=_EXAMPLE)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--scale", type=click.Choice(["small", "full"]), default="small", show_default=True, help="How large.")
@click.option("--seeds", type=click.IntRange(min=1), help="Networks a cell, runs of a search  [default: the scale's]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("reproduce"),
    show_default=True,
    help="Folder of the results.",
)
@click.option(
    "--climsim",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of ClimSim's published files; without, the solar flux is run on generated ones.",
)
@click.option(
    "--records",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of parts in brief: what is there is not computed again, what is computed is added.",
)
@click.option("--jobs", "n_jobs", type=int, default=-1, show_default=True, help="Processes; -1 is one a core.")
def reproduce(
    names: tuple[str, ...],
    scale: str,
    seeds: int | None,
    out: Path,
    climsim: Path | None,
    records: Path | None,
    n_jobs: int,
    quiet: bool,
) -> None:
    """Make the figure or table NAME of the paper from scratch; `list` shows all names, `all` makes them all.

    --scale small takes minutes, full has the paper's own grids, seeds, points and networks and takes hours. Whatever is
    finished is kept in the folder and shared between results: run the same command again to go on, or with more seeds.
    """
    refuse_unwritable(out / scale / "record.json")
    from heteroscope.core import progress_bar
    from heteroscope.datasets import climsim_stream
    from heteroscope.paper import RECIPES, SCALES, Workspace, run_recipe

    def bar(what: str) -> Any:
        return progress_bar(what, bool(verbosity(quiet)), "done")

    chosen = SCALES[scale].with_seeds(seeds)
    if climsim:
        climsim_stream(climsim)  # says at once what is missing, not after the tables before it
        chosen = chosen.with_climsim(str(climsim.resolve()))
    kitchen = Workspace(out, chosen, n_jobs, bar, records)
    if names == ("list",):
        print_recipes(RECIPES, kitchen)
        return
    wanted = tuple(RECIPES) if names == ("all",) else _known(names, list(RECIPES))
    lacking = [name for name in wanted if chosen.n_seeds < RECIPES[name].fewest_seeds]
    if lacking and names != ("all",):
        raise InputError(f"{lacking[0]} needs --seeds {RECIPES[lacking[0]].fewest_seeds} or more, got {seeds}")
    for name in wanted:
        if name in lacking:
            click.echo(f"{name}: left out, since it needs --seeds {RECIPES[name].fewest_seeds} or more")
            continue
        record = run_recipe(name, RECIPES[name], kitchen)
        made = [path.name for path in sorted(kitchen.folder.glob(f"{name}.*"))]
        click.echo(f"{name}: {', '.join(made)} in {kitchen.folder} ({record['seconds']:.0f} s)")
        if record["verdict"]:
            click.echo(f"  {record['verdict']}")


def _known(names: tuple[str, ...], known: list[str]) -> tuple[str, ...]:
    """The names if all are recipes; `list` and `all` stand alone."""
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise InputError(f"no result is called {name!r}{hint}: `heteroscope reproduce list` shows all names")
    return names

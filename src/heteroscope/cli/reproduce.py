"""`heteroscope reproduce`: make a figure or table of the paper."""

import difflib
from contextlib import AbstractContextManager
from pathlib import Path

import click

from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.output_files import refuse_unwritable
from heteroscope.cli.printing import print_exhibits, verbosity
from heteroscope.core import InputError, Progress, printable, progress_bar

_EXAMPLE = """\b
Examples:
  heteroscope reproduce list
  heteroscope reproduce summary
  heteroscope reproduce synthetic-networks --scale full --seeds 1
  heteroscope reproduce all --scale full --out reproduce
"""


@click.command(cls=OneLineCommand, epilog=_EXAMPLE)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option(
    "--scale", type=click.Choice(["small", "full"]), default="small", show_default=True, help="Size of the run."
)
@click.option(
    "--seeds", type=click.IntRange(min=1), help="Networks per cell and runs per search.  [default: set by --scale]"
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("reproduce"),
    show_default=True,
    help="Folder for the results.",
)
@click.option(
    "--climsim",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of ClimSim's published files; without it, the solar flux is run on generated files.",
)
@click.option(
    "--records",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of compact records: recorded parts are not computed again, and computed parts are added.",
)
@click.option(
    "--jobs", "n_jobs", type=int, default=-1, show_default=True, help="Processes; -1 starts one on each core."
)
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
    """Make the figure or table NAME of the paper from scratch; `list` shows all names, `all` makes all of them.

    --scale small takes minutes; --scale full uses the paper's grids, seeds, points and networks and takes hours.
    Finished parts are kept in the folder and shared between results: run the same command again to resume, or run it
    with more seeds to add to them.
    """
    refuse_unwritable(out / scale / "record.json")
    from heteroscope.datasets import climsim_stream
    from heteroscope.paper import EXHIBITS, SCALES, Workspace, run_exhibit

    def bar(what: str) -> AbstractContextManager[Progress | None]:
        return progress_bar(what, bool(verbosity(quiet)), "done")

    chosen = SCALES[scale].with_seeds(seeds)
    if climsim:
        climsim_stream(climsim)  # raises an error for missing files now, not after hours
        chosen = chosen.with_climsim(str(climsim.resolve()))
    workspace = Workspace(out, chosen, n_jobs, bar, records)
    if names == ("list",):
        print_exhibits(EXHIBITS, workspace)
        return
    wanted = tuple(EXHIBITS) if names == ("all",) else _known(names, list(EXHIBITS))
    lacking = [name for name in wanted if chosen.n_seeds < EXHIBITS[name].fewest_seeds]
    if lacking and names != ("all",):
        raise InputError(f"{lacking[0]} needs --seeds {EXHIBITS[lacking[0]].fewest_seeds} or more, got {seeds}")
    for name in wanted:
        if name in lacking:
            click.echo(f"{name}: left out because it needs --seeds {EXHIBITS[name].fewest_seeds} or more")
            continue
        record = run_exhibit(name, EXHIBITS[name], workspace)
        made = [path.name for path in sorted(workspace.folder.glob(f"{name}.*"))]
        click.echo(f"{name}: {', '.join(made)} in {printable(str(workspace.folder))} ({record['seconds']:.0f} s)")
        if record["verdict"]:
            click.echo(f"  {record['verdict']}")


def _known(names: tuple[str, ...], known: list[str]) -> tuple[str, ...]:
    """Return the names if all of them are exhibits; `list` and `all` must stand alone."""
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise InputError(f"no result is called {name!r}{hint}: `heteroscope reproduce list` shows all names")
    return names

"""`heteroscope demo`: search, diagnose and draw a simulated data set whose noise varies ninefold."""

from pathlib import Path

import click

from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.output_files import refuse_unwritable
from heteroscope.cli.printing import print_diagnosis, print_path, until_reader_leaves, verbosity
from heteroscope.core import printable

_EXAMPLE = """\b
Example:
  heteroscope demo --out demo
"""


@click.command(cls=OneLineCommand, epilog=_EXAMPLE)
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("demo"), show_default=True, help="Folder for the results."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of data and training.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 starts one on each core.")
def demo(out: Path, seed: int, jobs: int, quiet: bool) -> None:
    """Search on 1,000 rows of a sine whose noise varies ninefold, diagnose the result, draw a figure and a page.

    The page shows a small phase diagram of 64 rows of the same process, with the field theory beside it. Takes about a
    minute on two cores.
    """
    figure_file, page_file = out / "diagonal.png", out / "page.html"
    refuse_unwritable(figure_file)
    from heteroscope.paper import run_demo
    from heteroscope.plots import diagonal_figure, save_figure
    from heteroscope.report import write_report

    found = run_demo(seed, jobs, verbosity(quiet))
    save_figure(diagonal_figure(found.results), figure_file)
    write_report(found.diagram, page_file, theory=found.theory)
    with until_reader_leaves():
        print_diagnosis(found.model)
        click.echo()
        print_path(found.model, whole=False)
        figure, page = printable(str(figure_file)), printable(str(page_file))
        click.echo(f"\nThe figure is in {figure}, the interactive page in {page}")

"""`heteroscope map`: train the phase diagram of a data set or table; write it as Zarr, figures and a page."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heteroscope.cli.diagram_rows import chosen_rows
from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.option_types import IntegerList, IntegerOrAuto, NumberList, NumberOrWord
from heteroscope.cli.output_files import refuse_unwritable
from heteroscope.cli.printing import print_phase_counts, verbosity
from heteroscope.cli.table_features import table_options, take_table_options
from heteroscope.core import defaults, printable, progress_bar

if TYPE_CHECKING:
    import xarray as xr

_EXAMPLE = """\b
Examples:
  heteroscope map sine --out sine-map --report sine.html
  heteroscope map table.csv --target price --out price-map --seeds 3
  heteroscope map concrete --out concrete-map --backend dask --scheduler tcp://10.0.0.1:8786
"""
_STEPS = (
    f"Training steps per model.  [default: auto: {defaults.LONG_STEPS}, with more than {defaults.LONG_UP_TO} rows "
    f"{defaults.EXACT_STEPS}, in batches {defaults.BATCH_STEPS}]"
)
_PAPER_GRID = "the paper's 22 values"
_HIDDEN = ",".join(map(str, defaults.PAPER_HIDDEN))
THEORY_POINTS = 1024  # points of the field theory that the page shows beside a simulated set


@click.command("map", cls=OneLineCommand, epilog=_EXAMPLE)
@click.argument("data", metavar="SET_OR_TABLE")
@click.option("--target", help="The column to predict, for a table.")
@table_options
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the results.  [default: SET_OR_TABLE-map]")
@click.option("--report", type=click.Path(path_type=Path), help="File for the interactive page.  [default: no page]")
@click.option("--rhos", type=NumberList(), help=f"Values of rho, such as 0.5,0.9,0.99.  [default: {_PAPER_GRID}]")
@click.option("--gammas", type=NumberList(), help=f"Values of gamma.  [default: {_PAPER_GRID}]")
@click.option("--seeds", "n_seeds", type=click.IntRange(min=1), default=1, show_default=True, help="Models per cell.")
@click.option("--steps", "max_steps", type=IntegerOrAuto(), default=defaults.DIAGRAM_STEPS, help=_STEPS)
@click.option("--hidden", type=IntegerList(), default=_HIDDEN, show_default=True, help="Sizes of the hidden layers.")
@click.option(
    "--activation",
    default=defaults.PAPER_ACTIVATION,
    show_default=True,
    help="silu, gelu, tanh, leaky_relu or relu.",
)
@click.option(
    "--start",
    type=NumberOrWord(),
    default="he",
    show_default=True,
    help='Initial weights: "he", or their standard deviation (1e-3 in the paper).',
)
@click.option(
    "--exchange/--apart",
    default=True,
    show_default=True,
    help="Let a cell continue from a neighbouring cell's model if it is better there.",
)
@click.option(
    "--penalty",
    type=click.Choice(["weights", "gradients"]),
    default=defaults.PENALTY,
    show_default=True,
    help="What is penalised: squared weights, or squared slopes of both outputs as in the field theory.",
)
@click.option("--seed", "random_state", type=click.IntRange(min=0), default=0, show_default=True, help="First seed.")
@click.option(
    "--jobs", "n_jobs", type=int, default=-1, show_default=True, help="Processes; -1 starts one on each core."
)
@click.option(
    "--backend",
    type=click.Choice(["loky", "dask", "ray"]),
    default="loky",
    show_default=True,
    help="Where to train: loky on this machine, dask or ray on a cluster.",
)
@click.option("--scheduler", help="Address of a running Dask or Ray cluster.")
def map_(
    data: str,
    target: str | None,
    out: Path | None,
    report: Path | None,
    backend: str,
    scheduler: str | None,
    quiet: bool,
    **parameters: Any,
) -> None:
    """Train a model at every (rho, gamma) of a grid and map the phase of each model.

    SET_OR_TABLE is the name of a data set (sine, yacht, ...) or a table file (.csv, .parquet, ...), of which a third
    is held out.
    Every finished part is saved at once: after an interruption, run the same command again to resume.
    """
    out = out or Path(f"{Path(data).stem}-map")
    refuse_unwritable(out / "diagram.zarr")
    if report is not None:
        refuse_unwritable(report, "--report")
    from heteroscope.diagrams import phase_diagram
    from heteroscope.plots import diagram_array, save_figure, schematic
    from heteroscope.training import use_backend

    rows = chosen_rows(data, target, take_table_options(parameters))
    with progress_bar("training", bool(verbosity(quiet))) as progress, use_backend(backend, scheduler):
        diagram = phase_diagram(
            rows.x,
            rows.y,
            X_test=rows.x_test,
            y_test=rows.y_test,
            name=rows.name,
            identity=rows.identity,
            store=out,
            progress=progress,
            **parameters,
        )
    save_figure(schematic(diagram), out / "phases.png")
    save_figure(diagram_array({rows.name: diagram}), out / "scores.png")
    print_phase_counts(diagram)
    place = printable(str(out / "diagram.zarr"))
    click.echo(f"\nThe diagram is in {place}, its figures are phases.png and scores.png beside it")
    if report is not None:
        from heteroscope.report import write_report

        write_report(diagram, report, theory=_solve_theory(data))
        click.echo(f"The page is {printable(str(report))}")


def _solve_theory(data: str) -> "xr.Dataset | None":
    """Return the field theory of a simulated set, or None for other data, whose process is not known."""
    from heteroscope.datasets import simulated
    from heteroscope.diagrams import field_diagram

    if data not in simulated.PROCESSES:
        return None
    x, y, y_test = simulated.field_draws(data, n_points=THEORY_POINTS)
    return field_diagram(x, y, y_test=y_test).assign_attrs(data_set=data)

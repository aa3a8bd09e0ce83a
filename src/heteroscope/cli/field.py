"""`heteroscope field`: solve the field theory of a data set or table over the grid of (rho, gamma)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heteroscope.cli.diagram_rows import is_named, named_set, table_rows
from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.option_types import NumberList
from heteroscope.cli.output_files import refuse_unwritable
from heteroscope.cli.printing import print_phase_counts, verbosity
from heteroscope.core import InputError, atomic_write, progress_bar

if TYPE_CHECKING:
    import xarray as xr

_EXAMPLE = """\b
Examples:
  heteroscope field sine --out sine-field
  heteroscope field curve --points 1024
  heteroscope field yacht --jobs 2
  heteroscope field table.csv --target price --out price-field
"""


@click.command(cls=OneLineCommand, epilog=_EXAMPLE)
@click.argument("data_set", metavar="SET_OR_TABLE")
@click.option("--target", help="The column to predict, for a table.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="Folder for the results.  [default: SET_OR_TABLE-field]",
)
@click.option(
    "--points",
    type=click.IntRange(min=8),
    default=4096,
    show_default=True,
    help="Points on the line of a simulated set.",
)
@click.option(
    "--rhos", type=NumberList(), help="Values of rho, such as 0.5,0.9,0.99.  [default: the paper's 19 values]"
)
@click.option("--gammas", type=NumberList(), help="Values of gamma.  [default: the paper's 19 values]")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random draw y(x).")
@click.option("--power", type=click.IntRange(min=1), default=1, show_default=True, help="Power of a table's Laplacian.")
@click.option(
    "--folds",
    is_flag=True,
    help="Find the fold of a table, too; it takes longer than the diagram. A line has it anyway.",
)
@click.option(
    "--jobs", type=int, default=1, show_default=True, help="Processes; more than one is faster from 10,000 points."
)
def field(
    data_set: str,
    target: str | None,
    out: Path | None,
    points: int,
    seed: int,
    power: int,
    folds: bool,
    jobs: int,
    quiet: bool,
    **grid: Any,
) -> None:
    """Solve the field theory of SET_OR_TABLE over a grid of (rho, gamma).

    A simulated data set (sine, cubic, curve, or one of them with _homoskedastic) is solved on a line. Any other set
    (yacht, ...) or .csv or .parquet file is solved on the graph of its rows, a third of which is held out. Writes the
    diagram as field.nc (NetCDF, for xarray) and as field.png.
    """
    name = Path(data_set).stem
    out = out or Path(f"{name}-field")
    refuse_unwritable(out / "field.nc")
    from heteroscope.datasets import simulated
    from heteroscope.plots import save_figure, schematic

    with progress_bar("solving", bool(verbosity(quiet)), "columns") as progress:
        if data_set in simulated.PROCESSES:
            if target is not None or power != 1 or folds:
                raise InputError(f"--target, --power and --folds are for tables, and {data_set} is solved on a line")
            diagram = _solve_line(data_set, points, seed, n_jobs=jobs, progress=progress, **grid)
        else:
            diagram = _solve_table(data_set, target, power=power, folds=folds, n_jobs=jobs, progress=progress, **grid)
    diagram.attrs |= {"data_set": name}
    out.mkdir(parents=True, exist_ok=True)
    with atomic_write(out / "field.nc") as partial:
        diagram.to_netcdf(partial, engine="scipy")
    save_figure(schematic(diagram, f"Field theory of {name}"), out / "field.png")
    print_phase_counts(diagram)
    click.echo(f"\nThe diagram is in {out / 'field.nc'}, its figure in {out / 'field.png'}")


def _solve_line(data_set: str, points: int, seed: int, **settings: Any) -> "xr.Dataset":
    """Solve a simulated set on evenly spaced points."""
    from heteroscope.datasets import simulated
    from heteroscope.diagrams import field_diagram

    x, y, y_test = simulated.field_draws(data_set, n_points=points, seed=seed)
    return field_diagram(x, y, y_test=y_test, **settings).assign_attrs(seed=seed)


def _solve_table(data: str, target: str | None, **settings: Any) -> "xr.Dataset":
    """Solve a table on the graph of its training rows."""
    from heteroscope.diagrams import field_diagram

    rows = named_set(data, target) if is_named(data) else table_rows(Path(data), target, "refuse")
    return field_diagram(rows.x, rows.y, X_test=rows.x_test, y_test=rows.y_test, **settings)

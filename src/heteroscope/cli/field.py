"""`heteroscope field`: solve the field theory of a simulated data set over the grid of (rho, gamma)."""

from pathlib import Path

import click

from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.output_files import refuse_unwritable
from heteroscope.cli.printing import print_phase_counts, verbosity
from heteroscope.core import atomic_write, progress_bar

_EXAMPLE = """\b
Examples:
  heteroscope field sine --out sine-field
  heteroscope field curve --points 1024
"""


@click.command(cls=OneLineCommand, epilog=_EXAMPLE)
@click.argument("data_set", metavar="SET")
@click.option(
    "--out", type=click.Path(path_type=Path), default=None, help="Folder for the results.  [default: SET-field]"
)
@click.option("--points", type=click.IntRange(min=8), default=4096, show_default=True, help="Points of the field.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random draw y(x).")
@click.option(
    "--jobs", type=int, default=1, show_default=True, help="Processes; more than one is faster from 10,000 points."
)
def field(data_set: str, out: Path | None, points: int, seed: int, jobs: int, quiet: bool) -> None:
    """Solve the field theory of SET over the paper's grid of (rho, gamma).

    SET is one of the simulated data sets: sine, cubic, curve, or one of them with _homoskedastic. Writes the diagram as
    field.nc (NetCDF, for xarray) and as field.png.
    """
    out = out or Path(f"{data_set}-field")
    refuse_unwritable(out / "field.nc")
    from heteroscope.datasets import simulated
    from heteroscope.diagrams import field_diagram
    from heteroscope.plots import save_figure, schematic

    x, y, y_test = simulated.field_draws(data_set, n_points=points, seed=seed)
    with progress_bar("solving", bool(verbosity(quiet)), "columns") as progress:
        diagram = field_diagram(x, y, y_test=y_test, n_jobs=jobs, progress=progress)
    diagram.attrs |= {"data_set": data_set, "seed": seed}
    out.mkdir(parents=True, exist_ok=True)
    with atomic_write(out / "field.nc") as partial:
        diagram.to_netcdf(partial, engine="scipy")
    save_figure(schematic(diagram, f"Field theory of {data_set}"), out / "field.png")
    print_phase_counts(diagram)
    click.echo(f"\nThe diagram is in {out / 'field.nc'}, its figure in {out / 'field.png'}")

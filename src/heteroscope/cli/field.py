"""`heteroscope field`: solve the field theory of a data set or table over the grid of (rho, gamma)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heteroscope.cli.diagram_rows import chosen_rows
from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.option_types import NumberList
from heteroscope.cli.output_files import refuse_unwritable
from heteroscope.cli.printing import print_phase_counts, verbosity
from heteroscope.cli.table_features import TableOptions, table_options, take_table_options
from heteroscope.core import InputError, atomic_write, make_folder, printable, progress_bar

if TYPE_CHECKING:
    import xarray as xr

_PENALTIES = 13  # values of alpha and of beta from 1e-5 to 10: two for each power of ten

_EXAMPLE = """\b
Examples:
  heteroscope field sine --out sine-field
  heteroscope field curve --points 1024
  heteroscope field sine --points 128 --bayes
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
@click.option("--bayes", is_flag=True, help="Also find the posterior of both fields of a simulated set in every cell.")
@table_options
def field(
    data_set: str,
    target: str | None,
    out: Path | None,
    points: int,
    seed: int,
    power: int,
    folds: bool,
    jobs: int,
    bayes: bool,
    quiet: bool,
    **parameters: Any,
) -> None:
    """Solve the field theory of SET_OR_TABLE over a grid of (rho, gamma).

    A simulated data set (sine, cubic, curve, or one of them with _homoskedastic) is solved on a line. Any other set
    (yacht, ...) or table file (.csv, .parquet, ...) is solved on the graph of its rows, a third of which is held out.
    Writes the diagram as field.nc (NetCDF, for xarray) and as field.png.

    With --bayes it also writes the diagram of the posterior mean as posterior.nc, and the figures posterior-maps.png
    (beside the minimum), evidence.png (over the penalties, beside the NLL of a second draw) and posterior.png (both
    fields where the evidence is highest).
    """
    name = Path(data_set).stem
    options, grid = take_table_options(parameters), parameters
    out = out or Path(f"{name}-field")
    refuse_unwritable(out / "field.nc")
    from heteroscope.datasets import simulated
    from heteroscope.plots import save_figure, schematic

    with progress_bar("solving", bool(verbosity(quiet)), "columns") as progress:
        if data_set in simulated.PROCESSES:
            if target is not None or power != 1 or folds or options.given():
                raise InputError(
                    f"--target, --power, --folds and how to read columns are for tables, and {data_set} is solved on a "
                    "line: leave them out"
                )
            diagram = _solve_line(data_set, points, seed, n_jobs=jobs, progress=progress, **grid)
        else:
            if bayes:
                raise InputError(
                    "--bayes is for a simulated set on a line; for a table use field.posterior_graph in Python"
                )
            diagram = _solve_table(
                data_set, target, options, power=power, folds=folds, n_jobs=jobs, progress=progress, **grid
            )
    diagram.attrs |= {"data_set": name}
    make_folder(out)
    with atomic_write(out / "field.nc") as partial:
        diagram.to_netcdf(partial, engine="scipy")
    save_figure(schematic(diagram, f"Field theory of {name}"), out / "field.png")
    print_phase_counts(diagram)
    if bayes:
        _add_posteriors(diagram, points, out, jobs, quiet)
    place = printable(str(out / "field.nc"))
    click.echo(f"\nThe diagram is in {place}, its figure is field.png beside it")


def _add_posteriors(diagram: "xr.Dataset", points: int, out: Path, jobs: int, quiet: bool) -> None:
    """Write the diagram of the posterior mean, the evidence, and the posterior of the highest evidence."""
    import numpy as np

    from heteroscope import field as theory
    from heteroscope.datasets import simulated
    from heteroscope.diagrams import posterior_diagram
    from heteroscope.plots import evidence_figure, posterior_figure, posterior_maps, save_figure

    name, seed = str(diagram.attrs["data_set"]), int(diagram.attrs["seed"])
    x, y, y_test = simulated.field_draws(name, n_points=points, seed=seed)
    rhos, gammas = diagram["rho"].values, diagram["gamma"].values
    shown = bool(verbosity(quiet))
    with progress_bar("posteriors", shown, "columns") as progress:
        averaged = posterior_diagram(x, y, y_test=y_test, rhos=rhos, gammas=gammas, n_jobs=jobs, progress=progress)
    averaged.attrs |= {"data_set": name, "seed": seed}
    with atomic_write(out / "posterior.nc") as partial:
        averaged.to_netcdf(partial, engine="scipy")
    penalties = np.logspace(-5, 1, _PENALTIES)
    with progress_bar("evidence", shown, "columns") as progress:
        surface = theory.evidence_surface(x, y, penalties, penalties, y_test=y_test, n_jobs=jobs, progress=progress)
    alpha, beta = surface.best
    rho, gamma = 1.0 / (1.0 + alpha + beta), alpha / (alpha + beta)
    best = theory.posterior(x, y, rho, gamma, method="variational", seed=seed)
    truth = simulated.field_truth(name, len(x), seed)
    save_figure(posterior_maps({"minimum": diagram, "posterior mean": averaged}), out / "posterior-maps.png")
    save_figure(evidence_figure(surface), out / "evidence.png")
    title = f"{name}: posterior where the evidence is highest"
    save_figure(posterior_figure(best, truth.mean(x), truth.std(x), title), out / "posterior.png")
    click.echo("\nThe posterior mean:")
    print_phase_counts(averaged)
    nll = -float(np.mean(best.log_predictive_density(y_test)))
    click.echo(
        f"\nThe evidence is highest at rho = {rho:.4g}, gamma = {gamma:.3g} (alpha = {alpha:.2g}, beta = {beta:.2g}); "
        f"the NLL of a second draw is {nll:.3f} there and at best {np.nanmin(surface.held_out_nll):.3f}"
    )


def _solve_line(data_set: str, points: int, seed: int, **settings: Any) -> "xr.Dataset":
    """Solve a simulated set on evenly spaced points."""
    from heteroscope.datasets import simulated
    from heteroscope.diagrams import field_diagram

    x, y, y_test = simulated.field_draws(data_set, n_points=points, seed=seed)
    return field_diagram(x, y, y_test=y_test, **settings).assign_attrs(seed=seed)


def _solve_table(data: str, target: str | None, options: TableOptions, **settings: Any) -> "xr.Dataset":
    """Solve a table on the graph of its training rows."""
    from heteroscope.diagrams import field_diagram

    rows = chosen_rows(data, target, options)
    return field_diagram(rows.x, rows.y, X_test=rows.x_test, y_test=rows.y_test, **settings)

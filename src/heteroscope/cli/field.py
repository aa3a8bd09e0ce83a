"""`heteroscope field`: solve the field theory of a simulated data set over the grid of (rho, gamma)."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.output_files import refuse_unwritable
from heteroscope.cli.printing import print_phase_counts, verbosity
from heteroscope.core import atomic_write, progress_bar

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

_PENALTIES = 13  # values of alpha and of beta from 1e-5 to 10: two for each power of ten

_EXAMPLE = """\b
Examples:
  heteroscope field sine --out sine-field
  heteroscope field curve --points 1024
  heteroscope field sine --points 256 --bayes
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
@click.option("--bayes", is_flag=True, help="Also find the posterior of both fields in every cell, and the evidence.")
def field(data_set: str, out: Path | None, points: int, seed: int, jobs: int, bayes: bool, quiet: bool) -> None:
    """Solve the field theory of SET over the paper's grid of (rho, gamma).

    SET is one of the simulated data sets: sine, cubic, curve, or one of them with _homoskedastic. Writes the diagram as
    field.nc (NetCDF, for xarray) and as field.png.

    With --bayes it also writes the diagram of the posterior mean as posterior.nc, and the figures posterior-maps.png
    (beside the minimum), evidence.png (over the penalties, beside the NLL of a second draw) and posterior.png (both
    fields where the evidence is highest).
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
    if bayes:
        _add_posteriors(diagram, x, y, y_test, out, jobs, quiet)
    click.echo(f"\nThe diagram is in {out / 'field.nc'}, its figure in {out / 'field.png'}")


def _add_posteriors(
    diagram: "xr.Dataset", x: "np.ndarray", y: "np.ndarray", y_test: "np.ndarray", out: Path, jobs: int, quiet: bool
) -> None:
    """Write the diagram of the posterior mean, the evidence, and the posterior of the highest evidence."""
    import numpy as np

    from heteroscope import field as theory
    from heteroscope.datasets import simulated
    from heteroscope.diagrams import posterior_diagram
    from heteroscope.plots import evidence_figure, posterior_figure, posterior_maps, save_figure

    name, seed = str(diagram.attrs["data_set"]), int(diagram.attrs["seed"])
    shown = bool(verbosity(quiet))
    with progress_bar("posteriors", shown, "columns") as progress:
        averaged = posterior_diagram(x, y, y_test=y_test, n_jobs=jobs, progress=progress)
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

"""`heteroscope map`: the phase diagram of a data set or table, as a Zarr store, figures and an interactive page."""

from pathlib import Path
from typing import Any

import click

from heteroscope.cli.fit import IntegerOrAuto, Sizes
from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.output_files import named_features, refuse_unwritable
from heteroscope.cli.printing import print_phase_counts, verbosity
from heteroscope.core import InputError, defaults

_EXAMPLE = """\b
Examples:
  heteroscope map sine --out sine-map --report sine.html
  heteroscope map table.csv --target price --out price-map --seeds 3
  heteroscope map concrete --out concrete-map --backend dask --scheduler tcp://10.0.0.1:8786
"""
_STEPS = (
    f"Steps a model.  [default: auto: {defaults.LONG_STEPS}, with more than {defaults.LONG_UP_TO} rows "
    f"{defaults.EXACT_STEPS}, in batches {defaults.BATCH_STEPS}]"
)
_PAPER_GRID = "the paper's 22 values"
THEORY_POINTS = 1024  # of the field theory's diagram on the page


class Numbers(click.ParamType):
    """`0.1,0.5,0.9` as a list of numbers."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[float]:
        """Numbers between commas; which of them a diagram can have is checked by the sweep."""
        if isinstance(value, list):
            return value
        try:
            return [float(part) for part in value.split(",")]
        except ValueError:
            self.fail(f"{value!r} is no list of numbers such as 0.1,0.5,0.9", param, ctx)


@click.command("map", cls=OneLineCommand, epilog=_EXAMPLE)
@click.argument("data", metavar="SET_OR_TABLE")
@click.option("--target", help="The column of a table to predict.")
@click.option("--missing", type=click.Choice(["refuse", "impute"]), default="refuse", show_default=True, help="Gaps.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder of the results.  [default: SET-map]")
@click.option("--report", type=click.Path(path_type=Path), default=None, help="Write the interactive page here.")
@click.option("--rhos", type=Numbers(), default=None, help=f"Values of rho, 0.5,0.9,0.99.  [default: {_PAPER_GRID}]")
@click.option("--gammas", type=Numbers(), default=None, help=f"Values of gamma.  [default: {_PAPER_GRID}]")
@click.option("--seeds", "n_seeds", type=click.IntRange(min=1), default=1, show_default=True, help="Models a cell.")
@click.option("--steps", "max_steps", type=IntegerOrAuto(), default=defaults.DIAGRAM_STEPS, help=_STEPS)
@click.option("--hidden", type=Sizes(), default=defaults.PAPER_HIDDEN, show_default=True, help="Sizes of its layers.")
@click.option("--activation", default=defaults.PAPER_ACTIVATION, show_default=True, help="leaky_relu, silu, ...")
@click.option("--start", default="he", show_default=True, help='"he" or a standard deviation (paper: 1e-3).')
@click.option("--exchange/--apart", default=True, show_default=True, help="Let cells take over each other's models.")
@click.option("--seed", "random_state", type=click.IntRange(min=0), default=0, show_default=True, help="First seed.")
@click.option("--jobs", "n_jobs", type=int, default=-1, show_default=True, help="Processes; -1 is one a core.")
@click.option("--backend", type=click.Choice(["loky", "dask", "ray"]), default="loky", show_default=True, help="Where.")
@click.option("--scheduler", default=None, help="Address of a running Dask or Ray cluster.")
def map_(
    data: str,
    target: str | None,
    missing: Any,
    out: Path | None,
    report: Path | None,
    backend: str,
    scheduler: str | None,
    start: str,
    quiet: bool,
    **arguments: Any,
) -> None:
    """Train a model at every (rho, gamma) of a grid and map the phases that they fall into.

    SET_OR_TABLE is the name of a data set (sine, yacht, ...) or a .csv or .parquet file, of which a third is held out.
    Every finished part is saved at once: run the same command again to go on after an interruption.
    """
    out = out or Path(f"{Path(data).stem}-map")
    refuse_unwritable(out / "diagram.zarr")
    if report is not None:
        refuse_unwritable(report)
    from heteroscope.core import progress_bar
    from heteroscope.diagrams import phase_diagram
    from heteroscope.plots import diagram_array, save_figure, schematic
    from heteroscope.training import use_backend

    x, y, x_test, y_test, name, identity = _rows(data, target, missing)
    with progress_bar("training", bool(verbosity(quiet))) as progress, use_backend(backend, scheduler):
        diagram = phase_diagram(
            x,
            y,
            X_test=x_test,
            y_test=y_test,
            name=name,
            identity=identity,
            start=_start(start),
            store=out,
            progress=progress,
            **arguments,
        )
    save_figure(schematic(diagram), out / "phases.png")
    save_figure(diagram_array({name: diagram}), out / "scores.png")
    print_phase_counts(diagram)
    click.echo(f"\nThe diagram is in {out / 'diagram.zarr'}, its figures are phases.png and scores.png beside it")
    if report is not None:
        from heteroscope.report import write_report

        write_report(diagram, report, theory=_theory(data))
        click.echo(f"The page is {report}")


def _rows(data: str, target: str | None, missing: Any) -> tuple[Any, Any, Any, Any, str, Any]:
    """Training and test rows of a named set, or of a table of which a third is held out; their name and identity."""
    import pandas as pd

    from heteroscope import datasets
    from heteroscope.core import table_file
    from heteroscope.data import TableEncoder, read_table

    if Path(data).suffix.lower() not in (".csv", ".parquet"):
        if target is not None:
            raise InputError(f"--target names a column of a table, but {data} is no .csv or .parquet file")
        split = datasets.load(data)
        x_train, x_test = (pd.DataFrame(x, columns=list(split.feature_names)) for x in (split.x_train, split.x_test))
        y_train = pd.Series(split.y_train, name=split.target_name)
        return x_train, y_train, x_test, split.y_test, split.name, split.identity
    if target is None:
        raise InputError(f"{data} is a table: name the column to predict with --target")
    frame = read_table(Path(data))
    training, test = (frame.iloc[rows] for rows in datasets.paper_split(len(frame)))
    encoder = TableEncoder.fit(training, target, missing=missing, unknown="zeros")
    for note in encoder.notes:
        click.echo(f"Note: {note}.")
    y, y_test = (pd.Series(encoder.targets(part), name=target) for part in (training, test))
    identity = table_file(data, target=target, missing=missing, protocol="paper", seed=0)
    return named_features(encoder, training), y, named_features(encoder, test), y_test, Path(data).stem, identity


def _theory(data: str) -> Any:
    """The field theory beside the networks, where the inputs are one-dimensional and the process is known."""
    from heteroscope.datasets import simulated
    from heteroscope.diagrams import field_diagram

    if data not in simulated.PROCESSES:
        return None
    x, y, y_test = simulated.field_draws(data, n_points=THEORY_POINTS)
    return field_diagram(x, y, y_test=y_test).assign_attrs(data_set=data)


def _start(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text

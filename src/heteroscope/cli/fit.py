"""`heteroscope fit`: from a table to a model folder."""

from pathlib import Path
from typing import Any

import click

from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.output_files import named_features, refuse_unwritable
from heteroscope.cli.printing import print_diagnosis, print_path, print_search_scores, print_training_scores, verbosity
from heteroscope.cli.stream_arguments import EPOCHS, is_stream, open_named, stream_settings
from heteroscope.core import InputError, defaults

_SEARCH_ONLY = {"selection": "selection", "folds": "cv"}
_EXAMPLE = """\b
Examples:
  heteroscope fit table.csv --target price --out model
  heteroscope fit table.parquet --target price --out model --missing impute --seed 0
  heteroscope fit table.csv --target price --out model --rho 0.9 --gamma 0.1
  heteroscope fit climsim --target cam_out_NETSW --out flux --epochs 12 --seed 0 --store flux-run
"""


class Sizes(click.ParamType):
    """`128,128,128` as a tuple of integers."""

    name = "sizes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Whole numbers between commas; what networks can have is checked by the estimator."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(part) for part in value.split(","))
        except ValueError:
            self.fail(f"{value!r} is no list of sizes such as 128,128,128", param, ctx)


class IntegerOrAuto(click.ParamType):
    """`12` as an integer, and `auto` as it is."""

    name = "integer|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """What the estimators take; whether a number is in range is checked by them."""
        try:
            return value if value == "auto" else int(value)
        except ValueError:
            self.fail(f"{value!r} is not a valid integer, nor 'auto'", param, ctx)


def _estimator_option(flag: str, argument: str, shown: object, **settings: Any) -> Any:
    """An option that stands for an argument of the estimators and shows, but leaves to them, its default."""
    help_text = f"{settings.pop('help')}  [default: {shown}]"
    return click.option(flag, argument, default=None, help=help_text, **settings)


_STEPS = f"{defaults.SEARCH_STEPS}, or {defaults.POINT_STEPS} with --rho and --gamma"
_MEMBERS = f"{defaults.SEARCH_MEMBERS}, or {defaults.POINT_MEMBERS} with --rho and --gamma"
_BATCH = "auto: half of the rows, at most 128; beyond 2,000 rows 256"
_COUNT = IntegerOrAuto()
_FOLDS_HELP = "Folds of the cross-validation; auto is 5 up to 2,000 rows, and one fifth held out once beyond."
_SELECTIONS, _SEED = click.Choice(["nll", "crps", "paper"]), click.IntRange(min=0)
_HIDDEN = ",".join(map(str, defaults.HIDDEN))


@click.command(cls=OneLineCommand, epilog=_EXAMPLE)
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--target", required=True, help="The column to predict; all others are features.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The model's folder.")
@click.option("--missing", type=click.Choice(["refuse", "impute"]), default="refuse", show_default=True, help="Gaps.")
@click.option(
    "--unknown",
    type=click.Choice(["refuse", "zeros"]),
    default="refuse",
    show_default=True,
    help="What `predict` does with a category that these rows do not have.",
)
@click.option("--rho", type=float, help="With --gamma: fit at this point and do not search.")
@click.option("--gamma", type=float, help="With --rho: fit at this point and do not search.")
@_estimator_option("--selection", "selection", defaults.SELECTION, type=_SELECTIONS, help="What to choose by.")
@_estimator_option("--folds", "cv", defaults.FOLDS, type=_COUNT, help=_FOLDS_HELP)
@_estimator_option("--members", "n_members", _MEMBERS, type=int, help="Models averaged in the final fit.")
@_estimator_option("--steps", "max_steps", _STEPS, type=_COUNT, help="Training steps of each model.")
@_estimator_option("--hidden", "hidden", _HIDDEN, type=Sizes(), help="Sizes of the hidden layers.")
@_estimator_option("--activation", "activation", defaults.ACTIVATION, help="silu, gelu, tanh, leaky_relu or relu.")
@_estimator_option("--seed", "random_state", "a new one every time", type=_SEED, help="For the same model again.")
@_estimator_option("--batch", "batch_size", _BATCH, type=_COUNT, help="Rows that a step sees.")
@EPOCHS
@click.option("--store", type=click.Path(path_type=Path), help="Of a stream: folder that keeps what a killed run did.")
@click.option("--jobs", "n_jobs", type=int, default=-1, show_default=True, help="Processes; -1 is one a core.")
def fit(
    table: Path,
    target: str,
    out: Path,
    epochs: float | None,
    store: Path | None,
    missing: Any,
    unknown: Any,
    rho: float | None,
    gamma: float | None,
    quiet: bool,
    **arguments: Any,
) -> None:
    """Fit a model to TABLE (.csv or .parquet) and write it to a folder.

    Searches the diagonal rho = 1 - gamma by cross-validation, unless --rho and --gamma name the point. A folder of
    Parquet or of ClimSim's files, a Zarr store or a NetCDF file is read as a stream, however large it is.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    if (rho is None) != (gamma is None):
        raise InputError("--rho and --gamma name a point together: give both, or neither to search for it")
    pointless = [] if rho is None else [f"--{flag}" for flag, name in _SEARCH_ONLY.items() if name in given]
    if pointless:
        raise InputError(f"{pointless[0]} is about the search: leave it out, or leave out --rho and --gamma")
    from heteroscope.data import TableEncoder, read_table
    from heteroscope.estimators import HeteroskedasticRegressor, HeteroskedasticRegressorCV
    from heteroscope.model_files import check_destination

    refuse_unwritable(check_destination(out))
    given["verbose"] = verbosity(quiet)
    if is_stream(table):
        if missing == "impute" or "cv" in given:
            raise InputError("--missing impute and --folds are for tables: a stream has no gaps and no folds")
        stream = open_named(table, target)
        settings = stream_settings(table, stream, epochs, given)
        if rho is None:
            model = HeteroskedasticRegressorCV(**settings).fit(stream, store=store)
        else:
            model = HeteroskedasticRegressor(rho, gamma, **settings).fit(stream, store=store)
        _report(model, out, None)
        return
    if epochs is not None or store is not None:
        raise InputError(f"--epochs and --store are for streams, and {table} is a table: leave them out")
    frame = read_table(table)
    encoder = TableEncoder.fit(frame, target, missing=missing, unknown=unknown)
    features, y = named_features(encoder, frame), encoder.targets(frame)
    for note in encoder.notes:
        click.echo(f"Note: {note}.")
    if rho is None:
        model = HeteroskedasticRegressorCV(**given).fit(features, y)
    else:
        model = HeteroskedasticRegressor(rho, gamma, **given).fit(features, y)
        print_training_scores(model, features, y)
    _report(model, out, encoder)


def _report(model: Any, out: Path, encoder: Any) -> None:
    """Print what was found, and save it."""
    from heteroscope.model_files import save_model

    if hasattr(model, "cv_results_"):
        print_path(model)
        print_search_scores(model)
    print_diagnosis(model)
    save_model(model, out, encoder)
    click.echo(f"\nThe model is in {out}")

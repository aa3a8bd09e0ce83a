"""`heteroscope fit`: fit a model to a table or a stream and write it to a folder."""

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heteroscope.cli.diagnose import write_model_report
from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.option_types import IntegerList, IntegerOrAuto
from heteroscope.cli.output_files import refuse_unwritable
from heteroscope.cli.printing import print_diagnosis, print_path, terminal_width, until_reader_leaves, verbosity
from heteroscope.cli.stream_arguments import EPOCHS, is_stream, open_stream_at, stream_settings
from heteroscope.cli.table_features import (
    fit_encoder,
    fit_options,
    named_features,
    print_look,
    print_notes,
    read_user_table,
    take_table_options,
)
from heteroscope.core import InputError, Parameter, defaults, printable, refuse_misplaced

if TYPE_CHECKING:
    from heteroscope.data import TableEncoder
    from heteroscope.estimators import HeteroskedasticRegressor, HeteroskedasticRegressorCV

# Parameters that only the search has.
_SEARCH_ONLY = ("conformal", "set_aside", "search", "selection", "family", "target_scale", "cv")
_EXAMPLE = """\b
Examples:
  heteroscope fit table.csv --target price --out model
  heteroscope fit table.parquet --target price --out model --missing impute --seed 0
  heteroscope fit table.csv --target price --out model --report fit.html
  heteroscope fit sales.xlsx --target price --out model --drop id,note --dates cycles
  zcat big.csv.gz | heteroscope fit - --target price --out model
  heteroscope fit table.csv --target price --out model --rho 0.9 --gamma 0.1
  heteroscope fit climsim --target cam_out_NETSW --out flux --epochs 12 --seed 0 --store flux-run
"""


def _estimator_option(flag: str, parameter: str, default: object, **settings: Any) -> Callable[[Any], Any]:
    """Return an option that sets a parameter of the estimators; `default`, which they apply, is only shown."""
    help_text = f"{settings.pop('help')}  [default: {default}]"
    return click.option(flag, parameter, default=None, help=help_text, **settings)


_STEPS = f"{defaults.SEARCH_STEPS}, or {defaults.POINT_STEPS} with --rho and --gamma"
_MEMBERS = f"{defaults.SEARCH_MEMBERS}, or {defaults.POINT_MEMBERS} with --rho and --gamma"
_BATCH = "auto: half of the rows, at most 128; beyond 2,000 rows 256"
_COUNT = IntegerOrAuto()
_FOLDS_HELP = "Cross-validation folds; auto is 5 for up to 2,000 rows, and for more rows one fifth held out once."
_FAMILY_HELP = "Predictive distribution; auto chooses it by held-out rows."
_SELECTIONS, _SEED = click.Choice(["nll", "crps", "paper"]), click.IntRange(min=0)
_SCALE_HELP = (
    "What the networks predict: the target, or its logarithm; auto tries the logarithm of positive, skewed targets."
)
_SCALES = click.Choice(["auto", "none", "log"])
_SEARCHES = click.Choice(["diagonal", "grid", "theory"])
_SEARCH_HELP = "Points to try; theory predicts one without training and needs about a quarter of the steps."
_FAMILIES = click.Choice(["auto", "gaussian", "student-t"])
_HIDDEN = ",".join(map(str, defaults.HIDDEN))


@click.command(cls=OneLineCommand, epilog=_EXAMPLE)
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--target", required=True, help="The column to predict.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for the model.")
@fit_options
@click.option("--rho", type=float, help="With --gamma: fit at this point instead of searching.")
@click.option("--gamma", type=float, help="With --rho: fit at this point instead of searching.")
@_estimator_option("--search", "search", "diagonal", type=_SEARCHES, help=_SEARCH_HELP)
@_estimator_option(
    "--selection", "selection", defaults.SELECTION, type=_SELECTIONS, help="Score that chooses the point."
)
@_estimator_option("--family", "family", "auto", type=_FAMILIES, help=_FAMILY_HELP)
@_estimator_option("--target-scale", "target_scale", "auto", type=_SCALES, help=_SCALE_HELP)
@click.option(
    "--conformal",
    is_flag=True,
    default=None,
    help="Give intervals with a guaranteed coverage, from the folds' held-out rows.",
)
@click.option(
    "--set-aside",
    type=float,
    help="Like --conformal, from this share of the rows, which nothing else uses: the strictest guarantee.",
)
@_estimator_option("--folds", "cv", defaults.FOLDS, type=_COUNT, help=_FOLDS_HELP)
@_estimator_option("--members", "n_members", _MEMBERS, type=int, help="Models averaged in the final fit.")
@_estimator_option("--steps", "max_steps", _STEPS, type=_COUNT, help="Training steps of each model.")
@_estimator_option("--hidden", "hidden", _HIDDEN, type=IntegerList(), help="Sizes of the hidden layers.")
@_estimator_option("--activation", "activation", defaults.ACTIVATION, help="silu, gelu, tanh, leaky_relu or relu.")
@_estimator_option("--seed", "random_state", "a new one every time", type=_SEED, help="Random seed.")
@_estimator_option("--batch", "batch_size", _BATCH, type=_COUNT, help="Rows per training step.")
@EPOCHS
@click.option("--store", type=click.Path(path_type=Path), help="For a stream: folder from which a killed run resumes.")
@click.option("--report", type=click.Path(path_type=Path), help="Write a page about the fit to this .html file.")
@click.option("--path", "whole_path", is_flag=True, help="Print all points of the search, not five of them.")
@click.option(
    "--jobs", "n_jobs", type=int, default=-1, show_default=True, help="Processes; -1 starts one on each core."
)
def fit(
    table: Path,
    target: str,
    out: Path,
    epochs: float | None,
    store: Path | None,
    rho: float | None,
    gamma: float | None,
    whole_path: bool,
    report: Path | None,
    quiet: bool,
    **parameters: Any,
) -> None:
    """Fit a model to TABLE (.csv, .tsv, .csv.gz, .parquet, .xlsx, or - for standard input) and write it to a folder.

    Searches the diagonal rho = 1 - gamma and a few points off it by cross-validation, unless --rho and --gamma name a
    point, and prints whether the predictions can be trusted, how good they are and what to do. A folder of Parquet or
    ClimSim files, a Zarr store or a NetCDF file is read as a stream and may be larger than memory.
    """
    options = take_table_options(parameters)
    given = {name: value for name, value in parameters.items() if value is not None}
    if "set_aside" in given:
        given["conformal"] = given.pop("set_aside")
    if (rho is None) != (gamma is None):
        raise InputError("--rho and --gamma name a point together: give both, or neither to search for it")
    if rho is not None:
        unused = [Parameter(name) for name in _SEARCH_ONLY if name in parameters and parameters[name] is not None]
        refuse_misplaced(unused, "the search", "at a point, or leave out --rho and --gamma")
    if "target_scale" in given:
        given["target"] = given.pop("target_scale")  # --target names the column
    from heteroscope.estimators import HeteroskedasticRegressor, HeteroskedasticRegressorCV
    from heteroscope.model_files import check_destination

    refuse_unwritable(check_destination(out))
    if report is not None:
        refuse_unwritable(report, "--report")
    given["verbose"] = verbosity(quiet)
    if is_stream(table):
        for_tables = [*options.given(), *(["cv"] if "cv" in given else [])]
        refuse_misplaced([Parameter(name) for name in for_tables], "tables", "for a stream")
        stream = open_stream_at(table, target)
        settings = stream_settings(table, stream, epochs, given)
        if rho is None or gamma is None:
            model = HeteroskedasticRegressorCV(**settings).fit(stream, store=store)
        else:
            model = HeteroskedasticRegressor(rho, gamma, **settings).fit(stream, store=store)
        _save_and_print(model, out, None, whole_path, report)
        return
    if epochs is not None or store is not None:
        raise InputError(f"--epochs and --store are for streams, and {table} is a table: leave them out")
    frame = read_user_table(table, options.reading)
    encoder = fit_encoder(frame, target, options.columns)
    print_look(frame, encoder, terminal_width())
    features, (y, weight) = named_features(encoder, frame), encoder.known_targets(frame)
    if rho is None or gamma is None:
        model = HeteroskedasticRegressorCV(**given).fit(features, y, weight)
    else:
        model = HeteroskedasticRegressor(rho, gamma, **given).fit(features, y, weight)
    _save_and_print(model, out, encoder, whole_path, report)


def _save_and_print(
    model: "HeteroskedasticRegressor | HeteroskedasticRegressorCV",
    out: Path,
    encoder: "TableEncoder | None",
    whole_path: bool,
    report: Path | None,
) -> None:
    """Save the model, then print the diagnosis, the path of a search and what became of the columns."""
    from heteroscope.estimators import HeteroskedasticRegressorCV
    from heteroscope.model_files import save_model

    save_model(model, out, encoder)
    if report is not None:
        write_model_report(model, encoder, None, report, None)
    with until_reader_leaves():
        print_diagnosis(model)
        if isinstance(model, HeteroskedasticRegressorCV):
            click.echo()
            print_path(model, whole_path)
            if not whole_path:
                click.echo("All points: --path, or `cv_results_` of the loaded model.")
        click.echo()
        conformal = getattr(model, "conformal_", None)
        if conformal is not None:
            click.echo(textwrap.fill(f"Note: {conformal.text()}.", terminal_width(), break_on_hyphens=False))
        if encoder is not None:
            print_notes(encoder, terminal_width())
        click.echo(f"The model is in {printable(str(out))}")
        if report is not None:
            click.echo(f"The report is {printable(str(report))}")

"""`heteroscope diagnose`: judge anyone's forecasts, or a fitted model, and write the report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.output_files import refuse_unwritable
from heteroscope.cli.printing import print_diagnosis, terminal_width, until_reader_leaves
from heteroscope.cli.table_features import named_features, read_user_table, reading_options
from heteroscope.core import InputError, Parameter, TableError, printable, refuse_misplaced

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

_EXAMPLE = """\b
Examples:
  heteroscope diagnose forecasts.csv --target y --mean m --std s
  heteroscope diagnose new.csv --target y --mean m --std s --train train.csv --report page.html
  heteroscope diagnose forecasts.csv --target y --lower low --upper high --coverage 0.9
  heteroscope diagnose forecasts.csv --target y --quantile 0.05=q05 --quantile 0.5=q50 --quantile 0.95=q95
  heteroscope diagnose forecasts.csv --target y --samples draw_
  heteroscope diagnose model --table table.csv --report page.html
"""
_COLUMN_OPTIONS = ("mean", "std", "lower", "upper")


@click.command(cls=OneLineCommand, epilog=_EXAMPLE)
@click.argument("forecasts", type=click.Path(path_type=Path))
@click.option("--target", help="The column with what happened.")
@click.option("--mean", help="The column of predicted means.")
@click.option("--std", help="The column of predicted standard deviations.")
@click.option("--lower", help="The column of lower ends of intervals.")
@click.option("--upper", help="The column of upper ends of intervals.")
@click.option("--coverage", type=float, default=0.9, show_default=True, help="Probability of these intervals.")
@click.option(
    "--quantile", "quantiles", multiple=True, help="A probability and the column of this quantile, such as 0.05=q05."
)
@click.option("--samples", metavar="PREFIX", help="How the names of columns of draws begin, such as draw_.")
@click.option("--weight", help="A column of weights of the rows.")
@click.option(
    "--train",
    type=click.Path(path_type=Path),
    help="Forecasts of the training rows, with the same columns: they tell whether the std was memorised.",
)
@click.option("--table", type=click.Path(path_type=Path), help="For a model folder: rows on which to explain it.")
@click.option("--report", type=click.Path(path_type=Path), help="Write a page with the evidence to this .html file.")
@click.option("--title", help="Title of the page.")
@reading_options
def diagnose(
    forecasts: Path,
    target: str | None,
    coverage: float,
    quantiles: tuple[str, ...],
    samples: str | None,
    weight: str | None,
    train: Path | None,
    table: Path | None,
    report: Path | None,
    title: str | None,
    quiet: bool,
    decimal: str | None,
    thousands: str | None,
    sheet: str | None,
    **columns: str | None,
) -> None:
    """Judge FORECASTS of new rows: can they be trusted, and is their std real or memorised?

    FORECASTS is a table of rows that the forecasting model was not trained on, with what happened and what was
    predicted: by any model, of any library; - reads it from standard input. Give --mean and --std, or --lower and
    --upper, or --quantile several times, or --samples. Or it is the folder of a model that `heteroscope fit` has
    written: then its own held-out rows are shown, and with --table what drives its mean and its std.
    """
    if report is not None:
        refuse_unwritable(report, "--report")
    reading = {"decimal": decimal, "thousands": thousands, "sheet": sheet}
    if forecasts.is_dir():
        options = {
            **columns,
            "target": target,
            "weight": weight,
            "train": train,
            "quantiles": quantiles,
            "samples": samples,
        }
        given = [Parameter(name) for name, value in options.items() if value]
        refuse_misplaced(given, "a table of forecasts", f"for {forecasts}, which is a model folder")
        _diagnose_model(forecasts, table, reading, report, title)
        return
    if table is not None:
        raise InputError(f"--table is for a model folder, and {forecasts} is not one: leave it out")
    if target is None:
        raise InputError("--target is missing: name the column with what happened")
    from heteroscope.explanation import diagnose as diagnose_forecasts

    named = {name: column for name, column in {"y": target, **columns, "sample_weight": weight}.items() if column}
    levels = _quantile_columns(quantiles)
    training = {name: column for name, column in named.items() if name != "sample_weight"}
    found = diagnose_forecasts(
        **_forecast(forecasts, reading, named, levels, samples),
        coverage=coverage,
        train=None if train is None else _forecast(train, reading, training, levels, samples),
        target_name=target,
    )
    if report is not None:
        found.report(report, title=title)
    with until_reader_leaves():
        click.echo(found.text(terminal_width()))
        _say_where(report)


def _diagnose_model(
    folder: Path, table: Path | None, reading: Mapping[str, str | None], report: Path | None, title: str | None
) -> None:
    """Print the diagnosis of a fitted model, and write its report."""
    from heteroscope.model_files import load_bundle

    bundle = load_bundle(folder)
    if not hasattr(bundle.model, "diagnose"):
        raise InputError(
            f"{folder} holds a {type(bundle.model).__name__}, which keeps no held-out rows: give a table of forecasts"
        )
    frame = None
    if table is not None:
        if bundle.encoder is None:
            raise InputError(f"{folder} was not fitted to a table file: use `model.report(path, X, y)` in Python")
        frame = read_user_table(table, reading, bundle.encoder.text_columns)
    if report is not None:
        write_model_report(bundle.model, bundle.encoder, frame, report, title)
    with until_reader_leaves():
        print_diagnosis(bundle.model)
        _say_where(report)


def write_model_report(model: Any, encoder: Any, frame: "pd.DataFrame | None", path: Path, title: str | None) -> None:
    """Write the page of a model; with its encoder, inputs have the names of the table's columns."""
    from heteroscope.explanation import explain
    from heteroscope.report import write_fit_report

    if encoder is None:
        write_fit_report(explain(model), path, title=title)
        return
    columns = {column.name: list(column.feature_names) for column in encoder.columns}
    rows: dict[str, Any] = {}
    if frame is not None:
        y, weight = encoder.known_targets(frame)
        rows = {"X": named_features(encoder, frame), "y": y, "sample_weight": weight}
    write_fit_report(explain(model, **rows, target_name=encoder.target, columns=columns), path, title=title)


def _say_where(report: Path | None) -> None:
    if report is not None:
        click.echo(f"\nThe report is {printable(str(report))}")


def _quantile_columns(quantiles: Sequence[str]) -> dict[float, str]:
    """Return the column of each quantile, from texts such as 0.05=q05."""
    found: dict[float, str] = {}
    for text in quantiles:
        level, equals, column = text.partition("=")
        try:
            found[float(level)] = column
        except ValueError:
            equals = ""
        if not equals or not column:
            raise InputError(f"--quantile {text} is no probability and column: write it as 0.05=q05")
    return found


def _forecast(
    path: Path,
    reading: Mapping[str, str | None],
    columns: Mapping[str, str],
    quantiles: Mapping[float, str],
    samples: str | None,
) -> dict[str, Any]:
    """Return the arguments of `heteroscope.diagnose` that columns of a table hold, by their names there."""
    frame = read_user_table(path, reading)
    draws = [] if samples is None else [str(name) for name in frame if str(name).startswith(samples)]
    if samples is not None and not draws:
        raise InputError(f"{path} has no column that begins with {samples!r}: choose among {_names(frame)}")
    _refuse_columns(frame, path, [*columns.values(), *quantiles.values(), *draws])
    found: dict[str, Any] = {name: _numbers(frame[column]) for name, column in columns.items()}
    if quantiles:
        found["quantiles"] = {level: _numbers(frame[column]) for level, column in quantiles.items()}
    if samples is not None:
        found["samples"] = frame[draws].to_numpy(dtype=float)
    return found


def _refuse_columns(frame: "pd.DataFrame", path: Path, columns: Sequence[str]) -> None:
    """Raise an `InputError` that names all columns which are absent or hold no numbers."""
    import pandas as pd

    problems = []
    for column in columns:
        if column not in frame:
            problems.append(InputError(f"there is no column {column!r}: choose among {_names(frame)}"))
        elif not pd.api.types.is_numeric_dtype(frame[column]):
            problems.append(InputError(f"column {column!r} holds no numbers: name another, or correct it"))
    if len(problems) > 1:
        raise TableError(str(path), problems, ())
    if problems:
        raise InputError(f"{path}: {problems[0]}")


def _names(frame: "pd.DataFrame") -> str:
    """Return the names of at most 20 columns as text."""
    more = f" and {len(frame.columns) - 20} more" if len(frame.columns) > 20 else ""
    return f"{', '.join(map(repr, frame.columns[:20]))}{more}"


def _numbers(column: "pd.Series") -> "np.ndarray":
    return column.to_numpy(dtype=float)

"""`heteroscope predict`: add the predictions of a fitted model to a table."""

from pathlib import Path
from typing import Any

import click

from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.output_files import WRITABLE, refuse_unwritable, write_table
from heteroscope.cli.table_features import named_features, read_user_table, reading_options
from heteroscope.core import InputError

ADDED = ("mean", "std", "lower", "upper")  # columns that are added to the table
_EXAMPLE = """\b
Examples:
  heteroscope predict model new.csv --out predictions.csv
  heteroscope predict model new.parquet --coverage 0.95 > predictions.csv
  cat new.csv | heteroscope predict model - --out predictions.xlsx
"""


@click.command(cls=OneLineCommand, epilog=_EXAMPLE)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help=f"File for the result: {', '.join(WRITABLE)}; without it, CSV is printed.",
)
@click.option("--coverage", type=float, default=0.9, show_default=True, help="Probability between lower and upper.")
@click.option("--prefix", default="", help="Text before the names of the new columns, such as pred_.")
@reading_options
def predict(
    model: Path, table: Path, out: Path | None, coverage: float, prefix: str, quiet: bool, **reading: Any
) -> None:
    """Add the columns mean, std, lower and upper to TABLE, predicted by the model in the folder MODEL.

    TABLE is a file as for `fit`, or - for standard input. Its columns become features as they did in the fit. A table
    that already has a column of one of these names is refused; --prefix gives the new columns other names.
    """
    if out is not None and not out.name.lower().endswith(WRITABLE):
        raise InputError(f"{out} has the extension {out.suffix!r}: name a file that ends in {', '.join(WRITABLE)}")
    if out is not None and out.exists() and out.resolve() == table.resolve():
        raise InputError(f"{out} is the table itself: name another file, so that the table is not lost")
    if out is not None:
        refuse_unwritable(out)
    from heteroscope.data import require_openpyxl
    from heteroscope.model_files import load_bundle

    if out is not None and out.suffix.lower() == ".xlsx":
        require_openpyxl(out)
    bundle = load_bundle(model)
    if bundle.encoder is None:
        raise InputError(
            f"{model} was not fitted to a table file and stores no columns: use `load_model` in Python, or fit a table"
        )
    frame = read_user_table(table, reading, bundle.encoder.text_columns)
    new = [f"{prefix}{name}" for name in ADDED]
    taken = [name for name in new if name in frame]
    if taken:
        raise InputError(f"{table} already has a column {taken[0]!r}: rename it, or use --prefix pred_")
    features = named_features(bundle.encoder, frame)
    mean, std = bundle.model.predict(features, return_std=True)
    lower, upper = bundle.model.predict_interval(features, coverage)
    write_table(frame.assign(**dict(zip(new, (mean, std, lower, upper), strict=True))), out)

"""`heteroscope compare`: fit several methods on the same splits of data sets and tabulate their scores."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.option_types import IntegerList, NameList
from heteroscope.cli.output_files import refuse_unwritable, write_table, write_text
from heteroscope.cli.printing import print_cells, verbosity
from heteroscope.cli.stream_arguments import EPOCHS, draw_test_rows, is_stream, open_stream_at, stream_settings
from heteroscope.cli.table_features import table_options, take_table_options
from heteroscope.core import InputError, Parameter, printable, progress_bar, refuse_misplaced

if TYPE_CHECKING:
    from heteroscope.data import Stream

# Names of all methods, repeated here because the help must not import the methods.
NAMES = (
    "ours",
    "mle",
    "beta-nll",
    "mle-ensemble",
    "faithful",
    "natural-laplace",
    "reliable",
    "student-t",
    "variational",
    "ngboost",
    "catboost",
    "gp",
    "gp-matern",
    "xgboost-distribution",
    "quantile-boosting",
    "quantile-forest",
    "conformal-catboost",
    "bart",
    "bde",
    "realmlp",
    "tabm",
    "treeffuser",
    "tabpfn",
    "tabicl",
)
_EXAMPLE = """\b
Examples:
  heteroscope compare yacht --methods ours,gp,ngboost,catboost
  heteroscope compare table.csv --target price --methods ours,beta-nll --splits 5
  heteroscope compare sine --methods ours,mle --splits 10 --out sine-compare
  heteroscope compare yacht sine cubic --methods ours,student-t,faithful-ensemble --out table
  heteroscope compare climsim --target cam_out_NETSW --methods ours,beta-nll,mle-ensemble --epochs 12 --splits 1
"""


@click.command(cls=OneLineCommand, epilog=_EXAMPLE)
@click.argument("data", metavar="SET_OR_TABLE...", nargs=-1, required=True)
@click.option("--target", help="The column to predict, for a table or a stream.")
@click.option(
    "--methods",
    type=NameList(),
    help=f"Names between commas: {','.join(NAMES)}, or NAME-ensemble for a network method. The others are compared "
    "with the first.  [default: all that are installed]",
)
@click.option(
    "--protocol",
    type=click.Choice(["paper", "literature", "published"]),
    help="Rows to train on: paper two thirds, literature 90 %, published the 90 % of the literature's own splits of "
    "UCI sets.  [default: literature; paper for simulated sets]",
)
@click.option("--splits", "n_splits", type=int, default=20, show_default=True, help="Number of random splits.")
@table_options
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for the results.  [default: SET_OR_TABLE-compare; for several sets: comparison]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of splits and methods.")
@EPOCHS
@click.option("--test", type=click.Path(path_type=Path), help="For a stream: another stream, to draw test rows from.")
@click.option(
    "--hidden", type=IntegerList(), help="For a stream: sizes of the hidden layers.  [default: each method's own]"
)
@click.option(
    "--jobs", "n_jobs", type=int, default=-1, show_default=True, help="Processes; -1 starts one on each core."
)
def compare(
    data: tuple[str, ...],
    methods: tuple[str, ...] | None,
    out: Path | None,
    quiet: bool,
    **settings: Any,
) -> None:
    """Fit methods on random splits of SET_OR_TABLE and compare their scores on the test rows.

    SET_OR_TABLE is a named data set, such as yacht or sine, or a table file (.csv, .parquet, .xlsx, ...). Every
    finished fit is kept in the folder --out: the same command resumes where it was stopped, and more --methods or
    --splits are added to the fits in the folder. With several sets, each has its own folder in --out, and summary.md
    holds the tables of all sets. ngboost and catboost need the extra: pip install "heteroscope[compare]". A folder of
    Parquet or ClimSim files, a Zarr store or a NetCDF file is a stream; its splits differ in their seeds alone.
    """
    names = [Path(one).stem for one in data]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise InputError(f"{repeated[0]} is named twice, but its results have one folder: name each set once")
    if len(data) == 1:
        _compare_one(data[0], methods, out or Path(f"{names[0]}-compare"), quiet, settings)
        return
    out = out or Path("comparison")
    texts = []
    for name, one in zip(names, data, strict=True):
        click.echo(f"\n{printable(name)}")
        texts.append(f"# {name}\n\n{_compare_one(one, methods, out / name, quiet, settings)}")
        write_text("\n".join(texts), out / "summary.md")
    click.echo(f"\nThe tables of all sets are in {printable(str(out / 'summary.md'))}")


def _compare_one(data: str, methods: tuple[str, ...] | None, out: Path, quiet: bool, settings: dict[str, Any]) -> str:
    """Compare on one set; print and write its tables, and return them as Markdown."""
    if out.is_file():
        raise InputError(f"{out} is a file: name a folder with --out")
    refuse_unwritable(out / "records.csv")
    from heteroscope import comparison, datasets
    from heteroscope.baselines import left_out

    source, settings = _source_and_settings(data, settings)
    with progress_bar("comparing", bool(verbosity(quiet)), "fits") as progress:
        records = comparison.compare(source, methods, out=out, progress=progress, **settings)
    table = comparison.summary(records, fresh_draws=data in datasets.PROCESSES)
    write_table(records, out / "records.csv")
    write_table(table, out / "summary.csv")
    text = comparison.markdown(table)
    write_text(text, out / "summary.md")
    for title, cells in comparison.cell_texts(table).items():
        print_cells(title, cells)
    if methods is None:
        for name, reason in left_out(int(records["n_train"].iloc[0])).items():
            click.echo(f"Note: {name} is left out: {reason}.")
    for failure in records[records["error"].notna()].itertuples():
        click.echo(f"Note: {failure.method} failed on split {failure.split}: {failure.error}")
    place = printable(str(out / "summary.md"))
    click.echo(f"\nThe table is in {place}, and in summary.csv beside it; every fit is in records.csv")
    return text


def _source_and_settings(data: str, given: dict[str, Any]) -> tuple["str | Stream", dict[str, Any]]:
    """Return the first argument of `comparison.compare`, a name, a path or an open stream, and its other settings."""
    from heteroscope import datasets

    settings = dict(given)
    options = take_table_options(settings)
    epochs, test, hidden = (settings.pop(name) for name in ("epochs", "test", "hidden"))
    path = Path(data)
    if is_stream(path) and data not in datasets.names():
        refuse_misplaced([Parameter(name) for name in options.given()], "tables", "for a stream")
        target = settings.pop("target")
        stream = open_stream_at(path, target)
        settings["test"] = draw_test_rows(path, target, test, settings["seed"])
        settings["settings"] = stream_settings(path, stream, epochs, {} if hidden is None else {"hidden": hidden})
        return stream, settings
    if any(option is not None for option in (epochs, test, hidden)):
        raise InputError(f"--epochs, --test and --hidden are for streams, and {data} is none: leave them out")
    if settings["n_splits"] < 2:
        raise InputError(f"--splits {settings['n_splits']}: a standard error needs at least two splits")
    settings |= options.given_by_kind()
    return data, settings

"""`heteroscope compare`: methods side by side on a data set, as one table."""

import sys
from pathlib import Path
from typing import Any

import click

from heteroscope.cli.fit import Sizes
from heteroscope.cli.one_line_errors import OneLineCommand
from heteroscope.cli.output_files import refuse_unwritable, write_table
from heteroscope.cli.printing import verbosity
from heteroscope.cli.stream_arguments import EPOCHS, is_stream, open_named, stream_settings, test_rows
from heteroscope.core import InputError

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
)
_EXAMPLE = """\b
Examples:
  heteroscope compare yacht --methods ours,gp,ngboost,catboost
  heteroscope compare table.csv --target price --methods ours,beta-nll --splits 5
  heteroscope compare sine --methods ours,mle --splits 10 --out sine-compare
  heteroscope compare yacht sine cubic --methods ours,student-t,faithful-ensemble --out table
  heteroscope compare climsim --target cam_out_NETSW --methods ours,beta-nll,mle-ensemble --epochs 12 --splits 1
"""


class Names(click.ParamType):
    """`a,b,c` as a tuple of names."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Names between commas; whether they name methods is checked where the methods are."""
        return value if isinstance(value, tuple) else tuple(part.strip() for part in value.split(",") if part.strip())


@click.command(cls=OneLineCommand, epilog=_EXAMPLE)
@click.argument("data", metavar="SET_OR_TABLE...", nargs=-1, required=True)
@click.option("--target", help="The column to predict, if it is a table.")
@click.option(
    "--methods",
    type=Names(),
    help=f"Among {','.join(NAMES)}, or NAME-ensemble of one that is trained here; the first is what others are "
    "compared with.  [default: all that are installed]",
)
@click.option(
    "--protocol",
    type=click.Choice(["paper", "literature"]),
    help="Two thirds to train on, or 90 %.  [default: literature; paper for simulated sets]",
)
@click.option("--splits", "n_splits", type=int, default=20, show_default=True, help="Random splits.")
@click.option("--missing", type=click.Choice(["refuse", "impute"]), default="refuse", show_default=True, help="Gaps.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the results.  [default: SET_OR_TABLE-compare; of several sets: comparison]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of splits and methods.")
@EPOCHS
@click.option("--test", type=click.Path(path_type=Path), help="Of a stream: another one, to draw rows to test on.")
@click.option("--hidden", type=Sizes(), help="Of a stream: sizes of the hidden layers.  [default: each method's own]")
@click.option("--jobs", "n_jobs", type=int, default=-1, show_default=True, help="Processes of a fit; -1 is one a core.")
def compare(
    data: tuple[str, ...],
    methods: tuple[str, ...] | None,
    out: Path | None,
    quiet: bool,
    **settings: Any,
) -> None:
    """Fit methods on random splits of SET_OR_TABLE and compare their scores on the test rows.

    SET_OR_TABLE is a named data set, such as yacht or sine, or a .csv or .parquet file. Every finished fit is kept in
    the folder --out: the same command goes on where it was stopped, and more --methods or --splits are added to what is
    there. Of several sets each has a folder of its own in --out, and the tables of all stand together in its
    summary.md. ngboost and catboost need the extra: pip install "heteroscope[compare]". A folder of Parquet or of
    ClimSim's files, a Zarr store or a NetCDF file is a stream; its splits are seeds.
    """
    names = [Path(one).stem for one in data]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise InputError(f"{repeated[0]} is named twice, and its results have one folder: name each set once")
    if len(data) == 1:
        _compare_one(data[0], methods, out or Path(f"{names[0]}-compare"), quiet, settings)
        return
    out = out or Path("comparison")
    texts = []
    for name, one in zip(names, data, strict=True):
        click.echo(f"\n{name}")
        texts.append(f"# {name}\n\n{_compare_one(one, methods, out / name, quiet, settings)}")
        _write_text("\n".join(texts), out / "summary.md")
    click.echo(f"\nThe tables of all sets are in {out / 'summary.md'}")


def _compare_one(data: str, methods: tuple[str, ...] | None, out: Path, quiet: bool, settings: dict[str, Any]) -> str:
    """Compare on one set, print and write its tables; the tables as Markdown."""
    if out.is_file():
        raise InputError(f"{out} is a file: name a folder with --out")
    refuse_unwritable(out / "records.csv")
    from heteroscope import comparison
    from heteroscope.core import progress_bar

    source, settings = _source(data, settings)
    with progress_bar("comparing", bool(verbosity(quiet)), "fits") as progress:
        records = comparison.compare(source, methods, out=out, progress=progress, **settings)
    table = comparison.summary(records)
    write_table(records, out / "records.csv")
    write_table(table, out / "summary.csv")
    text = comparison.markdown(table)
    _write_text(text, out / "summary.md")
    for title, cells in comparison.cell_texts(table).items():
        _print_cells(title, cells)
    if methods is None:
        for name, reason in comparison.left_out(int(records["n_train"].iloc[0])).items():
            click.echo(f"Note: {name} is left out: {reason}.")
    for failure in records[records["error"].notna()].itertuples():
        click.echo(f"Note: {failure.method} failed on split {failure.split}: {failure.error}")
    click.echo(f"\nThe table is in {out / 'summary.md'} and {out / 'summary.csv'}, every fit in {out / 'records.csv'}")
    return text


def _source(data: str, settings: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """What `comparison.compare` is given: a set or table by its name, or an opened stream with its own settings."""
    from heteroscope import datasets

    rest = dict(settings)
    epochs, test, hidden = (rest.pop(name) for name in ("epochs", "test", "hidden"))
    path = Path(data)
    if is_stream(path) and data not in datasets.names():
        target = rest.pop("target")
        stream = open_named(path, target)
        rest["test"] = test_rows(path, target, test, rest["seed"])
        rest["settings"] = stream_settings(path, stream, epochs, {} if hidden is None else {"hidden": hidden})
        return stream, rest
    if any(option is not None for option in (epochs, test, hidden)):
        raise InputError(f"--epochs, --test and --hidden are for streams, and {data} is none: leave them out")
    if rest["n_splits"] < 2:
        raise InputError(f"--splits {rest['n_splits']}: a spread and a standard error need at least two splits")
    return data, rest


def _write_text(text: str, path: Path) -> None:
    from heteroscope.core import atomic_write

    with atomic_write(path) as partial:
        partial.write_text(text, encoding="utf-8")


def _print_cells(title: str, cells: Any) -> None:
    """One row a method; a file or pipe gets plain text that is wide enough."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("method", no_wrap=True)
    for name in cells.columns:
        table.add_column(name, justify="right")
    for method, row in zip(cells.index, cells.to_numpy(), strict=True):
        table.add_row(method, *row)
    if table.row_count:
        Console(width=None if sys.stdout.isatty() else 140, highlight=False).print(table)

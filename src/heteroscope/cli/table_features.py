"""Read a user's table and turn its columns into features and a target, as the options of a command say."""

import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from heteroscope.core import InputError, printable

if TYPE_CHECKING:
    import pandas as pd

    from heteroscope.data import TableEncoder

Command = TypeVar("Command", bound=Callable[..., Any])

STANDARD_INPUT = "-"
_LONGEST_NOTE = 2000  # characters
_READING = [
    click.option("--decimal", help="Decimal sign of a text file: a point or a comma.  [default: found in the file]"),
    click.option("--thousands", help="What separates thousands in a text file's numbers.  [default: nothing]"),
    click.option("--sheet", help="Sheet of an Excel file.  [default: the first]"),
]
_MISSING = click.option(
    "--missing",
    type=click.Choice(["refuse", "impute"]),
    default="refuse",
    show_default=True,
    help="What to do with missing values.",
)
_UNKNOWN = click.option(
    "--unknown",
    type=click.Choice(["refuse", "zeros"]),
    default="refuse",
    show_default=True,
    help="What `predict` does with a category that is not in these rows.",
)
_COLUMNS = [
    click.option(
        "--features",
        multiple=True,
        metavar="NAMES",
        help="The columns to predict from, between commas.  [default: all but the target]",
    ),
    click.option("--drop", multiple=True, metavar="NAMES", help="Columns to leave out, between commas."),
    click.option(
        "--dates",
        type=click.Choice(["refuse", "days", "cycles"]),
        default="refuse",
        show_default=True,
        help="What to do with dates and times: make days of them; cycles adds the time of the year, week and day.",
    ),
    click.option(
        "--max-categories",
        type=click.IntRange(min=1),
        default=20,
        show_default=True,
        help="The most different values of a column of text.",
    ),
]
_READING_NAMES = ("decimal", "thousands", "sheet")
_COLUMN_NAMES = ("features", "drop", "dates", "max_categories", "missing")
_DEFAULTS: dict[str, object] = {"features": (), "drop": (), "dates": "refuse", "max_categories": 20}


class TableOptions(NamedTuple):
    """How a table file is read (`decimal`, `thousands`, `sheet`), and what becomes of its columns."""

    reading: dict[str, Any]
    columns: dict[str, Any]

    def given(self) -> list[str]:
        """Return the names of the options that are not at their defaults."""
        choices = self.reading | self.columns
        defaults = {**dict.fromkeys(_READING_NAMES), "missing": "refuse", "unknown": "refuse", **_DEFAULTS}
        return [name for name, value in choices.items() if value != defaults[name]]

    def given_by_kind(self) -> dict[str, Any]:
        """Return the arguments of `comparison.compare` that these options are."""
        reading, columns = ({k: v for k, v in part.items() if k in self.given()} for part in self)
        missing = {"missing": columns.pop("missing")} if "missing" in columns else {}
        return {"reading": reading, "columns": columns, **missing}

    def identity(self) -> dict[str, Any]:
        """Return what identifies the rows beside the file: `missing`, and every other choice that is not a default."""
        choices = self.reading | self.columns
        return {"missing": self.columns["missing"]} | {name: choices[name] for name in self.given()}


def reading_options(command: Command) -> Command:
    """Add the options that say how a table file is read."""
    return _with(command, _READING)


def table_options(command: Command) -> Command:
    """Add the options that say how a table is read and what becomes of its columns."""
    return _with(command, [*_COLUMNS, _MISSING, *_READING])


def fit_options(command: Command) -> Command:
    """Add the options of `table_options`, and what to do with categories that later tables have."""
    return _with(command, [*_COLUMNS, _MISSING, _UNKNOWN, *_READING])


def _with(command: Command, options: Sequence[Callable[[Any], Any]]) -> Command:
    return reduce(lambda decorated, option: option(decorated), reversed(options), command)


def take_table_options(parameters: dict[str, Any]) -> TableOptions:
    """Remove the options of a table from a command's parameters and return them."""
    names = [*_COLUMN_NAMES, *(["unknown"] if "unknown" in parameters else [])]
    return TableOptions(
        {name: parameters.pop(name) for name in _READING_NAMES}, {name: parameters.pop(name) for name in names}
    )


def read_user_table(table: str | Path, reading: Mapping[str, Any], text: Sequence[str] = ()) -> "pd.DataFrame":
    """Read a table file, or standard input for "-"."""
    from heteroscope.data import read_table

    if str(table) != STANDARD_INPUT:
        return read_table(table, text, **reading)
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError(
            '"-" reads a table from standard input, which is no pipe: use `... | heteroscope`, or name a file'
        )
    return read_table(sys.stdin.buffer, text, **reading)


def fit_encoder(frame: "pd.DataFrame", target: str, columns: Mapping[str, Any]) -> "TableEncoder":
    """Return the encoder of a table's columns for these options."""
    from heteroscope.data import TableEncoder

    return TableEncoder.fit(frame, target, **{**columns, "features": columns["features"] or None})


def print_look(frame: "pd.DataFrame", encoder: "TableEncoder", width: int) -> None:
    """Print on standard error what will matter in a fit to this table."""
    from heteroscope.data import look_at_table

    found = look_at_table(frame, encoder)
    if found:
        click.echo("Before the fit:", err=True)
    for text in found:
        click.echo(textwrap.fill(f"- {text}.", width, subsequent_indent="  ", break_on_hyphens=False), err=True)


def print_notes(encoder: "TableEncoder", width: int) -> None:
    """Print what the encoder does to the columns of a table."""
    for note in encoder.notes:
        click.echo(textwrap.fill(printable(f"Note: {note}.", _LONGEST_NOTE), width, break_on_hyphens=False))


def named_features(encoder: "TableEncoder", frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the encoded features as a frame, so that the model stores their names."""
    import pandas as pd

    return pd.DataFrame(encoder.features(frame), columns=list(encoder.feature_names))

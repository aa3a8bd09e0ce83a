"""Turn a user's table into arrays of features and targets, and store the encoding as plain JSON."""

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from jaxtyping import Float64

from heteroscope.core import InputError, Parameter, TableError, check_positive_integer, refuse_half_characters
from heteroscope.data.column_encoders import (
    CategoricalColumn,
    Column,
    NumericColumn,
    Unknown,
    finite_numbers,
    fit_column,
    is_identifier,
    is_numeric,
)
from heteroscope.data.column_words import ColumnError, listing, refuse_missing
from heteroscope.data.date_columns import CYCLES, DateColumn, Dates, Kind
from heteroscope.data.text_numbers import common_sign

#: What to do with missing values of a feature: refuse them, or fill them with the median or most frequent category.
Missing: TypeAlias = Literal["refuse", "impute"]


@dataclass(frozen=True)
class TableEncoder:
    """An encoding of tables as float64 features and targets, learned from training rows and reused for later tables.

    Numbers and booleans are kept. Text with few different values is one-hot encoded. By choice, dates become numbers.
    Columns that never vary, and identifiers, are left out. Free text, infinite values and (unless filled) missing
    values are refused. All problems of a table are refused at once.

    Attributes
    ----------
    target : str
        The column to predict.
    columns : tuple of NumericColumn, CategoricalColumn or DateColumn
        How each column is encoded, in the order of the training table.
    notes : tuple of str
        What was done to columns: which were left out, one-hot encoded or filled.
    """

    target: str
    columns: tuple[Column, ...]
    notes: tuple[str, ...]

    @classmethod
    def fit(
        cls,
        frame: pd.DataFrame,
        target: str,
        *,
        missing: Missing = "refuse",
        unknown: Unknown = "refuse",
        max_categories: int = 20,
        dates: Dates = "refuse",
        features: Sequence[str] | None = None,
        drop: Sequence[str] = (),
    ) -> "TableEncoder":
        """Learn an encoding from training rows.

        Parameters
        ----------
        frame : pandas.DataFrame
            The training rows, one column per feature and the target.
        target : str
            The column to predict.
        missing : {"refuse", "impute"}, default="refuse"
            Refuse missing values of a feature, or fill them with the column's median or most frequent category.
        unknown : {"refuse", "zeros"}, default="refuse"
            Refuse categories of later tables that these rows lack, or encode them as zeros.
        max_categories : int, default=20
            The most different values that a column of text may have.
        dates : {"refuse", "days", "cycles"}, default="refuse"
            Refuse dates and times, or encode them as days since 1970-01-01; "cycles" adds sine and cosine of the time
            of the year, the week and the day.
        features : sequence of str, default=None
            The columns to predict from; None is all but the target and those of `drop`. A text that is no column is
            split at its commas.
        drop : sequence of str, default=()
            Columns to leave out, named in the same way.

        Returns
        -------
        TableEncoder
        """
        _refuse_choice("missing", missing, get_args(Missing))
        _refuse_choice("unknown", unknown, get_args(Unknown))
        _refuse_choice("dates", dates, get_args(Dates))
        check_positive_integer("max_categories", max_categories)
        _refuse_bad_names(frame)
        if len(frame) == 0:
            raise InputError("the table has no rows: add some to fit on")
        _require(frame, [target], "target")
        problems: list[InputError] = []
        with _collecting(problems):
            _target_values(frame, target, may_lack=True)
        columns: list[Column] = []
        notes: list[str] = []
        for name in _chosen(frame, target, features, drop):
            series = frame[name]
            left_out = _reason_to_leave_out(series, missing)
            if left_out is not None:
                notes.append(f"column {name!r} {left_out} and is left out")
                continue
            with _collecting(problems):
                if missing == "refuse":
                    refuse_missing(series)
            with _collecting(problems, drop=name):
                column = fit_column(series, missing == "impute", unknown, max_categories, dates)
                columns.append(column)
                notes.extend(_notes_of(column, series))
        _raise_together(problems)
        if not columns:
            raise InputError(
                f"no column but the target {target!r} varies over the {len(frame)} rows: add more rows or columns"
            )
        return cls(target, tuple(columns), tuple(notes))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features; a one-hot feature is called `column=category`."""
        return tuple(name for column in self.columns for name in column.feature_names)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns of categories; `read_table(path, text=text_columns)` reads them as text from later files."""
        return tuple(column.name for column in self.columns if isinstance(column, CategoricalColumn))

    def features(self, frame: pd.DataFrame) -> Float64[np.ndarray, "row feature"]:
        """Return the features of a table; it may have further columns and need not have the target."""
        _refuse_bad_names(frame)
        _require(frame, [column.name for column in self.columns], "feature")
        problems: list[InputError] = []
        parts = []
        for column in self.columns:
            with _collecting(problems):
                parts.append(column.encode(frame[column.name]))
        _raise_together(problems)
        return np.hstack(parts)

    def targets(self, frame: pd.DataFrame) -> Float64[np.ndarray, " row"]:
        """Return the target column as finite numbers; a missing target is refused, never filled."""
        return _target_values(frame, self.target)

    def known_targets(
        self, frame: pd.DataFrame
    ) -> tuple[Float64[np.ndarray, " row"], Float64[np.ndarray, " row"] | None]:
        """Return the targets, and None or weights that are 0 for the rows without a target and 1 for all others.

        Rows keep their numbers in a fit with these weights; what stands in for an absent target has no effect.
        """
        values = _target_values(frame, self.target, may_lack=True)
        known = ~np.isnan(values)
        if known.all():
            return values, None
        return np.where(known, values, values[known][0]), known.astype(np.float64)

    def to_dict(self) -> dict[str, Any]:
        """Return the encoder as plain JSON values."""
        return {
            "target": self.target,
            "columns": [{"kind": type(column).__name__, **asdict(column)} for column in self.columns],
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> "TableEncoder":
        """Return the encoder that `to_dict` described; `state` may have been through JSON text."""
        try:
            columns = tuple(_stored_column(**column) for column in state["columns"])
            if not isinstance(state["target"], str):
                raise TypeError("the target is no text")
            return cls(state["target"], columns, tuple(state["notes"]))
        except (KeyError, TypeError) as error:
            raise InputError(f"this is no stored table encoding ({error!r}): save the model again") from error


def _stored_column(kind: str, **fields: Any) -> Column:
    """Return the column of this class with these fields; raise a `KeyError` or `TypeError` for others."""
    column: Column
    is_sound = True
    if kind == NumericColumn.__name__:
        column = NumericColumn(**fields)
        is_sound = isinstance(column.sign, str)
    elif kind == CategoricalColumn.__name__:
        column = CategoricalColumn(**fields | {"categories": tuple(fields["categories"])})
        is_sound = all(isinstance(text, str) for text in column.categories) and column.unknown in get_args(Unknown)
    elif kind == DateColumn.__name__:
        column = DateColumn(**fields | {"cycles": tuple(fields["cycles"])})
        known = column.holds in get_args(Kind) and column.order in (None, "day first", "month first")
        is_sound = known and set(column.cycles) <= set(CYCLES)
    else:
        raise KeyError(kind)
    if isinstance(column, CategoricalColumn):
        has_fill = isinstance(column.fill, str)
    else:
        has_fill = isinstance(column.fill, float | int) and bool(np.isfinite(column.fill))
    if not is_sound or not (column.fill is None or has_fill) or not isinstance(column.name, str):
        raise TypeError(f"a column of the kind {kind} has other fields")
    return column


def rows_with_target(frame: pd.DataFrame, target: str) -> pd.DataFrame:
    """Return the rows of a table that have a target.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str
        The column to predict.

    Returns
    -------
    pandas.DataFrame
    """
    return frame[frame[target].notna()]


@contextmanager
def _collecting(problems: list[InputError], drop: str | None = None) -> Iterator[None]:
    """Add an `InputError` to the problems instead of raising it; to leave out the column `drop` settles it."""
    try:
        yield
    except InputError as error:
        if drop is not None and isinstance(error, ColumnError) and error.cure is None:
            error.cure = Parameter("drop", (drop,))
        problems.append(error)


def _raise_together(problems: list[InputError]) -> None:
    """Raise the only problem, or all of them with the choices that settle them; do nothing if there are none."""
    if len(problems) > 1:
        settled = all(isinstance(problem, ColumnError) and problem.cure is not None for problem in problems)
        raise TableError("the table", problems, _cures(problems), settled)
    if problems:
        raise problems[0]


def _cures(problems: Sequence[InputError]) -> list[Parameter]:
    """Return the choices that settle problems, each once, and the columns to drop together."""
    cures = [problem.cure for problem in problems if isinstance(problem, ColumnError) and problem.cure is not None]
    dropped = tuple(name for cure in cures if isinstance(cure.value, tuple) for name in cure.value)
    others = dict.fromkeys(cure for cure in cures if not isinstance(cure.value, tuple))
    return [*others, *([Parameter("drop", dropped)] if dropped else [])]


def _require(frame: pd.DataFrame, names: Sequence[str], role: Literal["target", "feature"]) -> None:
    """Raise an `InputError` that names all columns which the table lacks, each with the most similar one."""
    absent = [f"{name!r}{_suggestion(name, frame)}" for name in names if name not in frame]
    if not absent:
        return
    if role == "target":
        raise InputError(f"the table has no column {absent[0]}: choose the target among {listing(list(frame.columns))}")
    shown = ", ".join(absent[:20]) + (f" and {len(absent) - 20} more" if len(absent) > 20 else "")
    one = len(absent) == 1
    raise InputError(
        f"the table lacks {'column' if one else 'columns'} {shown}, which the model was fitted on: add "
        f"{'it' if one else 'them'}"
    )


def _chosen(frame: pd.DataFrame, target: str, features: Sequence[str] | None, drop: Sequence[str]) -> list[str]:
    """Return the columns to predict from, in the order of the table."""
    wanted = None if features is None else _named_columns(frame, target, features, "features")
    left_out = _named_columns(frame, target, drop, "drop")
    kept = [name for name in frame.columns if name != target and name not in left_out]
    chosen = kept if wanted is None else [name for name in kept if name in wanted]
    if not chosen and len(frame.columns) > 1:
        raise InputError(Parameter("features"), " and ", Parameter("drop"), " leave no column: keep at least one")
    return chosen


def _named_columns(frame: pd.DataFrame, target: str, texts: Sequence[str], option: str) -> list[str]:
    """Return the columns that texts name; a text that is no column is split at its commas."""
    names = []
    for text in [texts] if isinstance(texts, str) else texts:
        names += [text] if text in frame else [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        if name not in frame:
            raise InputError(
                Parameter(option),
                f" names {name!r}, which is no column{_suggestion(name, frame)}: choose among "
                f"{listing(list(frame.columns))}",
            )
        if name == target:
            raise InputError(Parameter(option), f" names the target {target!r}: leave it out there")
    return names


def _reason_to_leave_out(series: pd.Series, missing: Missing) -> str | None:
    """Return why nothing can be learned from a column, or None; gaps that are not to be filled are refused later."""
    if series.isna().all():
        return "is empty"
    if _is_constant(series):
        return "never varies" if missing == "impute" or series.notna().all() else None
    if is_identifier(series):
        return "is an identifier, another one in each row,"
    return None


def _notes_of(column: Column, series: pd.Series) -> Iterator[str]:
    """Yield what is done to a column beyond reading its numbers."""
    if isinstance(column, CategoricalColumn):
        yield f"column {column.name!r} is one-hot encoded: {listing(column.categories)}"
    elif isinstance(column, DateColumn):
        yield column.note
    elif column.sign:
        yield f"column {column.name!r} is read as numbers without the sign {column.sign}"
    if series.isna().any():
        yield f"column {column.name!r} has {series.isna().sum()} missing values, filled with {column.fill!r}"


def _target_values(frame: pd.DataFrame, target: str, may_lack: bool = False) -> Float64[np.ndarray, " row"]:
    """Return the target column as numbers; raise an `InputError` if it is absent, has gaps or holds no numbers.

    If it `may_lack` some values, these are NaN.
    """
    _require(frame, [target], "target")
    series = frame[target]
    if not may_lack or series.isna().all():
        refuse_missing(series, instead="drop those rows, since a model cannot learn from a target that was filled in")
    values = finite_numbers(series, common_sign(series))
    if not is_numeric(series):
        raise InputError(f"the target {target!r} holds {series.dtype}, not numbers: regression needs a numeric target")
    return values


def _is_constant(series: pd.Series) -> bool:
    """Return whether a column has at most one different value; values that cannot be compared count as different."""
    try:
        return series.nunique() <= 1
    except TypeError:
        return False


def _refuse_bad_names(frame: pd.DataFrame) -> None:
    """Raise an `InputError` for column names that are not text or not unique."""
    if not all(isinstance(name, str) for name in frame.columns):
        raise InputError("the table has column names that are not text: rename them with frame.rename(columns=str)")
    refuse_half_characters(frame.columns)
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise InputError(f"the table has more than one column called {repeated[0]!r}: give each its own name")


def _refuse_choice(option: str, chosen: str, choices: tuple[str, ...]) -> None:
    """Raise an `InputError` if an option has a value that it does not know."""
    if chosen not in choices:
        raise InputError(Parameter(option, chosen), f" is not a choice: use one of {listing(choices)}")


def _suggestion(name: str, frame: pd.DataFrame) -> str:
    """Return " (did you mean ...?)" with the column of the most similar name, or "" if none is similar."""
    by_lower_case = {column.lower(): column for column in frame.columns}
    close = difflib.get_close_matches(name.lower(), by_lower_case, n=1)
    return f" (did you mean {by_lower_case[close[0]]!r}?)" if close else ""

"""Turn a user's table into arrays of features and targets, and store the encoding as plain JSON."""

import difflib
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from jaxtyping import Float64

from heteroscope.core import InputError, Parameter, refuse_half_characters
from heteroscope.data.column_encoders import (
    CategoricalColumn,
    NumericColumn,
    Unknown,
    finite_numbers,
    fit_column,
    is_numeric,
    listing,
    refuse_missing,
)

#: What to do with missing values of a feature: refuse them, or fill them with the median or most frequent category.
Missing: TypeAlias = Literal["refuse", "impute"]


@dataclass(frozen=True)
class TableEncoder:
    """An encoding of tables as float64 features and targets, learned from training rows and reused for later tables.

    Numbers and booleans are kept. Text with few different values is one-hot encoded. Columns that never vary are left
    out. Dates, free text, infinite values and (unless filled) missing values are refused.

    Attributes
    ----------
    target : str
        The column to predict.
    columns : tuple of NumericColumn or CategoricalColumn
        How each column is encoded, in the order of the training table.
    notes : tuple of str
        What was done to columns: which were left out, one-hot encoded or filled.
    """

    target: str
    columns: tuple[NumericColumn | CategoricalColumn, ...]
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

        Returns
        -------
        TableEncoder
        """
        _refuse_choice("missing", missing, get_args(Missing))
        _refuse_choice("unknown", unknown, get_args(Unknown))
        _refuse_bad_names(frame)
        if len(frame) == 0:
            raise InputError("the table has no rows: add some to fit on")
        _target_values(frame, target)
        columns, notes = [], []
        for name in frame.columns.drop(target):
            series = frame[name]
            if missing == "refuse":
                refuse_missing(series)
            if _is_constant(series):
                notes.append(f"column {name!r} never varies and is left out")
                continue
            column = fit_column(series, missing == "impute", unknown, max_categories)
            columns.append(column)
            if isinstance(column, CategoricalColumn):
                notes.append(f"column {name!r} is one-hot encoded: {listing(column.categories)}")
            if series.isna().any():
                notes.append(f"column {name!r} has {series.isna().sum()} missing values, filled with {column.fill!r}")
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
        for column in self.columns:
            if column.name not in frame:
                hint = _suggestion(column.name, frame)
                raise InputError(f"the table lacks column {column.name!r}, which the model was fitted on{hint}: add it")
        return np.hstack([column.encode(frame[column.name]) for column in self.columns])

    def targets(self, frame: pd.DataFrame) -> Float64[np.ndarray, " row"]:
        """Return the target column as finite numbers; a missing target is refused, never filled."""
        return _target_values(frame, self.target)

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


def _stored_column(kind: str, **fields: Any) -> NumericColumn | CategoricalColumn:
    """Return the column of this class with these fields; raise a `KeyError` or `TypeError` for others."""
    column: NumericColumn | CategoricalColumn
    if kind == NumericColumn.__name__:
        column = NumericColumn(**fields)
        is_sound = column.fill is None or (isinstance(column.fill, float | int) and np.isfinite(column.fill))
    elif kind == CategoricalColumn.__name__:
        column = CategoricalColumn(**fields | {"categories": tuple(fields["categories"])})
        texts = (*column.categories, *([] if column.fill is None else [column.fill]))
        is_sound = all(isinstance(text, str) for text in texts) and column.unknown in get_args(Unknown)
    else:
        raise KeyError(kind)
    if not is_sound or not isinstance(column.name, str):
        raise TypeError(f"a column of the kind {kind} has other fields")
    return column


def _target_values(frame: pd.DataFrame, target: str) -> Float64[np.ndarray, " row"]:
    """Return the target column as numbers; raise an `InputError` if it is absent, has gaps or holds no numbers."""
    if target not in frame:
        raise InputError(
            f"the table has no column {target!r}{_suggestion(target, frame)}: choose the target among "
            f"{listing(list(frame.columns))}"
        )
    series = frame[target]
    refuse_missing(series, cure=("drop those rows, since a model cannot learn from a target that was filled in",))
    values = finite_numbers(series)
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

"""A user's table as arrays: read a file, learn how to encode its columns, keep what was learned as plain JSON."""

import difflib
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from jaxtyping import Float64

from heteroscope.core import InputError, Parameter
from heteroscope.data.columns import (
    CategoricalColumn,
    NumericColumn,
    Unknown,
    finite_numbers,
    fit_column,
    is_numeric,
    listing,
    refuse_missing,
)
from heteroscope.data.table_files import read_table

__all__ = ["TableEncoder", "read_table"]

Missing = Literal["refuse", "impute"]


@dataclass(frozen=True)
class TableEncoder:
    """table -> float64 features and target, the same way for training rows and for every later table.

    Numbers and booleans pass, text with few different values is one-hot encoded, columns that never vary are left
    out; `notes` says what was done. Dates, free text, infinite and (unless imputed) missing values are refused.
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

        `missing="impute"` fills gaps with a column's median or most frequent category; `unknown="zeros"` lets later
        tables hold categories that these rows do not.
        """
        _refuse_choice("missing", missing, get_args(Missing))
        _refuse_choice("unknown", unknown, get_args(Unknown))
        _refuse_bad_names(frame)
        if len(frame) == 0:
            raise InputError("the table has no rows: bring some to fit on")
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
                f"no column but the target {target!r} varies over the {len(frame)} rows: bring more rows or columns"
            )
        return cls(target, tuple(columns), tuple(notes))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, `column=category` for a one-hot feature."""
        return tuple(name for column in self.columns for name in column.feature_names)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Columns of categories: a later CSV file is read with `read_table(path, text=...)`, so that they stay text."""
        return tuple(column.name for column in self.columns if isinstance(column, CategoricalColumn))

    def features(self, frame: pd.DataFrame) -> Float64[np.ndarray, "row feature"]:
        """The features of any table that has the columns; further columns, and the target's absence, do not matter."""
        _refuse_bad_names(frame)
        for column in self.columns:
            if column.name not in frame:
                hint = _suggestion(column.name, frame)
                raise InputError(f"the table lacks column {column.name!r}, which the model was fitted on{hint}: add it")
        return np.hstack([column.encode(frame[column.name]) for column in self.columns])

    def targets(self, frame: pd.DataFrame) -> Float64[np.ndarray, " row"]:
        """The target column, finite everywhere; a missing target is never filled."""
        return _target_values(frame, self.target)

    def to_dict(self) -> dict[str, Any]:
        """The whole encoder as plain JSON values."""
        return {
            "target": self.target,
            "columns": [{"kind": type(column).__name__, **asdict(column)} for column in self.columns],
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> "TableEncoder":
        """The encoder that `to_dict` described, before or after a trip through JSON text."""
        try:
            columns = tuple(_stored_column(**column) for column in state["columns"])
            return cls(state["target"], columns, tuple(state["notes"]))
        except (KeyError, TypeError) as error:
            raise InputError(f"this is no stored table encoding ({error!r}): save the model again") from error


def _stored_column(kind: str, **fields: Any) -> NumericColumn | CategoricalColumn:
    if kind == NumericColumn.__name__:
        return NumericColumn(**fields)
    if kind == CategoricalColumn.__name__:
        return CategoricalColumn(**fields | {"categories": tuple(fields["categories"])})
    raise KeyError(kind)


def _target_values(frame: pd.DataFrame, target: str) -> Float64[np.ndarray, " row"]:
    if target not in frame:
        raise InputError(
            f"the table has no column {target!r}{_suggestion(target, frame)}: choose the target among "
            f"{listing(list(frame.columns))}"
        )
    series = frame[target]
    refuse_missing(series, cure=("drop those rows, since a target that was filled in teaches nothing",))
    values = finite_numbers(series)
    if not is_numeric(series):
        raise InputError(
            f"the target {target!r} holds no numbers but {series.dtype}: regression needs a numeric target"
        )
    return values


def _is_constant(series: pd.Series) -> bool:
    """At most one different value; a column whose values cannot be compared is not constant."""
    try:
        return series.nunique() <= 1
    except TypeError:
        return False


def _refuse_bad_names(frame: pd.DataFrame) -> None:
    if not all(isinstance(name, str) for name in frame.columns):
        raise InputError("the table has column names that are not text: rename them with frame.rename(columns=str)")
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise InputError(f"the table has more than one column called {repeated[0]!r}: give each its own name")


def _refuse_choice(option: str, chosen: str, choices: tuple[str, ...]) -> None:
    if chosen not in choices:
        raise InputError(Parameter(option, chosen), f" is not a choice: use one of {listing(choices)}")


def _suggestion(name: str, frame: pd.DataFrame) -> str:
    by_lower_case = {column.lower(): column for column in frame.columns}
    close = difflib.get_close_matches(name.lower(), by_lower_case, n=1)
    return f" (did you mean {by_lower_case[close[0]]!r}?)" if close else ""

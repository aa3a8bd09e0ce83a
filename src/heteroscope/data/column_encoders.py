"""Encode one column of a user's table: numbers as they are, categories as one-hot features, all else refused.

Dates, free text, infinite values and (unless they are to be filled) missing values raise an `InputError`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float64
from pandas.api.types import infer_dtype

from heteroscope.core import InputError, Parameter

#: What to do with a category that was not in the training rows: refuse it, or encode it as a row of zeros.
Unknown: TypeAlias = Literal["refuse", "zeros"]

# Kinds of columns, in the words of pandas' `infer_dtype`.
_NUMBERS = {"integer", "floating", "mixed-integer-float", "decimal"}
_TIMES = {"datetime64", "datetime", "date", "timedelta64", "timedelta", "time", "period"}
# 2024-05-01, 2024/5, 1.5.2024 or 01/05/24, perhaps with a time.
_DATE = re.compile(r"\s*(\d{4}[-/]\d{1,2}([-/]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ].*)?\s*")


@dataclass(frozen=True)
class NumericColumn:
    """A column of numbers: value -> value.

    A missing value becomes `fill`, the training median, or is refused if `fill` is None.
    """

    name: str
    fill: float | None

    @classmethod
    def fit(cls, series: pd.Series, impute: bool) -> "NumericColumn":
        """Learn the column's median if missing values are to be filled with it (`impute`)."""
        values = finite_numbers(series)
        return cls(str(series.name), float(np.nanmedian(values)) if impute else None)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The name of the one feature: that of the column."""
        return (self.name,)

    def encode(self, series: pd.Series) -> Float64[np.ndarray, "row 1"]:
        """Return the column as one feature of finite numbers."""
        values = finite_numbers(series)
        if self.fill is None:
            refuse_missing(series)
        else:
            values = np.where(np.isnan(values), self.fill, values)
        return values[:, np.newaxis]


@dataclass(frozen=True)
class CategoricalColumn:
    """A column of categories: value -> one feature per category, 1 for the value's own and 0 for the others.

    A missing value becomes `fill`, the most frequent category, or is refused if `fill` is None. A category that was not
    in the training rows is refused, or becomes a row of zeros with `unknown="zeros"`.
    """

    name: str
    fill: str | None
    categories: tuple[str, ...]
    unknown: Unknown

    @classmethod
    def fit(cls, series: pd.Series, impute: bool, unknown: Unknown) -> "CategoricalColumn":
        """Learn the sorted categories and, if `impute`, the most frequent one (at a tie, the first of them)."""
        counts = pd.Series(_labels(series.dropna())).value_counts().sort_index()
        return cls(str(series.name), str(counts.idxmax()) if impute else None, tuple(counts.index), unknown)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features, one per category: column=category."""
        return tuple(f"{self.name}={category}" for category in self.categories)

    def encode(self, series: pd.Series) -> Float64[np.ndarray, "row category"]:
        """Return the one-hot features."""
        if self.fill is None:
            refuse_missing(series)
        missing = series.isna().to_numpy(dtype=bool)
        labels = np.full(len(series), self.fill, dtype=object)
        labels[~missing] = _labels(series[~missing])
        position = _positions(labels, self.categories)
        strange = position < 0
        if self.unknown == "refuse" and strange.any():
            raise InputError(
                f"column {self.name!r} has {_short(labels[strange][0])} in {_first_row(strange)}, not seen in training "
                f"(there: {listing(self.categories)}): remove such rows, or fit with ",
                Parameter("unknown", "zeros"),
            )
        return (position[:, np.newaxis] == np.arange(len(self.categories))).astype(np.float64)


def fit_column(
    series: pd.Series, impute: bool, unknown: Unknown, max_categories: int
) -> NumericColumn | CategoricalColumn:
    """Return the encoding for a column's content; raise an `InputError` that names the column if there is none."""
    kind = infer_dtype(series, skipna=True)
    if kind in _NUMBERS | {"boolean"}:
        return NumericColumn.fit(series, impute)
    if kind in {"string", "categorical"}:
        _refuse_free_text(series, max_categories)
        return CategoricalColumn.fit(series, impute, unknown)
    _refuse_dates(series)
    raise InputError(f"column {series.name!r} holds values of the kind {kind!r}: convert them to numbers, or drop it")


def is_numeric(series: pd.Series) -> bool:
    """Return whether a column that `finite_numbers` accepts holds numbers, or text such as 05, but not booleans."""
    return infer_dtype(series, skipna=True) in _NUMBERS | {"string"}


def finite_numbers(series: pd.Series) -> Float64[np.ndarray, " row"]:
    """Return a column as float64, NaN where a value is missing; refuse all values that are not finite numbers."""
    _refuse_dates(series)
    parsed = pd.to_numeric(series, errors="coerce")
    strange = (parsed.isna() & series.notna()).to_numpy(dtype=bool)
    if strange.any():
        raise InputError(
            f"column {series.name!r} must hold numbers and has {_short(series[strange].iloc[0])} in "
            f"{_first_row(strange)}: correct it, or leave the cell empty"
        )
    values = parsed.to_numpy(dtype=np.float64, na_value=np.nan)
    infinite = np.isinf(values)
    if infinite.any():
        raise InputError(
            f"column {series.name!r} has {infinite.sum()} infinite values, the first in {_first_row(infinite)}: "
            "correct them, or leave the cells empty"
        )
    return values


_FILL_OR_DROP = ("fill them, drop those rows, or fit with ", Parameter("missing", "impute"))


def refuse_missing(series: pd.Series, cure: tuple[str | Parameter, ...] = _FILL_OR_DROP) -> None:
    """Raise an `InputError` that counts the missing values of a column, if there are any, and ends with `cure`."""
    missing = series.isna().to_numpy(dtype=bool)
    if missing.any():
        raise InputError(
            f"column {series.name!r} has {missing.sum()} missing values, the first in {_first_row(missing)}: ", *cure
        )


def listing(names: Sequence[str], at_most: int = 20) -> str:
    """Return the names as text, such as "'a', 'b', 'c' and 40 more"."""
    shown = ", ".join(_short(name) for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most} more"


def _refuse_free_text(series: pd.Series, max_categories: int) -> None:
    """Raise an `InputError` unless texts can be categories: at most `max_categories` different ones, some repeated.

    A column that pandas declares categorical need not have repeated values.
    """
    texts = series.dropna()
    different = pd.Series(_labels(texts.drop_duplicates()))
    if different.map(lambda text: _DATE.fullmatch(text) is not None).all():
        raise _dates_refused(series)
    declared = isinstance(series.dtype, pd.CategoricalDtype)
    if len(different) <= max_categories and (declared or len(different) < len(texts)):
        return
    if pd.to_numeric(different, errors="coerce").notna().mean() > 0.5:
        finite_numbers(series)  # mostly numbers: its error names the first value that is none
        raise InputError(
            f"column {series.name!r} has {len(different)} different codes in {len(texts)} rows, the first is "
            f"{_short(different[0])} (categories repeat and are at most max_categories={max_categories}): drop it, "
            "group them, or, if they are numbers, write them as such and without leading zeros"
        )
    raise InputError(
        f"column {series.name!r} is free text, {len(different)} different values in {len(texts)} rows (categories "
        f"repeat and are at most max_categories={max_categories}): drop it, group its values, or use numbers"
    )


def _refuse_dates(series: pd.Series) -> None:
    """Raise an `InputError` if the column holds dates or times."""
    if infer_dtype(series, skipna=True) in _TIMES:
        raise _dates_refused(series)


def _dates_refused(series: pd.Series) -> InputError:
    """Return the error for a column of dates or times."""
    return InputError(
        f"column {series.name!r} holds dates or times: replace it by numbers (the month, the hour, the days since a "
        "start), or drop it"
    )


def _labels(series: pd.Series) -> np.ndarray:
    """Return the category of each value as text."""
    codes, different = pd.factorize(series)
    return np.array([_label(value) for value in different], dtype=object)[codes]


def _label(value: object) -> str:
    """Return a category's name, the same for 1 and 1.0: pandas turns integers into floats if one is missing."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _positions(labels: np.ndarray, categories: Sequence[str]) -> np.ndarray:
    """Return each label's position among the categories, or -1 if it is none of them.

    The text 10.0 also finds the category 10: integers become floats in a column with missing values.
    """
    known = pd.Index(categories)
    position = known.get_indexer(pd.Index(labels))
    strange = position < 0
    if strange.any():
        whole = pd.Series(labels[strange]).str.replace(r"^([-+]?\d+)\.0+$", r"\1", regex=True)
        position[strange] = known.get_indexer(pd.Index(whole))
    return position


def _short(value: object) -> str:
    """Return the value's repr in at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:56]}...{text[-1]}"


def _first_row(mask: Bool[np.ndarray, " row"]) -> str:
    """Return "row N" for the first row in the mask, counted from one."""
    return f"row {int(mask.argmax()) + 1}"

"""Encode one column of a user's table: numbers as they are, categories as one-hot features, all else refused.

Free text, infinite values and (unless they are to be filled) missing values raise an `InputError`, and so do dates
unless they are to become numbers (`date_columns.py`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from jaxtyping import Float64
from pandas.api.types import infer_dtype

from heteroscope.core import InputError, Parameter
from heteroscope.data.column_words import ColumnError, first_row, listing, refuse_missing, shorten
from heteroscope.data.date_columns import DateColumn, Dates, time_kind
from heteroscope.data.text_numbers import common_sign, without_sign

#: What to do with a category that was not in the training rows: refuse it, or encode it as a row of zeros.
Unknown: TypeAlias = Literal["refuse", "zeros"]

# Kinds of columns, in the words of pandas' `infer_dtype`.
_NUMBERS = {"integer", "floating", "mixed-integer-float", "decimal"}
# 3,5 and 1.200,50; and 1,200 and 1,200.50, which may be either.
_DECIMAL_COMMA = re.compile(r" *[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+ *")
_THOUSANDS = re.compile(r" *[-+]?\d{1,3}(,\d{3})+(\.\d*)? *")
_IDENTIFIER = re.compile(r"(?=\S*\d)[\w./:#-]+")  # one word with a digit in it


@dataclass(frozen=True)
class NumericColumn:
    """A column of numbers: value -> value.

    A missing value becomes `fill`, the training median, or is refused if `fill` is None. Texts may have the `sign`,
    such as $, % or kg, and commas between thousands.
    """

    name: str
    fill: float | None
    sign: str = ""

    @classmethod
    def fit(cls, series: pd.Series, impute: bool) -> "NumericColumn":
        """Learn the column's median if missing values are to be filled with it (`impute`)."""
        sign = common_sign(series)
        values = finite_numbers(series, sign)
        return cls(str(series.name), float(np.nanmedian(values)) if impute else None, sign)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The name of the one feature: that of the column."""
        return (self.name,)

    def encode(self, series: pd.Series) -> Float64[np.ndarray, "row 1"]:
        """Return the column as one feature of finite numbers."""
        values = finite_numbers(series, self.sign)
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
                f"column {self.name!r} has {shorten(labels[strange][0])} in {first_row(strange)}, not seen in training "
                f"(there: {listing(self.categories)}): remove such rows, or fit with ",
                Parameter("unknown", "zeros"),
            )
        return (position[:, np.newaxis] == np.arange(len(self.categories))).astype(np.float64)


#: How a column is encoded.
Column: TypeAlias = NumericColumn | CategoricalColumn | DateColumn


def fit_column(series: pd.Series, impute: bool, unknown: Unknown, max_categories: int, dates: Dates) -> Column:
    """Return the encoding for a column's content; raise an `InputError` that names the column if there is none."""
    kind = infer_dtype(series, skipna=True)
    if kind in _NUMBERS | {"boolean"}:
        return NumericColumn.fit(series, impute)
    if time_kind(series) is not None:
        if dates == "refuse":
            raise _dates_refused(series)
        return DateColumn.fit(series, impute, with_cycles=dates == "cycles")
    if kind in {"string", "categorical"}:
        if common_sign(series):
            return NumericColumn.fit(series, impute)
        _refuse_commas(series)
        _refuse_free_text(series, max_categories)
        return CategoricalColumn.fit(series, impute, unknown)
    raise ColumnError(
        f"column {series.name!r} holds values of the kind {kind!r}: convert them to numbers, or leave it out with ",
        _dropped(series),
        cure=_dropped(series),
    )


def is_identifier(series: pd.Series) -> bool:
    """Return whether a column of text holds one word with a digit in each row, and another one in each row."""
    texts = series.dropna()
    if infer_dtype(texts, skipna=True) != "string" or len(texts) < 2 or texts.duplicated().any():
        return False
    plain = pd.to_numeric(texts, errors="coerce").notna() & ~texts.str.match(r" *0\d")
    return bool(plain.mean() <= 0.5 and texts.map(lambda text: _IDENTIFIER.fullmatch(text) is not None).all()) and (
        time_kind(texts) is None and not common_sign(texts) and _with_commas(texts) is None
    )


def is_numeric(series: pd.Series) -> bool:
    """Return whether a column that `finite_numbers` accepts holds numbers, or text such as 05, but not booleans."""
    return infer_dtype(series, skipna=True) in _NUMBERS | {"string"}


def finite_numbers(series: pd.Series, sign: str = "") -> Float64[np.ndarray, " row"]:
    """Return a column as float64, NaN where a value is missing; refuse all values that are not finite numbers.

    Texts may have this sign beside the number, and then commas between thousands.
    """
    if time_kind(series) is not None:
        raise ColumnError(f"column {series.name!r} must hold numbers and holds dates or times: write numbers instead")
    parsed = pd.to_numeric(series.map(lambda value: without_sign(value, sign)) if sign else series, errors="coerce")
    strange = (parsed.isna() & series.notna()).to_numpy(dtype=bool)
    if strange.any():
        _refuse_commas(series)
        raise ColumnError(
            f"column {series.name!r} must hold numbers and has {shorten(series[strange].iloc[0])} in "
            f"{first_row(strange)}: correct it, or leave the cell empty"
        )
    values = parsed.to_numpy(dtype=np.float64, na_value=np.nan)
    infinite = np.isinf(values)
    if infinite.any():
        raise ColumnError(
            f"column {series.name!r} has {infinite.sum()} infinite values, the first in {first_row(infinite)}: "
            "correct them, or leave the cells empty"
        )
    return values


def _with_commas(series: pd.Series) -> "pd.Series | None":
    """Return which texts have a comma, if the column holds nothing but numbers of which some have commas; else None."""
    texts = series.astype("string")
    comma = texts.str.fullmatch(_DECIMAL_COMMA).fillna(False) | texts.str.fullmatch(_THOUSANDS).fillna(False)
    number = pd.to_numeric(texts, errors="coerce").notna()
    return comma if comma.any() and (comma | number | texts.isna()).all() else None


def _refuse_commas(series: pd.Series) -> None:
    """Raise an `InputError` that names decimal commas, or commas between thousands, in a column of numbers."""
    comma = _with_commas(series)
    if comma is None:
        return
    texts = series[comma].astype(str)
    where = f"({shorten(texts.iloc[0])} in {first_row(comma.to_numpy(dtype=bool))})"
    decimal, thousands = Parameter("decimal", ","), Parameter("thousands", ",")
    if not texts.map(lambda text: _THOUSANDS.fullmatch(text) is not None).all():
        raise ColumnError(
            f"column {series.name!r} has decimal commas {where}: write decimal points, or read the file with ",
            decimal,
            cure=decimal,
        )
    raise ColumnError(
        f"column {series.name!r} has commas in its numbers {where}: write thousands without commas and decimals with "
        "points, or read the file with ",
        thousands,
        " or ",
        decimal,
        ", whichever is meant",
        cure=thousands,
    )


def _refuse_free_text(series: pd.Series, max_categories: int) -> None:
    """Raise an `InputError` unless texts can be categories: at most `max_categories` different ones, some repeated.

    A column that pandas declares categorical need not have repeated values.
    """
    texts = series.dropna()
    different = pd.Series(_labels(texts.drop_duplicates()))
    declared = isinstance(series.dtype, pd.CategoricalDtype)
    if len(different) <= max_categories and (declared or len(different) < len(texts)):
        return
    found, most = f"{len(different)} different", Parameter("max_categories", max_categories)
    if pd.to_numeric(different, errors="coerce").notna().mean() > 0.5:
        finite_numbers(series)  # mostly numbers: its error names the first value that is none
        raise ColumnError(
            f"column {series.name!r} has {found} codes in {len(texts)} rows, the first is {shorten(different[0])} "
            "(categories repeat and are at most ",
            most,
            "): group them, write them as numbers without leading zeros if they are such, or leave it out with ",
            _dropped(series),
            cure=_dropped(series),
        )
    raise ColumnError(
        f"column {series.name!r} is free text, {found} values in {len(texts)} rows (categories repeat and are at most ",
        most,
        "): group its values, use numbers, or leave it out with ",
        _dropped(series),
        cure=_dropped(series),
    )


def _dates_refused(series: pd.Series) -> ColumnError:
    """Return the error for a column of dates or times among the features."""
    days = Parameter("dates", "days")
    return ColumnError(
        f"column {series.name!r} holds dates or times: replace it by numbers (the month, the hour), leave it out, or "
        "make days of it with ",
        days,
        cure=days,
    )


def _dropped(series: pd.Series) -> Parameter:
    return Parameter("drop", (str(series.name),))


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

"""One column of a user's table as numbers: what is accepted, how it is encoded, and why the rest is refused."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float64
from pandas.api.types import infer_dtype

from heteroscope.core import InputError, Parameter

Unknown = Literal["refuse", "zeros"]

_NUMBERS = {"integer", "floating", "mixed-integer-float", "decimal"}
_TIMES = {"datetime64", "datetime", "date", "timedelta64", "timedelta", "time", "period"}
_DATE = re.compile(r"\s*(\d{4}[-/]\d{1,2}([-/]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ].*)?\s*")


@dataclass(frozen=True)
class NumericColumn:
    """value -> value; a missing value becomes `fill`, the training median, or is refused if `fill` is None."""

    name: str
    fill: float | None

    @classmethod
    def fit(cls, series: pd.Series, impute: bool) -> "NumericColumn":
        """Learn the median of a column of numbers."""
        values = finite_numbers(series)
        return cls(str(series.name), float(np.nanmedian(values)) if impute else None)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The one feature that this column becomes."""
        return (self.name,)

    def encode(self, series: pd.Series) -> Float64[np.ndarray, "row 1"]:
        """One feature, finite everywhere."""
        values = finite_numbers(series)
        if self.fill is None:
            refuse_missing(series)
        else:
            values = np.where(np.isnan(values), self.fill, values)
        return values[:, np.newaxis]


@dataclass(frozen=True)
class CategoricalColumn:
    """value -> one feature a category, 1 where it applies; missing becomes `fill`, the most frequent, or is refused.

    A category that was not there in training is refused, or becomes a row of zeros with `unknown="zeros"`.
    """

    name: str
    fill: str | None
    categories: tuple[str, ...]
    unknown: Unknown

    @classmethod
    def fit(cls, series: pd.Series, impute: bool, unknown: Unknown) -> "CategoricalColumn":
        """Learn the categories, in sorted order, and the most frequent one (the first of them at a tie)."""
        counts = pd.Series(_labels(series.dropna())).value_counts().sort_index()
        return cls(str(series.name), str(counts.idxmax()) if impute else None, tuple(counts.index), unknown)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One feature a category."""
        return tuple(f"{self.name}={category}" for category in self.categories)

    def encode(self, series: pd.Series) -> Float64[np.ndarray, "row category"]:
        """One-hot rows."""
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
    """The encoding that suits a column's content, or a refusal that names the column and a way out."""
    kind = infer_dtype(series, skipna=True)
    if kind in _NUMBERS | {"boolean"}:
        return NumericColumn.fit(series, impute)
    if kind in {"string", "categorical"}:
        _refuse_free_text(series, max_categories)
        return CategoricalColumn.fit(series, impute, unknown)
    _refuse_dates(series)
    raise InputError(f"column {series.name!r} holds values of the kind {kind!r}: convert them to numbers, or drop it")


def is_numeric(series: pd.Series) -> bool:
    """Whether a column of finite numbers and gaps holds them as numbers or as text such as 05, and not as booleans."""
    return infer_dtype(series, skipna=True) in _NUMBERS | {"string"}


def finite_numbers(series: pd.Series) -> Float64[np.ndarray, " row"]:
    """A column as float64, NaN where a value is missing; anything else that is not a finite number is refused."""
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
    """Raise an error that counts the missing values of a column, if there are any, and ends with `cure`."""
    missing = series.isna().to_numpy(dtype=bool)
    if missing.any():
        raise InputError(
            f"column {series.name!r} has {missing.sum()} missing values, the first in {_first_row(missing)}: ", *cure
        )


def listing(names: Sequence[str], at_most: int = 20) -> str:
    """'a', 'b', 'c' and 40 more."""
    shown = ", ".join(_short(name) for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most} more"


def _refuse_free_text(series: pd.Series, max_categories: int) -> None:
    """Texts are categories if they are few and repeat; a column declared categorical need only be of few."""
    texts = series.dropna()
    different = pd.Series(_labels(texts.drop_duplicates()))
    if different.map(lambda text: _DATE.fullmatch(text) is not None).all():
        raise _dates_refused(series)
    declared = isinstance(series.dtype, pd.CategoricalDtype)
    if len(different) <= max_categories and (declared or len(different) < len(texts)):
        return
    if pd.to_numeric(different, errors="coerce").notna().mean() > 0.5:
        finite_numbers(series)  # numbers with a slip: the error names the first
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
    if infer_dtype(series, skipna=True) in _TIMES:
        raise _dates_refused(series)


def _dates_refused(series: pd.Series) -> InputError:
    return InputError(
        f"column {series.name!r} holds dates or times: replace it by numbers (the month, the hour, the days since a "
        "start), or drop it"
    )


def _labels(series: pd.Series) -> np.ndarray:
    codes, different = pd.factorize(series)
    return np.array([_label(value) for value in different], dtype=object)[codes]


def _label(value: object) -> str:
    """Text that names a category, the same for 1 and 1.0: a gap elsewhere in a column turns integers into floats."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _positions(labels: np.ndarray, categories: Sequence[str]) -> np.ndarray:
    """Where each label is among the categories, or -1; the text 10.0, as of an integer beside gaps, also finds 10."""
    known = pd.Index(categories)
    position = known.get_indexer(pd.Index(labels))
    strange = position < 0
    if strange.any():
        whole = pd.Series(labels[strange]).str.replace(r"^([-+]?\d+)\.0+$", r"\1", regex=True)
        position[strange] = known.get_indexer(pd.Index(whole))
    return position


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:56]}...{text[-1]}"


def _first_row(mask: Bool[np.ndarray, " row"]) -> str:
    return f"row {int(mask.argmax()) + 1}"

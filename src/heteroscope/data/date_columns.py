"""Turn a column of dates, times or durations into numbers of days and, by choice, into cycles of year, week and day."""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from jaxtyping import Float64
from pandas.api.types import infer_dtype

from heteroscope.core import InputError
from heteroscope.data.column_words import first_row, refuse_missing, shorten

#: What to do with dates: refuse them, or turn them into days since 1970-01-01, perhaps with cycles.
Dates: TypeAlias = Literal["refuse", "days", "cycles"]
#: What a column holds: points in time, times of the day, or lengths of time.
Kind: TypeAlias = Literal["date", "time", "duration"]
#: Which number of 1/5/2024 is the day; None if no date needs it.
Order: TypeAlias = Literal["day first", "month first"] | None

#: Lengths of the cycles, in days.
CYCLES = {"year": 365.2425, "week": 7.0, "day": 1.0}

# Kinds of columns, in the words of pandas' `infer_dtype`.
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("datetime64", "datetime", "date", "period"), "date"),
    **dict.fromkeys(("timedelta64", "timedelta"), "duration"),
    "time": "time",
}
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_SECONDS = 86_400.0
_CENTURY = 69  # of two digits, years from here on are of the last century, as in POSIX
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = (
    r"(?:(?:T|,? +)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d(?:[.,]\d+)?))? ?(?P<half>[AaPp]\.?[Mm]\.?)?"
    r"(?P<zone> ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?))?)?"
)
# 2024-05-01 and 2024/5; 1.5.2024, 01/05/24; 1 May 2024, 01-May-24; May 1, 2024; each perhaps with a time.
_PATTERNS = [
    re.compile(pattern + _CLOCK)
    for pattern in (
        r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2}))?",
        r"(?P<first>\d{1,2})[-/.](?P<next>\d{1,2})[-/.](?P<year>\d{4}|\d{2})",
        r"(?P<day>\d{1,2})(?:st|nd|rd|th)?[-. /]+(?P<name>[A-Za-z]{3,9})[-., /]+(?P<year>\d{4}|\d{2})",
        r"(?P<name>[A-Za-z]{3,9})[-. ]+(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:, ?| +)(?P<year>\d{4})",
    )
]


@dataclass(frozen=True)
class DateColumn:
    """A column of dates, times or durations: value -> days and, for each cycle, sine and cosine of its phase.

    days = days since 1970-01-01 (UTC) of a date, the share of the day of a time, the length of a duration
    phase = 2 pi days / length of the cycle

    A missing value becomes `fill`, the training median in days, or is refused if `fill` is None.
    """

    name: str
    fill: float | None
    kind: Kind
    order: Order
    cycles: tuple[str, ...]

    @classmethod
    def fit(cls, series: pd.Series, impute: bool, with_cycles: bool) -> "DateColumn":
        """Learn what the column holds, the order of day and month, and the median in days."""
        kind = time_kind(series)
        assert kind is not None, "only columns of dates and times come here"
        order = _learn_order(series) if infer_dtype(series, skipna=True) == "string" else None
        days = _days(series, kind, order)
        known = days[~np.isnan(days)]
        possible = {"date": tuple(CYCLES), "time": ("day",), "duration": ()}[kind] if with_cycles else ()
        varying = tuple(cycle for cycle in possible if np.ptp(known / CYCLES[cycle] % 1.0) > 1e-9)
        return cls(str(series.name), float(np.median(known)) if impute else None, kind, order, varying)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features: column=days, then column=year sin, column=year cos and so on."""
        waves = [f"{cycle} {wave}" for cycle in self.cycles for wave in ("sin", "cos")]
        return tuple(f"{self.name}={part}" for part in ("days", *waves))

    @property
    def note(self) -> str:
        """What becomes of the column, in words."""
        start = {"date": "days since 1970-01-01", "time": "the share of the day", "duration": "days"}[self.kind]
        cycles = f", with the cycles of {' and '.join(self.cycles)}" if self.cycles else ""
        order = f" (read with the {self.order})" if self.order else ""
        return f"column {self.name!r} becomes {start}{cycles}{order}"

    def encode(self, series: pd.Series) -> Float64[np.ndarray, "row feature"]:
        """Return the days, and sine and cosine of each cycle."""
        if series.notna().any() and time_kind(series) not in (self.kind, None):
            raise InputError(f"column {self.name!r} holds a {time_kind(series)} and held a {self.kind} in training")
        days = _days(series, self.kind, self.order)
        if self.fill is None:
            refuse_missing(series)
        else:
            days = np.where(np.isnan(days), self.fill, days)
        phases = [2.0 * np.pi * days / CYCLES[cycle] for cycle in self.cycles]
        return np.column_stack([days, *(wave(phase) for phase in phases for wave in (np.sin, np.cos))])


def time_kind(series: pd.Series) -> Kind | None:
    """Return what kind of time a column holds, also as text if more than half of its different values are dates."""
    inferred = infer_dtype(series, skipna=True)
    if inferred in _KINDS:
        return _KINDS[inferred]
    if inferred not in ("string", "categorical"):
        return None
    different = series.dropna().drop_duplicates()
    dates = [_match(value) is not None for value in different]
    return "date" if dates and np.mean(dates) > 0.5 else None


def _days(series: pd.Series, kind: Kind, order: Order) -> Float64[np.ndarray, " row"]:
    """Return the column in days, NaN where a value is missing; refuse a value that is no date."""
    if kind == "time":
        return np.array([np.nan if pd.isna(value) else _share_of_day(value) for value in series], dtype=np.float64)
    if kind == "duration":
        return (pd.to_timedelta(series) / pd.Timedelta(days=1)).to_numpy(dtype=np.float64, na_value=np.nan)
    if infer_dtype(series, skipna=True) in ("string", "categorical", "empty"):
        return _days_of_text(series, order)
    moments = pd.Series(series.dt.to_timestamp() if isinstance(series.dtype, pd.PeriodDtype) else series)
    if moments.dtype == object:
        return np.array([np.nan if pd.isna(value) else _days_of(value) for value in moments], dtype=np.float64)
    if isinstance(moments.dtype, pd.DatetimeTZDtype):
        moments = moments.dt.tz_convert("UTC").dt.tz_localize(None)
    found = moments.to_numpy(dtype="datetime64[us]")
    return np.where(np.isnat(found), np.nan, found.astype(np.int64) / (1e6 * _SECONDS))


def _days_of_text(series: pd.Series, order: Order) -> Float64[np.ndarray, " row"]:
    """Return texts in days; refuse the first that is no date."""
    codes, different = pd.factorize(series)
    days = np.array([_parse(value, order) for value in different] + [np.nan], dtype=np.float64)[codes]
    strange = np.isnan(days) & series.notna().to_numpy(dtype=bool)
    if strange.any():
        raise InputError(
            f"column {series.name!r} must hold dates and has {shorten(series[strange].iloc[0])} in "
            f"{first_row(strange)}: correct it, or leave the cell empty"
        )
    return days


def _match(value: object) -> re.Match[str] | None:
    """Return the parts of a text that has the form of a date, or None."""
    text = str(value).strip()
    found = next((match for pattern in _PATTERNS if (match := pattern.fullmatch(text))), None)
    if found is None or "name" not in found.re.groupindex or found["name"][:3].lower() in _MONTHS:
        return found
    return None


def _parse(value: object, order: Order) -> float:
    """Return the days since 1970-01-01 of a text, or NaN if it is no date of that order."""
    found = _match(value)
    if found is None:
        return np.nan
    part = found.groupdict()
    if "first" in part:
        if order is None:
            return np.nan
        turn = ("first", "next") if order == "day first" else ("next", "first")
        part |= {"day": part[turn[0]], "month": part[turn[1]]}
    elif "name" in part:
        part["month"] = str(_MONTHS.index(part["name"][:3].lower()) + 1)
    year = int(part["year"])
    if len(part["year"]) == 2:
        year += 1900 if year >= _CENTURY else 2000
    try:
        day = datetime.datetime(year, int(part["month"]), int(part["day"] or 1), tzinfo=datetime.UTC)
    except ValueError:
        return np.nan
    clock = _clock_seconds(part) if part["hour"] else 0.0
    return (day - _EPOCH).days + clock / _SECONDS


def _clock_seconds(part: dict[str, str | None]) -> float:
    """Return the seconds since midnight UTC of hour, minute, second, half of the day and zone, NaN if there are none such."""
    hour, minute = int(part["hour"] or 0), int(part["minute"] or 0)
    second = float((part["second"] or "0").replace(",", "."))
    if part["half"]:
        hour = hour % 12 + 12 * (part["half"][0] in "pP") if 1 <= hour <= 12 else 24
    if hour > 23 or minute > 59 or second >= 60:
        return np.nan
    zone = (part["zone"] or "").strip().replace(":", "")
    offset = 0.0
    if zone[:1] in ("+", "-"):
        offset = (-1.0 if zone[0] == "-" else 1.0) * (3600.0 * int(zone[1:3]) + 60.0 * int(zone[3:] or 0))
    return 3600.0 * hour + 60.0 * minute + second - offset


def _learn_order(series: pd.Series) -> Order:
    """Return which number of 1/5/2024 is the day: the one that exceeds 12, or that is always 1; else the one before
    points.
    """
    found = [match for value in series.dropna().drop_duplicates() if (match := _match(value))]
    numeric = [match for match in found if "first" in match.re.groupindex]
    if not numeric:
        return None
    first, following = ([int(match[part]) for match in numeric] for part in ("first", "next"))
    day_first, month_first = max(first) > 12, max(following) > 12
    if day_first != month_first:
        return "day first" if day_first else "month first"
    if day_first:
        raise InputError(
            f"column {series.name!r} has dates with the day first ({_example(numeric, first)}) and with the month first "
            f"({_example(numeric, following)}): write all as {_iso()}"
        )
    if all("." in match[0] for match in numeric):
        return "day first"
    if (set(first) == {1}) != (set(following) == {1}):
        return "day first" if set(first) == {1} else "month first"
    raise InputError(
        f"column {series.name!r} has dates such as {numeric[0][0]}, in which day and month cannot be told apart: write "
        f"them as {_iso()}"
    )


def _example(matches: Sequence[re.Match[str]], numbers: Sequence[int]) -> str:
    """Return a date in which this number exceeds 12."""
    return next(match[0] for match, number in zip(matches, numbers, strict=True) if number > 12)


def _iso() -> str:
    return "2024-05-31"


def _days_of(value: datetime.date) -> float:
    """Return the days since 1970-01-01 of a date or a moment; one without a zone counts as UTC."""
    if not isinstance(value, datetime.datetime):
        return float((value - _EPOCH.date()).days)
    moment = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
    return (moment - _EPOCH).total_seconds() / _SECONDS


def _share_of_day(value: datetime.time) -> float:
    return (3600.0 * value.hour + 60.0 * value.minute + value.second + 1e-6 * value.microsecond) / _SECONDS

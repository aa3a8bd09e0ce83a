"""Dates, times and durations as numbers: datetime, pandas and closed forms are the oracles."""

import datetime

import numpy as np
import pandas as pd
import pytest

from heteroscope.core.errors import InputError
from heteroscope.data.date_columns import CYCLES, DateColumn, time_kind

MAY = (datetime.date(2024, 5, 31) - datetime.date(1970, 1, 1)).days


def series(*values, **settings):
    return pd.Series(list(values), name="day", **settings)


def days(*values, **settings):
    column = series(*values, **settings)
    return DateColumn.fit(column, impute=False, with_cycles=False).encode(column)[:, 0]


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-31",
        "2024/5/31",
        "2024.05.31",
        "31.5.2024",
        "31/05/24",
        "05/31/2024",
        "31 May 2024",
        "31-May-24",
        "May 31, 2024",
        "May 31st, 2024",
        "2024-05-31T00:00:00Z",
        "2024-05-31 02:00:00+02:00",
        "30.05.2024 19:00-0500",
    ],
)
def test_a_date_is_read_in_every_common_form(text):
    np.testing.assert_allclose(days(text, text), MAY, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("text", "share"), [("10:30", 10.5), ("1:15 PM", 13.25), ("12:00 am", 0), ("12:30pm", 12.5), ("06:00:36", 6.01)]
)
def test_the_time_of_a_date_is_a_share_of_the_day(text, share):
    np.testing.assert_allclose(days(f"2024-05-31 {text}"), MAY + share / 24, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.to_datetime(["2024-05-31 06:00", "1969-12-31 18:00"])),
        pd.Series(pd.to_datetime(["2024-05-31 06:00", "1969-12-31 18:00"]).tz_localize("UTC").tz_convert("Asia/Tokyo")),
        pd.Series(pd.to_datetime(["2024-05-31 06:00", "1969-12-31 18:00"])).astype("datetime64[s]"),
        pd.Series([datetime.datetime(2024, 5, 31, 6), datetime.datetime(1969, 12, 31, 18)], dtype=object),
    ],
    ids=["naive", "zone", "seconds", "objects"],
)
def test_every_kind_of_moment_is_days_since_1970(column):
    encoder = DateColumn.fit(column.rename("day"), impute=False, with_cycles=False)
    np.testing.assert_allclose(encoder.encode(column)[:, 0], [MAY + 0.25, -0.25], rtol=0, atol=1e-9)


def test_dates_periods_durations_and_times():
    np.testing.assert_array_equal(days(datetime.date(2024, 5, 31), datetime.date(1970, 1, 2)), [MAY, 1])
    np.testing.assert_array_equal(days(*pd.period_range("1970-01", periods=3, freq="M")), [0, 31, 59])
    np.testing.assert_allclose(days(*pd.to_timedelta(["36h", "1min"])), [1.5, 1 / 1440])
    np.testing.assert_allclose(days(datetime.time(6), datetime.time(18, 0, 36)), [0.25, 0.7504166666666667])


def test_cycles_are_sine_and_cosine_of_the_phase_and_those_that_never_vary_are_left_out():
    column = pd.Series(pd.date_range("2023-01-01", periods=400, freq="7D"), name="day")
    encoder = DateColumn.fit(column, impute=False, with_cycles=True)
    assert encoder.cycles == ("year",)
    assert encoder.feature_names == ("day=days", "day=year sin", "day=year cos")
    moments = pd.Series(pd.date_range("2023-01-01", periods=400, freq="7h"), name="day")
    encoder = DateColumn.fit(moments, impute=False, with_cycles=True)
    assert encoder.cycles == tuple(CYCLES)
    found = dict(zip(encoder.feature_names, encoder.encode(moments).T, strict=True))
    hour = 2 * np.pi * moments.dt.hour / 24
    np.testing.assert_allclose(found["day=day sin"], np.sin(hour), atol=1e-9)
    np.testing.assert_allclose(found["day=day cos"], np.cos(hour), atol=1e-9)
    week = 2 * np.pi * (moments.dt.dayofweek + moments.dt.hour / 24) / 7
    np.testing.assert_allclose(np.hypot(found["day=week sin"], found["day=week cos"]), 1)
    turned = np.angle(np.exp(1j * week) / (found["day=week cos"] + 1j * found["day=week sin"]))
    np.testing.assert_allclose(turned, turned[0], atol=1e-9)


def test_a_gap_becomes_the_median_day_by_choice():
    column = series("2024-01-01", None, "2024-01-03", "2024-01-09")
    encoder = DateColumn.fit(column, impute=True, with_cycles=False)
    np.testing.assert_array_equal(np.diff(encoder.encode(column)[:, 0]), [2, 0, 6])
    blank = pd.Series([None, None], name="day", dtype=object)
    np.testing.assert_array_equal(encoder.encode(blank)[:, 0], encoder.fill)
    with pytest.raises(InputError, match="1 missing values, the first in row 2"):
        DateColumn.fit(column, impute=False, with_cycles=False).encode(column)


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["1/2/2024", "13/2/2024"], "day first"),
        (["1/2/2024", "1/13/2024"], "month first"),
        (["1.2.2024", "3.4.2024"], "day first"),
        (["1/1/2024", "1/2/2024", "1/3/2024"], "day first"),
        (["1/1/2024", "2/1/2024", "3/1/2024"], "month first"),
        (["2024-01-02", "2024-03-04"], None),
    ],
)
def test_the_order_of_day_and_month_is_learned_and_kept_for_later_tables(values, order):
    encoder = DateColumn.fit(series(*values), impute=False, with_cycles=False)
    assert encoder.order == order
    wanted = {"day first": "2024-05-04", "month first": "2024-04-05", None: "2024-04-05"}[order]
    later = series("4/5/2024" if order else "2024/4/5")
    assert encoder.encode(later)[0, 0] == (datetime.date.fromisoformat(wanted) - datetime.date(1970, 1, 1)).days


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["3/4/2024", "5/6/2024"], "day and month cannot be told apart: write them as 2024-05-31"),
        (["13/4/2024", "4/13/2024"], r"day first \(13/4/2024\) and with the month first \(4/13/2024\)"),
        (["2024-05-31", "2024-06-31", "2024-07-01"], "must hold dates and has '2024-06-31' in row 2"),
        (["2024-05-31", "2024-06-01", "soon"], "must hold dates and has 'soon' in row 3"),
        (["2024-05-31 25:00"], "must hold dates"),
    ],
)
def test_what_is_no_date_is_named(values, message):
    column = series(*values)
    with pytest.raises(InputError, match=message):
        DateColumn.fit(column, impute=False, with_cycles=False).encode(column)


def test_another_kind_in_a_later_table_is_refused():
    encoder = DateColumn.fit(series("2024-05-31", "2024-06-01"), impute=False, with_cycles=False)
    for later, kind in ((series(1, 2), "integer"), (series(pd.Timedelta(days=1)), "duration")):
        with pytest.raises(InputError, match=f"kind '{kind}' and held a date in training"):
            encoder.encode(later)


@pytest.mark.parametrize("values", [["3.5", "4.25"], ["1/2", "3/4"], ["Oslo", "Bern"], ["10:30", "11:00"], [1, 2]])
def test_other_columns_are_no_dates(values):
    assert time_kind(series(*values)) is None

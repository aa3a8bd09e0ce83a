"""Columns as users have them: what becomes a feature, and the one line that refuses the rest."""

import datetime
import decimal
import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest

from heteroscope.core.errors import InputError, TableError
from heteroscope.data.table_encoder import TableEncoder, rows_with_target

Y = [1.0, 2.0, 3.0, 4.0]


def table(**columns):
    return pd.DataFrame({**columns, "y": Y})


def test_numbers_and_booleans_pass_and_text_becomes_one_hot():
    frame = table(size=[3, 1, 2, 5], ok=[True, False, True, True], town=["Oslo", "Bern", "Oslo", "Bern"])
    encoder = TableEncoder.fit(frame, "y")
    assert encoder.feature_names == ("size", "ok", "town=Bern", "town=Oslo")
    np.testing.assert_array_equal(encoder.features(frame), [[3, 1, 0, 1], [1, 0, 1, 0], [2, 1, 0, 1], [5, 1, 1, 0]])
    np.testing.assert_array_equal(encoder.targets(frame), Y)
    assert encoder.features(frame).dtype == encoder.targets(frame).dtype == np.float64
    assert encoder.notes == ("column 'town' is one-hot encoded: 'Bern', 'Oslo'",)


@pytest.mark.parametrize(
    "values",
    [
        pd.array([1, 2, 3, 5], dtype="Int64"),
        pd.array([1, 2, 3, 5], dtype="float32"),
        pd.array([1, 2, 3, 5], dtype="uint8"),
        pd.Series([1, 2.0, 3, np.int8(5)], dtype=object),
        [decimal.Decimal(k) for k in (1, 2, 3, 5)],
    ],
    ids=lambda values: str(getattr(values, "dtype", "decimal")),
)
def test_every_kind_of_number_passes(values):
    frame = table(a=values)
    np.testing.assert_array_equal(TableEncoder.fit(frame, "y").features(frame), [[1], [2], [3], [5]])


def test_later_table_needs_neither_target_nor_order_and_may_have_more_columns():
    encoder = TableEncoder.fit(table(a=[1, 2, 3, 4], b=["u", "v", "u", "v"]), "y")
    later = pd.DataFrame({"extra": ["?"], "b": ["v"], "a": [7]})
    np.testing.assert_array_equal(encoder.features(later), [[7, 0, 1]])


def test_declared_categories_of_numbers_are_categories_and_survive_becoming_floats():
    frame = table(code=pd.Categorical([10, 20, 10, 20]))
    encoder = TableEncoder.fit(frame, "y")
    assert encoder.feature_names == ("code=10", "code=20")
    np.testing.assert_array_equal(encoder.features(pd.DataFrame({"code": [20.0, 10.0]})), [[0, 1], [1, 0]])


def test_categories_that_were_integers_are_found_in_text_beside_gaps_but_codes_are_not():
    encoder = TableEncoder.fit(table(code=pd.Categorical([10, 20, 10, 20])), "y")
    np.testing.assert_array_equal(encoder.features(pd.DataFrame({"code": ["20.0", "10"]})), [[0, 1], [1, 0]])
    refused(lambda: encoder.features(pd.DataFrame({"code": ["010"]})), "'010' in row 1, not seen in training")
    refused(lambda: encoder.features(pd.DataFrame({"code": ["10.5"]})), "'10.5' in row 1, not seen in training")


def test_text_columns_are_those_of_categories():
    frame = table(size=[3, 1, 2, 5], code=["01", "02", "01", "02"], town=["Oslo", "Bern", "Oslo", "Bern"])
    assert TableEncoder.fit(frame, "y").text_columns == ("code", "town")


def test_codes_are_refused_as_such_where_they_are_too_many_and_read_as_numbers_where_numbers_must_be():
    hours = pd.DataFrame({"hour": [f"{k % 24:02d}" for k in range(48)], "y": np.arange(48.0)})
    refused(lambda: TableEncoder.fit(hours, "y"), "24 different codes in 48 rows, the first is '00' .* leading zeros")
    np.testing.assert_array_equal(
        TableEncoder.fit(hours.assign(a=hours["y"]).drop(columns="y"), "hour", max_categories=48).targets(hours),
        np.tile(np.arange(24.0), 2),
    )
    encoder = TableEncoder.fit(table(hour=[10, 11, 12, 13]), "y")
    np.testing.assert_array_equal(encoder.features(pd.DataFrame({"hour": ["09", "10"]})), [[9], [10]])


def test_few_texts_are_categories_even_if_most_are_digits():
    frame = table(doors=["2", "4", "2", "more"])
    assert TableEncoder.fit(frame, "y").feature_names == ("doors=2", "doors=4", "doors=more")


def test_columns_that_never_vary_are_left_out_with_a_note():
    frame = table(a=[1, 2, 3, 4], same=[7] * 4, word=["w"] * 4)
    encoder = TableEncoder.fit(frame, "y")
    assert encoder.feature_names == ("a",)
    assert encoder.notes == (
        "column 'same' never varies and is left out",
        "column 'word' never varies and is left out",
    )
    assert encoder.features(frame.drop(columns=["same", "word"])).shape == (4, 1)


def test_imputation_uses_training_median_and_most_frequent_category():
    frame = table(
        a=[1.0, np.nan, 3.0, 100.0],
        town=["Oslo", None, "Oslo", "Bern"],
        flag=pd.array([True, None, True, False], dtype="boolean"),
        empty=[np.nan] * 4,
    )
    encoder = TableEncoder.fit(frame, "y", missing="impute")
    np.testing.assert_array_equal(encoder.features(frame)[1], [3, 0, 1, 1])
    blank = pd.DataFrame({"a": [np.nan], "town": [np.nan], "flag": [None]})
    np.testing.assert_array_equal(encoder.features(blank), [[3, 0, 1, 1]])
    assert "column 'a' has 1 missing values, filled with 3.0" in encoder.notes
    assert "column 'empty' is empty and is left out" in encoder.notes


def test_unknown_category_is_refused_or_zero():
    frame = table(town=["Oslo", "Bern", "Oslo", "Bern"])
    later = pd.DataFrame({"town": ["Bern", "Rome"]})
    message = r"column 'town' has 'Rome' in row 2, not seen in training \(there: 'Bern', 'Oslo'\)"
    refused(lambda: TableEncoder.fit(frame, "y").features(later), message)
    np.testing.assert_array_equal(TableEncoder.fit(frame, "y", unknown="zeros").features(later), [[1, 0], [0, 0]])


@pytest.mark.parametrize("missing", ["refuse", "impute"])
def test_json_round_trip(missing):
    name = '<script>alert("ü")</script>\n'
    frame = pd.DataFrame({name: [1, 2, 3, 4], "town": ["a", "b", "a", "<b>"], "same": 1, "y": Y})
    encoder = TableEncoder.fit(frame, "y", missing=missing)
    stored = json.loads(json.dumps(encoder.to_dict(), allow_nan=False))
    assert TableEncoder.from_dict(stored) == encoder
    np.testing.assert_array_equal(TableEncoder.from_dict(stored).features(frame), encoder.features(frame))


@pytest.mark.parametrize("damage", [{"columns": [{"kind": "pickle"}]}, {"columns": [{}]}, {"columns": 3}])
def test_damaged_state_is_refused(damage):
    state = TableEncoder.fit(table(a=[1, 2, 3, 4]), "y").to_dict()
    refused(lambda: TableEncoder.from_dict(state | damage), "no stored table encoding")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, np.nan, np.nan, 2.0], "column 'a' has 2 missing values, the first in row 2: fill them"),
        (["u", "v", "u", None], "column 'a' has 1 missing values, the first in row 4"),
        ([1.0, np.inf, -np.inf, 2.0], "column 'a' has 2 infinite values, the first in row 2"),
        (pd.date_range("2020", periods=4), "column 'a' holds dates or times"),
        (pd.date_range("2020", periods=4, tz="UTC"), "dates or times"),
        (pd.to_timedelta([1, 2, 3, 4]), "dates or times"),
        ([datetime.date(2020, 1, day) for day in (1, 2, 3, 4)], "dates or times"),
        (["2020-01-01", "2020-01-02"] * 2, "dates or times"),
        (["1.2.2020", "31/12/99", "2020-01-02T10:00:00Z", "2020-01"], "dates or times"),
        (["a good one", "so so", "bad\nvery", "never again"], "free text, 4 different values in 4 rows"),
        ([[1], [2], [3], [4]], "column 'a' holds values of the kind 'mixed'"),
        ([1, "x", 1, "x"], "kind 'mixed-integer'"),
        ([b"u", b"v", b"u", b"v"], "kind 'bytes'"),
        ([1j, 2j, 3j, 4j], "kind 'complex'"),
        (["1", "2", "3.5.", "4"], "column 'a' must hold numbers and has '3.5.' in row 3"),
        (["1", "2", "3,5", "4"], r"column 'a' has decimal commas \('3,5' in row 3\): .* with decimal=','"),
    ],
)
def test_columns_without_a_number_in_them_are_refused_with_their_name(values, message):
    refused(lambda: TableEncoder.fit(table(a=values), "y"), message)


def test_more_categories_than_allowed_are_refused_unless_told():
    frame = pd.DataFrame({"town": [f"town {k % 30}" for k in range(90)], "y": np.arange(90.0)})
    refused(lambda: TableEncoder.fit(frame, "y"), "30 different values in 90 rows .* max_categories=20")
    assert TableEncoder.fit(frame, "y", max_categories=30).features(frame).shape == (90, 30)
    refused(lambda: TableEncoder.fit(frame.astype({"town": "category"}), "y"), "max_categories=20")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([None, None, None, None], "column 'y' has 4 missing values, the first in row 1: drop those rows"),
        ([1.0, np.inf, 2.0, 3.0], "infinite"),
        (["low", "high", "low", "high"], "column 'y' must hold numbers and has 'low' in row 1"),
        ([True, False, True, False], "the target 'y' holds bool, not numbers"),
        (pd.date_range("2020", periods=4), "dates or times"),
    ],
)
def test_target_must_be_finite_numbers_even_if_gaps_are_imputed(values, message):
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "y": values})
    refused(lambda: TableEncoder.fit(frame, "y", missing="impute"), message)


def test_rows_without_a_target_keep_their_places_with_weight_zero():
    frame = table(a=[1, 2, 3, 4]).assign(y=[None, 5.0, 6.0, None])
    encoder = TableEncoder.fit(frame, "y")
    y, weight = encoder.known_targets(frame)
    np.testing.assert_array_equal(weight, [0, 1, 1, 0])
    np.testing.assert_array_equal(y[[1, 2]], [5, 6])
    assert np.isfinite(y).all()
    assert encoder.known_targets(rows_with_target(frame, "y"))[1] is None
    refused(lambda: encoder.targets(frame), "2 missing values, the first in row 1: drop those rows")


def test_absent_target_lists_the_columns_and_suggests_one():
    frame = pd.DataFrame({"Strength": [1.0], "age": [2.0]})
    refused(
        lambda: TableEncoder.fit(frame, "strenght"),
        r"no column 'strenght' \(did you mean 'Strength'\?\): choose the target among 'Strength', 'age'",
    )
    wide = pd.DataFrame(np.zeros((1, 50)), columns=[f"c{k}" for k in range(50)])
    refused(lambda: TableEncoder.fit(wide, "y"), "and 30 more")


def test_absent_column_of_a_later_table_is_named():
    encoder = TableEncoder.fit(table(Age=[1, 2, 3, 4]), "y")
    message = r"lacks column 'Age' \(did you mean 'age'\?\), which the model was fitted on: add it"
    refused(lambda: encoder.features(pd.DataFrame({"age": [1]})), message)


def test_later_table_is_held_to_the_same_rules():
    encoder = TableEncoder.fit(table(a=[1, 2, 3, 4], b=["u", "v", "u", "v"]), "y")
    refused(
        lambda: encoder.features(pd.DataFrame({"a": ["x"], "b": ["u"]})), "column 'a' must hold numbers and has 'x'"
    )
    refused(lambda: encoder.features(pd.DataFrame({"a": [np.inf], "b": ["u"]})), "infinite")
    refused(lambda: encoder.features(pd.DataFrame({"a": [1], "b": [None]})), "column 'b' has 1 missing")
    refused(lambda: encoder.features(pd.DataFrame({"a": pd.to_datetime(["2020"]), "b": ["u"]})), "dates")
    assert encoder.features(pd.DataFrame({"a": [], "b": []})).shape == (0, 3)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a": [1.0], "y": [1.0]}), "no column but the target 'y' varies over the 1 rows"),
        (pd.DataFrame({"y": Y}), "no column but the target"),
        (pd.DataFrame({"a": [], "y": []}), "no rows"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "a", "y"]), "more than one column called 'a'"),
        (pd.DataFrame({0: [1], "y": [1]}), "not text"),
    ],
)
def test_tables_with_nothing_to_learn_from_are_refused(frame, message):
    refused(lambda: TableEncoder.fit(frame, "y"), message)


def test_all_problems_of_a_table_are_told_at_once_with_the_choices_that_settle_them():
    frame = table(
        a=[1.0, None, 3.0, 4.0],
        day=["2024-05-01", None, "2024-05-03", "2024-05-04"],
        note=["a good one", "so so", "very bad", "never again"],
        slip=[1.0, np.inf, 2.0, 3.0],
        fine=[1, 2, 3, 5],
    ).assign(y=[1.0, np.inf, 2.0, 3.0])
    with pytest.raises(TableError) as caught:
        TableEncoder.fit(frame, "y")
    error = pickle.loads(pickle.dumps(caught.value))
    head, *problems, choices = error.lines(str, " ")
    assert head == "the table has 6 problems:"
    for text, words in zip(
        problems,
        ["'y' has 1 inf", "'a' has 1 mis", "'day' has 1", "'day' holds dates", "'note'", "inf"],
        strict=True,
    ):
        assert words in text
    others = "missing='impute' dates='days' drop=['note', 'slip']"
    assert choices == f"correct what is wrong, and settle the rest with: {others}"
    assert str(error).count("(6)") == 1
    assert "\n" not in str(error)
    with pytest.raises(TableError, match=re.escape(f"to use it as it is: {others.replace(' d', ', d')}")):
        TableEncoder.fit(frame.assign(y=Y), "y")
    settled = frame.assign(y=Y, slip=1.5)
    encoder = TableEncoder.fit(settled, "y", missing="impute", dates="days", drop=["note"])
    assert encoder.feature_names == ("a", "day=days", "fine")
    later = pd.DataFrame({"a": ["x"], "day": ["soon"], "fine": [np.inf]})
    with pytest.raises(TableError, match=r"3 problems: \(1\) .*'a'.* \(2\) .*'day'.* \(3\) .*'fine'"):
        encoder.features(later)


def test_columns_are_chosen_by_name_also_between_commas():
    frame = table(a=[1, 2, 3, 4], b=[2, 2, 3, 4], **{"c,d": [5, 2, 3, 4]})
    assert TableEncoder.fit(frame, "y", drop=["a"]).feature_names == ("b", "c,d")
    assert TableEncoder.fit(frame, "y", drop=["c,d"]).feature_names == ("a", "b")
    assert TableEncoder.fit(frame, "y", features=["b, a"]).feature_names == ("a", "b")
    assert TableEncoder.fit(frame, "y", features=["b", "a"], drop=["b"]).feature_names == ("a",)
    refused(lambda: TableEncoder.fit(frame, "y", drop=["A"]), r"drop names 'A', which is no column \(did you mean 'a'")
    refused(lambda: TableEncoder.fit(frame, "y", features=["a,e"]), "features names 'e'")
    refused(lambda: TableEncoder.fit(frame, "y", features=["y"]), "names the target 'y'")
    refused(lambda: TableEncoder.fit(frame, "y", features=["a"], drop=["a"]), "leave no column")


def test_prices_are_numbers_and_the_sign_is_kept_in_mind():
    price = ["$1,200.50", "$ 7", "-$3", "$2,000,000"]
    encoder = TableEncoder.fit(table(price=price), "y")
    np.testing.assert_array_equal(encoder.features(table(price=price))[:, 0], [1200.5, 7, -3, 2e6])
    assert encoder.notes == ("column 'price' is read as numbers without the sign $",)
    np.testing.assert_array_equal(encoder.features(pd.DataFrame({"price": [5.5]})), [[5.5]])
    refused(lambda: encoder.features(pd.DataFrame({"price": ["€7"]})), "'€7' in row 1")
    assert TableEncoder.from_dict(json.loads(json.dumps(encoder.to_dict()))) == encoder
    shares = table(a=[1, 2, 3, 5]).assign(y=["1.5 %", "2 %", "30%", "4 %"])
    np.testing.assert_array_equal(TableEncoder.fit(shares, "y").targets(shares), [1.5, 2, 30, 4])
    refused(lambda: TableEncoder.fit(table(price=["$1", "€2", "$3", "$4"]), "y"), "free text")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["1,5", "2", "1,5", "-0,25"], r"has decimal commas \('1,5' in row 1\).* decimal=','"),
        (["1.200,5", "2", "1,5", None], r"has decimal commas \('1.200,5' in row 1\)"),
        (["1,200", "2", "3", "4"], r"commas in its numbers \('1,200' in row 1\).* thousands=',' or decimal=','"),
    ],
)
def test_commas_in_numbers_are_named_as_such(values, message):
    refused(lambda: TableEncoder.fit(table(a=values, b=[1, 2, 3, 5]), "y", missing="impute"), message)
    later = TableEncoder.fit(table(a=[1, 2, 3, 5]), "y", missing="impute")
    refused(lambda: later.features(pd.DataFrame({"a": values})), message)


@pytest.mark.parametrize(
    ("values", "left_out"),
    [
        (["A-1", "A-2", "B-1", "C7"], True),
        (["001", "002", "003", "004"], True),
        (["550e8400-e29b", "6fa459ea-ee8a", "7d444840-9dc0", "0b1c"], True),
        (["1", "2", "4", "8x"], False),
        (["Oslo", "Bern", "Rome", "Kyiv"], False),
        (["item 1", "item 2", "item 3", "item 4"], False),
        (["A1", "A2", "A1", "A2"], False),
    ],
)
def test_identifiers_are_left_out_with_a_note(values, left_out):
    frame = table(a=[1, 2, 3, 5], code=values)
    if left_out:
        encoder = TableEncoder.fit(frame, "y")
        assert encoder.feature_names == ("a",)
        assert encoder.notes == ("column 'code' is an identifier, another one in each row, and is left out",)
    elif len(set(values)) == 2:
        assert len(TableEncoder.fit(frame, "y").feature_names) == 3
    else:
        refused(lambda: TableEncoder.fit(frame, "y"), "column 'code'")


def test_dates_become_numbers_by_choice_and_survive_json():
    frame = table(
        day=["1.5.2024", "13.5.2024", "14.5.2024", "1.6.2024"], when=pd.date_range("2024", periods=4, freq="9h")
    )
    encoder = TableEncoder.fit(frame, "y", dates="cycles")
    stored = TableEncoder.from_dict(json.loads(json.dumps(encoder.to_dict(), allow_nan=False)))
    assert stored == encoder
    np.testing.assert_array_equal(stored.features(frame), encoder.features(frame))
    np.testing.assert_array_equal(np.diff(encoder.features(frame)[:, 0]), [12, 1, 18])
    assert encoder.notes[0] == (
        "column 'day' becomes days since 1970-01-01, with the cycles of year and week (read with the day first)"
    )
    for damage in ({"holds": "age"}, {"order": "last"}, {"cycles": ["moon"]}, {"fill": "x"}):
        state = encoder.to_dict()
        state["columns"][0] |= damage
        refused(lambda state=state: TableEncoder.from_dict(state), "no stored table encoding")


def test_names_and_values_are_shown_escaped_and_short():
    frame = pd.DataFrame({"two\nlines": ["x" * 500, "y\n"] * 2, "y": Y})
    encoder = TableEncoder.fit(frame, "y")
    refused(lambda: encoder.features(pd.DataFrame({"two\nlines": ["z" * 500]})), r"column 'two\\nlines' has 'z+\.\.\.'")


def refused(call, message):
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)

"""Files as users have them: what is read, and the one line that refuses the rest."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heteroscope.core.errors import InputError
from heteroscope.data.table_files import read_table


def write(tmp_path, content, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_csv_and_parquet_give_the_same_frame(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "<script>": [0.5, -1e300], "town": ["Oslo", "Zürich"], "flag": [True, False]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), frame)
    pd.testing.assert_frame_equal(read_table(str(tmp_path / "t.parquet")), frame)


@pytest.mark.parametrize(
    "text",
    [
        "a;b\n1.5;2\n3;4\n",
        "a;b\n1,5;2\n3;4\n",
        "a\tb\n1.5\t2\n3\t4\n",
        'a,b\r\n"1.5",2\r\n3,4\r\n\r\n',
        "\ufeffa,b\n1.5,2\n3,4",
        "\n\na,b\n1.5,2\n3,4\n",
    ],
    ids=["semicolon", "decimal comma", "tab", "quoted, CRLF", "byte order mark", "blank lines first"],
)
def test_common_dialects_are_read(tmp_path, text):
    frame = read_table(write(tmp_path, text))
    assert list(frame.columns) == ["a", "b"]
    np.testing.assert_array_equal(frame.to_numpy(dtype=float), [[1.5, 2], [3, 4]])


def test_delimiter_inside_a_column_name_does_not_mislead(tmp_path):
    frame = read_table(write(tmp_path, "size;place (x, y, z)\n1;2\n3;4\n"))
    assert list(frame.columns) == ["size", "place (x, y, z)"]


def test_nameless_first_column_holds_row_labels(tmp_path):
    pd.DataFrame({"a": [1, 2], "b": [3, 4]}, index=["u", "v"]).to_csv(tmp_path / "t.csv")
    frame = read_table(tmp_path / "t.csv")
    assert list(frame.columns) == ["a", "b"]
    assert list(frame.index) == ["u", "v"]


def test_header_wider_than_one_field_may_be(tmp_path):
    names = [f"a_rather_long_column_name_{k}" for k in range(6000)]
    frame = read_table(write(tmp_path, ",".join(names) + "\n" + ",".join("1" for _ in names) + "\n"))
    assert frame.shape == (1, 6000)


def test_gaps_are_missing_values_and_one_row_is_a_table(tmp_path):
    assert read_table(write(tmp_path, "a,b,c\n1,,x\n")).isna().to_numpy().tolist() == [[False, True, False]]


def test_last_gap_is_not_taken_for_a_truncated_line(tmp_path):
    assert read_table(write(tmp_path, "a,b\n1,2\n3,\n")).shape == (2, 2)


def test_upper_case_extension(tmp_path):
    assert read_table(write(tmp_path, "a,b\n1,2\n", name="TABLE.CSV")).shape == (1, 2)


def test_codes_with_leading_zeros_stay_text_and_numbers_do_not(tmp_path):
    text = ",zip,hour,share,cents,t\n001,00501,7,0,0.5,-0.3\n002,90210,08,0.25,10,-05.5\n"
    frame = read_table(write(tmp_path, text))
    assert list(frame.index) == ["001", "002"]
    assert frame["zip"].tolist() == ["00501", "90210"]
    assert frame["hour"].tolist() == [7, 8]
    np.testing.assert_array_equal(frame[["share", "cents", "t"]].to_numpy(float), [[0, 0.5, -0.3], [0.25, 10, -5.5]])


@pytest.mark.parametrize("last", ["7", "007", '"007"'])
def test_a_code_is_found_however_far_down(tmp_path, monkeypatch, last):
    monkeypatch.setattr("heteroscope.data.table_files._CHUNK_ROWS", 10)
    frame = read_table(write(tmp_path, "a,b\n" + "10,1.5\n" * 100 + f"{last},2\n"))
    assert frame["a"].iloc[-1] == (7 if last == "7" else "007")
    assert frame["b"].iloc[-1] == 2.0


def test_named_columns_stay_text_whatever_they_look_like(tmp_path):
    frame = read_table(write(tmp_path, "a,b,c\n1,1.50,NA\n2,,3\n"), text=["b", "c", "absent"])
    assert frame["a"].tolist() == [1, 2]
    assert frame["b"][0] == "1.50"
    assert frame["b"].isna().tolist() == [False, True]
    assert frame["c"].tolist() == ["NA", "3"]


def test_words_for_a_gap_are_missing_among_numbers_and_text_among_text(tmp_path):
    text = "number,flag,garage,only\n1,True,NA,NA\nNA,null,None,\n2.5,False,attached,nan\n,True,,NULL\n"
    frame = read_table(write(tmp_path, text))
    np.testing.assert_array_equal(frame["number"], [1, np.nan, 2.5, np.nan])
    assert frame["flag"].isna().tolist() == [False, True, False, False]
    assert frame["flag"].dropna().tolist() == [True, False, True]
    assert frame["garage"][:3].tolist() == ["NA", "None", "attached"]
    assert frame["garage"].isna().tolist() == [False, False, False, True]
    assert frame["only"].isna().all()


def test_decimal_commas_with_words_for_gaps_and_quotes(tmp_path):
    frame = read_table(write(tmp_path, 'a;b\n1,5;"0,25"\nNA;"3"\n'))
    np.testing.assert_array_equal(frame, [[1.5, 0.25], [np.nan, 3]])


def test_floats_are_read_to_the_last_digit(tmp_path):
    values = np.random.default_rng(0).standard_normal(1000) * 10.0 ** np.arange(-500, 500).clip(-300, 300)
    for text in ("a,b\n{},1\n", "a;b\n{};1\n"):
        head, row = text.splitlines()
        rows = [row.format(repr(float(value)).replace(".", "," if ";" in row else ".")) for value in values]
        frame = read_table(write(tmp_path, "\n".join([head, *rows]) + "\n"))
        np.testing.assert_array_equal(frame["a"].to_numpy(), values)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_commas_beside_decimal_points_are_refused(tmp_path, separator):
    rows = ["income;rate", *["1;2.5"] * 20_000, "1,234;3"]
    path = write(tmp_path, "\n".join(rows).replace(";", separator))
    refused(path, r"has numbers with a comma \(1,234\) and with a point \(2\.5\): write all decimals with points")


def test_dates_and_text_with_points_leave_decimal_commas_alone(tmp_path):
    frame = read_table(write(tmp_path, "day;note;a\n31.12.2024;see 1.5;2,5\n1.1.2025;v1.2;3\n"))
    np.testing.assert_array_equal(frame["a"], [2.5, 3])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("a,b\n", "column names but no rows"),
        ("a,b,a\n1,2,3\n", "more than one column called 'a'"),
        ("a,,c\n1,2,3\n", "no name for column 2"),
        ("1.5,2\n3,4\n5,6\n", "numbers for column names"),
        ("a,b\n1,2,3\n", "2 column names but 3 values"),
        ("a,b\n1,2\n3,4,5\n", "not a regular CSV table"),
        ('a,b\n1,2\n"3,4\n', "not a regular CSV table"),
        ("a,b,c\n1,2,3\n4,5,6\n7,8", "is truncated: its last line has 2 of 3 values"),
        ("a,b\nZürich,1\n".encode("latin-1"), r"not UTF-8 text \(byte 0xfc"),
        ("a,b\n1,2\n".encode("utf-16"), "not UTF-8 text"),
    ],
)
def test_damaged_csv_is_refused_on_one_line(tmp_path, content, message):
    refused(write(tmp_path, content), message)


def test_bytes_that_are_not_utf8_are_found_far_down(tmp_path):
    refused(write(tmp_path, b"a,b\n" + b"1,2\n" * 100_000 + b"\xfc,2\n"), "not UTF-8")


def test_parquet_cut_short_is_refused(tmp_path):
    pd.DataFrame({"a": np.arange(1000.0)}).to_parquet(tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    for cut in (len(whole) // 2, len(whole) - 4, 3):
        refused(write(tmp_path, whole[:cut], "cut.parquet"), "not a whole Parquet file")
    refused(write(tmp_path, whole[:100] + bytes(200) + whole[300:], "hole.parquet"), "not a whole Parquet file")


def test_parquet_with_repeated_names_or_no_rows_is_refused(tmp_path):
    column = pa.array([1.0])
    pq.write_table(pa.table([column, column], names=["a", "a"]), tmp_path / "twice.parquet")
    refused(tmp_path / "twice.parquet", "more than one column called 'a'")
    pd.DataFrame({"a": []}).to_parquet(tmp_path / "rows.parquet")
    refused(tmp_path / "rows.parquet", "no rows")


def test_what_is_no_table_is_refused(tmp_path):
    refused(tmp_path / "absent.csv", "does not exist")
    refused(tmp_path, "is a folder")
    refused(write(tmp_path, "x", "table.xls"), r"extension '\.xls': save the table as \.csv, .* or \.xlsm")


def refused(path, message):
    with pytest.raises(InputError, match=message) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)

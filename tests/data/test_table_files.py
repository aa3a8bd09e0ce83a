"""Files as users have them: what is read, and the one line that refuses the rest."""

import gzip
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heteroscope.core.errors import InputError, TableWarning
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
    monkeypatch.setattr("heteroscope.data.text_tables._CHUNK_ROWS", 10)
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
        ("1.5,2\n3,4\n5,6\n", "numbers for column names"),
        ("a,b\n1,2,3\n", "2 column names but 3 values"),
        ("a,b\n1,2\n3,4,5\n", r"not a regular CSV table \(line 3 has 3 values, and there are 2 columns\)"),
        ('a,b\n1,2\n"3,4\n', "not a regular CSV table"),
        ("a,b,c\n1,2,3\n4,5,6\n7,8", "is truncated: its last line has 2 of 3 values"),
        (b"a,b\nZ\x81rich,1\n", r"is no text \(byte 0x81\)"),
        ("a,b\n1,2\n".encode("utf-16-le"), "is no text"),
    ],
)
def test_damaged_csv_is_refused_on_one_line(tmp_path, content, message):
    refused(write(tmp_path, content), message)


def test_other_encodings_are_read_windows_with_a_warning(tmp_path):
    text = "Straße,b\n" + "1,2\n" * 100_000 + "3,Zürich\n"
    utf = read_table(write(tmp_path, text))
    pd.testing.assert_frame_equal(read_table(write(tmp_path, text.encode("utf-16"))), utf)
    with pytest.warns(TableWarning, match="not UTF-8 text and is read as Windows-1252"):
        found = read_table(write(tmp_path, text.encode("cp1252")))
    pd.testing.assert_frame_equal(found, utf)


def test_repeated_and_absent_names_become_those_of_pandas_with_a_warning(tmp_path):
    path = write(tmp_path, "a,b,,a,,a\n1,2,3,4,,6\n1,2,3,4,,6\n")
    with pytest.warns(TableWarning) as warned:
        found = read_table(path)
    assert found.columns.tolist() == ["a", "b", "Unnamed: 2", "a.1", "a.2"]
    assert set(found.columns) < set(pd.read_csv(path).columns)
    assert found.to_numpy().tolist() == [[1, 2, 3, 4, 6]] * 2
    assert [str(one.message).split(": ", 1)[1] for one in warned] == [
        "the later ones are called 'a.1', 'a.2'",
        "they are called 'Unnamed: 2'",
    ]


@pytest.mark.parametrize("above", ["Report\n", "# exported, by me\n# in 2024\n", "Report;1\n\n"])
def test_lines_above_the_names_are_left_out_with_a_warning(tmp_path, above):
    for separator in ";|\t":
        rows = "size,town,price\n1,x,2\n3,y,4\n".replace(",", separator)
        with pytest.warns(TableWarning, match="above the column names 'size', 'town', 'price'"):
            found = read_table(write(tmp_path, above.replace(";", separator) + rows))
        assert found["price"].tolist() == [2, 4]


def test_numbers_are_found_whatever_people_write_for_gaps_and_thousands(tmp_path):
    rows = [
        "gap;german;signed;plain;swiss;word",
        "1,5;1.234,50;1.234,50 €;1.5.2024;1'200;-",
        "-;-;0,25 €;2.5.2024;15;a",
        "n.a.;12;-;3.5.2024;2'300'400,5;b",
    ]
    found = read_table(write(tmp_path, "\n".join(rows)))
    np.testing.assert_array_equal(found["gap"], [1.5, np.nan, np.nan])
    np.testing.assert_array_equal(found["german"], [1234.5, np.nan, 12])
    assert found["signed"].fillna("gap").tolist() == ["1234.50 €", "0.25 €", "gap"]
    assert found["plain"].tolist() == ["1.5.2024", "2.5.2024", "3.5.2024"]
    np.testing.assert_array_equal(found["swiss"], [1200, 15, 2300400.5])
    assert found["word"].tolist() == ["-", "a", "b"]


@pytest.mark.parametrize(("cells", "is_number"), [(["1,234", "5,678"], False), (["1,234,567", "8,901"], True)])
def test_commas_are_thousands_only_where_they_can_be_nothing_else(tmp_path, cells, is_number):
    found = read_table(write(tmp_path, "a,b\n" + "".join(f'"{cell}",1\n' for cell in cells)))["a"]
    assert found.tolist() == ([float(cell.replace(",", "")) for cell in cells] if is_number else cells)


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


def test_packed_text_tabs_and_an_open_file_give_the_same_frame(tmp_path):
    frame = pd.DataFrame({"a": [1.5, -2.25], "size, in m": ["x", "007"]})
    frame.to_csv(tmp_path / "t.csv.gz", index=False)
    frame.to_csv(tmp_path / "t.tsv", sep="\t", index=False)
    frame.to_csv(tmp_path / "T.TSV.GZ", sep="\t", index=False, compression="gzip")
    for name in ("t.csv.gz", "t.tsv", "T.TSV.GZ"):
        pd.testing.assert_frame_equal(read_table(tmp_path / name), frame)
    pd.testing.assert_frame_equal(read_table(io.BytesIO(frame.to_csv(index=False).encode())), frame)
    with pytest.raises(InputError, match="standard input is empty"):
        read_table(io.BytesIO())


@pytest.mark.parametrize("damage", [lambda b: b[:-9], lambda b: b"x" + b, lambda b: b[:20] + bytes(9) + b[29:]])
def test_damaged_packed_text_is_refused(tmp_path, damage):
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 100)
    refused(write(tmp_path, damage(whole), "t.csv.gz"), r"t\.csv\.gz is not a whole gzip file")


def test_quoted_decimal_commas_and_thousands_are_read_by_choice(tmp_path):
    path = write(tmp_path, 'a,b\n"1.003,5",x\n"4,25",y\n5,z\n')
    np.testing.assert_array_equal(read_table(path, decimal=",", thousands=".")["a"], [1003.5, 4.25, 5])
    np.testing.assert_array_equal(read_table(write(tmp_path, "a;b\n1,003.5;2\n"), thousands=",")["a"], [1003.5])
    for settings, message in (
        ({"decimal": "x"}, "no decimal sign"),
        ({"decimal": ",", "thousands": ","}, "cannot separate thousands"),
        ({"sheet": "a"}, "is for Excel files"),
    ):
        with pytest.raises(InputError, match=message):
            read_table(path, **settings)
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="decimal=',' is for text files"):
        read_table(tmp_path / "t.parquet", decimal=",")


def test_excel_is_read_as_text_files_are(tmp_path):
    day = pd.to_datetime(["2024-05-31", None, "2024-06-01"])
    frame = pd.DataFrame(
        {"a": [1.5, np.nan, 3], "n": [1, 2, 3], "size": [38, "L", 40.0], "day": day, "code": ["01", "2", "3"]}
    )
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        frame.to_excel(book, sheet_name="rows", index=False, startrow=2)
        pd.DataFrame({"other": [1]}).to_excel(book, sheet_name="more", index=False)
    with pytest.warns(TableWarning, match=r"the sheets 'rows', 'more': 'rows' is read"):
        found = read_table(tmp_path / "t.xlsx")
    assert found["size"].tolist() == ["38", "L", "40"]
    pd.testing.assert_frame_equal(found.drop(columns="size"), frame.drop(columns="size"), check_dtype=False)
    assert found.dtypes[["a", "n"]].tolist() == [np.float64, np.int64]
    assert read_table(tmp_path / "t.xlsx", sheet="more")["other"].tolist() == [1]
    with pytest.raises(InputError, match="has no sheet 'x': choose one of 'rows', 'more'"):
        read_table(tmp_path / "t.xlsx", sheet="x")


def test_excel_labels_empty_columns_and_headers(tmp_path):
    rows = [[None, "a", None, "b"], ["u", 1, None, 2], ["v", 3, None, 4]]
    pd.DataFrame(rows).to_excel(tmp_path / "t.xlsx", index=False, header=False)
    found = read_table(tmp_path / "t.xlsx")
    assert (list(found.columns), list(found.index)) == (["a", "b"], ["u", "v"])
    rows = [["Report", None, None, None], ["a", "a", None, "gap"], [1, 2, 5, "-"], [3, 4, 6, 7]]
    pd.DataFrame(rows).to_excel(tmp_path / "twice.xlsx", index=False, header=False)
    with pytest.warns(TableWarning, match="the first line above|more than once|without a name"):
        found = read_table(tmp_path / "twice.xlsx")
    assert found.columns.tolist() == ["a", "a.1", "Unnamed: 2", "gap"]
    np.testing.assert_array_equal(found.to_numpy(float), [[1, 2, 5, np.nan], [3, 4, 6, 7]])
    pd.DataFrame([["a", "b"]]).to_excel(tmp_path / "rows.xlsx", index=False, header=False)
    refused(tmp_path / "rows.xlsx", "no rows")
    refused(write(tmp_path, b"PK\x03\x04 not a workbook", "cut.xlsx"), "not a whole Excel file")


def test_without_openpyxl_one_line_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("heteroscope.data.excel_tables.find_spec", lambda _: None)
    refused(write(tmp_path, "x", "t.xlsx"), r'needs openpyxl: pip install "heteroscope\[excel\]", or use a \.csv file')


def test_what_is_no_table_is_refused(tmp_path):
    refused(tmp_path / "absent.csv", "does not exist")
    refused(tmp_path, "is a folder")
    refused(write(tmp_path, "x", "table.xls"), r"extension '\.xls': save the table as \.csv, .* or \.xlsm")


def refused(path, message):
    with pytest.raises(InputError, match=message) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)

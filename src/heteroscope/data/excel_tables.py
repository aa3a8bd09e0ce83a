"""Read one sheet of an Excel file as a DataFrame, by the rules for text files."""

import warnings
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from pandas.api.types import infer_dtype

from heteroscope.core import InputError, TableWarning, error_text
from heteroscope.data.column_words import listing
from heteroscope.data.table_headers import MOST_LINES, header_place, refuse_numbers, unique_names, warn_of_lines_above
from heteroscope.data.text_numbers import GAP_WORDS, read_numbers


def read_excel_table(path: Path, sheet: str | None) -> pd.DataFrame:
    """Read a sheet; raise an `InputError` if the file is damaged or has no regular header.

    Columns of numbers and words become text, as in a text file. Rows above the header, and empty columns without a
    name, are left out.

    Parameters
    ----------
    path : Path
        The file.
    sheet : str or None
        The name of the sheet; None is the first.

    Returns
    -------
    pandas.DataFrame
    """
    require_openpyxl(path)
    try:
        with pd.ExcelFile(path, engine="openpyxl") as book:
            cells = book.parse(_choose_sheet(path, book, sheet), header=None, dtype=object)
    except InputError:
        raise
    except Exception as error:  # a damaged archive makes openpyxl raise whatever its parsers do
        raise InputError(f"{path} is not a whole Excel file ({error_text(error)}): save it again") from error
    filled = cells.notna().any(axis=1).to_numpy().nonzero()[0]
    if not len(filled):
        raise InputError(f"{path} is empty: write the table to it again")
    cells = cells.iloc[filled[0] : filled[-1] + 1].reset_index(drop=True)
    texts = [["" if pd.isna(cell) else str(cell) for cell in cells.iloc[k]] for k in range(min(MOST_LINES, len(cells)))]
    place = header_place(texts)
    header, body = texts[place], cells.iloc[place + 1 :].reset_index(drop=True)
    warn_of_lines_above(str(path), header, place)
    refuse_numbers(str(path), header)
    names = unique_names(str(path), header, body.notna().any().tolist())
    if names[0] == "" and not body.iloc[:, 0].notna().any():
        names, body = names[1:], body.iloc[:, 1:]
    columns = {name: _column(body.iloc[:, k]) for k, name in enumerate(names) if name or not k}
    frame = pd.DataFrame(columns)
    if frame.empty:
        raise InputError(f"{path} has column names but no rows: write the table to it again")
    return frame if names[0] else frame.set_index(frame.columns[0]).rename_axis(index=None)


def require_openpyxl(path: Path) -> None:
    """Raise an `InputError` if openpyxl, which pandas needs for Excel files, is not installed."""
    if find_spec("openpyxl") is None:
        raise InputError(
            f'{path} is an Excel file, which needs openpyxl: pip install "heteroscope[excel]", or use a .csv file'
        )


def _choose_sheet(path: Path, book: pd.ExcelFile, sheet: str | None) -> str:
    """Return the sheet of this name, or the first one."""
    names = [str(name) for name in book.sheet_names]
    if sheet is not None and sheet not in names:
        raise InputError(f"{path} has no sheet {sheet!r}: choose one of {listing(names)}")
    if sheet is None and len(names) > 1:
        warnings.warn(
            f"{path} has the sheets {listing(names)}: {names[0]!r} is read, another one by its name", TableWarning, 4
        )
    return sheet or names[0]


def _column(series: pd.Series) -> pd.Series:
    """Return a column of cells as numbers, dates or truth values if all but words for gaps are such, else as text."""
    words = series.map(lambda cell: isinstance(cell, str) and cell.strip().casefold() in GAP_WORDS).astype(bool)
    others = series.where(~words, None)
    kind = infer_dtype(others, skipna=True)
    if kind in ("mixed", "mixed-integer", "string", "empty"):
        texts = series.map(lambda cell: str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell))
        return read_numbers(texts.where(series.notna(), None))
    return others.infer_objects()

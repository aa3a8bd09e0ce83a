"""Write results to files, and check before the work that they can be written."""

import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from heteroscope.core import InputError, atomic_write, make_folder

if TYPE_CHECKING:
    import pandas as pd


#: Ends of the names of files that `write_table` writes.
WRITABLE = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".xlsx")

CELL_BYTES = 100  # at most, of a number in an Excel sheet before it is compressed


def write_table(frame: "pd.DataFrame", path: Path | None) -> None:
    """Write a table as the name of `path` ends, see `WRITABLE`, or as CSV to standard output if it is None.

    Row labels are written if the table has any.
    """
    import pandas as pd

    name = "" if path is None else path.name.lower()
    labelled = not isinstance(frame.index, pd.RangeIndex)
    if path is None:
        frame.to_csv(sys.stdout, index=labelled)
        return
    make_folder(path.parent)
    with atomic_write(path) as partial:
        if name.endswith(".parquet"):
            frame.to_parquet(partial, index=labelled)
        elif name.endswith(".xlsx"):
            _check_room_for_sheet(frame)
            book = io.BytesIO()  # in memory first: on a full disk the archive would fail once more when it is discarded
            frame.to_excel(book, index=labelled, engine="openpyxl")
            partial.write_bytes(book.getvalue())
        else:
            separator = "\t" if name.endswith((".tsv", ".tsv.gz")) else ","
            if name.endswith(".gz"):
                frame.to_csv(partial, index=labelled, sep=separator, compression="gzip")
            else:
                frame.to_csv(partial, index=labelled, sep=separator, compression=None)


def _check_room_for_sheet(frame: "pd.DataFrame") -> None:
    """Raise an error if the temporary folder, where Excel sheets are put together, is too full."""
    folder = tempfile.gettempdir()
    if shutil.disk_usage(folder).free < CELL_BYTES * frame.size:
        raise InputError(f"{folder} has no room to put an Excel file together: write .csv, or set TMPDIR")


def write_text(text: str, path: Path) -> None:
    """Write text as UTF-8, replacing the file only when all of it is written."""
    with atomic_write(path) as partial:
        partial.write_text(text, encoding="utf-8")


def refuse_unwritable(path: Path, option: str = "--out") -> None:
    """Raise an error if `path` cannot be written, so that no work is lost at its end."""
    parent = path.resolve().parent
    while not parent.exists():
        parent = parent.parent
    try:
        with tempfile.TemporaryFile(dir=parent):
            pass
    except OSError as error:
        reason = "is a file" if parent.is_file() else f"cannot be written to ({error.strerror})"
        raise InputError(f"{parent} {reason}: name another place with {option}") from error

"""Data of the user: rows in memory and their scaling, tables in files and their columns, streams on disk."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from heteroscope.data.bends import Bends
from heteroscope.data.rows import Batch, Rows, merge_rows
from heteroscope.data.scaling import ROUNDING, SCALING_PARTS, Scaling
from heteroscope.data.streams import open_stream, repack
from heteroscope.data.streams.batches import MOST_BATCHES, Chunk, RowOrder, read_ahead, read_chunks
from heteroscope.data.streams.npy_files import NpyFile, NpyStream
from heteroscope.data.streams.stream import Stream, read_checked, refuse_changed_files
from heteroscope.data.streams.surveying import Survey, draw_rows, survey_stream

if TYPE_CHECKING:
    from heteroscope.data.date_columns import Dates
    from heteroscope.data.excel_tables import require_openpyxl
    from heteroscope.data.table_encoder import Missing, TableEncoder, rows_with_target
    from heteroscope.data.table_files import EXTENSIONS, is_table, read_table
    from heteroscope.data.table_look import look_at_table

__all__ = [
    "EXTENSIONS",
    "MOST_BATCHES",
    "ROUNDING",
    "SCALING_PARTS",
    "Batch",
    "Bends",
    "Chunk",
    "Dates",
    "Missing",
    "NpyFile",
    "NpyStream",
    "RowOrder",
    "Rows",
    "Scaling",
    "Stream",
    "Survey",
    "TableEncoder",
    "draw_rows",
    "is_table",
    "look_at_table",
    "merge_rows",
    "open_stream",
    "read_ahead",
    "read_checked",
    "read_chunks",
    "read_table",
    "refuse_changed_files",
    "repack",
    "require_openpyxl",
    "rows_with_target",
    "survey_stream",
]

# Import what needs pandas at its first use: every worker process imports this package, and none of them reads tables.
_HOMES = {
    "Dates": "heteroscope.data.date_columns",
    "EXTENSIONS": "heteroscope.data.table_files",
    "Missing": "heteroscope.data.table_encoder",
    "TableEncoder": "heteroscope.data.table_encoder",
    "is_table": "heteroscope.data.table_files",
    "look_at_table": "heteroscope.data.table_look",
    "read_table": "heteroscope.data.table_files",
    "require_openpyxl": "heteroscope.data.excel_tables",
    "rows_with_target": "heteroscope.data.table_encoder",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'heteroscope.data' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)

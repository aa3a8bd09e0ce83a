"""Rows in memory and on disk: tables, their columns and units, and streams."""

from heteroscope.data.rows import Batch, Rows, merge_rows
from heteroscope.data.scaling import ROUNDING, Scaling
from heteroscope.data.streams import open_stream, repack
from heteroscope.data.streams.batches import MOST_BATCHES, Chunk, RowOrder, read_ahead, read_chunks
from heteroscope.data.streams.npy_files import NpyFile, NpyStream
from heteroscope.data.streams.stream import Stream, read_checked, refuse_changed_files
from heteroscope.data.streams.surveying import Survey, draw_rows, survey_stream
from heteroscope.data.table_encoder import Missing, TableEncoder, read_table

__all__ = [
    "MOST_BATCHES",
    "ROUNDING",
    "Batch",
    "Chunk",
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
    "merge_rows",
    "open_stream",
    "read_ahead",
    "read_checked",
    "read_chunks",
    "read_table",
    "refuse_changed_files",
    "repack",
    "survey_stream",
]

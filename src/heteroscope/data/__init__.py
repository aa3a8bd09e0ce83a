"""Rows in memory and on disk: tables, their columns and units, and streams."""

from heteroscope.data.rows import Batch, Rows, batch_rows, merge_rows, step_count
from heteroscope.data.scaling import ROUNDING, Scaling
from heteroscope.data.streams import open_stream, repack
from heteroscope.data.streams.batches import MOST_BATCHES, Chunk, Order, ahead, chunks
from heteroscope.data.streams.npy_files import NpyFile, NpyStream
from heteroscope.data.streams.stream import Stream, checked_read, refuse_changes
from heteroscope.data.streams.surveying import Survey, draw_rows, survey
from heteroscope.data.table_encoder import Missing, TableEncoder, read_table

__all__ = [
    "MOST_BATCHES",
    "ROUNDING",
    "Batch",
    "Chunk",
    "Missing",
    "NpyFile",
    "NpyStream",
    "Order",
    "Rows",
    "Scaling",
    "Stream",
    "Survey",
    "TableEncoder",
    "ahead",
    "batch_rows",
    "checked_read",
    "chunks",
    "draw_rows",
    "merge_rows",
    "open_stream",
    "read_table",
    "refuse_changes",
    "repack",
    "step_count",
    "survey",
]

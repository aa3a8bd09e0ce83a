"""Data larger than memory: one small interface to Parquet, `.npy`, Zarr and NetCDF files, read in shuffled blocks."""

from heteroscope.data.streams.opening import open_stream, repack
from heteroscope.data.streams.stream import Stream

__all__ = ["Stream", "open_stream", "repack"]

"""A Zarr store or NetCDF file as a stream: variables along one common first dimension, the rows."""

from collections.abc import Hashable
from pathlib import Path

import numpy as np
import xarray as xr
from jaxtyping import Float

from heteroscope.core import InputError, error_text
from heteroscope.data.streams.stream import NETCDF_SUFFIXES, Stream


class XarrayStream(Stream):
    """One Zarr store or NetCDF file. `target` is a variable with one dimension, and this dimension counts the rows.

    The features are the variables in `features`, or else all other variables whose first dimension counts the rows,
    sorted by name (a Zarr store has no order of its own). A variable with a second dimension gives one column for each
    of its positions, called name_0, name_1 and so on.
    """

    def __init__(self, path: str | Path, target: str, features: tuple[str, ...] | None = None) -> None:
        self.path = Path(path).absolute()
        with _opened(self.path) as data:
            if target not in data or data[target].ndim != 1:
                known = ", ".join(str(name) for name in data.data_vars)
                raise InputError(f"{path} has no one-dimensional variable {target!r}: its variables are {known}")
            rows = data[target].dims[0]
            others = sorted(str(name) for name in data.data_vars if name != target)
            names = features or tuple(name for name in others if data[name].dims[:1] == (rows,))
            self._widths = {name: _width(self.path, data, name, rows) for name in names}
            self.n_rows = data.sizes[rows]
        self.target_name = target
        self.feature_names = tuple(
            column
            for name, width in self._widths.items()
            for column in ([name] if width is None else [f"{name}_{k}" for k in range(width)])
        )
        if self.n_rows == 0 or not self.feature_names:
            raise InputError(f"{path} has no rows or no features along {rows!r}: write it again")

    def files(self) -> list[Path]:
        """Return the NetCDF file, or all files of the Zarr store."""
        if self.path.is_dir():
            return sorted(path for path in self.path.rglob("*") if path.is_file())
        return [self.path]

    def read(self, first: int, stop: int) -> tuple[Float[np.ndarray, "row feature"], Float[np.ndarray, " row"]]:
        """Read rows first, ..., stop - 1 of all variables, side by side."""
        with _opened(self.path) as data:
            try:
                parts = [np.asarray(data[name][first:stop].values) for name in (*self._widths, self.target_name)]
            except (OSError, RuntimeError, ValueError) as error:
                message = f"{self.path} cannot be read at row {first:,} ({error_text(error)}): write it again"
                raise InputError(message) from error
        kind = np.float32 if all(part.dtype == np.float32 for part in parts) else np.float64
        columns = [part.astype(kind).reshape(len(part), -1) for part in parts]
        return np.hstack(columns[:-1]), columns[-1][:, 0]


def _opened(path: Path) -> xr.Dataset:
    """Open the data without reading any values; done anew for every block, so that no mapped page stays in memory."""
    if not path.exists():
        raise InputError(f"{path} does not exist: check the name, or give the full path")
    try:
        if path.suffix.lower() in NETCDF_SUFFIXES:
            return xr.open_dataset(path, decode_times=False, cache=False)
        return xr.open_zarr(path, chunks=None, consolidated=False, decode_times=False)
    except (OSError, KeyError, ValueError, TypeError) as error:
        hint = "; NetCDF-4 needs `pip install 'heteroscope[netcdf]'`" if path.suffix.lower() in NETCDF_SUFFIXES else ""
        raise InputError(f"{path} cannot be opened ({error_text(error):.120}): write it again{hint}") from error


def _width(path: Path, data: xr.Dataset, name: str, rows: Hashable) -> int | None:
    """Return the number of columns of a variable, or None for one without a second dimension."""
    if name not in data or data[name].dims[:1] != (rows,) or data[name].ndim > 2 or data[name].dtype.kind not in "fiub":
        raise InputError(f"{path} has no variable {name!r} of numbers with one or two dimensions, the first {rows!r}")
    return None if data[name].ndim == 1 else int(data[name].shape[1])

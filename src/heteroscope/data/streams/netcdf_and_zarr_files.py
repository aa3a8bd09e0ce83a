"""Zarr and NetCDF as streams: variables along one common first dimension, a column or several each."""

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from heteroscope.core import InputError, error_text
from heteroscope.data.streams.stream import Stream

NETCDF = (".nc", ".nc4", ".cdf")


class XarrayStream(Stream):
    """One Zarr store or NetCDF file: `target` is a variable of one dimension, rows run along it.

    Features are all other variables that begin with this dimension, by name (a Zarr store has no order of its own),
    unless `features` lists them; one with a second dimension gives as many columns, called name_0, name_1 and so on.
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
        """The file, or every file of the store."""
        if self.path.is_dir():
            return sorted(path for path in self.path.rglob("*") if path.is_file())
        return [self.path]

    def read(self, first: int, stop: int) -> tuple[Float[np.ndarray, "row feature"], Float[np.ndarray, " row"]]:
        """The rows of every variable side by side."""
        with _opened(self.path) as data:
            try:
                parts = [np.asarray(data[name][first:stop].values) for name in (*self._widths, self.target_name)]
            except (OSError, RuntimeError, ValueError) as error:
                said = f"{self.path} cannot be read at row {first:,} ({error_text(error)}): write it again"
                raise InputError(said) from error
        kind = np.float32 if all(part.dtype == np.float32 for part in parts) else np.float64
        columns = [part.astype(kind).reshape(len(part), -1) for part in parts]
        return np.hstack(columns[:-1]), columns[-1][:, 0]


def _opened(path: Path) -> xr.Dataset:
    """The file with nothing of it in memory yet; opened anew for every block, so that no mapped page stays."""
    if not path.exists():
        raise InputError(f"{path} does not exist: check the name, or give the full path")
    try:
        if path.suffix.lower() in NETCDF:
            return xr.open_dataset(path, decode_times=False, cache=False)
        return xr.open_zarr(path, chunks=None, consolidated=False, decode_times=False)
    except (OSError, KeyError, ValueError, TypeError) as error:
        hint = "; NetCDF-4 needs `pip install 'heteroscope[netcdf]'`" if path.suffix.lower() in NETCDF else ""
        raise InputError(f"{path} cannot be opened ({error_text(error):.120}): write it again{hint}") from error


def _width(path: Path, data: xr.Dataset, name: str, rows: Any) -> int | None:
    """The columns of a variable, None for one without a second dimension."""
    if name not in data or data[name].dims[:1] != (rows,) or data[name].ndim > 2 or data[name].dtype.kind not in "fiub":
        raise InputError(f"{path} has no variable {name!r} of numbers with one or two dimensions, the first {rows!r}")
    return None if data[name].ndim == 1 else int(data[name].shape[1])

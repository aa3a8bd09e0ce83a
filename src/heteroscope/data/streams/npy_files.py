"""A pair of `.npy` files, inputs and targets, as a stream.

Rows are read with ordinary reads, not through a memory map: mapped pages count as the program's own memory, and if a
mapped file shrinks, the program is killed without a message.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heteroscope.core import InputError, error_text
from heteroscope.data.streams.stream import Stream


class NpyFile(NamedTuple):
    """The header of a `.npy` file, and the offset in bytes of its first row."""

    path: Path
    n_rows: int
    n_columns: int
    dtype: np.dtype
    offset: int

    @classmethod
    def open(cls, path: str | Path) -> "NpyFile":
        """Read the header; raise an `InputError` if the file is absent, damaged, or shorter than its header says."""
        path = Path(path)
        try:
            with path.open("rb") as file:
                version = np.lib.format.read_magic(file)
                header = (
                    np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                )
                shape, by_column, dtype = header(file)
                offset = file.tell()
        except FileNotFoundError as error:
            raise InputError(f"{path} does not exist: check the name, or give the full path") from error
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror}): check the file") from error
        except ValueError as error:
            raise InputError(f"{path} is no .npy file ({error_text(error)}): write it again") from error
        if dtype.kind not in "fiu" or len(shape) not in (1, 2):
            raise InputError(f"{path} holds {dtype} of shape {shape}: a stream takes numbers in one or two dimensions")
        if by_column and len(shape) == 2 and min(shape) > 1:
            raise InputError(
                f"{path} is stored by columns: save numpy.ascontiguousarray of it, so that rows can be read"
            )
        found = cls(path.absolute(), shape[0], shape[1] if len(shape) == 2 else 1, dtype, offset)
        size, wanted = path.stat().st_size, offset + found.n_rows * found.n_columns * dtype.itemsize
        if size < wanted:
            raise InputError(f"{path} is truncated: it has {size:,} of {wanted:,} bytes; copy or download it again")
        return found

    def read(self, first: int, stop: int) -> np.ndarray:
        """Read rows first, ..., stop - 1 as a two-dimensional array."""
        width = self.n_columns * self.dtype.itemsize
        try:
            with self.path.open("rb", buffering=0) as file:
                file.seek(self.offset + first * width)
                content = bytearray((stop - first) * width)
                view, filled = memoryview(content), 0
                while filled < len(content) and (n_read := file.readinto(view[filled:])):
                    filled += n_read
        except OSError as error:
            raise InputError(f"{self.path} cannot be read ({error.strerror}): check the file, and run again") from error
        if filled < len(content):
            row = first + filled // width
            raise InputError(f"{self.path} ends at row {row:,} of {self.n_rows:,}: copy or download it again")
        return np.frombuffer(content, self.dtype).reshape(stop - first, self.n_columns)


class NpyStream(Stream):
    """All columns of `inputs` and one column of `targets`, chosen by its number or by its name among `target_names`."""

    named = False

    def __init__(
        self,
        inputs: str | Path,
        targets: str | Path,
        target: str | int | None = 0,
        feature_names: tuple[str, ...] | None = None,
        target_names: tuple[str, ...] | None = None,
    ) -> None:
        self._inputs, self._targets = NpyFile.open(inputs), NpyFile.open(targets)
        if self._inputs.n_rows != self._targets.n_rows:
            raise InputError(
                f"{inputs} has {self._inputs.n_rows:,} rows and {targets} has {self._targets.n_rows:,}: they must be "
                "the inputs and targets of the same rows"
            )
        for file, names in ((self._inputs, feature_names), (self._targets, target_names)):
            if names is not None and len(names) != file.n_columns:
                raise InputError(f"{file.path} has {file.n_columns} columns, not {len(names)}: is it the right file?")
        self.n_rows = self._inputs.n_rows
        if self.n_rows == 0:
            raise InputError(f"{inputs} has no rows: write it again")
        self.feature_names = feature_names or tuple(f"x{k}" for k in range(self._inputs.n_columns))
        names = target_names or tuple(f"y{k}" for k in range(self._targets.n_columns))
        self._column = _column(target, names, Path(targets))
        self.target_name = names[self._column]

    def files(self) -> list[Path]:
        """Return the two files."""
        return [self._inputs.path, self._targets.path]

    def read(self, first: int, stop: int) -> tuple[Float[np.ndarray, "row feature"], Float[np.ndarray, " row"]]:
        """Read rows first, ..., stop - 1 of both files."""
        x, y = self._inputs.read(first, stop), self._targets.read(first, stop)[:, self._column]
        return _as_float(x), _as_float(y)


def _column(target: str | int | None, names: tuple[str, ...], path: Path) -> int:
    """Return the number of the target's column; None is allowed if there is only one."""
    if target in names:
        return names.index(target)
    if isinstance(target, int) and not isinstance(target, bool) and 0 <= target < len(names):
        return target
    if target is None and len(names) == 1:
        return 0
    known = ", ".join(names[-8:])
    raise InputError(f"{path} has no target {target!r}: choose one of its {len(names)} columns, such as {known}")


def _as_float(values: np.ndarray) -> np.ndarray:
    """Return integers as float64, and floats as they are."""
    return values if values.dtype.kind == "f" else values.astype(np.float64)

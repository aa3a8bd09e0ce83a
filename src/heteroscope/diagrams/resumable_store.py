"""Store a diagram on disk while it is trained: a Zarr store in a folder, one chunk of every variable per tile.

Only one process writes at a time. A tile counts once its mark in `done` is set, which is written last. A tile that a
killed run left without its mark is trained and written again.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import xarray as xr
import zarr
from jaxtyping import Int8

from heteroscope.core import Identity, InputError, Status, as_json, exclusive_folder, refuse_other_settings
from heteroscope.diagrams.dataset import CELL, PHASES

NAME, ROUNDS = "diagram.zarr", "rounds"  # in the folder of a sweep: its diagram, and what rounds keep for the next
# Phases and statuses are stored as their index in these lists.
CODES = {"phase": [str(phase) for phase in PHASES], "status": [str(status) for status in Status]}
ABSENT = -1  # code of a cell that is not trained yet
ZARR_FORMAT: Literal[2] = 2  # every reader of Zarr knows it, and its strings need no extension

Tile = tuple[int, int]  # (index of rho, index of seed); a tile holds every gamma


@runtime_checkable
class StoredArray(Protocol):
    """An array of NumPy or Zarr that is read and written by slices."""

    def __getitem__(self, selection: Any, /) -> Any: ...

    def __setitem__(self, selection: Any, value: Any, /) -> None: ...


class DiagramStore:
    """The arrays of a diagram that tiles are written into, and which tiles are done."""

    def __init__(self, arrays: Mapping[str, StoredArray]) -> None:
        self._arrays = arrays
        self.done = np.asarray(arrays["done"][:]).astype(bool)

    def read(self, name: str, seed: int, row: int | slice = slice(None)) -> np.ndarray:
        """Return one variable of one seed, for all rhos or for one."""
        return np.asarray(self._arrays[name][row, :, seed])

    def add(self, tile: Tile, values: Mapping[str, np.ndarray]) -> None:
        """Write one tile, gamma along the first axis of every value; then mark it as done."""
        row, seed = tile
        for name, value in values.items():
            self._arrays[name][row, :, seed] = value
        self._arrays["done"][row, seed] = True
        self.done[row, seed] = True


def encode_words(name: str, words: Sequence[str]) -> Int8[np.ndarray, "_"]:
    """Return phases or statuses as small integers, as files hold them; "" is a cell that is not trained yet."""
    return np.array([CODES[name].index(word) if word else ABSENT for word in words], np.int8)


def empty_codes(name: str, shape: tuple[int, ...]) -> xr.Variable:
    """Return the phases or statuses of an untrained diagram, with the meaning of the codes (CF's flags)."""
    meanings = " ".join(word.replace(" ", "_") for word in CODES[name])
    flags = {"flag_values": list(range(len(CODES[name]))), "flag_meanings": meanings}
    return xr.Variable(CELL, np.full(shape, ABSENT, np.int8), flags)


def decode_words(diagram: xr.Dataset) -> xr.Dataset:
    """Return the diagram with phases and statuses as words, "" where there is none yet."""
    decoded = diagram.drop_vars("done", errors="ignore")
    for name, words in CODES.items():
        decoded[name] = (CELL, np.array([*words, ""])[diagram[name].values])
    return decoded


@contextmanager
def open_store(folder: Path, template: xr.Dataset, settings: Identity) -> Iterator[DiagramStore]:
    """Open the store of a diagram in `folder`: create it from `template`, or resume one with the same `settings`."""
    path = folder / NAME
    try:
        with exclusive_folder(folder):
            if path.exists():
                _refuse_other_settings(path, settings)
            else:
                _create(path, template, settings)
            group = zarr.open_group(path, mode="r+", zarr_format=ZARR_FORMAT, use_consolidated=False)
            yield DiagramStore({str(name): group[name] for name in [*template.data_vars, "done"]})
    except OSError as error:
        raise InputError(
            f"{folder} cannot be written to ({error.strerror or error}); what was finished is kept: "
            "make room or choose another folder, and run the same again"
        ) from error


def open_round(folder: Path, number: int, shape: tuple[int, int, int], n_weights: int) -> DiagramStore:
    """Open or create in `folder` what one round keeps for the next: see `exchange.summarise_round`.

    `shape` is that of the diagram's cells. The caller holds the lock of the folder.
    """
    path = folder / ROUNDS / f"round-{number}.zarr"
    if not path.exists():
        partial = path.with_name(f".{path.name}.part")
        shutil.rmtree(partial, ignore_errors=True)
        group = zarr.open_group(partial, mode="w", zarr_format=ZARR_FORMAT)
        n_rhos, n_gammas, n_seeds = shape
        for name, last, kind in (("weights", (n_weights,), "f4"), ("objective_terms", (3,), "f8"), ("steps", (), "i4")):
            group.create_array(name, shape=(*shape, *last), chunks=(1, n_gammas, 1, *last), dtype=kind)
        group.create_array("done", shape=(n_rhos, n_seeds), chunks=(1, 1), dtype="bool")
        partial.rename(path)
    group = zarr.open_group(path, mode="r+", zarr_format=ZARR_FORMAT)
    return DiagramStore({name: group[name] for name in ("weights", "objective_terms", "steps", "done")})


def remove_rounds(folder: Path) -> None:
    """Remove the models of all rounds: a finished diagram does not need them."""
    shutil.rmtree(folder / ROUNDS, ignore_errors=True)


def open_diagram(folder: str | Path) -> xr.Dataset:
    """Read a diagram that `phase_diagram(store=folder)` or `heteroscope map` wrote, finished or not.

    Parameters
    ----------
    folder : str or Path
        The folder that the sweep writes to.

    Returns
    -------
    xarray.Dataset
        The diagram in memory; cells that are not trained yet hold NaN and the phase "".

    See Also
    --------
    phase_diagram : Train a diagram; lists the variables.
    """
    path = Path(folder) / NAME
    if not path.is_dir():
        raise InputError(f"there is no diagram in {folder}: it has no {NAME}; name the folder that a sweep wrote")
    try:
        with xr.open_zarr(path, consolidated=False, chunks=None, zarr_format=ZARR_FORMAT) as stored:
            diagram = stored.load().drop_encoding()
        del diagram.attrs["settings"]
        return decode_words(diagram)
    except (KeyError, ValueError, RuntimeError, OSError) as error:
        raise InputError(
            f"the diagram in {folder} is damaged ({error}): remove {path} and run the sweep again"
        ) from error


def _create(path: Path, template: xr.Dataset, settings: Identity) -> None:
    """Write all metadata, then rename: the store appears under its name when it is complete."""
    partial = path.with_name(f".{path.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    empty = template.copy()
    empty["done"] = (("rho", "seed"), np.zeros((template.sizes["rho"], template.sizes["seed"]), bool))
    empty.attrs["settings"] = json.dumps(as_json(settings))
    encoding = {name: {"chunks": _chunks(variable)} for name, variable in empty.data_vars.items()}
    empty.to_zarr(partial, mode="w", zarr_format=ZARR_FORMAT, consolidated=False, encoding=encoding)
    partial.rename(path)


def _chunks(variable: xr.DataArray) -> tuple[int, ...]:
    """Return chunks of one rho and one seed: a tile."""
    return tuple(1 if dim in ("rho", "seed") else size for dim, size in variable.sizes.items())


def _refuse_other_settings(path: Path, settings: Identity) -> None:
    """Raise if the store was begun with other settings, or is not a store."""
    try:
        stored = json.loads(str(zarr.open_group(path, mode="r", use_consolidated=False).attrs["settings"]))
    except (KeyError, ValueError, OSError) as error:
        raise InputError(f"{path} was not written by a sweep, or is damaged: choose another folder") from error
    refuse_other_settings(path.parent, "a diagram", stored, settings, "use these again, or choose another folder")

"""A diagram on disk while it grows: a Zarr store in a folder, one chunk of every variable a tile, one writer at a time.

A tile counts once its mark in `done` is set, which is written last; whatever a killed run leaves behind without that
mark is written again by the next.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr
import zarr
from jaxtyping import Int8

from heteroscope.core import InputError, Status, as_json, exclusive_folder, refuse_other_settings
from heteroscope.diagrams.dataset import CELL, PHASES

NAME, ROUNDS = "diagram.zarr", "rounds"
CODES = {"phase": [str(phase) for phase in PHASES], "status": [str(status) for status in Status]}
ABSENT = -1  # the code of a cell that has not been trained yet
ZARR_FORMAT: Literal[2] = 2  # what every reader of Zarr knows, and whose strings need no extension

Tile = tuple[int, int]  # row of rho and seed; a tile holds every gamma


class DiagramStore:
    """The arrays of a diagram that tiles are written into, and which tiles are there already."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self._arrays = arrays
        self.done = np.asarray(arrays["done"][:]).astype(bool)

    def read(self, name: str, seed: int, row: int | slice = slice(None)) -> np.ndarray:
        """One variable of one seed, of all rhos or of one."""
        return np.asarray(self._arrays[name][row, :, seed])

    def add(self, tile: Tile, values: Mapping[str, np.ndarray]) -> None:
        """Write one tile, gamma along the first axis of every value; then mark it as done."""
        row, seed = tile
        for name, value in values.items():
            self._arrays[name][row, :, seed] = value
        self._arrays["done"][row, seed] = True
        self.done[row, seed] = True


def encode_words(name: str, words: Sequence[str]) -> Int8[np.ndarray, "_"]:
    """Phases or statuses as small integers, which files hold best; "" is that of a cell not trained yet."""
    return np.array([CODES[name].index(word) if word else ABSENT for word in words], np.int8)


def empty_codes(name: str, shape: tuple[int, ...]) -> xr.Variable:
    """A diagram's phases or statuses before any is known, with what its codes mean (CF's flags)."""
    meanings = " ".join(word.replace(" ", "_") for word in CODES[name])
    flags = {"flag_values": list(range(len(CODES[name]))), "flag_meanings": meanings}
    return xr.Variable(CELL, np.full(shape, ABSENT, np.int8), flags)


def decode_words(diagram: xr.Dataset) -> xr.Dataset:
    """The diagram with phases and statuses as words, "" where there is none yet."""
    found = diagram.drop_vars("done", errors="ignore")
    for name, names in CODES.items():
        found[name] = (CELL, np.array([*names, ""])[diagram[name].values])
    return found


@contextmanager
def open_store(folder: Path, template: xr.Dataset, settings: Mapping[str, Any]) -> Iterator[DiagramStore]:
    """The store of a diagram in `folder`, made from the empty `template` or found there with the same `settings`."""
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
    """What one round of a diagram leaves to the next, made empty or found in `folder`: see `exchange.leave`.

    `shape` is that of the diagram's cells, whose folder is claimed already.
    """
    path = folder / ROUNDS / f"{number}.zarr"
    if not path.exists():
        partial = path.with_name(f".{path.name}.part")
        shutil.rmtree(partial, ignore_errors=True)
        group = zarr.open_group(partial, mode="w", zarr_format=ZARR_FORMAT)
        n_rhos, n_gammas, n_seeds = shape
        for name, last, kind in (("weights", (n_weights,), "f4"), ("worth", (3,), "f8"), ("steps", (), "i4")):
            group.create_array(name, shape=(*shape, *last), chunks=(1, n_gammas, 1, *last), dtype=kind)
        group.create_array("done", shape=(n_rhos, n_seeds), chunks=(1, 1), dtype="bool")
        partial.rename(path)
    group = zarr.open_group(path, mode="r+", zarr_format=ZARR_FORMAT)
    return DiagramStore({name: group[name] for name in ("weights", "worth", "steps", "done")})


def remove_rounds(folder: Path) -> None:
    """Remove what rounds have left: a finished diagram does not need it."""
    shutil.rmtree(folder / ROUNDS, ignore_errors=True)


def open_diagram(folder: str | Path) -> xr.Dataset:
    """The diagram that `phase_diagram(store=folder)` or `heteroscope map` wrote, finished or not, in memory."""
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


def _create(path: Path, template: xr.Dataset, settings: Mapping[str, Any]) -> None:
    """All metadata at once: the store appears under its name when it is complete."""
    partial = path.with_name(f".{path.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    empty = template.copy()
    empty["done"] = (("rho", "seed"), np.zeros((template.sizes["rho"], template.sizes["seed"]), bool))
    empty.attrs["settings"] = json.dumps(as_json(settings))
    encoding = {name: {"chunks": _chunks(variable)} for name, variable in empty.data_vars.items()}
    empty.to_zarr(partial, mode="w", zarr_format=ZARR_FORMAT, consolidated=False, encoding=encoding)
    partial.rename(path)


def _chunks(variable: xr.DataArray) -> tuple[int, ...]:
    return tuple(1 if dim in ("rho", "seed") else size for dim, size in variable.sizes.items())


def _refuse_other_settings(path: Path, settings: Mapping[str, Any]) -> None:
    try:
        stored = json.loads(str(zarr.open_group(path, mode="r", use_consolidated=False).attrs["settings"]))
    except (KeyError, ValueError, OSError) as error:
        raise InputError(f"{path} was not written by a sweep, or is damaged: choose another folder") from error
    refuse_other_settings(path.parent, "a diagram", stored, settings, "use these again, or choose another folder")

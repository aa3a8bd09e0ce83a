"""Store a diagram on disk while it is trained: a Zarr store in a folder, one chunk of every variable per tile.

Only one process writes at a time. A tile counts once its mark is written, which is done last: see `tile_marks`.
Everything but the tiles (settings, coordinates, metadata) is written once, and `diagram.json` holds its checksums. A
tile without its mark, or with other content than its mark says, is trained and written again; other damaged files are
written again.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import xarray as xr
import zarr
from jaxtyping import Int8

from heteroscope.core import (
    DamageError,
    Identity,
    InputError,
    Provenance,
    Status,
    as_json,
    computed_with,
    describe_provenance,
    exclusive_folder,
    printable,
    refuse_other_settings,
    warn_of_damage,
    warn_of_mixture,
)
from heteroscope.diagrams.dataset import CELL, PHASES
from heteroscope.diagrams.store_files import StorePlan, create_store, find_damage, read_manifest, repair_store
from heteroscope.diagrams.tile_marks import DONE, MARK_BYTES, Tile, TileMarks

NAME, ROUNDS = "diagram.zarr", "rounds"  # in the folder of a sweep: its diagram, and what rounds keep for the next
# Phases and statuses are stored as their index in these lists.
CODES = {"phase": [str(phase) for phase in PHASES], "status": [str(status) for status in Status]}
ABSENT = -1  # code of a cell that is not trained yet
ZARR_FORMAT: Literal[2] = 2  # every reader of Zarr knows it, and its strings need no extension
_SHOWN = 3  # damaged tiles that a message names
_AGAIN = "run the same sweep again with this folder, and only what is damaged is made again"


@runtime_checkable
class StoredArray(Protocol):
    """An array of NumPy or Zarr that is read and written by slices."""

    def __getitem__(self, selection: Any, /) -> Any: ...

    def __setitem__(self, selection: Any, value: Any, /) -> None: ...


class DiagramStore:
    """The arrays of a diagram that tiles are written into, which tiles are done, and what computed them.

    Parameters
    ----------
    arrays : mapping from str to array
        The variables, rho, gamma and seed along their first axes.
    shape : tuple of int
        The numbers of rhos and seeds.
    marks : TileMarks or None, default=None
        The marks of a store on disk; None for arrays in memory.
    """

    def __init__(
        self, arrays: Mapping[str, StoredArray], shape: tuple[int, int], marks: TileMarks | None = None
    ) -> None:
        self._arrays, self._marks = arrays, marks
        self.done = np.zeros(shape, bool)
        self.computed_with: dict[Tile, Provenance] = {}
        self.damaged: dict[Tile, str] = {}
        if marks is not None:
            self.check()

    def check(self) -> None:
        """Read the marks again: `done` are the tiles that are whole, `damaged` those that are not what was marked."""
        if self._marks is None:
            return
        self.done[:] = False
        self.computed_with, self.damaged = {}, {}
        for tile in np.ndindex(*self.done.shape):
            row, seed = tile
            try:
                found = self._marks.read((row, seed))
            except DamageError as error:
                self.damaged[row, seed] = str(error)
                continue
            if found is not None:
                self.done[row, seed] = True
                self.computed_with[row, seed] = found

    def read(self, name: str, seed: int, row: int | slice = slice(None)) -> np.ndarray:
        """Return one variable of one seed, for all rhos or for one."""
        return np.asarray(self._arrays[name][row, :, seed])

    def add(self, tile: Tile, values: Mapping[str, np.ndarray]) -> None:
        """Write one tile, gamma along the first axis of every value; then mark it as done."""
        row, seed = tile
        if self._marks is not None:
            self._marks.remove(tile)
        for name, value in values.items():
            self._arrays[name][row, :, seed] = value
        self.computed_with[tile] = computed_with() if self._marks is None else self._marks.write(tile)
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
    decoded = diagram.drop_vars(DONE, errors="ignore")
    for name, words in CODES.items():
        decoded[name] = (CELL, np.array([*words, ""])[diagram[name].values])
    return decoded


@contextmanager
def open_store(folder: Path, template: xr.Dataset, settings: Identity) -> Iterator[DiagramStore]:
    """Open the store of a diagram in `folder`: create it from `template`, or resume one with the same `settings`."""
    path, variables = folder / NAME, _tile_variables(template)
    plan = StorePlan(path, partial(_create, template=template, settings=settings), as_json(settings), variables)
    try:
        with exclusive_folder(folder):
            if path.exists():
                _refuse_other_settings(folder, settings)
                repair_store(plan)
            else:
                remove_rounds(folder)  # of a diagram that was removed
                create_store(plan)
            store = _open(path, variables, (template.sizes["rho"], template.sizes["seed"]))
            if store.damaged:
                warn_of_damage(path, _list_tiles(store, template), "these tiles are computed again")
            warn_of_mixture(path, "tiles", store.computed_with.values())
            yield store
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
    variables = {"weights": ((n_weights,), "f4"), "objective_terms": ((3,), "f8"), "steps": ((), "i4")}
    n_rhos, n_gammas, n_seeds = shape

    def create(place: Path) -> None:
        group = zarr.open_group(place, mode="w", zarr_format=ZARR_FORMAT)
        for name, (last, kind) in variables.items():
            group.create_array(name, shape=(*shape, *last), chunks=(1, n_gammas, 1, *last), dtype=kind)
        _create_marks(group, (n_rhos, n_seeds))

    plan = StorePlan(path, create, {"round": number, "shape": list(shape), "weights": n_weights}, variables)
    (repair_store if path.exists() else create_store)(plan)
    store = _open(path, {name: 3 + len(last) for name, (last, _) in variables.items()}, (n_rhos, n_seeds))
    if store.damaged:
        warn_of_damage(path, f"{len(store.damaged)} of its tiles", "these tiles are computed again")
    return store


def remove_rounds(folder: Path) -> None:
    """Remove the models of all rounds: a finished diagram does not need them."""
    shutil.rmtree(folder / ROUNDS, ignore_errors=True)


def open_diagram(folder: str | Path) -> xr.Dataset:
    """Read a diagram that `phase_diagram(store=folder)` or `heteroscope map` wrote, finished or not.

    Parameters
    ----------
    folder : str or Path
        The folder that the sweep writes to. Every file is compared with its checksum before anything is read.

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
        damaged = find_damage(path, read_manifest(path)["files"])
        if damaged:
            raise DamageError(f"{damaged[0]} is missing or has changed")
        with xr.open_zarr(path, consolidated=False, chunks=None, zarr_format=ZARR_FORMAT) as stored:
            shape = (stored.sizes["rho"], stored.sizes["seed"])
            store = _open(path, _tile_variables(stored), shape)
            if store.damaged:
                raise DamageError(_list_tiles(store, stored))
            diagram = stored.load().drop_encoding()
    except (DamageError, KeyError, TypeError, ValueError, RuntimeError, OSError) as error:
        raise InputError(f"the diagram in {folder} is damaged ({printable(str(error))}): {_AGAIN}") from error
    del diagram.attrs["settings"]
    _clear_tiles(diagram, ~store.done)
    diagram.attrs["computed_with"] = describe_provenance(store.computed_with.values())
    return decode_words(diagram)


def _clear_tiles(diagram: xr.Dataset, unfinished: np.ndarray) -> None:
    """Empty the tiles without a mark: a run that was killed may have written a part of them."""
    for name in _tile_variables(diagram):
        values = diagram[name].values
        empty = ABSENT if name in CODES else np.nan if values.dtype.kind == "f" else 0
        values.swapaxes(1, 2)[unfinished] = empty


def _open(path: Path, variables: Mapping[str, int], shape: tuple[int, int]) -> DiagramStore:
    """Open the arrays of a store and check its tiles; `variables` are names and numbers of dimensions."""
    group = zarr.open_group(path, mode="r+", zarr_format=ZARR_FORMAT, use_consolidated=False)
    arrays: dict[str, Any] = {name: group[name] for name in variables}
    return DiagramStore(arrays, shape, TileMarks(path, variables))


def _tile_variables(diagram: xr.Dataset) -> dict[str, int]:
    """Return the variables that tiles are written into, with their numbers of dimensions."""
    return {str(name): part.ndim for name, part in diagram.data_vars.items() if part.dims[:3] == CELL}


def _list_tiles(store: DiagramStore, diagram: xr.Dataset) -> str:
    """Return the damaged tiles as text, the first few by rho and seed."""
    rhos, seeds = diagram["rho"].values, diagram["seed"].values
    names = [f"rho {rhos[row]:.6g} of seed {seeds[seed]}" for row, seed in store.damaged]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}: {next(iter(store.damaged.values()))}"


def _create(path: Path, template: xr.Dataset, settings: Identity) -> None:
    """Write all metadata, coordinates and rows of a diagram without tiles."""
    empty = template.copy()
    empty.attrs["settings"] = json.dumps(as_json(settings))
    encoding = {name: {"chunks": _chunks(variable)} for name, variable in empty.data_vars.items()}
    empty.to_zarr(path, mode="w", zarr_format=ZARR_FORMAT, consolidated=False, encoding=encoding)
    group = zarr.open_group(path, mode="r+", zarr_format=ZARR_FORMAT, use_consolidated=False)
    _create_marks(group, (template.sizes["rho"], template.sizes["seed"]))


def _create_marks(group: zarr.Group, shape: tuple[int, int]) -> None:
    """Add the array of marks: text of a fixed length, one file per mark that holds just this text."""
    group.create_array(
        DONE,
        shape=shape,
        chunks=(1, 1),
        dtype=f"S{MARK_BYTES}",
        compressors=None,
        attributes={"_ARRAY_DIMENSIONS": ["rho", "seed"]},
    )


def _chunks(variable: xr.DataArray) -> tuple[int, ...]:
    """Return chunks of one rho and one seed: a tile."""
    return tuple(1 if dim in ("rho", "seed") else size for dim, size in variable.sizes.items())


def _refuse_other_settings(folder: Path, settings: Identity) -> None:
    """Raise if the store was begun with other settings, or is not a store."""
    path = folder / NAME
    try:
        stored = read_manifest(path)["settings"]
    except DamageError:
        try:
            attributes = zarr.open_group(path, mode="r", use_consolidated=False).attrs
            stored = json.loads(str(attributes["settings"]))
        except (KeyError, ValueError, OSError) as error:
            raise InputError(f"{path} was not written by a sweep, or is damaged: choose another folder") from error
    refuse_other_settings(folder, "a diagram", stored, settings, "use these again, or choose another folder")

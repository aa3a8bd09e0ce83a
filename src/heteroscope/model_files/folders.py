"""Save fitted models as folders and load them: `model.json` and `arrays.npz`, never pickle.

A crash or a power cut leaves the old model or the new one, never a mixture and never none. Both files have checksums. A
folder may come from a stranger: only regular files of bounded size are read, and every number is checked.
`file_format.py` has the content of the two files, `docs/model-files.md` describes it.
"""

import hashlib
import io
import json
import math
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np

from heteroscope.core import (
    PARTIAL,
    DamageError,
    InputError,
    atomic_write,
    check_seal,
    file_checksum,
    locked_folder,
    make_folder,
    open_regular,
    parse_json,
    printable,
    read_regular,
    refuse_half_characters,
    remove_leftovers,
    seal,
    sync_folder,
)
from heteroscope.model_files.array_format import Arrays, Json, cause, refuse_damage
from heteroscope.model_files.loaded_model import LoadedModel

if TYPE_CHECKING:  # what trains is imported where it is used: a process that only predicts starts without it
    from heteroscope.data import TableEncoder
    from heteroscope.estimators import GaussianRegressor

FORMAT = 1  # number of the file format; a reader refuses a higher one
DESCRIPTION, ARRAYS = "model.json", "arrays.npz"
NEXT = ".arrays.npz.next"  # new arrays, until `model.json` describes them
MOST_DESCRIPTION_BYTES, MOST_ARRAY_BYTES = 2**28, 2**32  # sizes of files that are read
_READS = 5  # attempts to read both files while another process replaces them


class Bundle(NamedTuple):
    """Content of a model folder: the estimator, the encoder of its table, and the version that wrote it."""

    model: "GaussianRegressor"
    encoder: "TableEncoder | None"
    version: str


def save_model(
    model: "GaussianRegressor | LoadedModel", folder: str | Path, encoder: "TableEncoder | None" = None
) -> Path:
    """Write a fitted estimator as a model folder.

    All fitted attributes are kept to the last bit. A constructor parameter that JSON cannot hold (a `RandomState`, a
    splitter object) is listed as text but not kept: the loaded model has the default of that parameter.

    Parameters
    ----------
    model : GaussianRegressor or LoadedModel
        A fitted estimator or baseline of heteroscope, or what `load_model` has returned; subclasses of your own are
        refused.
    folder : str or Path
        Where to write. A folder that does not exist, an empty one or another model's is accepted; any other is refused.
    encoder : TableEncoder, default=None
        The encoder of the table that the model was fitted to, to be kept with the model; a `LoadedModel` brings its
        own.

    Returns
    -------
    Path
        The absolute path of the folder.

    See Also
    --------
    load_model : Read the folder.
    """
    from sklearn.utils.validation import check_is_fitted

    from heteroscope.model_files.file_format import collect_arrays, refuse_unknown

    if isinstance(model, LoadedModel):
        model, encoder = model.estimator, encoder or model.encoder
    refuse_unknown(model)
    check_is_fitted(model)
    folder = check_destination(folder)
    packed = _pack(collect_arrays(model))
    refuse_half_characters(getattr(model, "feature_names_in_", []))
    text = json.dumps(seal(_describe(model, encoder, packed)), indent=1, ensure_ascii=False, allow_nan=False)
    is_new = not folder.exists()
    try:
        make_folder(folder)
        _replace_files(folder, packed, text + "\n")
    except BaseException:
        if is_new:
            _remove_unfinished(folder)
        raise
    return folder


def load_model(folder: str | Path) -> LoadedModel:
    """Read a fitted model from a model folder; its predictions need NumPy only.

    Parameters
    ----------
    folder : str or Path
        A folder that `save_model` or `heteroscope fit --out` has written.

    Returns
    -------
    LoadedModel
        The model; on the machine that saved it, its predictions are the same to the last bit. A model that was fitted
        to a table file takes the table's own columns, too.

    See Also
    --------
    save_model : Write the folder.
    """
    folder = Path(folder)
    state, arrays = _read_both(folder)
    with refuse_damage(folder):
        return LoadedModel(state, arrays, folder)


def load_bundle(folder: str | Path) -> Bundle:
    """Read a model folder with its encoder; raise an `InputError` of one line if it is damaged or of a newer format.

    Parameters
    ----------
    folder : str or Path
        A folder that `save_model` or `heteroscope fit --out` has written.

    Returns
    -------
    Bundle
        The estimator as `model`, the encoder of its table or None as `encoder`, and the `version` that wrote it.
    """
    loaded = load_model(folder)
    return Bundle(loaded.estimator, loaded.encoder, loaded.version)


def _read_both(folder: Path) -> tuple[dict[str, Json], Arrays]:
    """Return what both files hold; read again if another process replaces the model between the two."""
    for _ in range(_READS):
        state = _read_description(folder)
        with refuse_damage(folder):
            arrays = _read_arrays(folder, state["arrays_sha256"])
        if arrays is not None:
            return state, arrays
    if not (folder / ARRAYS).exists():
        raise InputError(f"{folder} has no {ARRAYS}: copy the whole model folder, or fit again")
    raise InputError(f"{folder} is damaged ({ARRAYS} does not belong to {DESCRIPTION}): copy it again, or fit again")


def check_destination(folder: str | Path) -> Path:
    """Return the absolute path if a model may be written there: a new folder, an empty one or another model's."""
    folder = Path(folder).resolve()
    if not folder.exists():
        return folder
    if not folder.is_dir():
        raise InputError(f"{folder} is a file: name a folder for the model")
    entries = {entry.name for entry in folder.iterdir() if not entry.name.endswith(PARTIAL)}
    foreign = sorted(entries - {DESCRIPTION, ARRAYS, NEXT})
    if foreign:
        raise InputError(f"{folder} holds other files ({foreign[0]}) and is not overwritten: name another folder")
    if entries - {NEXT}:
        try:
            _read_description(folder)
        except InputError as error:
            raise InputError(f"{folder} is no complete model folder and not overwritten: remove it first") from error
    return folder


def _describe(model: "GaussianRegressor", encoder: "TableEncoder | None", packed: bytes) -> dict[str, Json]:
    """Return the whole content of `model.json`."""
    from importlib.metadata import version

    from heteroscope.model_files.file_format import describe

    return {
        "heteroscope_model": FORMAT,
        "version": version("heteroscope"),
        **describe(model),
        "encoder": None if encoder is None else encoder.to_dict(),
        "arrays_sha256": hashlib.sha256(packed).hexdigest(),
    }


def _pack(arrays: Arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _replace_files(folder: Path, packed: bytes, text: str) -> None:
    """Write the two files so that a reader finds the old model or the new one at every moment.

    New arrays wait under the name `NEXT` until `model.json`, which has their checksum, is replaced; only then do they
    replace the old ones. `_read_arrays` takes from both places those that `model.json` describes.
    """
    with locked_folder(folder):
        remove_leftovers(folder)
        _end_replacement(folder)
        with atomic_write(folder / NEXT) as partial:
            partial.write_bytes(packed)
        with atomic_write(folder / DESCRIPTION) as partial:
            partial.write_text(text, encoding="utf-8")
        (folder / NEXT).replace(folder / ARRAYS)
        sync_folder(folder)


def _remove_unfinished(folder: Path) -> None:
    """Remove a new folder unless another writer has put its model there meanwhile."""
    with suppress(OSError), locked_folder(folder):
        if not (folder / DESCRIPTION).exists():
            (folder / NEXT).unlink(missing_ok=True)
            folder.rmdir()


def _end_replacement(folder: Path) -> None:
    """Let new arrays replace the old ones if a killed writer has described them already: they must not be overwritten.

    Arrays that are not described yet are left over, and stay under the name `NEXT` for the writer to replace.
    """
    if not (folder / NEXT).is_file() or not (folder / DESCRIPTION).is_file():
        return
    if file_checksum(folder / NEXT) == _read_description(folder)["arrays_sha256"]:
        (folder / NEXT).replace(folder / ARRAYS)
        sync_folder(folder)


def _read_arrays(folder: Path, digest: str) -> Arrays | None:
    """Return the arrays that have this checksum, or None if neither file has it.

    A writer may rename the new arrays while they are looked for: then they are found at the next reading.
    """
    for name in (ARRAYS, NEXT):
        with suppress(FileNotFoundError), open_regular(folder / name, MOST_ARRAY_BYTES) as file:
            if hashlib.file_digest(file, "sha256").hexdigest() == digest:
                return _unpack(file)
    return None


def _unpack(file: BinaryIO) -> Arrays:
    """Return the arrays of an archive; refuse compressed parts, and parts that declare more than the file holds."""
    try:
        with zipfile.ZipFile(file) as archive:
            parts = archive.infolist()
            size = file.seek(0, io.SEEK_END)
            if any(part.compress_type != zipfile.ZIP_STORED or part.file_size != part.compress_size for part in parts):
                raise DamageError(f"{ARRAYS} is compressed")
            if sum(part.file_size for part in parts) > size or len({part.filename for part in parts}) < len(parts):
                raise DamageError(f"{ARRAYS} declares more than it holds")
            return {part.filename.removesuffix(".npy"): _read_array(archive.read(part)) for part in parts}
    except DamageError:
        raise
    except Exception as error:  # a damaged header makes NumPy's parser raise whatever Python's does
        raise DamageError(f"{ARRAYS} cannot be read: {cause(error)}") from error


def _read_array(content: bytes) -> np.ndarray:
    """Return an array of floats from the bytes of a `.npy` file, which must have the size that it declares."""
    file = io.BytesIO(content)
    if np.lib.format.read_magic(file) != (1, 0):
        raise DamageError(f"{ARRAYS} holds arrays of an unknown format")
    shape, by_column, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.str not in ("<f4", "<f8") or math.prod(shape) * dtype.itemsize != len(content) - file.tell():
        raise DamageError(f"{ARRAYS} holds an array that is not of its declared size, or not of floats")
    numbers = np.frombuffer(content, dtype, offset=file.tell())
    return numbers.reshape(shape, order="F" if by_column else "C").copy()


def _read_description(folder: Path) -> dict[str, Json]:
    """Return the content of `model.json`; raise an `InputError` if it is missing, damaged or of a newer format."""
    path = folder / DESCRIPTION
    if not folder.is_dir():
        raise InputError(f"{folder} is not a model folder: name the folder that `heteroscope fit --out` wrote")
    try:
        state = parse_json(read_regular(path, MOST_DESCRIPTION_BYTES))
    except FileNotFoundError as error:
        raise InputError(
            f"{folder} has no {DESCRIPTION}: name the folder that `heteroscope fit --out` wrote"
        ) from error
    except DamageError as error:
        raise InputError(f"{path} is damaged ({error}): copy the folder again, or fit again") from error
    number = state.get("heteroscope_model") if isinstance(state, dict) else None
    if isinstance(number, bool) or not isinstance(number, int):
        raise InputError(f"{path} describes no heteroscope model: name the folder that `heteroscope fit --out` wrote")
    if number > FORMAT:
        raise InputError(
            f"{folder} was written by heteroscope {printable(str(state.get('version')), 40)} in format {number:.10g}, "
            f"and this version reads up to format {FORMAT}: upgrade with `pip install --upgrade heteroscope`"
        )
    try:
        check_seal(state)
    except DamageError as error:
        raise InputError(f"{path} is damaged ({error}): copy the folder again, or fit again") from error
    return state

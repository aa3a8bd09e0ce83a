"""Save fitted models as folders and load them: `model.json` and `arrays.npz`, never pickle.

A folder is written under a temporary name and then renamed, so that a crash leaves the old model or the new one, never
a mixture. `file_format.py` has the content of the two files, `docs/model-files.md` describes it.
"""

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heteroscope.core import InputError, replace_folder
from heteroscope.model_files.array_format import Arrays, DamageError, Json, cause, refuse_damage
from heteroscope.model_files.loaded_model import LoadedModel

if TYPE_CHECKING:  # what trains is imported where it is used: a process that only predicts starts without it
    from heteroscope.data import TableEncoder
    from heteroscope.estimators import GaussianRegressor

FORMAT = 1  # number of the file format; a reader refuses a higher one
DESCRIPTION, ARRAYS = "model.json", "arrays.npz"


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
    text = json.dumps(_describe(model, encoder, packed), indent=1, ensure_ascii=False, allow_nan=False)
    with replace_folder(folder) as fresh:
        (fresh / ARRAYS).write_bytes(packed)
        (fresh / DESCRIPTION).write_text(text + "\n", encoding="utf-8")
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
    state = _read_description(folder)
    with refuse_damage(folder):
        return LoadedModel(state, _read_arrays(folder, state), folder)


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


def check_destination(folder: str | Path) -> Path:
    """Return the absolute path if a model may be written there: a new folder, an empty one or another model's."""
    folder = Path(folder).resolve()
    if not folder.exists():
        return folder
    if not folder.is_dir():
        raise InputError(f"{folder} is a file: name a folder for the model")
    entries = {entry.name for entry in folder.iterdir()}
    foreign = sorted(entries - {DESCRIPTION, ARRAYS})
    if foreign:
        raise InputError(f"{folder} holds other files ({foreign[0]}) and is not overwritten: name another folder")
    if entries:
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


def _read_arrays(folder: Path, state: dict[str, Json]) -> Arrays:
    """Return the content of `arrays.npz`; raise a `DamageError` or an `InputError` if it is not the model's own."""
    digest = state["arrays_sha256"]
    try:
        packed = (folder / ARRAYS).read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{folder} has no {ARRAYS}: copy the whole model folder, or fit again") from error
    return _unpack(packed, digest)


def _unpack(packed: bytes, digest: str) -> Arrays:
    """Return the arrays; raise a `DamageError` if the bytes are not those that `model.json` was written with."""
    if hashlib.sha256(packed).hexdigest() != digest:
        raise DamageError(f"{ARRAYS} does not belong to {DESCRIPTION}")
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (zipfile.BadZipFile, ValueError, EOFError, OSError) as error:
        raise DamageError(f"{ARRAYS} cannot be read: {cause(error)}") from error


def _read_description(folder: Path) -> dict[str, Json]:
    """Return the content of `model.json`; raise an `InputError` if it is missing, damaged or of a newer format."""
    path = folder / DESCRIPTION
    if not folder.is_dir():
        raise InputError(f"{folder} is not a model folder: name the folder that `heteroscope fit --out` wrote")
    if not path.is_file():
        raise InputError(f"{folder} has no {DESCRIPTION}: name the folder that `heteroscope fit --out` wrote")
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged ({cause(error)}): copy the folder again, or fit again") from error
    number = state.get("heteroscope_model") if isinstance(state, dict) else None
    if isinstance(number, bool) or not isinstance(number, int):
        raise InputError(f"{path} describes no heteroscope model: name the folder that `heteroscope fit --out` wrote")
    if number > FORMAT:
        raise InputError(
            f"{folder} was written by heteroscope {state.get('version')} in format {number}, and this version reads "
            f"up to format {FORMAT}: upgrade with `pip install --upgrade heteroscope`"
        )
    return state

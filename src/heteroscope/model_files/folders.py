"""Fitted models on disk: a folder with `model.json` and `arrays.npz`, never pickle; `docs/model-files.md` describes it.

A folder is written beside its place and then renamed, so that a crash leaves the old model or the new one, no mixture.
"""

import hashlib
import io
import json
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from heteroscope.core import InputError, error_text, replace_folder
from heteroscope.data import TableEncoder
from heteroscope.estimators import GaussianRegressor
from heteroscope.model_files.file_format import DamageError, arrays_of, describe, refuse_unknown, restore

FORMAT = 1
DESCRIPTION, ARRAYS = "model.json", "arrays.npz"


class Bundle(NamedTuple):
    """A model folder's content: the fitted estimator, the encoder of the table it came from, who wrote it."""

    model: GaussianRegressor
    encoder: TableEncoder | None
    version: str


def save_model(model: GaussianRegressor, folder: str | Path, encoder: TableEncoder | None = None) -> Path:
    """Write a fitted estimator, and the encoder of its table if there is one, as a model folder.

    A constructor parameter that JSON cannot hold (a `RandomState`, a splitter object) is noted, not kept: the loaded
    model has that parameter's default. What was learned is kept to the last bit.
    """
    refuse_unknown(model)
    check_is_fitted(model)
    folder = check_destination(folder)
    packed = _pack(arrays_of(model))
    text = json.dumps(_describe(model, encoder, packed), indent=1, ensure_ascii=False, allow_nan=False)
    with replace_folder(folder) as fresh:
        (fresh / ARRAYS).write_bytes(packed)
        (fresh / DESCRIPTION).write_text(text + "\n", encoding="utf-8")
    return folder


def load_model(folder: str | Path) -> GaussianRegressor:
    """The fitted estimator of a model folder; it predicts what the saved one did, bit for bit."""
    return load_bundle(folder).model


def load_bundle(folder: str | Path) -> Bundle:
    """All that a model folder holds; a damaged or newer one gets an error of one line."""
    folder = Path(folder)
    state = _read_description(folder)
    try:
        arrays = _unpack((folder / ARRAYS).read_bytes(), state["arrays_sha256"])
        model = restore(state, arrays)
        encoder = None if state["encoder"] is None else TableEncoder.from_dict(state["encoder"])
        return Bundle(model, encoder, str(state["version"]))
    except FileNotFoundError as error:
        raise InputError(f"{folder} has no {ARRAYS}: copy the whole model folder, or fit again") from error
    except (DamageError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{folder} is damaged ({_cause(error)}): copy it again, or fit again") from error


def check_destination(folder: str | Path) -> Path:
    """Where a model may be written: nowhere yet, an empty folder or another model's; what holds more is refused."""
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
            raise InputError(f"{folder} is no whole model folder and is not overwritten: remove it first") from error
    return folder


def _describe(model: GaussianRegressor, encoder: TableEncoder | None, packed: bytes) -> dict[str, Any]:
    return {
        "heteroscope_model": FORMAT,
        "version": version("heteroscope"),
        **describe(model),
        "encoder": None if encoder is None else encoder.to_dict(),
        "arrays_sha256": hashlib.sha256(packed).hexdigest(),
    }


def _pack(arrays: dict[str, np.ndarray]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _unpack(packed: bytes, digest: str) -> dict[str, np.ndarray]:
    if hashlib.sha256(packed).hexdigest() != digest:
        raise DamageError(f"{ARRAYS} is not the file that {DESCRIPTION} was written with")
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (zipfile.BadZipFile, ValueError, EOFError, OSError) as error:
        raise DamageError(f"{ARRAYS} cannot be read: {_cause(error)}") from error


def _read_description(folder: Path) -> dict[str, Any]:
    path = folder / DESCRIPTION
    if not folder.is_dir():
        raise InputError(f"{folder} is not a model folder: name the folder that `heteroscope fit --out` wrote")
    if not path.is_file():
        raise InputError(f"{folder} has no {DESCRIPTION}: name the folder that `heteroscope fit --out` wrote")
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged ({_cause(error)}): copy the folder again, or fit again") from error
    number = state.get("heteroscope_model") if isinstance(state, dict) else None
    if isinstance(number, bool) or not isinstance(number, int):
        raise InputError(f"{path} describes no heteroscope model: name the folder that `heteroscope fit --out` wrote")
    if number > FORMAT:
        raise InputError(
            f"{folder} was written by heteroscope {state.get('version')} in format {number}, and this version reads "
            f"up to format {FORMAT}: upgrade with `pip install --upgrade heteroscope`"
        )
    return state


def _cause(error: BaseException) -> str:
    text = error_text(error)
    return f"{text} is missing" if isinstance(error, KeyError) else text or type(error).__name__

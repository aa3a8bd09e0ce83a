"""The folder of a comparison: one file a finished fit, and the settings that all of them have in common."""

import hashlib
import json
import math
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from heteroscope.comparison.splits import StreamSplit
from heteroscope.datasets import Split
from heteroscope.errors import InputError
from heteroscope.files import whole
from heteroscope.streams.stream import Stream

FORMAT = 1
SETTINGS, RECORDS, RUNS = "settings.json", "records", "runs"
#: What is reported of every fit, with its title.
SCORES = {
    "nll": "NLL",
    "crps": "CRPS",
    "rmse": "RMSE",
    "ece": "ECE",
    "std_mse": "std MSE",
    "interval_coverage": "90 % coverage",
    "seconds": "seconds",
}


class Record(NamedTuple):
    """One method on one split: its scores on the test rows, or NaN and why there are none."""

    method: str
    split: int
    n_train: int
    n_test: int
    scores: dict[str, float]
    parameters: dict[str, str]
    error: str | None = None


def settings_of(
    data: str | Path | Stream, split: Split | StreamSplit, protocol: str, seed: int, missing: str
) -> dict[str, Any]:
    """What all records of a folder have in common; the rows themselves stand there by their digest."""
    if isinstance(split, StreamSplit):
        trained_on, name = str(split.x_train.stamps()).encode(), split.x_train.files()[0].name
    else:
        trained_on, name = _bytes(split.x_train) + _bytes(split.y_train), Path(str(data)).name
    digest = hashlib.sha256(trained_on + _bytes(split.x_test) + _bytes(split.y_test)).hexdigest()
    return {
        "heteroscope_comparison": FORMAT,
        "heteroscope": version("heteroscope"),
        "data": name,
        "target": split.target_name,
        "protocol": protocol,
        "seed": seed,
        "missing": missing,
        "rows": digest,
    }


def _bytes(array: np.ndarray | pd.DataFrame) -> bytes:
    return np.ascontiguousarray(array).tobytes()


def open_folder(folder: Path, settings: dict[str, Any]) -> Path:
    """The folder if it is new, empty or holds records of the same settings."""
    path = folder / SETTINGS
    if path.is_file():
        found = _read(path)
        for name in settings:
            if found.get(name) != settings[name]:
                was = f"{name} {found.get(name)!r}, and now it is {settings[name]!r}"
                raise InputError(f"{folder} holds a comparison with {was}: name another folder, or remove this one")
        return folder
    try:
        if folder.is_dir() and any(entry.name not in (RECORDS, RUNS) for entry in folder.iterdir()):
            raise InputError(f"{folder} holds other files and no comparison: name another folder")
        (folder / RECORDS).mkdir(parents=True, exist_ok=True)
        _write(path, settings)
    except OSError as error:
        raise InputError(f"{folder} cannot be written to ({error.strerror}): name another folder") from error
    return folder


def keep_record(folder: Path, record: Record) -> None:
    """One file more: the fit is not done again."""
    _write(_path(folder, record.method, record.split), record._asdict())


def run_folder(folder: Path, name: str, number: int) -> Path:
    """Where a fit to a stream keeps how far it has come."""
    return folder / RUNS / f"{name}-{number:03d}"


def kept_record(folder: Path, name: str, number: int, parameters: dict[str, str]) -> Record | None:
    """The record of a fit that was finished before, if it was this fit; a failure is none and is tried again."""
    path = _path(folder, name, number)
    if not path.is_file():
        return None
    found = _read(path)
    try:
        scores = {score: float(found["scores"][score]) for score in SCORES}
        record = Record(**found | {"scores": scores})
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged ({error!r}): remove it, and the fit is done again") from error
    for key in record.parameters | parameters:
        was, now = record.parameters.get(key), parameters.get(key)
        if was != now:
            raise InputError(
                f"{path} is of a fit with {key} {was}, and now it is {now}: remove it, or name another folder"
            )
    return record if record.error is None else None


def _path(folder: Path, name: str, number: int) -> Path:
    return folder / RECORDS / f"{name}-{number:03d}.json"


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}): remove it, and the fit is done again") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} is damaged (it holds no record): remove it, and the fit is done again")
    return found


def _write(path: Path, content: dict[str, Any]) -> None:
    """Numbers that JSON lacks become text."""
    with whole(path) as partial:
        partial.write_text(json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False), encoding="utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value

"""The folder of a comparison: one file a finished fit, and the settings that all of them have in common."""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from heteroscope.core import REVISIONS, Identity, InputError, atomic_write, refuse_other_settings

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
    parameters: Identity
    error: str | None = None


def open_folder(folder: Path, data: Identity, protocol: str, seed: int) -> Path:
    """The folder if it is new, empty or holds records of the same data, protocol and seed."""
    path = folder / SETTINGS
    settings = {
        "heteroscope_comparison": FORMAT,
        "revision": REVISIONS["comparisons"],
        "data": data,
        "protocol": protocol,
        "seed": seed,
    }
    if path.is_file():
        cure = "name another folder, or remove this one"
        refuse_other_settings(folder, "a comparison", _read(path), settings, cure)
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


def kept_record(folder: Path, name: str, number: int, parameters: Identity) -> Record | None:
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
    refuse_other_settings(path, "a fit", record.parameters, parameters, "remove it, or name another folder")
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
    with atomic_write(path) as partial:
        partial.write_text(json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False), encoding="utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value

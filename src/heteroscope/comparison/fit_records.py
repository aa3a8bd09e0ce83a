"""The folder of a comparison: one JSON file per finished fit, and one for the settings that all fits share.

A comparison that is run again with the same folder fits only what has no file yet.
"""

import math
from pathlib import Path
from typing import Any, NamedTuple

from heteroscope.core import (
    PARTIAL,
    REVISIONS,
    DamageError,
    Identity,
    InputError,
    Provenance,
    make_folder,
    read_sealed,
    refuse_other_settings,
    warn_of_damage,
    write_sealed,
)

FORMAT = 1  # number of the format of these files
#: Names in the folder: shared settings, records of finished fits, and progress of fits to streams.
SETTINGS, RECORDS, RUNS = "settings.json", "records", "runs"
#: The scores of every fit, each with its column title.
SCORES = {
    "nll": "NLL",
    "crps": "CRPS",
    "rmse": "RMSE",
    "ece": "ECE",
    "std_mse": "std MSE",
    "interval_coverage": "90 % coverage",
    "interval_score": "90 % interval score",
    "seconds": "seconds",
}


class FitRecord(NamedTuple):
    """One method on one split: its scores on the test rows, or NaN and the error that the fit has raised."""

    method: str
    split: int
    n_train: int
    n_test: int
    scores: dict[str, float]
    parameters: Identity
    error: str | None
    computed_with: Provenance
    processor_seconds: float = math.nan  # of the process and its workers; NaN if the fit failed

    def as_row(self) -> dict[str, str | int | float | None]:
        """Return the row of this fit in the table of a comparison: all but the parameters and what computed it."""
        return {
            "method": self.method,
            "split": self.split,
            "n_train": self.n_train,
            "n_test": self.n_test,
            **self.scores,
            "processor_seconds": self.processor_seconds,
            "error": self.error,
        }


def open_folder(folder: Path, data: Identity, protocol: str, seed: int) -> Path:
    """Return the folder if it is new, empty or holds a comparison of the same data, protocol and seed.

    Write the settings if it is new; raise an `InputError` if it holds anything else.
    """
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
        try:
            stored = read_sealed(path)
        except DamageError as error:
            raise InputError(f"{path} is damaged ({error}): name another folder, or remove this one") from error
        refuse_other_settings(folder, "a comparison", stored, settings, cure)
        return folder
    try:
        if folder.is_dir() and any(
            entry.name not in (RECORDS, RUNS) and not entry.name.endswith(PARTIAL) for entry in folder.iterdir()
        ):
            raise InputError(f"{folder} holds other files but no comparison: name another folder")
        make_folder(folder / RECORDS)
        write_sealed(path, settings, indent=1)
    except OSError as error:
        raise InputError(f"{folder} cannot be written to ({error.strerror}): name another folder") from error
    return folder


def save_record(folder: Path, record: FitRecord) -> None:
    """Write the file of one fit."""
    write_sealed(_path(folder, record.method, record.split), _finite_or_text(record._asdict()), indent=1)


def run_folder(folder: Path, method: str, split: int) -> Path:
    """Return the folder in which a fit to a stream keeps its progress."""
    return folder / RUNS / f"{method}-{split:03d}"


def load_record(folder: Path, method: str, split: int, parameters: Identity) -> FitRecord | None:
    """Return the record of an earlier fit, or None if there is none, or it failed or is damaged: then fit again.

    A damaged record is said in a warning. Raise an `InputError` if the file is of a fit with other parameters.
    """
    path = _path(folder, method, split)
    if not path.is_file():
        return None
    try:
        found = read_sealed(path)
        scores = {score: float(found["scores"][score]) for score in SCORES}
        record = FitRecord(
            **found | {"scores": scores, "processor_seconds": float(found.get("processor_seconds", math.nan))}
        )
    except (DamageError, KeyError, TypeError, ValueError) as error:
        warn_of_damage(path, error, "this fit is made again")
        return None
    refuse_other_settings(path, "a fit", record.parameters, parameters, "remove it, or name another folder")
    return record if record.error is None else None


def _path(folder: Path, method: str, split: int) -> Path:
    return folder / RECORDS / f"{method}-{split:03d}.json"


def _finite_or_text(value: Any) -> Any:
    """Return the value with numbers that JSON lacks, such as infinity, as text."""
    if isinstance(value, dict):
        return {name: _finite_or_text(item) for name, item in value.items()}
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value

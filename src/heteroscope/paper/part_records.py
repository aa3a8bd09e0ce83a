"""Save slow parts in files small enough for the repository: scores and labels, without the models' predictions.

A diagram is saved as NAME.nc.gz, a comparison as NAME.csv; NAME.json has the settings, the seconds it took and the day
it was finished. Each seed of a diagram is a file of its own, so that seeds can be added later. Labels are not read from
records: every diagram is labelled anew from its numbers, so that they follow from today's rule.
"""

import gzip
import json
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from heteroscope.core import DamageError, atomic_write, file_checksum, make_folder, warn_of_damage
from heteroscope.diagrams import CELL, CODES, decode_words, encode_words, relabel, without_rows
from heteroscope.paper.parts import Result

WORTH_KEEPING_SECONDS = 10.0  # a part that took less is not saved: computing it again is as easy
FILE_CHECKSUM = "sha256"  # key of the checksum of the result's file
DIAGRAM, TABLE = ".nc.gz", ".csv"  # suffixes of the two kinds of files


class PartRecord(NamedTuple):
    """The saved result of a part, and how long it took."""

    result: Result
    seconds: float


def save_part(folder: Path, name: str, result: Result, timing: dict[str, Any]) -> None:
    """Write a part that took long; its JSON is written last, and a part without it counts as not saved."""
    if timing["seconds"] < WORTH_KEEPING_SECONDS:
        return
    make_folder(folder)
    file = folder / f"{name}{TABLE if isinstance(result, pd.DataFrame) else DIAGRAM}"
    with atomic_write(file) as partial:
        if isinstance(result, pd.DataFrame):
            result.to_csv(partial, index=False)
        else:
            partial.write_bytes(gzip.compress(bytes(_compact(result).to_netcdf(engine="scipy")), mtime=0))
    timing = {**timing, FILE_CHECKSUM: file_checksum(file)}
    with atomic_write(folder / f"{name}.json") as partial:
        partial.write_text(json.dumps(timing, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def load_part(folder: Path, name: str) -> PartRecord | None:
    """Return the saved part of that name, or None if there is none, or it is damaged, which is said in a warning.

    Parts that were saved by earlier versions have no checksum.
    """
    timing = folder / f"{name}.json"
    if not timing.is_file():
        return None
    try:
        saved = json.loads(timing.read_text(encoding="utf-8"))
        seconds, table = float(saved["seconds"]), folder / f"{name}{TABLE}"
        found = file_checksum(table if table.is_file() else folder / f"{name}{DIAGRAM}")
        if saved.get(FILE_CHECKSUM, found) != found:
            raise DamageError("it is not what was saved")
        if table.is_file():
            return PartRecord(pd.read_csv(table), seconds)
        with xr.open_dataset(gzip.decompress((folder / f"{name}{DIAGRAM}").read_bytes()), engine="scipy") as stored:
            return PartRecord(_labelled(decode_words(stored.load().drop_encoding())), seconds)
    except (DamageError, OSError, EOFError, ValueError, KeyError, TypeError, zlib.error) as error:
        warn_of_damage(timing, error, "the part is computed again")
        return None


def _compact(diagram: xr.Dataset) -> xr.Dataset:
    """Return the diagram without rows, with scores in single precision and words as small integers."""
    slim = without_rows(diagram)
    for name, variable in slim.data_vars.items():
        if name in CODES:
            codes = encode_words(str(name), [str(word) for word in variable.values.ravel()])
            slim[name] = (variable.dims, codes.reshape(variable.shape))
        else:
            slim[name] = variable.astype(np.float32)
    return slim


def _labelled(diagram: xr.Dataset) -> xr.Dataset:
    """Label a diagram anew. One recorded before `mean_spread` was measured gets it from what it has.

    The share e of unexplained variance bounds how much the mean moves (std of mean / std of y, squared):

        (1 - sqrt(e))^2 <= spread^2 <= min(1 - e, energy of the mean)

    The upper bound, by stationarity under a penalty and by the Gaussian Poincare inequality, is taken. Cells that hold
    the constant model give its scores; if there are none, the labels say nothing of test rows.
    """
    if "phase" not in diagram:
        return diagram
    if "mean_spread" not in diagram:
        train = diagram.sel(split="train")
        bound = np.minimum(1.0 - train["mean_mse"], train["mean_energy"])
        is_constant = (train["mean_energy"] == 0.0) & (diagram["log_precision_spread"] < 1e-6)
        constant = {f"constant_{name}": diagram[name].where(is_constant).median(CELL) for name in ("mean_mse", "nll")}
        constant["constant_mean_mse"] = constant["constant_mean_mse"].where(diagram["split"] != "train", 1.0)
        diagram = diagram.assign({"mean_spread": np.sqrt(bound.clip(min=0.0)).drop_vars("split"), **constant})
    return relabel(diagram)

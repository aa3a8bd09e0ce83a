"""Parts that took long, in files small enough to lie beside the code: scores and labels, not what each model predicts.

A diagram is NAME.nc.gz, a comparison NAME.csv; NAME.json has its settings, its seconds and the day it was finished.
Each seed of a diagram is kept by itself: a long one can be made in several sittings, and with more seeds later.
"""

import gzip
import json
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from heteroscope.core import InputError, atomic_write
from heteroscope.diagrams import CODES, decode_words, encode_words, without_rows

WORTH_KEEPING_SECONDS = 10.0
DIAGRAM, TABLE = ".nc.gz", ".csv"


class Kept(NamedTuple):
    """A part as it was kept, and how long it took."""

    found: xr.Dataset | pd.DataFrame
    seconds: float


def keep(folder: Path, name: str, found: Any, clock: dict[str, Any]) -> None:
    """Write a part that took long; its JSON comes last, and without it nothing counts."""
    if clock["seconds"] < WORTH_KEEPING_SECONDS:
        return
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(found, pd.DataFrame):
        with atomic_write(folder / f"{name}{TABLE}") as partial:
            found.to_csv(partial, index=False)
    else:
        with atomic_write(folder / f"{name}{DIAGRAM}") as partial:
            partial.write_bytes(gzip.compress(bytes(_slim(found).to_netcdf(engine="scipy")), mtime=0))
    with atomic_write(folder / f"{name}.json") as partial:
        partial.write_text(json.dumps(clock, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def recall(folder: Path, name: str) -> Kept | None:
    """The part of that name if it was kept."""
    clock = folder / f"{name}.json"
    if not clock.is_file():
        return None
    try:
        seconds = float(json.loads(clock.read_text(encoding="utf-8"))["seconds"])
        table = folder / f"{name}{TABLE}"
        if table.is_file():
            return Kept(pd.read_csv(table), seconds)
        with xr.open_dataset(gzip.decompress((folder / f"{name}{DIAGRAM}").read_bytes()), engine="scipy") as stored:
            return Kept(decode_words(stored.load().drop_encoding()), seconds)
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error) as error:
        raise InputError(f"the record {clock} is damaged: remove it to compute the part again") from error


def _slim(diagram: xr.Dataset) -> xr.Dataset:
    """Scores in single precision, words as small integers, no rows."""
    slim = without_rows(diagram)
    for name, variable in slim.data_vars.items():
        if name in CODES:
            codes = encode_words(str(name), [str(word) for word in variable.values.ravel()])
            slim[name] = (variable.dims, codes.reshape(variable.shape))
        else:
            slim[name] = variable.astype(np.float32)
    return slim

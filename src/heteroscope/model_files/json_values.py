"""Read the fitted attributes that `model.json` holds, and check each number and word."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from heteroscope.core import Status
from heteroscope.estimators import FieldKind
from heteroscope.model_files.array_format import (
    LARGEST,
    SMALLEST,
    Json,
    read_integer,
    read_names,
    read_number,
    read_target,
)
from heteroscope.phases import Gain, HeldOut, NamedRow, Observables, Phase, Scores, Verdict


def _read_observables(values: Json) -> Observables:
    held_out = values["held_out"]
    numbers = {name: float(value) for name, value in values.items() if name != "held_out"}
    return Observables(**numbers, held_out=None if held_out is None else HeldOut(**_read_numbers(held_out)))


def _read_verdict(values: Json) -> Verdict | None:
    if values is None:
        return None
    parts: dict[str, Any] = {
        name: _VERDICT_READERS[name](value) if name in _VERDICT_READERS else float(value)
        for name, value in values.items()
    }
    return Verdict(**parts)


def _read_numbers(values: Mapping[str, Json]) -> dict[str, float]:
    return {name: float(value) for name, value in values.items()}


def _read_named_row(values: Json) -> NamedRow:
    number = values["number"]
    others = _read_numbers({name: value for name, value in values.items() if name != "number"})
    return NamedRow(number=None if number is None else read_integer(number), **others)


def _read_tuple_of_floats(values: Json) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


#: Parts of a verdict that are no plain numbers.
_VERDICT_READERS: dict[str, Callable[[Json], Any]] = {
    "n_rows": read_integer,
    **dict.fromkeys(("ours", "homoskedastic", "constant"), lambda values: Scores(**_read_numbers(values))),
    **dict.fromkeys(("over_homoskedastic", "over_constant"), lambda values: Gain(**_read_numbers(values))),
    **dict.fromkeys(("std_range", "coverage_by_std"), _read_tuple_of_floats),
    "named": lambda rows: tuple(_read_named_row(row) for row in rows),
}


def _read_column(values: list[Json]) -> np.ndarray:
    """Return integers, floats (text such as "inf" included) or, if the text is no number, words."""
    if values and all(isinstance(value, int) for value in values):
        return np.array(values)
    try:
        return np.array([float(value) for value in values])
    except ValueError:
        return np.array(values)


#: Turns the JSON of each kind into the fitted attribute; raises for what is not of that kind.
JSON_READERS: dict[FieldKind, Callable[[Json], Any]] = {
    FieldKind.NUMBER: read_number,
    FieldKind.POSITIVE: partial(read_number, low=SMALLEST, high=LARGEST),
    FieldKind.LIMIT: partial(read_number, low=SMALLEST),
    FieldKind.SHARE: partial(read_number, low=0.0, high=1.0),
    FieldKind.TARGET: read_target,
    FieldKind.INTEGER: read_integer,
    FieldKind.INTEGERS: lambda values: tuple(read_integer(value) for value in values),
    FieldKind.NUMBERS: lambda values: tuple(read_number(value) for value in values),
    FieldKind.NUMBERS_BY_NAME: lambda values: {name: float(value) for name, value in values.items()},
    FieldKind.COLUMNS: lambda columns: {name: _read_column(values) for name, values in columns.items()},
    FieldKind.FEATURE_NAMES: read_names,
    FieldKind.PHASE: lambda name: str(Phase(name)),
    FieldKind.STATUSES: lambda names: tuple(Status(name) for name in names),
    FieldKind.OBSERVABLES: _read_observables,
    FieldKind.VERDICT: _read_verdict,
}

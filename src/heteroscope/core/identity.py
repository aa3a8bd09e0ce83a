"""Decide whether two runs are the same, and whether a run may continue what another one left on disk.

An identity is plain JSON: declared words, settings as the user gave them, and a hash of the bytes of the user's data.
It never contains a computed float, a package version, or the name of a class or function. The last bit of a sine or a
power depends on the processor, and names and versions change while results do not. When results change for equal
settings, raise the number in `REVISIONS` by hand.

Diagram stores, stream checkpoints and surveys, comparisons and the paper's records all use these functions:
`identity_key` where the identity is part of a file name, `same_identity` where other results are computed again, and
`refuse_other_settings` where other results must not be overwritten.
"""

import hashlib
import json
import math
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from heteroscope.core import defaults
from heteroscope.core.errors import InputError, Parameter

#: Raise a number when, for equal settings, ...
REVISIONS: dict[str, int] = {
    "simulated sets": 1,  # ... a simulated set has other rows
    "real sets": 1,  # ... a UCI set is read, or divided into training and test rows, in another way
    "tables": 1,  # ... a table file is read, divided or encoded in another way
    "diagrams": 1,  # ... the networks of a diagram are trained or scored in another way
    "kept numbers": 2,  # ... a diagram on disk keeps other numbers of each model, or other labels
    "field theory": 2,  # ... the field theory is solved, scored or labelled in another way
    "comparisons": 4,  # ... a method of this package is fitted, or any method is scored, in another way
    "paper's comparisons": 1,  # ... the same with the paper's settings, which do not calibrate
    "surveys": 1,  # ... the pass over a stream samples or holds out other rows, or scales them in another way
    "stream fits": 1,  # ... a model takes other steps on a stream
}
#: Relative difference up to which two floats count as equal: np.logspace has other last bits on other processors.
DIGITS = 1e-14
NOT_SET, OPAQUE = "not set", "an object"  # a setting that one identity lacks; a value without settings of its own
#: Settings that came later, at the value that stands for what was done before: with it, identities are the old ones.
_LATER: dict[str, object] = {"penalty": defaults.PENALTY, "conformal": False}
_SHOWN = 3  # differences that an error message lists
_NO_SETTING = ("n_jobs", "verbose")  # parameters of estimators that change no result
_NESTING = 4  # levels of objects inside objects whose attributes are read

Identity: TypeAlias = dict[str, Any]


@runtime_checkable
class HasParameters(Protocol):
    """An estimator, or any other object with scikit-learn's `get_params`."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""


def named_set(family: str, name: str, **choices: object) -> Identity:
    """Identify a data set of this package by its name, the revision of its family, and choices such as a seed."""
    return {"set": name, "revision": REVISIONS[family], **choices}


def table_file(path: str | Path, **choices: object) -> Identity:
    """Identify a user's table by a hash of the file's bytes, and choices such as target, missing values and split."""
    with Path(path).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"file": digest, "revision": REVISIONS["tables"], **choices}


def given_arrays(*arrays: ArrayLike | None) -> Identity:
    """Identify arrays and data frames by a hash of their types, shapes and bytes; None stands for an absent array."""
    digest = hashlib.sha256()
    for given in arrays:
        array = np.asarray(() if given is None else given)
        if array.dtype == object:
            array = _without_objects(array)
        digest.update(f"{array.dtype.str}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return {"arrays": digest.hexdigest()}


def _without_objects(array: np.ndarray) -> np.ndarray:
    """Return an array of objects as numbers, such as a data frame of several types, or else as the text of its JSON."""
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        return np.array(json.dumps(array.tolist(), default=lambda _: OPAQUE))


def settings_of(estimator: HasParameters, leave_out: Collection[str] = ("random_state",)) -> Identity:
    """Identify an estimator by its parameters, except `leave_out`, `n_jobs` and `verbose`.

    An object among them is identified by its own parameters or attributes; a function or class only by the words "an
    object". The class of the estimator is no part of its identity: give each method a name of its own. A setting that
    came later counts only if it differs from what was done before, see `without_later_settings`.
    """
    parameters = estimator.get_params(deep=False)
    return {
        name: _settings(value)
        for name, value in without_later_settings(parameters).items()
        if name not in leave_out and name not in _NO_SETTING
    }


def without_later_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out settings that came after the first records, where they stand for what was done before."""
    return {
        name: value
        for name, value in settings.items()
        if not (name in _LATER and isinstance(value, str | bool) and value == _LATER[name])
    }


def _settings(value: Any, depth: int = _NESTING) -> Any:
    """Return the value of a parameter as JSON, reading attributes of objects down to `depth` levels."""
    if isinstance(value, type | FunctionType | BuiltinFunctionType | MethodType | np.ufunc):
        return OPAQUE
    if isinstance(value, partial):
        return {"arguments": _settings([*value.args], depth), "keywords": _settings(value.keywords, depth)}
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        return given_arrays(value)
    if isinstance(value, list | tuple):
        return [_settings(one, depth) for one in value]
    if isinstance(value, Mapping):
        return {str(name): _settings(one, depth) for name, one in value.items()}
    if hasattr(value, "get_params"):
        return settings_of(value, leave_out=())
    try:
        return as_json(value)
    except TypeError:
        fields = {} if callable(value) or not depth else getattr(value, "__dict__", {})
        return {name: _settings(one, depth - 1) for name, one in fields.items()} or OPAQUE


def as_json(value: object) -> Any:
    """Return the value in JSON's types; infinity and NaN become text.

    Raise a `TypeError` for anything but None, text, numbers, lists, tuples and mappings.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, float):
        return value if math.isfinite(value) else f"{value:g}"
    if isinstance(value, list | tuple):
        return [as_json(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): as_json(one) for name, one in value.items()}
    raise TypeError(f"{type(value).__name__} is no part of an identity: declare a word or a number for it")


def check_identity(identity: object) -> Identity:
    """Return a caller's identity of data as JSON; raise an `InputError` unless it is a mapping of words and numbers."""
    try:
        if isinstance(identity, Mapping) and identity:
            return dict(as_json(identity))
    except TypeError:
        pass
    raise InputError(f"identity must be a mapping of words and numbers, such as split.identity, got {identity!r}")


def identity_key(identity: object) -> str:
    """Return sixteen hexadecimal digits, a hash that changes with anything in the identity."""
    return hashlib.sha256(json.dumps(as_json(identity), sort_keys=True).encode()).hexdigest()[:16]


def same_identity(stored: object, wanted: object) -> bool:
    """Return whether an identity read from JSON equals that of this run; floats may differ by a relative 1e-14."""
    return not list(_differences("", stored, as_json(wanted)))


def refuse_other_settings(
    place: Path, holds: str, stored: Mapping[str, object], wanted: Mapping[str, object], cure: str
) -> None:
    """Raise an `InputError` that lists the differences if `stored` and `wanted` are different identities.

    Parameters
    ----------
    place : Path
        The folder or file that holds the stored results.
    holds : str
        What it holds, such as "a diagram".
    stored, wanted : mapping
        The identity of the stored results, as read from JSON, and that of this run.
    cure : str
        What the user can do, such as "choose another folder".
    """
    found = list(_differences("", stored, as_json(wanted)))
    if not found:
        return
    first, *others = found[:_SHOWN]
    shown = [*first, *(part for one in others for part in ("; ", *one))]
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    raise InputError(f"{place} holds {holds} of other settings (", *shown, f"{more}): {cure}")


def _differences(name: str, was: object, now: object) -> Iterator[tuple[str | Parameter, ...]]:
    """Yield each difference as parts of a message: "NAME was X and is now Y"."""
    if isinstance(was, dict) and isinstance(now, dict):
        for part in {**was, **now}:
            inner = f"{name}.{part}" if name else part
            yield from _differences(inner, was.get(part, NOT_SET), now.get(part, NOT_SET))
    elif not _equal(was, now):
        if name.rpartition(".")[2] == "files":
            yield (_file_change(was, now),)
        else:
            yield Parameter(name), f" was {_short(was)} and is now {_short(now)}"


def _equal(was: object, now: object) -> bool:
    """Return whether two JSON values are equal, floats up to `DIGITS`; 1 and True are different."""
    if isinstance(was, list) and isinstance(now, list):
        return len(was) == len(now) and all(map(_equal, was, now))
    if isinstance(was, float) and isinstance(now, float):
        return math.isclose(was, now, rel_tol=DIGITS)
    return bool(was == now) and isinstance(was, bool) == isinstance(now, bool)


def _file_change(was: object, now: object) -> str:
    """Say which file of a stream is new, changed or gone."""
    if not (isinstance(was, list) and isinstance(now, list)):
        return f"the files were {_short(was)} and are now {_short(now)}"
    if not all(isinstance(stamp, list) for stamp in (*was, *now)):
        return f"the files were {_short(was)} and are now {_short(now)}"
    old = {path: stamp for path, *stamp in was}
    new = {path: stamp for path, *stamp in now}
    changed = [path for path in {**old, **new} if old.get(path) != new.get(path)]
    if not changed:
        return "the files were in another order"
    path = changed[0]
    return f"{path} is new" if path not in old else f"{path} has {'changed' if path in new else 'gone'}"


def _short(value: object) -> str:
    """Return the value as text of at most 60 characters; of a hash, the first twelve digits."""
    text = f"{value:.12}" if isinstance(value, str) and len(value) == 64 else " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."

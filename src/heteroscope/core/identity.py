"""Decide what makes two runs the same, and whether a run may go on with what another one has left.

An identity is plain JSON: declared words, settings as they were given, and the bytes of a user's data as they were
given. It never holds a float that was computed, a version of a package, or the name of a class or function: the last
bit of a sine or a power depends on the processor, and names and versions change while results do not. When results
change for equal settings, a number of `REVISIONS` is raised by hand.
"""

import hashlib
import json
import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heteroscope.core.errors import InputError, Parameter

#: What may change without a setting saying so. Raise a number when, for equal settings, ...
REVISIONS: dict[str, int] = {
    "simulated sets": 1,  # ... a simulated set has other rows
    "real sets": 1,  # ... a UCI set is read, or cut into training and test rows, in another way
    "tables": 1,  # ... a table file is read, cut or encoded in another way
    "diagrams": 1,  # ... the networks of a diagram are trained, scored or labelled in another way
    "field theory": 1,  # ... the field theory is solved, scored or labelled in another way
    "comparisons": 1,  # ... a method of ours is fitted, or any method is scored, in another way
    "surveys": 1,  # ... the pass over a stream keeps or holds out other rows, or scales them in another way
    "stream fits": 1,  # ... a model takes other steps on a stream
}
DIGITS = 1e-14  # relative difference up to which two floats are one: a user's np.logspace has other last bits elsewhere
NOT_SET, OPAQUE = "not set", "an object"
_SHOWN = 3  # differences that a message names
_NO_SETTING = ("n_jobs", "verbose")  # parameters of estimators that change no result

Identity = dict[str, Any]


def named_set(family: str, name: str, **choices: Any) -> Identity:
    """Identify a data set that the package knows by its name, its revision and choices such as seed and protocol."""
    return {"set": name, "revision": REVISIONS[family], **choices}


def table_file(path: str | Path, **choices: Any) -> Identity:
    """Identify a user's table by the bytes of its file and choices such as target, gaps and split."""
    with Path(path).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"file": digest, "revision": REVISIONS["tables"], **choices}


def given_arrays(*arrays: Any) -> Identity:
    """Identify arrays and data frames by type, shape and bytes as they were given; None is one that was not."""
    digest = hashlib.sha256()
    for given in arrays:
        array = np.asarray(() if given is None else given)
        if array.dtype == object:  # a data frame of several types
            array = array.astype(np.float64)
        digest.update(f"{array.dtype.str}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return {"arrays": digest.hexdigest()}


def settings_of(estimator: Any, leave_out: Collection[str] = ("random_state",)) -> Identity:
    """Identify an estimator by its parameters; objects among them by their own, and functions not at all."""
    parameters = estimator.get_params(deep=False)
    return {
        name: _settings(value)
        for name, value in parameters.items()
        if name not in leave_out and name not in _NO_SETTING
    }


def _settings(value: Any, depth: int = 4) -> Any:
    """A parameter as JSON."""
    if isinstance(value, np.ndarray):
        return given_arrays(value)
    if isinstance(value, list | tuple):
        return [_settings(one, depth) for one in value]
    if isinstance(value, Mapping):
        return {str(name): _settings(one, depth) for name, one in value.items()}
    if hasattr(value, "get_params") and not isinstance(value, type):
        return settings_of(value, leave_out=())
    try:
        return as_json(value)
    except TypeError:
        fields = getattr(value, "__dict__", {}) if depth and not isinstance(value, type) else {}
        return {name: _settings(one, depth - 1) for name, one in fields.items()} or OPAQUE


def as_json(value: Any) -> Any:
    """The value as JSON has it; a TypeError for anything that is neither a word, a number, a list nor a mapping."""
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


def check_identity(identity: Any) -> Identity:
    """The identity that a caller gives for data, as JSON, or one line that says what it must be."""
    try:
        if isinstance(identity, Mapping) and identity:
            return dict(as_json(identity))
    except TypeError:
        pass
    raise InputError(f"identity must be a mapping of words and numbers, such as split.identity, got {identity!r}")


def identity_key(identity: Any) -> str:
    """Sixteen hexadecimal digits that change with anything in the identity."""
    return hashlib.sha256(json.dumps(as_json(identity), sort_keys=True).encode()).hexdigest()[:16]


def same_identity(stored: Any, wanted: Any) -> bool:
    """Whether two identities are one, whichever of them has been through JSON."""
    return not list(_differences("", stored, as_json(wanted)))


def refuse_other_settings(
    place: Path, holds: str, stored: Mapping[str, Any], wanted: Mapping[str, Any], cure: str
) -> None:
    """Raise one line that names what differs, if what `place` holds was not begun with the wanted identity.

    Parameters
    ----------
    place : the folder or file.
    holds : what it holds, such as "a diagram".
    stored, wanted : the identity it was begun with, and that of this run.
    cure : what to do about it, such as "choose another folder".
    """
    found = list(_differences("", stored, as_json(wanted)))
    if not found:
        return
    first, *others = found[:_SHOWN]
    shown = [*first, *(part for one in others for part in ("; ", *one))]
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    raise InputError(f"{place} holds {holds} of other settings (", *shown, f"{more}): {cure}")


def _differences(name: str, was: Any, now: Any) -> Iterator[tuple[str | Parameter, ...]]:
    """Yield each difference as parts of a message: "NAME was X and is now Y"."""
    if isinstance(was, dict) and isinstance(now, dict):
        for part in {**was, **now}:
            inner = f"{name}.{part}" if name else part
            yield from _differences(inner, was.get(part, NOT_SET), now.get(part, NOT_SET))
    elif not _equal(was, now):
        if name.endswith("files"):
            yield (_file_change(was, now),)
        else:
            yield Parameter(name), f" was {_short(was)} and is now {_short(now)}"


def _equal(was: Any, now: Any) -> bool:
    if isinstance(was, list) and isinstance(now, list):
        return len(was) == len(now) and all(map(_equal, was, now))
    if isinstance(was, float) and isinstance(now, float):
        return math.isclose(was, now, rel_tol=DIGITS)
    return bool(was == now) and isinstance(was, bool) == isinstance(now, bool)


def _file_change(was: Any, now: Any) -> str:
    """Which file of a stream is not what it was."""
    if not (isinstance(was, list) and isinstance(now, list)):
        return f"the files were {_short(was)} and are now {_short(now)}"
    old = {path: stamp for path, *stamp in was}
    new = {path: stamp for path, *stamp in now}
    changed = [path for path in {**old, **new} if old.get(path) != new.get(path)]
    if not changed:
        return "the files were in another order"
    path = changed[0]
    return f"{path} is new" if path not in old else f"{path} has {'changed' if path in new else 'gone'}"


def _short(value: Any) -> str:
    text = f"{value:.12}" if isinstance(value, str) and len(value) == 64 else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."

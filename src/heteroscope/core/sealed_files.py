"""Seal JSON with a checksum, so that a file that was damaged on the disk is noticed when it is read.

The checksum is the SHA-256 of the content as JSON with sorted keys, and stands in the file under `SEAL`. It finds
accidents, not forgeries: whoever changes a file on purpose can seal it again.
"""

import hashlib
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heteroscope.core.errors import DamageError, StoreWarning, error_text
from heteroscope.core.files import atomic_write, read_regular

SEAL = "sha256"  # key of the checksum
_ANY_NAME = "surrogatepass"  # names of files and columns may hold bytes that are no text
MOST_BYTES = 2**28  # largest JSON file that is read


def checksum(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of JSON content, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with its checksum; only JSON's own types are allowed."""
    return {**content, SEAL: checksum(content)}


def check_seal(sealed: Mapping[str, Any]) -> None:
    """Raise a `DamageError` unless the content has its own checksum."""
    if sealed.get(SEAL) != checksum({name: value for name, value in sealed.items() if name != SEAL}):
        raise DamageError("its content does not have its checksum")


def write_sealed(path: Path, content: Mapping[str, Any], indent: int | None = None) -> None:
    """Write JSON with its checksum, whole or not at all; NaN and infinity are refused."""
    text = json.dumps(seal(content), indent=indent, ensure_ascii=False, allow_nan=False)
    with atomic_write(path) as partial:
        partial.write_bytes(text.encode("utf-8", _ANY_NAME))


def read_sealed(path: Path) -> dict[str, Any]:
    """Return the content that `write_sealed` wrote, without its checksum; raise a `DamageError` if it is damaged."""
    sealed = parse_object(read_regular(path, MOST_BYTES))
    check_seal(sealed)
    del sealed[SEAL]
    return sealed


def write_mark(path: Path, **more: Any) -> None:
    """Write beside a file, with the suffix .json, its checksum and `more`: the file counts once this is written."""
    write_sealed(path.with_suffix(".json"), {"file": file_checksum(path), **more})


def check_mark(path: Path) -> dict[str, Any]:
    """Return what `write_mark` wrote; raise a `DamageError` unless the file is the one that was marked."""
    try:
        mark = read_sealed(path.with_suffix(".json"))
        if mark["file"] != file_checksum(path):
            raise DamageError("it is not what was marked")
    except (OSError, KeyError) as error:
        raise DamageError(error_text(error)) from error
    return mark


def file_checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_sealed_arrays(path: Path, content: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write JSON content and arrays as one `.npz` file with a checksum, whole or not at all."""
    plain = json.dumps(content)
    parts = {"plain": np.array(plain), **arrays}
    with atomic_write(path) as partial, partial.open("wb") as file:
        np.savez(file, allow_pickle=False, **parts, **{SEAL: np.array(_checksum_of_arrays(parts))})


def read_sealed_arrays(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return what `write_sealed_arrays` wrote; raise a `DamageError` if it is damaged."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            parts = {name: stored[name] for name in stored.files}
    except Exception as error:  # a damaged header makes NumPy's parser raise whatever Python's does
        raise DamageError(error_text(error) or type(error).__name__) from error
    if str(parts.pop(SEAL, "")) != _checksum_of_arrays(parts) or "plain" not in parts:
        raise DamageError("its content does not have its checksum")
    return json.loads(str(parts.pop("plain"))), parts


def _checksum_of_arrays(arrays: Mapping[str, np.ndarray]) -> str:
    """Return the SHA-256 of names, types, shapes and bytes."""
    digest = hashlib.sha256()
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def parse_json(content: bytes) -> Any:
    """Return what UTF-8 text holds as JSON; raise a `DamageError` if it is none."""
    try:
        return json.loads(content.decode("utf-8", _ANY_NAME))
    except (ValueError, RecursionError) as error:
        raise DamageError(error_text(error) or type(error).__name__) from error


def parse_object(content: bytes) -> dict[str, Any]:
    """Return a JSON object; raise a `DamageError` for anything else."""
    found = parse_json(content)
    if not isinstance(found, dict):
        raise DamageError("it holds no JSON object")
    return found


def warn_of_damage(place: object, cause: object, cure: str) -> None:
    """Warn in one line that a damaged part is not used, and what happens instead."""
    warnings.warn(f"{place} is damaged ({cause}): {cure}", StoreWarning, stacklevel=3)

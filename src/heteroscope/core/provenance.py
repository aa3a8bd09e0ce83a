"""Say what results are computed with: the versions of the libraries, and the processor.

Results of other versions or processors have the same quality and other last bits, so a store may be continued with
them. It records for each part what computed it, and says so when parts differ.
"""

import os
import platform
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

from heteroscope.core.errors import StoreWarning

LIBRARIES = ("heteroscope", "jax", "jaxlib", "numpy")
FLAGS = ("XLA_FLAGS", "NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE")  # they choose the code that runs
_MODEL_LINES = ("model name", "Model", "CPU part")  # of /proc/cpuinfo

#: Names of libraries and "processor", with their versions and its name.
Provenance: TypeAlias = dict[str, str]


def computed_with() -> Provenance:
    """Return the versions of the libraries that compute, the processor, and flags that choose its code."""
    from importlib.metadata import version  # here, because a process that only predicts starts faster without it

    flags = {name: os.environ[name] for name in FLAGS if os.environ.get(name)}
    return {name: version(name) for name in LIBRARIES} | {"processor": _processor()} | flags


@cache
def _processor() -> str:
    """Return the architecture and, where Linux tells it, the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith(_MODEL_LINES)]
    return " ".join([platform.machine(), *names[:1]])


def describe_provenance(parts: Iterable[Mapping[str, str]]) -> str:
    """Return what the parts of a result were computed with, as text; with counts if they differ."""
    counts = Counter(", ".join(f"{name} {value}" for name, value in part.items()) for part in parts)
    if len(counts) <= 1:
        return next(iter(counts), "")
    return "; ".join(f"{count} with {text}" for text, count in sorted(counts.items()))


def warn_of_mixture(place: object, what: str, parts: Iterable[Mapping[str, str]]) -> None:
    """Warn in one line if parts of a store were computed with other versions or on another processor than now."""
    now = computed_with()
    others = [part for part in parts if dict(part) != now]
    if not others:
        return
    names = list(dict.fromkeys(name for part in others for name in {**part, **now} if part.get(name) != now.get(name)))
    changes = "; ".join(
        f"{name} was {', '.join(sorted({part.get(name, 'not set') for part in others}))} and is "
        f"now {now.get(name, 'not set')}"
        for name in names
    )
    warnings.warn(
        f"{place} continues with {len(others)} {what} that were computed otherwise ({changes}): results have the same "
        "quality, not the same bits; choose a new folder if they must",
        StoreWarning,
        stacklevel=3,
    )

"""Check that every public name has a numpydoc docstring whose parameters are those of its signature.

Run by `make lint`. numpydoc's own validation does the work; a name is public if it stands in the `__all__` of a public
package, or is a method by which users work with an estimator. Abstract classes and their hooks are for authors of
methods: docs/baselines.md explains them.
"""

import importlib
import inspect
import sys
from collections.abc import Iterator
from enum import Enum
from typing import Any

from numpydoc.validate import validate

#: Packages and modules that users import from.
PUBLIC = (
    "heteroscope",
    "heteroscope.baselines",
    "heteroscope.datasets",
    "heteroscope.distributions",
    "heteroscope.field",
)
#: More public names, of packages whose other names are for our own packages.
NAMES = (
    "heteroscope.comparison.compare",
    "heteroscope.data.open_stream",
    "heteroscope.report.write_report",
    "heteroscope.training.use_backend",
)
#: Methods of estimators that users call.
METHODS = (
    "diagnose",
    "fit",
    "partial_fit",
    "pred_dist",
    "predict",
    "predict_interval",
    "predict_parts",
    "predict_quantiles",
)
#: A docstring; a one-line summary; parameters that are documented, exist and have a description; what is returned.
CODES = {"GL08", "SS01", "SS06", "PR01", "PR02", "PR07", "RT01"}


def public_objects() -> Iterator[str]:
    """Yield the dotted name of every public function, class and method."""
    for place in PUBLIC:
        module = importlib.import_module(place)
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isfunction(found):
                yield f"{place}.{name}"
            if (
                inspect.isclass(found)
                and found is not Any
                and not (inspect.isabstract(found) or getattr(found, "_is_protocol", False))
            ):
                yield f"{place}.{name}"
                yield from (f"{place}.{name}.{method}" for method in METHODS if hasattr(found, method))
    yield from NAMES


def is_record(name: str) -> bool:
    """Return whether the name is a NamedTuple or an enumeration, whose fields stand under Attributes."""
    place, _, last = name.rpartition(".")
    found = getattr(importlib.import_module(place), last) if place in PUBLIC else None
    return inspect.isclass(found) and issubclass(found, tuple | Enum)


def main() -> int:
    """Print what is missing; return 1 if anything is."""
    complaints = [
        f"{name}: {code} {text}"
        for name in sorted(set(public_objects()))
        for code, text in validate(name)["errors"]
        if code in CODES and not (code == "PR01" and is_record(name))
    ]
    print("\n".join(complaints) or "every public name is documented")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
